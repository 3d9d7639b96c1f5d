"""Awkward solutions that are whole programs: how they read, write and leave."""

from __future__ import annotations

from reward_server.domain import Checker, CheckerKind
from tests.honest.solution import program

NUMBERS = b"3\n1 2 3\n"
SUM = {NUMBERS: b"6\n"}

READING = (
    program(
        "input() in a function",
        """
        def main():
            n = int(input())
            print(sum(map(int, input().split())))
        main()
    """,
        SUM,
    ),
    program(
        "the bytes of standard input",
        """
        import sys
        data = sys.stdin.buffer.read().split()
        print(sum(map(int, data[1:])))
    """,
        SUM,
    ),
    program(
        "lines of the bytes of standard input",
        """
        import sys
        input = sys.stdin.buffer.readline
        input()
        print(sum(map(int, input().split())))
    """,
        SUM,
    ),
    program(
        "standard input as an iterator",
        """
        import sys
        next(sys.stdin)
        for line in sys.stdin:
            print(sum(map(int, line.split())))
    """,
        SUM,
    ),
    program(
        "standard input opened by its number",
        """
        print(sum(map(int, open(0).read().split()[1:])))
    """,
        SUM,
    ),
    program(
        "standard input opened by its name",
        """
        print(sum(map(int, open('/dev/stdin').read().split()[1:])))
    """,
        SUM,
    ),
    program(
        "standard input read by the system call",
        """
        import os
        print(sum(map(int, os.read(0, 1000).split()[1:])))
    """,
        SUM,
    ),
    program(
        "standard input through fileinput",
        """
        import fileinput
        print(sum(int(n) for line in list(fileinput.input())[1:] for n in line.split()))
    """,
        SUM,
    ),
    program(
        "lines until there are no more",
        """
        total = 0
        try:
            while True:
                total += sum(map(int, input().split()))
        except EOFError:
            print(total)
    """,
        {b"1\n2\n3 4": b"10\n", b"": b"0\n"},
    ),
    program("input that is not read", "print('done')\n", {b"x" * 500_000: b"done\n"}),
    program(
        "five megabytes of input",
        """
        import sys
        print(len(sys.stdin.read().split()))
    """,
        {b"12 " * 1_700_000: b"1700000\n"},
    ),
    program(
        "input with foreign line ends",
        """
        n = int(input())
        print(sum(map(int, input().split())), repr(input()))
    """,
        {b"2\r\n1 2\r\nend\r\n": b"3 'end'\n"},
    ),
    program(
        "input outside of ASCII",
        "print(input()[::-1])\n",
        {"añ日😀\n".encode(): "😀日ña\n".encode()},
    ),
    program(
        "input that is no text",
        """
        import sys
        sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])
    """,
        {bytes(range(128, 140)) + b"\n": b"\n" + bytes(range(139, 127, -1))},
    ),
)

WRITING = (
    program(
        "five megabytes of output",
        "print('0123456789' * 524_288)\n",
        {b"": b"0123456789" * 524_288 + b"\n"},
    ),
    program(
        "half a million lines of output",
        """
        for number in range(500_000):
            print(number)
    """,
        {b"": "".join(f"{n}\n" for n in range(500_000)).encode()},
    ),
    program(
        "output by every road",
        """
        import os, sys
        print('one', end='')
        sys.stdout.write('two')
        sys.stdout.flush()
        sys.stdout.buffer.write(b'three')
        sys.stdout.buffer.flush()
        os.write(1, b'four\\n')
    """,
        {b"": b"onetwothreefour\n"},
    ),
    program("output without an end of line", "print('done', end='')\n", {b"": b"done\n"}),
    program("output with spaces at its ends", "print('a  \\nb \\n\\n')\n", {b"": b"a\nb\n"}),
    program("output with foreign line ends", "print('a\\r\\nb\\r')\n", {b"": b"a\nb\n"}),
    program(
        "much output on standard error",
        """
        import sys
        print('x' * 1_000_000, file=sys.stderr)
        print('done')
    """,
        {b"": b"done\n"},
    ),
    program(
        "output at exit",
        """
        import atexit
        atexit.register(print, 'last')
        print('first')
    """,
        {b"": b"first\nlast\n"},
    ),
    program(
        "output of a thread after the main one",
        """
        import threading, time
        def late():
            threading.main_thread().join()
            print('late')
        threading.Thread(target=late).start()
        print('soon')
    """,
        {b"": b"soon\nlate\n"},
    ),
    program(
        "output of a child",
        """
        import subprocess, sys
        print('parent', flush=True)
        subprocess.run([sys.executable, '-c', 'print(input())'])
    """,
        {b"child\n": b"parent\nchild\n"},
    ),
    program(
        "output of a fork",
        """
        import os
        if os.fork() == 0:
            print('child', flush=True)
            os._exit(0)
        os.wait()
        print('parent')
    """,
        {b"": b"child\nparent\n"},
    ),
    program(
        "numbers near enough",
        "print(1 / 3, '2.0')\n",
        {b"": b"0.3333333 2\n"},
        checker=Checker(kind=CheckerKind.FLOAT, absolute_tolerance=1e-6),
    ),
    program(
        "lines in another order",
        "print('b\\na\\na')\n",
        {b"": b"a\na\nb\n"},
        checker=Checker(kind=CheckerKind.UNORDERED_LINES),
    ),
    program(
        "letters of another case",
        "print('YES')\n",
        {b"": b"Yes\n"},
        checker=Checker(kind=CheckerKind.CASE_INSENSITIVE),
    ),
    program(
        "tokens in other lines",
        "print('1\\n2 3')\n",
        {b"": b"1 2\n3\n"},
        checker=Checker(kind=CheckerKind.TOKENS),
    ),
)

LEAVING = (
    program("an exit after the output", "import sys\nprint(6)\nsys.exit()\n", SUM),
    program("an exit by name", "print(6)\nexit()\n", SUM),
    program("an exit with success", "print(6)\nraise SystemExit(0)\n", SUM),
    program("an exit without clean-up", "import os\nprint(6, flush=True)\nos._exit(0)\n", SUM),
    program("an exit in a function", "def main():\n    print(6)\n    quit()\nmain()\n", SUM),
    program(
        "a main guard that must run",
        """
        def main():
            print(6)
        if __name__ == '__main__':
            main()
    """,
        SUM,
    ),
    program(
        "a daemon thread left behind",
        """
        import threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        print(6)
    """,
        SUM,
    ),
    program(
        "a program with deep recursion in a thread",
        """
        import sys, threading
        def deep(n):
            return 0 if n == 0 else 1 + deep(n - 1)
        def main():
            print(deep(50_000))
        sys.setrecursionlimit(10**6)
        threading.stack_size(1 << 27)
        thread = threading.Thread(target=main)
        thread.start()
        thread.join()
    """,
        {b"": b"50000\n"},
    ),
    program(
        "processes under a main guard",
        """
        import multiprocessing
        def square(n):
            return n * n
        if __name__ == '__main__':
            with multiprocessing.Pool(2) as pool:
                print(sum(pool.map(square, range(10))))
    """,
        {b"": b"285\n"},
    ),
    program(
        "processes started afresh",
        """
        import multiprocessing
        def square(n):
            return n * n
        if __name__ == '__main__':
            with multiprocessing.get_context('spawn').Pool(1) as pool:
                print(pool.map(square, [3]))
    """,
        {b"": b"[9]\n"},
    ),
    program(
        "an event loop",
        """
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            print(await loop.run_in_executor(None, input))
        asyncio.run(main())
    """,
        {b"hello\n": b"hello\n"},
    ),
    program(
        "the source of the program",
        "print(open(__file__).read(), end='')\n",
        {b"": b"print(open(__file__).read(), end='')\n"},
    ),
    program(
        "its arguments and name",
        "import sys\nprint(len(sys.argv), __name__)\n",
        {b"": b"1 __main__\n"},
    ),
    program(
        "its home folder",
        """
        from pathlib import Path
        path = Path.home() / 'notes.txt'
        path.write_text('kept')
        print(path.read_text())
    """,
        {b"": b"kept\n"},
    ),
    program(
        "objects pickled from the main module",
        """
        import pickle
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
        print(pickle.loads(pickle.dumps(Point(1))))
    """,
        {b"": b"Point(x=1)\n"},
    ),
    program(
        "global names of the main module",
        """
        import __main__
        count = 1
        def up():
            global count
            count += 1
        up()
        print(__main__.count, globals()['count'])
    """,
        {b"": b"2 2\n"},
    ),
    program(
        "streams that it closes before its last work",
        """
        import os, time
        print(input())
        os.sys.stdout.flush()
        os.close(1)
        os.close(2)
        time.sleep(0.05)
    """,
        {b"last words": b"last words"},
    ),
    program(
        "an interrupt of its own",
        """
        import signal
        input()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            print(sum(map(int, input().split())))
    """,
        SUM,
    ),
    program(
        "a signal to itself, handled",
        """
        import os, signal
        signal.signal(signal.SIGTERM, lambda *_: print('handled'))
        os.kill(os.getpid(), signal.SIGTERM)
        print('on')
    """,
        {b"": b"handled\non\n"},
    ),
)

PROGRAMS = (*READING, *WRITING, *LEAVING)

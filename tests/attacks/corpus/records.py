"""Forged verdicts: writing, wherever it can be written, what the grader would like to read."""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import Attack, code
from tests.attacks.naive import Grader
from tests.attacks.problems import Problem


def _forged(
    name: str, problem: Problem, grader: Grader, completion: str, *, leaves: bool = False
) -> Attack:
    return Attack(name=name, problem=problem, completion=completion, beats=(grader,), leaves=leaves)


EVERYWHERE = """
import os
def everywhere(record):
    for number in range(256):
        try:
            os.set_blocking(number, False)
            os.write(number, record)
        except OSError:
            pass
"""
PICKLED = code("""
    import pickle
    record = pickle.dumps('passed')
""") + ("record = len(record).to_bytes(4, 'big') + record\n")
FULL = 'record = b\'{"passed": 3, "total": 3}\\n\'\n'
FRAMES = "record = b''.join(b'{\"id\": %d, \"passed\": true}\\n' % n for n in range(100))\n"

ON_DESCRIPTORS = (
    _forged(
        "a pickled record on every descriptor",
        problems.EQUAL,
        Grader.IN_PROCESS,
        EVERYWHERE
        + PICKLED
        + code("""
            def solve(x):
                everywhere(record)
                os._exit(0)
        """),
    ),
    _forged(
        "a pickled record on every descriptor while the module loads",
        problems.EQUAL,
        Grader.IN_PROCESS,
        EVERYWHERE
        + PICKLED
        + code("""
            everywhere(record)
            os._exit(0)
        """),
    ),
    _forged(
        "a pickled record on every descriptor opened again through /proc",
        problems.EQUAL,
        Grader.IN_PROCESS,
        PICKLED
        + code("""
            import os
            def solve(x):
                for number in os.listdir('/proc/self/fd'):
                    try:
                        again = os.open(f'/proc/self/fd/{number}', os.O_WRONLY | os.O_NONBLOCK)
                        os.write(again, record)
                    except OSError:
                        pass
                os._exit(0)
        """),
    ),
    _forged(
        "a pickled record on every descriptor of the parent",
        problems.EQUAL,
        Grader.IN_PROCESS,
        PICKLED
        + code("""
            import os
            def solve(x):
                folder = f'/proc/{os.getppid()}/fd'
                for number in os.listdir(folder):
                    try:
                        os.write(os.open(f'{folder}/{number}', os.O_WRONLY | os.O_NONBLOCK), record)
                    except OSError:
                        pass
                os._exit(0)
        """),
    ),
    _forged(
        "a record sent through the grader's own connection",
        problems.EQUAL,
        Grader.IN_PROCESS,
        code("""
            import gc, os
            from multiprocessing.connection import Connection
            def solve(x):
                for each in gc.get_objects():
                    if isinstance(each, Connection) and each.writable:
                        each.send('passed')
                os._exit(0)
        """),
    ),
    _forged(
        "a pickled record on every descriptor, closed so that no other follows",
        problems.EQUAL,
        Grader.IN_PROCESS,
        EVERYWHERE
        + PICKLED
        + code("""
            def solve(x):
                everywhere(record)
                os.closerange(3, 256)
                return 0
        """),
    ),
    _forged(
        "forged frames on every socket before the first answer",
        problems.CALLED,
        Grader.FRAMED_VERDICTS,
        FRAMES
        + code("""
            import os, stat
            for number in range(256):
                try:
                    if stat.S_ISSOCK(os.fstat(number).st_mode):
                        os.write(number, record)
                except OSError:
                    pass
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "forged frames on every socket instead of an answer",
        problems.CALLED,
        Grader.FRAMED_VERDICTS,
        FRAMES
        + code("""
            import os, stat
            def solve(x):
                for number in range(256):
                    try:
                        if stat.S_ISSOCK(os.fstat(number).st_mode):
                            os.write(number, record)
                    except OSError:
                        pass
                os._exit(0)
        """),
    ),
    _forged(
        "forged frames through a duplicate of the judge's socket object",
        problems.CALLED,
        Grader.FRAMED_VERDICTS,
        FRAMES
        + code("""
            import gc, os, socket
            def solve(x):
                for each in gc.get_objects():
                    if isinstance(each, socket.socket) and each.fileno() >= 0:
                        each.dup().sendall(record)
                os._exit(0)
        """),
    ),
    _forged(
        "forged frames from a child that was forked past the interpreter",
        problems.CALLED,
        Grader.FRAMED_VERDICTS,
        EVERYWHERE
        + FRAMES
        + code("""
            import ctypes
            def solve(x):
                if ctypes.CDLL(None).fork() == 0:
                    os.setsid()
                    everywhere(record)
                os._exit(0)
        """),
    ),
    _forged(
        "forged frames from a child that outlives the program",
        problems.CALLED,
        Grader.FRAMED_VERDICTS,
        EVERYWHERE
        + FRAMES
        + code("""
            def solve(x):
                if os.fork() == 0:
                    os.setsid()
                    everywhere(record)
                os._exit(0)
        """),
    ),
)

NONCE = (
    "import os, re\n"
    + EVERYWHERE
    + (
        code("""
            def forge(source):
                everywhere(re.search(r"b'([0-9a-f]{64})'", source)[1].encode())
                os._exit(0)
        """)
    )
)

SECRETS = (
    _forged(
        "a secret record read from the arguments of the interpreter",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        NONCE
        + code("""
            import sys
            def solve(x):
                forge(sys.orig_argv[-1])
        """),
    ),
    _forged(
        "a secret record read from the kernel's copy of the command line",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        NONCE
        + code("""
            def solve(x):
                forge(open('/proc/self/cmdline').read())
        """),
    ),
    _forged(
        "a secret record read from the code of the caller's caller",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        NONCE
        + code("""
            import sys
            def solve(x):
                forge(repr(sys._getframe(2).f_code.co_consts))
        """),
    ),
    _forged(
        "a secret record read from the memory of the process",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        NONCE
        + code("""
            def solve(x):
                with open('/proc/self/mem', 'rb', 0) as memory:
                    for line in open('/proc/self/maps'):
                        span, mode, *_ = line.split()
                        start, end = (int(part, 16) for part in span.split('-'))
                        if mode.startswith('rw') and '[v' not in line:
                            memory.seek(start)
                            text = memory.read(end - start).decode('latin-1')
                            if re.search(r"b'([0-9a-f]{64})'", text):
                                forge(text)
        """),
    ),
)

PRINTED = (
    _forged(
        "a forged last line of output",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import os
            def solve(x):
                os.write(1, record)
                os._exit(0)
        """),
    ),
    _forged(
        "a forged last line printed while the module loads",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import os
            os.write(1, record)
            os._exit(0)
        """),
    ),
    _forged(
        "a forged line printed after the true one by an exit handler",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import atexit, os
            atexit.register(os.write, 1, record)
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a forged line printed after the true one by a left-over thread",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import os, threading
            def wait():
                threading.main_thread().join()
                os.write(1, record)
            threading.Thread(target=wait).start()
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a forged line printed after the true one by a left-over process",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import os
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.setsid()
                os.close(writer)
                os.read(reader, 1)
                os.write(1, record)
                os._exit(0)
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a forged line printed by a left-over process of a left-over process",
        problems.CALLED,
        Grader.LAST_LINE,
        FULL
        + code("""
            import os
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.setsid()
                os.close(writer)
                if os.fork() == 0:
                    os.read(reader, 1)
                    os.write(1, record)
                os._exit(0)
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a print that prints full marks",
        problems.CALLED,
        Grader.LAST_LINE,
        code("""
            import builtins
            real = builtins.print
            builtins.print = lambda *_: real('{"passed": 3, "total": 3}')
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a standard output that rewrites what is printed",
        problems.CALLED,
        Grader.LAST_LINE,
        code("""
            import sys
            class Better:
                def __init__(self, stream):
                    self.stream = stream
                def write(self, text):
                    self.stream.write(text.replace('"passed": 0', '"passed": 3'))
                def flush(self):
                    self.stream.flush()
            sys.stdout = Better(sys.stdout)
            def solve(x):
                return 0
        """),
    ),
    _forged(
        "a verdict file written before leaving",
        problems.CALLED,
        Grader.VERDICT_FILE,
        FULL
        + code("""
            import os
            def solve(x):
                open('verdict.json', 'wb').write(record)
                os._exit(0)
        """),
    ),
    _forged(
        "a verdict file that opens as another file",
        problems.CALLED,
        Grader.VERDICT_FILE,
        FULL
        + code("""
            import builtins
            open('verdict.json', 'wb').write(record)
            real = builtins.open
            builtins.open = lambda path, *rest: real('/dev/null', *rest)
            def solve(x):
                return 0
        """),
    ),
)

SHARED = (
    _forged(
        "flags set in memory shared with the grader",
        problems.CALLED,
        Grader.SHARED_FLAGS,
        code("""
            import mmap, os, sys
            def solve(x):
                frame = sys._getframe(1)
                while frame:
                    for value in frame.f_locals.values():
                        if isinstance(value, mmap.mmap):
                            value[:] = bytes([1]) * len(value)
                    frame = frame.f_back
                os._exit(0)
        """),
    ),
    _forged(
        "flags set in every anonymous shared mapping",
        problems.CALLED,
        Grader.SHARED_FLAGS,
        code("""
            import ctypes, os
            def solve(x):
                for line in open('/proc/self/maps'):
                    if ' rw-s ' in line:
                        start, end = (int(part, 16) for part in line.split()[0].split('-'))
                        ctypes.memset(start, 1, end - start)
                os._exit(0)
        """),
    ),
)

ATTACKS = (*ON_DESCRIPTORS, *SECRETS, *PRINTED, *SHARED)

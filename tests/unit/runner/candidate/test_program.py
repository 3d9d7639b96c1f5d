from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.unit.runner.harness import Zygote


def code(text: str) -> str:
    return textwrap.dedent(text)


def status(result: object) -> int:
    return os.waitstatus_to_exitcode(result.reply.candidate_status)  # type: ignore[attr-defined]


PROCESSES = """
from multiprocessing import get_context
def increased(n): return n + 1
if __name__ == '__main__':
    with get_context('fork').Pool(2) as pool: print(pool.map(increased, [1, 2]))
"""
THREAD = "import threading\nthreading.Timer(0.01, print, ['late']).start()\nprint('hi')"
STREAM = "import io, sys\nsys.stdout = io.TextIOWrapper(open(1, 'wb', closefd=False))\nprint('own')"
DEEP = """
import sys
sys.setrecursionlimit(10**5)
def f(n): return n and 1 + f(n - 1)
print(f(20000))
"""
PICKLE = "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)"
REVERSED = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"


@pytest.mark.parametrize(
    ("source", "stdin", "expected"),
    [
        ("print(int(input()) + 1)", b"41\n", b"42\n"),
        (REVERSED, b"\xff\x00a", b"a\x00\xff"),
        ("import sys\nfor line in sys.stdin: print(line.strip())", b"a\r\nb\r\n", b"a\nb\n"),
        ("print(open(0).read())", b"xyz", b"xyz\n"),
        ("import os\nos.write(1, os.read(0, 10))", b"xyz", b"xyz"),
        ("import sys\nprint(sys.stdin.readlines())", b"a\nb", b"['a\\n', 'b']\n"),
        ("print(input('? ')[::-1])", "aä\U0001f600\n".encode(), "? \U0001f600äa\n".encode()),
        ("print(__name__, __file__.rpartition('/')[2])", b"", b"__main__ solution.py\n"),
        ("def f():\n    print(x)\nx = 5\nif __name__ == '__main__': f()", b"", b"5\n"),
        ("import sys\nprint('a', end='')\nsys.exit()", b"", b"a"),
        ("print('a')\nexit()\nprint('b')", b"", b"a\n"),
        ("print('a'); quit(0)", b"", b"a\n"),
        ("import atexit\natexit.register(print, 'bye')\nprint('hi')", b"", b"hi\nbye\n"),
        (THREAD, b"", b"hi\nlate\n"),
        ("file = open(1, 'w', closefd=False)\nfile.write('kept')", b"", b"kept"),
        (STREAM, b"", b"own\n"),
        ("import sys\nsys.stdout.close()", b"", b""),
        ("import sys\nprint(sys.argv)", b"", b"['solution.py']\n"),
        ("import inspect\ndef f(): pass\nprint(inspect.getsource(f))", b"", b"def f(): pass\n\n"),
        ("global x\nx = 1\nprint(x)", b"", b"1\n"),
        (DEEP, b"", b"20000\n"),
        (PICKLE, b"", b"A\n"),
        (PROCESSES, b"", b"[2, 3]\n"),
        ("import asyncio\nasync def f(): print('async')\nasyncio.run(f())", b"", b"async\n"),
    ],
)
def test_a_program_runs_as_the_interpreter_would_run_it(
    zygote: Zygote, source: str, stdin: bytes, expected: bytes
) -> None:
    result = zygote.program(source, stdin)
    assert (result.stdout, status(result)) == (expected, 0), result.stderr
    assert result.report["ready"]


@pytest.mark.parametrize(
    ("source", "code", "stderr"),
    [
        ("import sys; sys.exit(3)", 3, b""),
        ("raise SystemExit", 0, b""),
        ("import sys; sys.exit(None)", 0, b""),
        ("import sys; sys.exit('oh no')", 1, b"oh no\n"),
        ("import sys; sys.exit(-1)", 255, b""),
        ("import sys; sys.exit(256)", 0, b""),
        ("import sys; sys.exit([1])", 1, b"[1]\n"),
        ("import os; os._exit(9)", 9, b""),
        ("1 / 0", 1, b"ZeroDivisionError: division by zero\n"),
        ("raise KeyboardInterrupt", 1, b"KeyboardInterrupt\n"),
        (
            "import sys\nsys.excepthook = lambda *e: print('hook', file=sys.stderr)\n1/0",
            1,
            b"hook\n",
        ),
        ("import os; print('a', flush=True); os.close(1); print('b')", 120, b""),
    ],
)
def test_a_program_ends_with_the_status_that_the_interpreter_gives(
    zygote: Zygote, source: str, code: int, stderr: bytes
) -> None:
    result = zygote.program(source)
    assert status(result) == code
    assert result.stderr.endswith(stderr)


BROKEN = [
    b"def f(:",
    b"x = 1\nif x:\nprint(x)\n",
    b"print('a')\n\treturn 1\n",
    b"x = 'no end\n",
    b"return 5\n",
    b"x = " + b"(" * 300 + b")" * 300,
]


@pytest.mark.parametrize("source", BROKEN)
def test_a_program_that_does_not_compile_is_told_in_the_interpreters_words(
    zygote: Zygote, tmp_path: Path, source: bytes
) -> None:
    (tmp_path / "solution.py").write_bytes(source)
    plain = subprocess.run(
        [sys.executable, "solution.py"], cwd=tmp_path, capture_output=True, check=False
    )
    result = zygote.program(source, b"1\n" * 100_000)
    last_line = plain.stderr.decode().rstrip().rpartition("\n")[2]
    assert result.stderr.decode().rstrip().rpartition("\n")[2] == last_line
    assert result.report["load"]["kind"] == "compile"
    assert result.report["load"]["message"].startswith(last_line)
    assert (result.report["ready"], result.report["broken"]) == (True, None)
    assert (status(result), result.stdout) == (1, b"")


def test_the_line_that_does_not_compile_is_named(zygote: Zygote) -> None:
    result = zygote.program("x = 1\nprint(x\ny = 2\n")
    message = "SyntaxError: '(' was never closed (solution.py, line 2)"
    assert result.report["load"]["message"] == message
    assert result.stderr.startswith(b"  File ")
    assert b'solution.py", line 2\n    print(x\n' in result.stderr


@pytest.mark.parametrize(
    "source",
    [b"print(1)\0", b"x = '\xff'", b"# coding: no-such", b"x = " + b"-" * 100_000 + b"1"],
)
def test_whatever_the_compiler_raises_is_no_exception_of_the_programs(
    zygote: Zygote, source: bytes
) -> None:
    result = zygote.program(source)
    assert result.report["load"]["kind"] == "compile", result.explanation
    assert status(result) == 1


def test_a_syntax_error_that_a_running_program_meets_is_its_own(zygote: Zygote) -> None:
    result = zygote.program("print('ran')\neval('1 +')")
    assert (result.stdout, status(result)) == (b"ran\n", 1)
    assert result.report["load"] is None


def test_a_program_that_compiles_with_a_warning_runs(zygote: Zygote) -> None:
    result = zygote.program("x = 1\nprint(x is 1)")
    assert (result.stdout, status(result)) == (b"True\n", 0)
    assert b"SyntaxWarning" in result.stderr


def test_a_traceback_shows_the_programs_frames_only(zygote: Zygote) -> None:
    stderr = zygote.program("def f():\n    1 / 0\nf()\n").stderr.decode()
    assert stderr.startswith("Traceback (most recent call last):\n  File ")
    assert stderr.count("File ") == 2
    assert "solution.py" in stderr
    assert "    1 / 0\n" in stderr


def test_arguments_and_files_are_handed_over(zygote: Zygote) -> None:
    source = code(
        """
        import sys
        from helper.tools import X
        print(sys.argv[1:], open('data.txt').read(), X)
        """
    )
    files = {"data.txt": b"content", "helper/tools.py": b"X = 5"}
    result = zygote.program(source, args=["a b", "--c"], files=files)
    assert result.stdout == b"['a b', '--c'] content 5\n"


def test_megabytes_go_in_and_out(zygote: Zygote) -> None:
    size = 5 << 20
    source = "import sys\ndata = sys.stdin.read()\nprint(data)\nprint(data, file=sys.stderr)"
    result = zygote.program(source, b"x" * size, output_bytes=16 << 20)
    assert len(result.stdout) == len(result.stderr) == size + 1
    assert result.report["limits"] == []


def test_input_that_nobody_reads_is_no_fault(zygote: Zygote) -> None:
    result = zygote.program("print('done')", b"x" * (5 << 20))
    assert (result.stdout, status(result)) == (b"done\n", 0)


def test_of_too_much_output_the_beginning_is_kept_and_the_size_told(zygote: Zygote) -> None:
    result = zygote.program("print('x' * 200_000)", output_bytes=100_000)
    assert result.stdout == b"x" * 100_000
    assert result.report["stdout_size"] == 200_001


def test_a_hole_in_the_output_reads_as_zeros(zygote: Zygote) -> None:
    result = zygote.program("import os; os.pwrite(1, b'x', 50_000)", output_bytes=100_000)
    assert result.stdout == bytes(50_000) + b"x"


def test_input_is_a_file_that_can_be_read_again(zygote: Zygote) -> None:
    source = """
import os, sys
first = sys.stdin.read()
sys.stdin.seek(0)
print(first == sys.stdin.read() == os.pread(0, os.fstat(0).st_size, 0).decode())
"""
    assert zygote.program(source, b"1\n2\n").stdout == b"True\n"


def test_exactly_the_allowed_output_is_no_limit(zygote: Zygote) -> None:
    result = zygote.program("print('x' * 99_999)", output_bytes=100_000)
    assert result.report["limits"] == []
    assert len(result.stdout) == 100_000


def test_output_of_children_belongs_to_the_program(zygote: Zygote) -> None:
    source = "import subprocess\nsubprocess.run(['/bin/echo', 'child'])\nprint('parent')"
    assert zygote.program(source).stdout == b"child\nparent\n"


def test_a_program_has_no_way_to_the_judge(zygote: Zygote) -> None:
    source = code(
        """
        import os, stat
        for name in os.listdir('/proc/self/fd'):
            try:
                mode = os.fstat(int(name)).st_mode
            except OSError:
                continue
            print(name, stat.S_ISSOCK(mode))
        """
    )
    lines = zygote.program(source).stdout.decode().split("\n")
    assert {"0 False", "1 False", "2 False"} <= set(lines)
    assert not any("True" in line for line in lines)


def test_a_program_that_waits_is_ended_from_outside_and_reported(zygote: Zygote) -> None:
    source = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
    result = zygote.program(source, wall_seconds=0.5)
    assert result.reply.timed_out
    assert result.stdout == b"begun\n"


def test_the_standard_streams_use_utf_8_whatever_the_environment(zygote: Zygote) -> None:
    source = "import sys\nprint(*(s.encoding for s in (sys.stdin, sys.stdout, sys.stderr)))"
    assert zygote.program(source).stdout == b"utf-8 utf-8 utf-8\n"

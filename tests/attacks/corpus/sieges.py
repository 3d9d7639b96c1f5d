"""Completions that would break the judge or its machinery, and so buy themselves out of a verdict.

None of them may get a reward, an invalid task or no verdict at all, and each must end in time.
"""

from __future__ import annotations

from dataclasses import dataclass

from reward_server.domain import CallTests, FunctionTests
from tests.attacks import problems
from tests.attacks.attack import code
from tests.attacks.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Siege:
    """A completion that lays siege to the judge.

    Attributes:
        name: what it does.
        problem: what it claims to solve.
        completion: the completion.
    """

    name: str
    problem: Problem
    completion: str


def _answer(name: str, result: str, problem: Problem = problems.EQUAL, before: str = "") -> Siege:
    """A completion that returns `result`, an expression."""
    return Siege(
        name=name, problem=problem, completion=f"{before}def solve(x):\n    return {result}\n"
    )


def _action(name: str, body: str, problem: Problem = problems.EQUAL) -> Siege:
    """A completion that does something in the call."""
    lines = "".join(f"    {line}\n" for line in code(body).splitlines())
    return Siege(name=name, problem=problem, completion=f"def solve(x):\n{lines}")


def _source(name: str, completion: str, problem: Problem = problems.EQUAL) -> Siege:
    return Siege(name=name, problem=problem, completion=completion)


NESTED = code("""
    def nested(depth, kind):
        value = kind()
        for _ in range(depth):
            value = kind([value]) if kind is not dict else {0: value}
        return value
""")

RESULTS = (
    _answer("a list nested a hundred thousand deep", "nested(100_000, list)", before=NESTED),
    _answer("a list nested as deep as may cross", "nested(98, list)", before=NESTED),
    _answer("tuples nested deeper than may cross", "nested(101, tuple)", before=NESTED),
    _answer("dictionaries nested a hundred thousand deep", "nested(100_000, dict)", before=NESTED),
    _answer("a list that contains itself", "loop", before="loop = []\nloop.append(loop)\n"),
    _answer("a dictionary that contains itself", "loop", before="loop = {}\nloop[0] = loop\n"),
    _answer("an integer that cannot be printed", "1 << 20_000"),
    _answer("an integer of a million digits", "1 << 3_500_000"),
    _answer("an integer larger than what may cross", "1 << 40_000_000"),
    _answer("an integer that cannot be printed, as text", "1 << 20_000", problems.TEXT),
    _answer("an integer that cannot be printed, formatted", "1 << 20_000", problems.FORMATTED),
    _answer("a text of a hundred megabytes", "'x' * 100_000_000"),
    _answer("bytes of thirty megabytes", "bytes(30_000_000)"),
    _answer("a text of lone surrogates", "'\\ud800' * 1000"),
    _answer("a text of lone surrogates where JSON is compared", "'\\ud800'", problems.CALLED),
    _answer("a text with every control character", "''.join(map(chr, range(32)))", problems.CALLED),
    _answer(
        "a dictionary of keys with one hash",
        "{number * (2**61 - 1): 0 for number in range(30_000)}",
    ),
    _answer("a set of keys with one hash", "{n * (2**61 - 1) for n in range(30_000)}"),
    _answer(
        "a set of tuples with one hash",
        "{(n * (2**61 - 1), n * (2**61 - 1)) for n in range(5_000)}",
    ),
    _answer("a million empty lists", "[[] for _ in range(1_000_000)]"),
    _answer("three million small numbers", "list(range(3_000_000))"),
    _answer("a number beyond numbers", "float('inf')", problems.ROUNDED),
    _answer("a number that is none", "float('nan')", problems.TOLERANCE_REVERSED),
    _answer(
        "a decimal with a huge exponent",
        "decimal.Decimal('1e999999999')",
        before="import decimal\n",
    ),
    _answer(
        "a decimal that signals when it is compared",
        "decimal.Decimal('sNaN')",
        before="import decimal\n",
    ),
    _answer(
        "a fraction of huge numbers",
        "fractions.Fraction(3 ** 900_000, 2 ** 900_000)",
        problems.TOLERANCE,
        before="import fractions\n",
    ),
    _answer("a range longer than any list", "range(10**18)", problems.COUNTED),
    _answer("a range whose sum takes for ever", "range(10**15)", problems.SUMMED),
    _answer("a range whose maximum takes for ever", "range(10**15)", problems.LARGEST),
    _answer("a range that fills all memory when sorted", "range(10**10)", problems.SORTED),
    _answer(
        "a generator whose maximum takes for ever",
        "itertools.count()",
        problems.LARGEST,
        before="import itertools\n",
    ),
    _answer(
        "a generator that fills all memory when sorted",
        "('x' * 100_000 for _ in itertools.count())",
        problems.SORTED,
        before="import itertools\n",
    ),
)

PRETENDER = code("""
    class Pretender:
        def __init__(self, *arguments): pass
        def __len__(self): return 2**62
        def __iter__(self): return self
        def __next__(self): return self
        def __getattr__(self, name): return Pretender()
        def __call__(self, *arguments): return Pretender()
        def __getitem__(self, key): return Pretender()
        def __hash__(self): return 2**63 + 5
        def __repr__(self): return 'x' * 10_000_000
        def __str__(self): return chr(0xD800)
        def __bool__(self): raise SystemExit(0)
        def __eq__(self, other): raise MemoryError('no room')
        def __format__(self, specification): return 7
        def __round__(self, digits=None): return chr(0xD800)
        def __index__(self): return 'x'
        def __contains__(self, item): return 2
        def __float__(self): return 'x'
""")
PRETENDED = tuple(
    _answer(f"an object of endless pretensions: {problem.name}", "Pretender()", problem, PRETENDER)
    for problem in problems.PROBLEMS
    if isinstance(problem.tests, FunctionTests | CallTests)
)

RAISED = (
    _action("an exception whose message is no text", "raise ValueError(chr(0xD800))"),
    _action(
        "an exception whose message is no text, where JSON is compared",
        "raise ValueError(chr(0xD800))",
        problems.CALLED,
    ),
    _action("an exception whose message is endless", "raise ValueError('x' * 50_000_000)"),
    _action(
        "an exception with arguments that hold each other",
        "loop = []\nloop.append(loop)\nraise ValueError(loop)",
    ),
    _action("an exception without a proper name", "raise type(chr(0xD800), (Exception,), {})()"),
    _action(
        "an exception with a name that is none",
        "raise type('a b\\n;', (ValueError,), {'__module__': None})()",
    ),
    _action(
        "an exception whose text raises",
        """
        class Worse(Exception):
            def __str__(self): raise Worse
            __repr__ = __str__
        raise Worse
    """,
    ),
    _action(
        "an exception whose text leaves",
        """
        class Worse(Exception):
            def __str__(self): raise SystemExit(0)
            __repr__ = __str__
        raise Worse
    """,
    ),
    _action(
        "a group of exceptions", "raise ExceptionGroup('all', [StopIteration(), ValueError()])"
    ),
    _action(
        "a chain of exceptions that closes",
        """
        one, other = ValueError(), KeyError()
        one.__cause__, other.__cause__ = other, one
        raise one
    """,
    ),
    _action(
        "an exception with a base of another layout",
        """
        class Both(OSError, KeyError): pass
        raise Both(1, 2, 3, 4, 5)
    """,
    ),
    _action("a decoding error made up", "raise UnicodeDecodeError('x', b'', -1, 2**31, 'y')"),
    _action("a syntax error made up", "raise SyntaxError('x', ('<test_code>', 10**9, 1, 'y'))"),
    _action("memory said to be out", "raise MemoryError('cannot allocate')"),
    _action("an interrupt", "raise KeyboardInterrupt"),
    _action("a generator's end", "raise GeneratorExit"),
    _action(
        "an error of the judge's own name",
        """
        import sys
        for name, module in list(sys.modules.items()):
            for kind in vars(module).values() if name.startswith('runner.') else ():
                if isinstance(kind, type) and issubclass(kind, BaseException):
                    if kind.__name__ in ('TaskError', 'SessionEnded', 'NotLoaded'):
                        raise kind('x')
        class TaskError(Exception): pass
        raise TaskError
    """,
    ),
    _action("recursion without end", "return solve(x)"),
)

ENDINGS = (
    _action("a kill of itself", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    _action("a kill of everybody", "import os, signal\nos.kill(-1, signal.SIGKILL)"),
    _action("a kill of its group", "import os, signal\nos.killpg(0, signal.SIGKILL)"),
    _action("a kill of the first process", "import os, signal\nos.kill(1, signal.SIGKILL)"),
    _action(
        "a kill of every process it can name",
        """
        import os
        for number in range(1, 40_000):
            try:
                os.kill(number, 9)
            except OSError:
                pass
    """,
    ),
    _action("an abort", "import os\nos.abort()"),
    _action("a crash", "import ctypes\nctypes.string_at(0)"),
    _action(
        "a stack that overflows",
        """
        import sys
        sys.setrecursionlimit(10**9)
        def deeper(): return [deeper() for _ in (1,)]
        deeper()
    """,
    ),
    _action("a stop of itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    _action("a forbidden call", "import ctypes\nctypes.CDLL(None).unshare(0x10000000)"),
    _action("every descriptor closed", "import os\nos.closerange(0, 4096)"),
    _action(
        "every descriptor closed, and a long wait",
        "import os, time\nos.closerange(0, 4096)\ntime.sleep(60)",
    ),
    _action(
        "half a frame, and a long wait",
        """
        import os, stat, time
        for number in range(256):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.write(number, b'\\0\\0\\1\\0[')
            except OSError:
                pass
        time.sleep(60)
    """,
    ),
    _action(
        "a frame that never ends",
        """
        import os, stat
        for number in range(256):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.set_blocking(number, True)
                    while True:
                        os.write(number, bytes(1) * 65536)
            except OSError:
                pass
    """,
    ),
    _action(
        "a child that keeps the channel",
        """
        import ctypes, os, time
        if ctypes.CDLL(None).fork() == 0:
            time.sleep(60)
        os._exit(0)
    """,
    ),
    _action(
        "a child that keeps standard output",
        """
        import os, time
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    """,
    ),
    _action(
        "limits of its own that leave nothing",
        """
        import resource
        for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS):
            resource.setrlimit(limit, (0, 0))
        return list(range(10_000))
    """,
    ),
    _action(
        "no processor time left",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (0, 0))
        while True:
            pass
    """,
    ),
    _action("a module table emptied", "import sys\nsys.modules.clear()"),
    _action("built-ins emptied", "import builtins\nvars(builtins).clear()"),
    _action(
        "the runner's own modules emptied",
        """
        import sys
        for name, module in list(sys.modules.items()):
            if 'runner' in name:
                vars(module).clear()
    """,
    ),
    _action("a recursion limit of the least", "import sys\nsys.setrecursionlimit(12)"),
    _action(
        "standard streams replaced by nothing",
        "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None",
    ),
    _action(
        "descriptors sent to the judge",
        """
        import os, socket, stat
        for number in range(256):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    channel = socket.socket(fileno=os.dup(number))
                    for _ in range(50):
                        socket.send_fds(channel, [b'x'], [0] * 200)
            except OSError:
                pass
    """,
    ),
    _action(
        "the channel shut for writing",
        """
        import os, socket, stat
        for number in range(256):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    socket.socket(fileno=os.dup(number)).shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
    """,
    ),
    _action(
        "a folder removed from under itself",
        "import os, shutil\nshutil.rmtree(os.getcwd(), ignore_errors=True)",
    ),
)

SOURCES = (
    _source("no program", ""),
    _source("a program of white space", "\n" * 100_000),
    _source("a program of zeros", "\0" * 1000),
    _source("a program of a million open brackets", "(" * 1_000_000),
    _source("a program of a million minus signs", "x = " + "-" * 1_000_000 + "1\n"),
    _source("a program of attributes of attributes", "x = a" + ".a" * 200_000 + "\n"),
    _source("a program of nested lambdas", "x = " + "lambda: " * 90_000 + "1\n"),
    _source("a program of nested blocks", "".join(" " * n + "if 1:\n" for n in range(2_000))),
    _source("a program of nested texts", "x = " + "f'{" * 500 + "}'" * 500 + "\n"),
    _source("a program with a number of a million digits", "x = " + "9" * 1_000_000 + "\n"),
    _source("a program with a constant that fills memory", "x = 'a' * 10**9 * 10**3\n"),
    _source("a program with a power that takes for ever", "x = 9**9**9**9\n"),
    _source("a program of a megabyte in one line", "x = '" + "a" * 1_000_000 + "'\n"),
    _source("a program of a hundred thousand statements", "x = 1\n" * 100_000),
    _source("a program in an encoding that is none", "# coding: no-such-codec\nx = 1\n"),
    _source("a program in an encoding that hides", "# coding: utf-7\n+AGQAZQBm- x\n"),
    _source("a program that is prose", "I am sorry, but I cannot help with that."),
    _source("a program of invisible characters", "def solve(x):\u2028\u200b\n    return 1\n"),
)

SIEGES = (*RESULTS, *RAISED, *ENDINGS, *SOURCES)

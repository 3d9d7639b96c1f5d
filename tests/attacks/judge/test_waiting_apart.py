"""Python's tests judged apart: time that goes by, depth, bases of exceptions, and labels asked for.

Each row states what must hold. A completion of `WRONG` fails in an ordinary process and earns
nothing as ISOLATED, and the right one beside it passes both. Those of `HONEST` pass an ordinary
process, and pass here.
"""

from __future__ import annotations

import asyncio
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    FunctionTests,
    Integrity,
    Placement,
    StdioCase,
    StdioTests,
    Tests,
    UnitTests,
)
from reward_server.errors import UnsupportedError
from tests.attacks.attack import code
from tests.attacks.judge.test_prompts_apart import SLOW, checks, files, told
from tests.attacks.python_tests import submission_of
from tests.honest.ordinary import run_files, run_functions
from tests.support.common import on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = on_the_servers_loop


@dataclass(frozen=True, kw_only=True)
class Row:
    """What judges completions, and one that is right.

    Args:
        right: it passes in an ordinary process.
        wrong: it does not; "" for none.
        tests: the task's.
        prompt: the task's.
        is_required: whether the request requires ISOLATED.
    """

    right: str
    tests: Tests
    wrong: str = ""
    prompt: str = ""
    is_required: bool = False


def in_file(body: str, entry: str = "f") -> UnitTests:
    text = textwrap.indent(code(body).replace("candidate", entry), "    ")
    return files(f"from solution import {entry}\ndef test_a():\n{text}")


def both(name: str, *, right: str, body: str, wrong: str = "", entry: str = "f") -> dict[str, Row]:
    return {
        f"{name}, function tests": Row(right=right, wrong=wrong, tests=checks(body, entry)),
        f"{name}, a test file": Row(right=right, wrong=wrong, tests=in_file(body, entry)),
    }


COUNTS = told("LOG = []")
COUNT_TEST = checks("assert f(1) == 1\nassert LOG == []")
LOGS = "def f(x):\n    LOG.append(x)\n    return x\n"
IS_SAME = "def f(x):\n    return x\n"
TIMED = """
    import time
    began = time.process_time()
    assert candidate(3) == 3
    assert time.process_time() - began < 0.3
"""
FORBIDS = """
    from unittest.mock import patch
    def no(*args): raise RuntimeError
    with patch('builtins.sorted', no):
        assert candidate([2, 1]) == [1, 2]
"""
BY_HAND = """
    def f(xs):
        ys = []
        while xs:
            ys.append(min(xs))
            xs = [*xs[: xs.index(min(xs))], *xs[xs.index(min(xs)) + 1 :]]
        return ys
"""
IS_GIVEN = "assert not hasattr(candidate(1), '__post_init__')\nassert candidate(1).x == 1"
PLAIN_P = "class P:\n    def __init__(self, x):\n        self.x = x\n"

REQUIRED = {
    "a list of the prompt's": Row(right=IS_SAME, wrong=LOGS, tests=COUNT_TEST, prompt=COUNTS),
    "CPU time": Row(right=IS_SAME, wrong=SLOW, tests=checks(TIMED)),
    "what a patch forbids": Row(
        right=BY_HAND, wrong="def f(xs):\n    return sorted(xs)\n", tests=checks(FORBIDS)
    ),
    "a special method that must be absent": Row(
        right=PLAIN_P,
        wrong=PLAIN_P + "    def __post_init__(self):\n        pass\n",
        tests=checks(IS_GIVEN, "P"),
    ),
}


def placed(row: Row) -> Row:
    assert isinstance(row.tests, FunctionTests)
    return replace(row, tests=replace(row.tests, placement=Placement.ISOLATED))


BYPASSED = {
    **{f"{name}, required": replace(row, is_required=True) for name, row in REQUIRED.items()},
    **{f"{name}, placed": placed(row) for name, row in REQUIRED.items()},
}

TICKER = """
    import asyncio
    class S:
        def __init__(self): self.count = 0
        async def start(self): self.task = asyncio.create_task(self.run())
        async def run(self):
            while True:
                await asyncio.sleep(0.01)
                self.count += 1
        async def stop(self): self.task.cancel()
"""
NO_STOP = code(TICKER).replace("self.task.cancel()", "pass")
STOPS = """
    import asyncio
    async def main():
        s = candidate()
        await s.start()
        await s.stop()
        await asyncio.sleep(0.1)
        assert s.count == 0
    asyncio.run(main())
"""
LATER = """
    import asyncio
    class S:
        def __init__(self): self.done = []
        async def submit(self, x): self.done.append(x)
        def later(self, x): asyncio.get_running_loop().call_later(0.01, self.done.append, x)
"""
TOO_LATE = code(LATER).replace("self.done.append(x)", "self.later(x)")
SUBMITS = """
    import asyncio
    async def main():
        s = candidate()
        await s.submit(1)
        before = list(s.done)
        await asyncio.sleep(0.1)
        assert s.done == before
    asyncio.run(main())
"""
COROUTINES = {
    **both("a task that must be stopped", right=TICKER, wrong=NO_STOP, body=STOPS, entry="S"),
    **both("what must not come later", right=LATER, wrong=TOO_LATE, body=SUBMITS, entry="S"),
}
RUNS = code(STOPS).replace("    await s.stop()\n", "").replace("== 0", "> 0")
CALLS_LATER = """
    import asyncio
    async def main():
        s = candidate()
        s.later(1)
        await asyncio.sleep(0.1)
        assert s.done == [1]
    asyncio.run(main())
"""
WAITS = {
    **both("a task that goes on while tests sleep", right=TICKER, body=RUNS, entry="S"),
    **both("a plain call that starts a timer", right=LATER, body=CALLS_LATER, entry="S"),
}

TIMER = """
    import threading
    class S:
        def __init__(self, function): self.function = function
        def call(self, x):
            self.timer = threading.Timer(0.02, self.function, (x,))
            self.timer.start()
        def cancel(self): self.timer.cancel()
"""
CANCELS = """
    import time
    got = []
    s = candidate(got.append)
    s.call(1)
    s.cancel()
    time.sleep(0.7)
    assert got == []
"""
# Long enough that a busy machine reaches the cancellation first.
LONG_TIMER = code(TIMER).replace("Timer(0.02,", "Timer(0.4,")
FILLS = """
    import threading, time
    def f(xs):
        def work():
            time.sleep(0.05)
            xs.append(1)
        threading.Thread(target=work).start()
        return len(xs)
"""
THREADS = {
    "a timer that must be cancelled": Row(
        right=LONG_TIMER,
        wrong=LONG_TIMER.replace("self.timer.cancel()", "pass"),
        tests=checks(CANCELS, "S"),
    ),
    "an argument that must stay": Row(
        right="def f(xs):\n    return len(xs)\n",
        wrong=FILLS,
        tests=checks("import time\nxs = []\nassert f(xs) == 0\ntime.sleep(0.2)\nassert xs == []\n"),
    ),
}
CALLS_BACK = (
    code(CANCELS).replace("s.cancel()\n", "").replace("== []", "== [1]").replace("0.7", "0.3")
)
FILLED = "import time\nxs = []\nf(xs)\ntime.sleep(0.2)\nassert xs == [1]\n"
WORKS = {
    "a timer that calls the tests": Row(right=TIMER, tests=checks(CALLS_BACK, "S")),
    "an argument that is filled later": Row(right=FILLS, tests=checks(FILLED)),
}

TURNS = """
    import time
    xs = []
    assert f(xs) == 0
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    assert xs == []
"""
THREADS["an argument that must stay while the tests look at a clock"] = Row(
    right="def f(xs):\n    return len(xs)\n", wrong=FILLS, tests=checks(TURNS)
)

RAISES_TWO = "class Both({}, {}): pass\ndef f():\n    raise Both('x')\n"
NO_LOOKUP = """
    try:
        candidate()
    except LookupError:
        assert False, 'no look-up'
    except ValueError:
        pass
    else:
        assert False
"""
BASES = both(
    "an error with two bases",
    right="def f():\n    raise ValueError('x')\n",
    wrong=RAISES_TWO.format("ValueError", "KeyError"),
    body=NO_LOOKUP,
)
HONEST_BASES = both(
    "an error with two bases",
    right=RAISES_TWO.format("LookupError", "ValueError"),
    body="import pytest\nwith pytest.raises(ValueError):\n    candidate()\n",
)

THREE = "class A(LookupError): pass\nclass B(A, ValueError): pass\ndef f():\n    raise B('x')\n"
HONEST_BASES |= both(
    "an error that the solution derives from one of its own",
    right=THREE,
    body="import pytest\nfor kind in (LookupError, ValueError):\n"
    "    with pytest.raises(kind, match='x'):\n        candidate()\n",
)
DEEP = "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\n"
LOOPS = "import math\ndef f(n):\n    return math.factorial(n)\n"
READS = "    print(f(int(input())) > 0)\n"
DEPTH = {
    **both(
        "a depth of 1,000",
        right=LOOPS,
        wrong=DEEP,
        body="import math\nassert candidate(1000) == math.factorial(1000)\n",
    ),
    "a depth of 1,000, a program": Row(
        right=LOOPS + READS.lstrip(),
        wrong=DEEP + READS.lstrip(),
        tests=StdioTests(cases=(StdioCase(stdin=b"1000\n", expected_stdout=b"True\n"),)),
    ),
}

ADDS = "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n"
CALLS = "def f(g, n):\n    return g(n) if n == 0 else f(g, n - 1)\n"
DEPTHS = {
    **both("a depth of 900", right=ADDS, body="assert candidate(900) == 900\n"),
    "a depth of 990, called": Row(right=ADDS, tests=checks("assert f(990) == 990\n")),
    "a depth of 990, a program": Row(
        right=ADDS + "print(f(int(input())) > 0)\n",
        tests=StdioTests(cases=(StdioCase(stdin=b"990\n", expected_stdout=b"True\n"),)),
    ),
    "a depth of 980, then a function of the tests'": Row(
        right=CALLS, tests=checks("assert f(lambda n: n + 1, 980) == 1\n")
    ),
    "functions of the solution's and the tests' in turn": Row(
        right="def f(g, n):\n    return n and 1 + g(n - 1)\n",
        tests=checks("def g(n): return f(g, n)\nassert f(g, 30) == 30\n"),
    ),
}

WRONG = {
    **{f"required, {name}": row for name, row in BYPASSED.items()},
    **{f"coroutines, {name}": row for name, row in COROUTINES.items()},
    **{f"threads, {name}": row for name, row in THREADS.items()},
    **BASES,
    **DEPTH,
}
HONEST = {
    **{f"coroutines, {name}": row for name, row in WAITS.items()},
    **{f"threads, {name}": row for name, row in WORKS.items()},
    **HONEST_BASES,
    **DEPTHS,
}


async def assess(app: App, row: Row, solution: str) -> Assessment | None:
    """Returns None where the request is refused, whatever the completion."""
    submission = submission_of(solution, row.tests, row.prompt)
    if row.is_required:
        submission = replace(submission, require_integrity=Integrity.ISOLATED)
    try:
        return await app.evaluation.score(submission)
    except UnsupportedError:
        return None


async def ordinary(row: Row, solution: str, folder: Path) -> str:
    """Returns what went wrong in an ordinary process."""
    if isinstance(row.tests, FunctionTests):
        arguments = (code(solution), row.tests, row.prompt, folder)
        return await asyncio.to_thread(run_functions, *arguments)
    if isinstance(row.tests, UnitTests):
        return await asyncio.to_thread(run_files, code(solution), row.tests, folder)
    assert isinstance(row.tests, StdioTests)
    (case,) = row.tests.cases
    text = f"import io, sys\nsys.stdin = io.StringIO({case.stdin.decode()!r})\n{code(solution)}"
    program = FunctionTests(entry_point="", test_code="")
    return await asyncio.to_thread(run_functions, text, program, "", folder)


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@each_row(WRONG, 8)
async def test_an_ordinary_process_tells_right_from_wrong(row: Row, tmp_path: Path) -> None:
    for name in ("wrong", "right"):
        tmp_path.joinpath(name).mkdir()
    assert await ordinary(row, row.wrong, tmp_path / "wrong")
    assert not await ordinary(row, row.right, tmp_path / "right")


@each_row(HONEST, 8)
async def test_an_ordinary_process_passes_an_honest_solution(row: Row, tmp_path: Path) -> None:
    assert not await ordinary(row, row.right, tmp_path)


@each_row(WRONG)
async def test_a_wrong_solution_earns_nothing(app: App, row: Row) -> None:
    found = await assess(app, row, row.wrong)
    assert found is None or not found.reward or found.integrity is not Integrity.ISOLATED, found


@each_row(WRONG, 6)
async def test_the_right_solution_beside_it_passes(app: App, row: Row) -> None:
    found = await assess(app, row, row.right)
    assert found is None or found.reward == 1, found


@each_row(HONEST, 6)
async def test_an_honest_solution_passes(app: App, row: Row) -> None:
    found = await assess(app, row, row.right)
    assert found is not None
    assert found.reward == 1, found

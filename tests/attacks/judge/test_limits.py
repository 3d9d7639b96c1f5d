"""What passed before a completion hit a limit, or crashed, counts where a part is rewarded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import (
    CallCase,
    CallTests,
    Framework,
    FunctionTests,
    RewardPolicy,
    RewardPolicyKind,
    UnitTests,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import LIMITS, submission_of
from tests.support.common import Judge, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)
THREE = code("""
    from solution import f
    def test_a():
        assert f(1) == 1
    def test_b():
        assert f(2) == 2
    def test_c():
        assert f(3) == 3
""")
FILES = UnitTests(framework=Framework.PYTEST, files=(("test_s.py", THREE),))
DATA = FunctionTests(entry_point="f", asserts=tuple(f"assert f({n}) == {n}" for n in (1, 2, 3)))
OBJECTS = replace(DATA, asserts=tuple(f"assert A({n}).twice() == {2 * n}" for n in (1, 2, 3)))
CALLS = CallTests(
    entry_point="f",
    cases=tuple(CallCase(args_json=f"[{n}]", expected_json=f"{n}") for n in (1, 2, 3)),
)
LOOPING = """
    class A:
        def __init__(self, v):
            self.v = v
        def twice(self):
            while self.v == 3:
                pass
            return 2 * self.v
    f = A
"""
CRASHING = "import ctypes\ndef f(x):\n    return x if x < 3 else ctypes.string_at(0)\n"
LAST = {
    "objects, a time limit": (OBJECTS, LOOPING),
    "test files, a memory limit": (
        FILES,
        "def f(x):\n    return x if x < 3 else len(bytearray(800 << 20))\n",
    ),
    "test files, a crash": (FILES, CRASHING),
    "test files, too large a result": (
        FILES,
        "def f(x):\n    return x if x < 3 else 'a' * (200 << 20)\n",
    ),
    "test files, a recursion without end": (
        FILES,
        "def f(x):\n    return x if x < 3 else f(x)\n",
    ),
    "data, a crash": (DATA, CRASHING),
    "calls, a crash": (CALLS, CRASHING),
}


@pytest.mark.parametrize("name", sampled(list(LAST), 2))
async def test_what_passed_before_the_last_test_counts(name: str, judge_of_files: Judge) -> None:
    tests, solution = LAST[name]
    limits = replace(LIMITS, wall_time_seconds=4.0, cpu_time_seconds=3.0)
    submission = submission_of(solution, tests)
    found = await judge_of_files.score(replace(submission, limits=limits, reward_policy=FRACTION))
    assert found.reward == pytest.approx(2 / 3), found

"""A hole in the judge is no reward: a pass that came through it is not confirmed.

The judges of this module have a hole that any solution can use (`weak_judge`). The attacks are what
was done through holes that were found, and what could be done through others.
"""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.app import running_app
from reward_server.domain import (
    CallCase,
    CallTests,
    Framework,
    FunctionTests,
    Integrity,
    RewardPolicy,
    RewardPolicyKind,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.evaluation.graders.confirmation import Confirmation
from reward_server.settings import Settings
from tests.attacks.attack import code
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop

WEAK = Path(__file__).parent / "weak_judge"

CHECK = FunctionTests(
    entry_point="Stack",
    test_code=code("""
        def check(candidate):
            s = candidate()
            assert s.is_empty
            for value in (3, 1, 4, 1, 5):
                s.push(value)
            assert not s.is_empty
            assert s.size == 5
            assert s.top == 5
            assert s.values == [3, 1, 4, 1, 5]
            for step, left in [(1, 4), (2, 3), (3, 2)]:
                s.pop()
                assert s.size == left
    """),
)
ONE = FunctionTests(
    entry_point="Stack",
    test_code="def check(candidate):\n    assert candidate().size == 0",
)
ASSERTS = FunctionTests(
    asserts=(
        "assert Stack().size == 0",
        "assert Stack().values == []",
        "assert Stack().top is None",
    )
)
SCRIPT = FunctionTests(
    test_code=code("""
        def test_stack():
            s = Stack()
            assert s.size == 0
            s.push(1)
            assert s.top == 1
        test_stack()
    """)
)
REFERENCE = FunctionTests(
    entry_point="Stack",
    test_code=code("""
        def expected(count):
            return sum(range(count))
        def check(candidate):
            for count in range(1, 5):
                s = candidate()
                for value in range(count):
                    s.push(value)
                assert s.total == expected(count)
    """),
)
UNITTEST = UnitTests(
    framework=Framework.UNITTEST,
    files=(
        (
            "test_stack.py",
            code("""
                import unittest
                from solution import Stack
                class TestStack(unittest.TestCase):
                    def setUp(self):
                        self.s = Stack()
                    def test_size(self):
                        self.s.push(2)
                        self.assertEqual(self.s.size, 1)
                        self.assertEqual(self.s.values, [2])
                    def test_top(self):
                        self.s.push(2)
                        self.assertEqual(self.s.top, 2)
                        self.assertFalse(self.s.is_empty)
            """),
        ),
    ),
)
ALL = {
    "check": CHECK,
    "one assertion": ONE,
    "asserts": ASSERTS,
    "script": SCRIPT,
    "computed": REFERENCE,
    "unittest": UNITTEST,
}

HONEST = code("""
    class Stack:
        def __init__(self):
            self.values = []
        def push(self, value):
            self.values.append(value)
        def pop(self):
            self.values.pop()
        @property
        def size(self):
            return len(self.values)
        @property
        def total(self):
            return sum(self.values)
        @property
        def is_empty(self):
            return not self.values
        @property
        def top(self):
            return self.values[-1] if self.values else None
""")

# What runs in the judge, whatever the tests look at.
HOLES = {
    "rewrites the equality of proxies": """
        from runner.judge.proxies.proxy import Proxy
        Proxy.__eq__ = lambda self, other: True
        Proxy.__ne__ = lambda self, other: False
        result = session.resolve(["object", 0, "", 0])
    """,
    "makes an object of the judge that equals everything": """
        class Equal:
            __eq__ = lambda self, other: True
            __ne__ = lambda self, other: False
            __hash__ = None
        result = Equal()
    """,
    "makes a class of the judge with an equality of its own": """
        kind = type("Kind", (int,), {"__eq__": lambda self, other: True, "__hash__": None})
        result = kind(1)
    """,
    "has every outcome recorded as passed": """
        from runner.frameworks import unittest_driver
        from runner.judge.tests import run
        run.outcome_of = lambda error: "PASSED"
        from runner.judge.tests import isolated_test_files
        isolated_test_files._Course.end = lambda self, index, *_: bool(
            setattr(self._report.tests[index], "outcome", "PASSED") or True
        )
        result = 1
    """,
    "reads the expected values in the tests' own code": """
        import sys
        frame = sys._getframe()
        while "s" not in frame.f_locals and "self" not in frame.f_locals or (
            not frame.f_code.co_name.startswith(("check", "test", "<module"))
        ):
            frame = frame.f_back
        import dis
        result, wanted = None, frame.f_lasti
        seen = list(dis.get_instructions(frame.f_code))
        for one in seen:
            if one.offset > wanted and one.opname == "LOAD_CONST":
                result = one.argval
                break
    """,
    "answers True to whatever is asked": """
        class Yes(int):
            __bool__ = lambda self: True
            __eq__ = __lt__ = __gt__ = lambda self, other: True
        result = Yes(1)
    """,
}


def attack(hole: str) -> str:
    """A solution that has the judge run a text whenever an attribute is looked at."""
    return code(f"""
        class Stack:
            def push(self, value): pass
            def pop(self): pass
            def __getattr__(self, name):
                if name.startswith("__"):
                    raise AttributeError(name)
                return "hole:" + {code(hole)!r}
    """)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def weak_judge() -> AsyncIterator[Judge]:
    """Yields a judge with a hole."""
    settings = Settings(
        port=0, workers=1, sandbox_packages=(WEAK,), sandbox_preload=("weak_judge",)
    )
    async with running_app(settings) as app:
        yield Judge(app.evaluation)


@pytest.fixture
def unconfirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believes a judge at once."""

    async def believed(self: Confirmation, run: object) -> list[object]:
        return [run]

    monkeypatch.setattr(Confirmation, "confirmed", believed)


@pytest.mark.parametrize("tests", ALL.values(), ids=ALL)
async def test_an_honest_solution_is_confirmed_by_a_judge_with_a_hole(
    weak_judge: Judge, tests: Tests
) -> None:
    assessment = await weak_judge(HONEST, tests, limits=FILE_LIMITS)
    assert assessment.reward == 1.0, assessment
    assert assessment.integrity is Integrity.ISOLATED
    assert assessment.usage.executions > 1
    assert not assessment.signals


@pytest.mark.promise("A solution that uses a deliberate hole in the judge earns nothing.", "Labels")
@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES)
async def test_an_attack_through_the_hole_is_not_confirmed(weak_judge: Judge, hole: str) -> None:
    caught = 0
    for name, tests in ALL.items():
        assessment = await weak_judge(attack(hole), tests, limits=FILE_LIMITS)
        assert is_refused(assessment), (name, assessment)
        assert assessment.integrity is Integrity.ISOLATED
        caught += assessment.signals.get("unconfirmed", 0)
    assert caught


@pytest.mark.usefixtures("unconfirmed")
@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES)
async def test_an_attack_through_the_hole_passes_where_nothing_confirms(
    weak_judge: Judge, hole: str
) -> None:
    rewards = [
        (await weak_judge(attack(hole), tests, limits=FILE_LIMITS)).reward for tests in ALL.values()
    ]
    assert 1.0 in rewards


async def test_objects_that_a_judge_takes_for_whatever_is_expected_are_not_confirmed(
    weak_judge: Judge,
) -> None:
    tests = CallTests(
        entry_point="f",
        cases=tuple(
            CallCase(args_json=f"[{x}]", expected_json=expected)
            for x, expected in enumerate(("1", '"a"', "[1, 2]", "null", "true", "[]"))
        ),
    )
    for policy in RewardPolicyKind.ALL_OR_NOTHING, RewardPolicyKind.FRACTION:
        assessment = await weak_judge(
            "def f(x): return object()", tests, policy=RewardPolicy(kind=policy)
        )
        assert assessment.verdict is Verdict.FAILED, assessment
        assert assessment.reward == 0.0
        assert assessment.signals["unconfirmed"] == 1
        assert assessment.signals["twin_passed"] >= 1


async def test_passes_of_plain_data_are_not_confirmed(weak_judge: Judge) -> None:
    tests = FunctionTests(entry_point="f", asserts=("assert f(1) == 2", "assert f(2) == [3]"))
    solution = "def f(x): return 2 if x == 1 else [3]"
    assessment = await weak_judge(solution, tests)
    assert (assessment.reward, assessment.usage.executions) == (1.0, 1)


async def test_a_failure_is_not_confirmed(weak_judge: Judge) -> None:
    assessment = await weak_judge(
        HONEST, replace(CHECK, test_code=f"{CHECK.test_code}    assert 0")
    )
    assert (assessment.verdict, assessment.usage.executions) == (Verdict.FAILED, 1)


async def test_a_share_of_the_reward_is_confirmed_too(weak_judge: Judge) -> None:
    hole = attack(HOLES["has every outcome recorded as passed"])
    tests = replace(ASSERTS, asserts=("assert Stack().push(1) == 2", *ASSERTS.asserts))
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    assessment = await weak_judge(hole, tests, policy=policy)
    assert (assessment.verdict, assessment.reward) == (Verdict.FAILED, 0.0)
    assert assessment.signals["unconfirmed"] == 1


FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)
DIES = "import ctypes\nctypes.string_at(0)"


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES)
async def test_who_dies_behind_what_the_judge_was_made_to_pass_has_no_share(
    weak_judge: Judge, hole: str
) -> None:
    """Copies may end where the true run did, and have to fail before."""
    tests = replace(ASSERTS, asserts=(*ASSERTS.asserts, "assert Stack().push(1) == 2"))
    solution = attack(hole).replace("def push(self, value): pass", "push = die", 1)
    dying = f"def die(self, value):\n{textwrap.indent(DIES, '    ')}\n{solution}"
    assessment = await weak_judge(dying, tests, policy=FRACTION)
    assert assessment.reward == 0.0, assessment
    assert assessment.integrity is Integrity.ISOLATED


THREE = code("""
    import unittest
    from solution import f
    class TestF(unittest.TestCase):
        def test_a(self):
            self.assertEqual(f(1), 1)
        def test_b(self):
            self.assertEqual(f(2), 2)
        def test_c(self):
            self.assertEqual(f(3), 3)
""")
FILES = UnitTests(framework=Framework.UNITTEST, files=(("test_s.py", THREE),))
OBJECTS = FunctionTests(asserts=tuple(f"assert f({x}).v == {x}" for x in (1, 2, 3)))
MAKES = "class A:\n    def __init__(self, v):\n        self.v = v\n"


@pytest.mark.parametrize(
    ("solution", "tests"),
    [
        (f"{DIES[:13]}\ndef f(x): return x if x < 3 else ctypes.string_at(0)", FILES),
        ("def f(x): return x if x < 3 else 'a' * (200 << 20)", FILES),
        (f"import os\n{MAKES}def f(x): return A(x) if x < 3 else os._exit(0)", OBJECTS),
        (f"{MAKES}def f(x):\n    while x == 3: pass\n    return A(x)", OBJECTS),
    ],
    ids=["crash", "large result", "exit", "time"],
)
async def test_what_passed_before_an_early_end_counts(
    weak_judge: Judge, solution: str, tests: Tests
) -> None:
    limits = replace(FILE_LIMITS, wall_time_seconds=3.0, cpu_time_seconds=1.0)
    assessment = await weak_judge(solution, tests, policy=FRACTION, limits=limits)
    assert assessment.reward == pytest.approx(2 / 3), assessment

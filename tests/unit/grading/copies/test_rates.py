"""How often a lie beside the tests is rewarded, measured over many secrets.

The tests run in this process, as the runner has them run beside a solution; the grader is the
server's. `tests/attacks/test_suites.py` has the same in the real sandbox, with fewer tries. The
whole measurement is
`TRIES=200 python -m pytest tests/unit/grading/copies/test_rates.py`.
"""

from __future__ import annotations

import os
import random
import types
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from reward_server.domain import (
    Ending,
    Execution,
    Framework,
    Integrity,
    Job,
    Limits,
    RewardPolicy,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    UnitJudgement,
    UnitTests,
    Verdict,
)
from reward_server.evaluation.graders.base import Candidate
from reward_server.evaluation.graders.python_test_files import UnitGrader, plan
from reward_server.grading.verdict import conclude
from reward_server.languages import load_languages
from tests.support.in_process import PATH, module, ran
from tests.support.sampling import times

TRIES = int(os.environ.get("TRIES", times(5, by_default=2)))
SHAPES = [(1, 20), (5, 4), (20, 1), (10, 1), (4, 1)]  # tests, and assertions in each
PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
EXECUTION = Execution(ending=Ending.COMPLETED, termination=Termination(kind=TerminationKind.EXITED))
HONEST = "def f(n):\n    return n * 37 % 1001\n"
LIAR = """
class Liar:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def f(n):
    return Liar() if n == LIE else n * 37 % 1001
"""

Behaviour = Callable[[UnitJudgement, random.Random], tuple[TestResult, ...]]


def suite(tests: int, assertions: int) -> UnitTests:
    """Writes a suite; that it uses `inspect` has it live with the solution."""
    lines = ["import inspect, unittest", "import solution", "class TestF(unittest.TestCase):"]
    lines += ["    def setUp(self):", "        inspect.signature(solution.f)"]
    for test in range(tests):
        lines.append(f"    def test_{test}(self):")
        for number in range(test * assertions + 1, (test + 1) * assertions + 1):
            lines.append(f"        self.assertEqual(solution.f({number}), {number * 37 % 1001})")
    return UnitTests(framework=Framework.UNITTEST, files=((PATH, "\n".join(lines) + "\n"),))


@dataclass(kw_only=True)
class Slots:
    """Runs tests as a behaviour does."""

    behaviour: Behaviour
    draw: random.Random

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, UnitJudgement)
        return replace(EXECUTION, tests=self.behaviour(job.work, self.draw))


async def rewarded(tests: UnitTests, behaviour: Behaviour, seed: int) -> bool:
    known = await plan(tests, "")
    assert (known.integrity, known.copies is None) == (Integrity.SHARED, False)
    grader = UnitGrader(tests=tests, plan=known, draw=random.Random(seed))
    candidate = Candidate(
        source="",
        prompt="",
        language=load_languages().find("python"),
        limits=Limits(),
        policy=RewardPolicy(),
    )
    runs = await grader.grade(candidate, Slots(behaviour=behaviour, draw=random.Random(-seed)))
    return conclude(RewardPolicy(), runs).verdict is Verdict.PASSED


def solving(solution: types.ModuleType) -> Behaviour:
    return lambda work, draw: ran(dict(work.tests.files)[PATH], solution)


def outcomes(work: UnitJudgement) -> tuple[TestResult, ...]:
    """Returns what an honest solution's run says."""
    return ran(dict(work.tests.files)[PATH], module(HONEST))


@pytest.mark.promise(
    "Beside copies, one wrong answer among right ones is never rewarded.", "Labels"
)
@pytest.mark.parametrize(("tests", "assertions"), SHAPES)
async def test_one_lie_among_honest_assertions_is_never_rewarded(
    tests: int, assertions: int
) -> None:
    found = 0
    for seed in range(TRIES):
        lie = 1 + seed % (tests * assertions)
        liar = solving(module(f"LIE = {lie}\n{LIAR}"))
        found += await rewarded(suite(tests, assertions), liar, seed)
    assert found == 0


@pytest.mark.parametrize(("tests", "assertions"), SHAPES)
async def test_an_honest_solution_is_always_rewarded(tests: int, assertions: int) -> None:
    for seed in range(times(5, by_default=2)):
        assert await rewarded(suite(tests, assertions), solving(module(HONEST)), seed)


def _passing(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    return tuple(replace(test, outcome=PASSED, message="") for test in outcomes(work))


def _guessing(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    """Passes what it takes for true tests, and guesses in copies, with notes of the right form."""
    if all(test.outcome is PASSED for test in outcomes(work)):
        return _passing(work, draw)
    return tuple(_guessed(test, draw) for test in outcomes(work))


def _guessed(test: TestResult, draw: random.Random) -> TestResult:
    truths = [draw.choice("01") for _ in range(test.message.count("=") or 1)]
    note = "observed" + "".join(f" {number}={truth}" for number, truth in enumerate(truths))
    return replace(test, outcome=FAILED if "0" in truths else PASSED, message=note)


def _renaming(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    return tuple(replace(test, name=f"{test.name}[x]") for test in _passing(work, draw))


def _doubling(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    passing = _passing(work, draw)
    return (*passing, *(replace(test, name=f"{test.name}#2") for test in passing))


def _skipping(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    first, *rest = _passing(work, draw)
    return (first, *(replace(test, outcome=SKIPPED) for test in rest))


def _dropping(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    passing = _passing(work, draw)
    return passing[: max(1, len(passing) // 2)]


def _inventing(work: UnitJudgement, draw: random.Random) -> tuple[TestResult, ...]:
    return (TestResult(name=f"{PATH}::TestF::test_mine", outcome=PASSED),)


FORGERS = (_passing, _guessing, _renaming, _doubling, _skipping, _dropping, _inventing)


@pytest.mark.promise(
    "Beside copies, answers that do not depend on the tests are never rewarded.", "Labels"
)
@pytest.mark.parametrize("forger", FORGERS, ids=lambda forger: forger.__name__)
@pytest.mark.parametrize(("tests", "assertions"), SHAPES)
async def test_what_does_not_depend_on_the_tests_is_never_rewarded(
    tests: int, assertions: int, forger: Behaviour
) -> None:
    found = 0
    for seed in range(TRIES):
        found += await rewarded(suite(tests, assertions), forger, seed)
    assert found == 0


@pytest.mark.parametrize(("tests", "assertions"), [(20, 1), (4, 1)])
async def test_a_lie_at_random_is_rewarded_no_more_often_than_promised(
    tests: int, assertions: int
) -> None:
    """The promise is 1 % at the most; of few tries more than four are next to impossible."""
    coin = LIAR.replace("return True", "import random; return random.random() < 0.6", 1)
    found = 0
    for seed in range(TRIES):
        found += await rewarded(suite(tests, assertions), solving(module("LIE = 1\n" + coin)), seed)
    assert found <= 4 + TRIES // 50

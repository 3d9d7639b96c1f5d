"""Test files take the executions that their text needs, and a secret decides what is believed."""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import compress

import pytest

from reward_server.domain import (
    Ending,
    Execution,
    Framework,
    Integrity,
    Job,
    Limits,
    RewardPolicy,
    RewardPolicyKind,
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
from reward_server.grading.copies.outcomes import runs_needed
from reward_server.grading.reward import reward
from reward_server.grading.verdict import Run, conclude
from reward_server.languages import load_languages
from tests.support.in_process import module, ran
from tests.support.sampling import times

PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)
HEAD = "import unittest, inspect\nimport solution\nclass TestF(unittest.TestCase):\n"
ISOLATED_HEAD = HEAD.replace(", inspect", "")
ISOLATED_TEXT = (
    ISOLATED_HEAD + "    def test_a(self):\n        self.assertEqual(solution.f(1), 2)\n"
)


def shared_text(*bodies: str) -> str:
    tests = "".join(f"    def test_{i}(self):\n        {body}\n" for i, body in enumerate(bodies))
    shape = "        self.assertTrue(inspect.signature(solution.f))\n"
    return f"{HEAD}{tests}    def test_shape(self):\n{shape}"


SEEDS = range(times(20, by_default=5))
EQUAL = "self.assertEqual(solution.f({n}), {n}0)"
SHARED_TEXT = shared_text(*(EQUAL.format(n=n) for n in (21, 33, 45)))


def suite_of(text: str, framework: Framework = Framework.UNITTEST) -> UnitTests:
    return UnitTests(framework=framework, files=(("test_f.py", text),))


def execution(outcomes: dict[str, TestOutcome], ending: Ending = Ending.COMPLETED) -> Execution:
    return Execution(
        ending=ending,
        termination=Termination(kind=TerminationKind.EXITED),
        tests=tuple(
            TestResult(name=f"test_f.py::TestF::{name}", outcome=outcome)
            for name, outcome in outcomes.items()
        ),
    )


RIGHT = module("def f(x):\n    return x * 10\n")


def honest(work: UnitJudgement) -> Execution:
    """Runs the tests for a solution that multiplies by ten."""
    return beside(RIGHT, work)


def beside(solution: types.ModuleType, work: UnitJudgement) -> Execution:
    """Runs the tests for a solution."""
    found = ran(dict(work.tests.files)["test_f.py"], solution)
    return replace(execution({}), tests=found)


def cheating(work: UnitJudgement) -> Execution:
    """Passes whatever is asked."""
    told = honest(work)
    return replace(told, tests=tuple(replace(test, outcome=PASSED) for test in told.tests))


@dataclass(kw_only=True)
class Slots:
    """Behaves as the test says."""

    behaviour: Callable[[UnitJudgement], Execution]
    works: list[UnitJudgement] = field(default_factory=list)

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, UnitJudgement)
        self.works.append(job.work)
        return self.behaviour(job.work)


async def graded(
    text: str,
    behaviour: Callable[[UnitJudgement], Execution],
    *,
    policy: RewardPolicy = RewardPolicy(),  # noqa: B008  # frozen
    seed: int = 1,
    tests: UnitTests | None = None,
) -> tuple[list[Run], Slots]:
    slots = Slots(behaviour=behaviour)
    tests = tests or suite_of(text)
    grader = UnitGrader(tests=tests, plan=await plan(tests, ""), draw=random.Random(seed))
    python = load_languages().find("python")
    candidate = Candidate(source="", prompt="", language=python, limits=Limits(), policy=policy)
    return await grader.grade(candidate, slots), slots


async def test_tests_that_need_no_solution_beside_them_take_one_isolated_execution() -> None:
    runs, slots = await graded(ISOLATED_TEXT, honest)
    assert [work.shared for work in slots.works] == [False]
    assert slots.works[0].tests == suite_of(ISOLATED_TEXT)
    assert len(runs) == 1


async def test_a_test_that_a_solution_skips_apart_fails() -> None:
    [run], _ = await graded(ISOLATED_TEXT, lambda _: execution({"test_a": SKIPPED}))
    assert [test.outcome for test in run.tests] == [FAILED]


@pytest.mark.parametrize("seed", SEEDS)
async def test_an_honest_solution_takes_twins_until_none_could_guess_and_passes(seed: int) -> None:
    runs, slots = await graded(SHARED_TEXT, honest, seed=seed)
    assert all(work.shared for work in slots.works)
    assert len(slots.works) - 1 == runs_needed([1] * 4)
    assert [len(run.tests) for run in runs] == [0] * (len(runs) - 1) + [4]
    assert conclude(RewardPolicy(), runs).verdict is Verdict.PASSED


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_solution_that_passes_its_twins_gets_nothing_and_is_counted(seed: int) -> None:
    for policy in (RewardPolicy(), FRACTION):
        runs, _ = await graded(SHARED_TEXT, cheating, seed=seed, policy=policy)
        concluded = conclude(policy, runs)
        assert concluded.verdict is Verdict.FAILED
        results = [test for run in runs for test in run.tests]
        assert reward(policy, concluded.verdict, results) == 0.0
        assert runs[-1].execution.signals["twin_passed"] > 0


@pytest.mark.parametrize("text", ["return 0", "return x * 10 if x < 40 else 0", "raise OSError"])
async def test_a_wrong_solution_costs_some_two_executions(text: str) -> None:
    wrong, costs = module(f"def f(x):\n    {text}\n"), list[int]()
    for seed in range(10):
        runs, slots = await graded(SHARED_TEXT, lambda work: beside(wrong, work), seed=seed)
        costs.append(len(slots.works))
        assert (await truths(slots.works))[-1]
        assert conclude(RewardPolicy(), runs).verdict is not Verdict.PASSED
    assert sum(costs) / len(costs) <= 3
    assert max(costs) < runs_needed([1] * 4)


async def truths(works: list[UnitJudgement], text: str = SHARED_TEXT) -> list[bool]:
    """Tells of each work whether it is the true tests."""
    copies = (await plan(suite_of(text), "")).copies
    assert copies is not None
    true = copies.true_files()
    return [work.tests.files == true for work in works]


async def test_the_true_tests_have_a_secret_place_among_their_twins() -> None:
    """So that who keeps the expectations of a run does not know which ones are true."""
    places = set[int]()
    for seed in range(15):
        _, slots = await graded(SHARED_TEXT, honest, seed=seed)
        places.add((await truths(slots.works)).index(True))
    assert len(places) > runs_needed([1] * 4) / 2


REMEMBERING = """
import linecache, re, sys
KEPT = {}
def f(x):
    frame = sys._getframe(1)
    line = TEXT.splitlines()[frame.f_lineno - 1]
    want = KEPT.setdefault(x, re.search(r"[(](.*)[)], (.*)[)]", line)[2])
    return eval(want)
"""


@pytest.mark.parametrize("count", [3, 8])
async def test_who_remembers_a_run_takes_a_twin_for_the_truth(count: int) -> None:
    """It keeps the expectations of the first run, as in the page cache, and solves nothing."""
    text = shared_text(*(EQUAL.format(n=n) for n in range(21, 21 + count)))
    rewarded = 0
    for seed in range(20):
        memory = module(REMEMBERING)

        def cached(work: UnitJudgement, memory: types.ModuleType = memory) -> Execution:
            vars(memory)["TEXT"] = dict(work.tests.files)["test_f.py"]
            return beside(memory, work)

        runs, _ = await graded(text, cached, seed=seed)
        rewarded += conclude(RewardPolicy(), runs).verdict is Verdict.PASSED
    assert rewarded <= {3: 8, 8: 4}[count]


async def test_a_limit_in_a_twin_before_the_true_tests_is_the_verdict() -> None:
    """Whoever never ends costs one execution."""

    def endless(work: UnitJudgement) -> Execution:
        told = honest(work)
        cut = replace(told.tests[0], outcome=TestOutcome.LIMIT)
        return replace(told, ending=Ending.LIMIT, tests=(cut, *told.tests[1:]))

    for seed in range(6):
        runs, slots = await graded(SHARED_TEXT, endless, seed=seed, policy=FRACTION)
        assert len(slots.works) == 1
        assert conclude(FRACTION, runs).verdict is not Verdict.PASSED
        assert share(FRACTION, runs) == 0.0


async def test_a_part_of_the_tests_is_proven_by_twins_of_that_part_alone() -> None:
    def partly(work: UnitJudgement) -> Execution:
        told = honest(work)
        rest = tuple(replace(test, outcome=FAILED) for test in told.tests[1:])
        return replace(told, tests=(told.tests[0], *rest))

    runs, slots = await graded(SHARED_TEXT, partly, policy=FRACTION)
    early = (await truths(slots.works)).index(True)
    assert len(slots.works) == early + 1 + runs_needed([1])
    results = [test for run in runs for test in run.tests]
    assert reward(FRACTION, conclude(FRACTION, runs).verdict, results) == 0.25


FIRST = RewardPolicy(kind=RewardPolicyKind.FIRST_K, first_k=1)


@pytest.mark.parametrize("policy", [FRACTION, FIRST], ids=["fraction", "first"])
async def test_what_passes_without_a_twin_is_not_refused_for_it(policy: RewardPolicy) -> None:
    text = (
        f"{HEAD}    def test_0(self):\n        if not inspect.signature(solution.f): self.fail()\n"
        f"    def test_1(self):\n        {EQUAL.format(n=21)}\n"
    )
    wrong = module("def f(x):\n    return 0\n")
    runs, _ = await graded(text, lambda work: beside(wrong, work), policy=policy)
    assert share(policy, runs) == (0.5 if policy is FRACTION else 1.0)
    assert "unproven" not in runs[-1].execution.signals


async def test_a_twin_that_ends_early_betrays_the_solution() -> None:
    def leaving(work: UnitJudgement) -> Execution:
        told = honest(work)
        if all(test.outcome is PASSED for test in told.tests):
            return told
        return replace(told, ending=Ending.CRASHED, tests=told.tests[:1])

    runs, _ = await graded(SHARED_TEXT, leaving)
    assert conclude(RewardPolicy(), runs).verdict is Verdict.FAILED
    assert runs[-1].execution.signals["twin_missing"] > 0


async def test_a_violation_in_a_twin_is_one() -> None:
    def forging(work: UnitJudgement) -> Execution:
        told = honest(work)
        fine = all(test.outcome is PASSED for test in told.tests)
        return told if fine else replace(told, ending=Ending.VIOLATION, tests=())

    runs, _ = await graded(SHARED_TEXT, forging)
    assert conclude(RewardPolicy(), runs).verdict is Verdict.SECURITY_VIOLATION


async def test_a_test_that_is_skipped_by_nobodys_text_fails() -> None:
    def skipping(work: UnitJudgement) -> Execution:
        told = honest(work)
        return replace(told, tests=(replace(told.tests[0], outcome=SKIPPED), *told.tests[1:]))

    runs, slots = await graded(SHARED_TEXT, skipping)
    assert conclude(RewardPolicy(), runs).verdict is Verdict.FAILED
    assert runs[-1].execution.signals == {"forged_skip": 1}
    assert len(slots.works) <= 4


async def test_a_test_that_is_not_collected_fails() -> None:
    def dropping(work: UnitJudgement) -> Execution:
        told = honest(work)
        return replace(told, tests=told.tests[1:])

    runs, _ = await graded(SHARED_TEXT, dropping)
    assert conclude(RewardPolicy(), runs).verdict is Verdict.FAILED
    assert runs[-1].execution.signals == {"missing_test": 1}


ROWS_TEXT = """
import inspect, pytest
import solution

@pytest.mark.parametrize("n, want", [(21, 210), (33, 330), (45, 450)])
def test_f(n, want):
    assert solution.f(n) == want

def test_shape():
    assert inspect.signature(solution.f)
"""


def of_rows(*rows: str, outcome: TestOutcome = PASSED) -> Callable[[UnitJudgement], Execution]:
    names = [f"test_f.py::test_f[{row}]" for row in rows] + ["test_f.py::test_shape"]
    tests = tuple(TestResult(name=name, outcome=outcome) for name in names)
    return lambda work: replace(execution({}), tests=tests)


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ("21-210",),
        ("21-210", "33-330"),
        ("21-210", "33-330", "45-450", "57-570"),
        tuple(map(str, range(50))),
    ],
    ids=len,
)
@pytest.mark.parametrize("policy", [RewardPolicy(), FRACTION], ids=["all", "fraction"])
async def test_a_test_with_other_rows_than_the_texts_earns_nothing(
    rows: tuple[str, ...], policy: RewardPolicy
) -> None:
    tests = suite_of(ROWS_TEXT, Framework.PYTEST)
    known = await plan(tests, "")
    assert known.copies is not None
    runs, _ = await graded(ROWS_TEXT, of_rows(*rows), policy=policy, tests=tests)
    concluded = conclude(policy, runs)
    assert concluded.verdict is Verdict.FAILED
    results = [test for run in runs for test in run.tests]
    assert reward(policy, concluded.verdict, results) == 0.0
    assert runs[-1].execution.signals.keys() & {"missing_test", "invented_test"}


@pytest.mark.promise("A result whose name is not in the tests' text never counts.", "Labels")
@pytest.mark.parametrize(
    "name",
    ["test_mine_{n}", "test_0#{n}", "test_0[{n}]", "test_shape[{n}]"],
)
async def test_names_beyond_the_texts_never_count(name: str) -> None:
    def inventing(work: UnitJudgement) -> Execution:
        told = honest(work)
        failing = tuple(replace(test, outcome=FAILED) for test in told.tests[1:])
        names = (f"test_f.py::TestF::{name.format(n=n)}" for n in range(2, 1000))
        more = (TestResult(name=one, outcome=PASSED) for one in names)
        return replace(told, tests=(told.tests[0], *failing, *more))

    runs, _ = await graded(SHARED_TEXT, inventing, policy=FRACTION)
    results = [test for run in runs for test in run.tests]
    assert len(results) <= 5
    assert reward(FRACTION, conclude(FRACTION, runs).verdict, results) <= 0.25
    assert runs[-1].execution.signals["invented_test"] >= 998


async def test_true_run_and_twins_are_told_the_same() -> None:
    text = shared_text(
        *(EQUAL.format(n=n) for n in (21, 33)),
        "self.assertEqual({'c', 'b', 'a'} or solution.f(3), {u'c', 'b', 'a'})",
        "self.assertEqual(solution.f(1) and 'x', u'x')",
        "self.assertEqual(solution.f(1) / 1, 10.10)",
    )
    _, slots = await graded(text, cheating)
    (true_work,) = compress(slots.works, await truths(slots.works, text))
    true = dict(true_work.tests.files)["test_f.py"]
    copies = [dict(work.tests.files)["test_f.py"] for work in slots.works if work is not true_work]
    assert "u'" not in true
    assert true.count("{'c', 'b', 'a'}") >= 1
    for twin in copies:
        changed = [
            (one, other)
            for one, other in zip(true.splitlines(), twin.splitlines(), strict=True)
            if one != other
        ]
        assert all("solution" in one for one, _ in changed)


async def test_true_and_perturbed_files_are_written_by_the_same_hand() -> None:
    _, slots = await graded("# secret: 210\n" + SHARED_TEXT, honest)
    for work in slots.works:
        assert "secret" not in dict(work.tests.files)["test_f.py"]
    assert len({dict(work.tests.files)["test_f.py"] for work in slots.works}) > 2


@pytest.mark.promise(
    "Tests in one process or program with the solution are always `SHARED`.", "Labels"
)
@pytest.mark.parametrize(
    ("text", "integrity"),
    [
        (ISOLATED_TEXT, Integrity.ISOLATED),
        (SHARED_TEXT, Integrity.SHARED),
        (shared_text("self.fine(solution.f(1))"), Integrity.SHARED),
        ("no python (", Integrity.SHARED),
    ],
)
async def test_what_lives_with_the_solution_is_shared_whatever_its_twins(
    text: str, integrity: Integrity
) -> None:
    assert (await plan(suite_of(text), "")).integrity is integrity


async def test_tests_that_the_prompt_shows_have_twins_too() -> None:
    told = await plan(suite_of(SHARED_TEXT), "f(21) == 210")
    assert len(told.copies.units) == 4  # type: ignore[union-attr]


async def test_a_large_suite_is_planned_too() -> None:
    large = "".join(f"# {'x' * 90}\n" for _ in range(1000)) + SHARED_TEXT
    assert (await plan(suite_of(large), "")).copies is not None


async def test_tests_that_share_a_network_with_the_solution_share_its_process() -> None:
    text = "import unittest, solution\nclass T(unittest.TestCase):\n"
    text += "    def test_f(self):\n        self.assertEqual(solution.f(3), 30)\n"
    assert (await plan(suite_of(text), "")).integrity is Integrity.ISOLATED
    networked = await plan(suite_of(text), "", ("they share a network",))
    assert networked.integrity is not Integrity.ISOLATED
    assert networked.reasons


FIRST_TWO = RewardPolicy(kind=RewardPolicyKind.FIRST_K, first_k=2)
WEIGHTED = RewardPolicy(kind=RewardPolicyKind.WEIGHTED, compile_bonus=0.5)
Change = Callable[[tuple[TestResult, ...]], tuple[TestResult, ...]]


def forging(change: Change, ending: Ending = Ending.COMPLETED) -> Callable[..., Execution]:
    """Returns a solution that passes every test by itself, and then changes what it tells."""

    def told(work: UnitJudgement) -> Execution:
        said = cheating(work)
        return replace(said, tests=change(said.tests), ending=ending)

    return told


def last_fails(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    return (*tests[:-1], replace(tests[-1], outcome=FAILED))


def last_is_not_run(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    return (*tests[:-1], replace(tests[-1], outcome=TestOutcome.NOT_RUN))


def last_is_skipped(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    return (*tests[:-1], replace(tests[-1], outcome=SKIPPED))


def invented(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    more = (replace(tests[0], name=f"test_f.py::TestF::test_0{n}") for n in range(50))
    return (*more, *last_is_not_run(tests))


def share(policy: RewardPolicy, runs: list[Run]) -> float | None:
    results = [test for run in runs for test in run.tests]
    bare = replace(policy, compile_bonus=0.0)
    return reward(bare, conclude(policy, runs).verdict, results)


@pytest.mark.promise(
    "Beside copies, only tests that also failed as copies bring a reward.", "Labels"
)
@pytest.mark.parametrize("policy", [RewardPolicy(), FIRST_TWO, FRACTION, WEIGHTED])
@pytest.mark.parametrize(
    "change", [last_fails, last_is_skipped, last_is_not_run, invented, lambda tests: tests]
)
@pytest.mark.parametrize("ending", [Ending.COMPLETED, Ending.CRASHED, Ending.LIMIT])
async def test_whatever_brings_a_reward_has_been_proven(
    policy: RewardPolicy, change: Change, ending: Ending
) -> None:
    runs, _ = await graded(SHARED_TEXT, forging(change, ending), policy=policy)
    assert conclude(policy, runs).verdict is not Verdict.PASSED
    assert share(policy, runs) == 0.0


@pytest.mark.parametrize("ending", [Ending.CRASHED, Ending.LIMIT])
async def test_tests_without_an_end_keep_their_verdict_and_take_one_twin_at_most(
    ending: Ending,
) -> None:
    told = forging(last_is_not_run, ending)
    before, _ = await graded(SHARED_TEXT, told)
    runs, slots = await graded(SHARED_TEXT, told, policy=FRACTION)
    assert len(slots.works) <= 4
    assert conclude(FRACTION, runs).verdict is conclude(RewardPolicy(), before).verdict


async def test_a_solution_right_in_the_first_tests_passes_where_they_alone_count() -> None:
    def partly(work: UnitJudgement) -> Execution:
        return beside(module("def f(x):\n    return x * 10 if x < 40 else 0\n"), work)

    runs, slots = await graded(SHARED_TEXT, partly, policy=FIRST_TWO)
    assert conclude(FIRST_TWO, runs).verdict is Verdict.PASSED
    assert not any(work.stop_at_first_failure for work in slots.works)
    early = (await truths(slots.works)).index(True)
    assert len(slots.works) == early + 1 + runs_needed([1] * 3)


@pytest.mark.parametrize("wrong", ["in another order", "left out"])
async def test_which_tests_come_first_is_not_the_solutions_word(wrong: str) -> None:
    easy = module("def f(x):\n    return x * 10 if x > 40 else 0\n")

    def told(work: UnitJudgement) -> Execution:
        said = beside(easy, work)
        rest = said.tests[:2] if wrong == "in another order" else ()
        return replace(said, tests=(*said.tests[2:], *rest))

    runs, _ = await graded(SHARED_TEXT, told, policy=FIRST_TWO)
    assert conclude(FIRST_TWO, runs).verdict is Verdict.FAILED
    assert share(FIRST_TWO, runs) == 0.0


async def test_a_bonus_is_no_claim() -> None:
    def wrong(work: UnitJudgement) -> Execution:
        told = honest(work)
        return replace(told, tests=tuple(replace(test, outcome=FAILED) for test in told.tests))

    _, slots = await graded(SHARED_TEXT, wrong, policy=WEIGHTED)
    assert (await truths(slots.works))[-1]

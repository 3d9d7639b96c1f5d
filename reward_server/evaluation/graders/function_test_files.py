"""Runs function tests that need the solution itself as a test file, with perturbed copies.

Only the request and the text of the tests decide whether tests need it, and never the completion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from reward_server.domain import (
    Crossing,
    FunctionTests,
    Integrity,
    Placement,
    RewardPolicy,
    TestResult,
)
from reward_server.errors import UnsupportedError
from reward_server.evaluation.graders.base import (
    NO_DATA,
    Candidate,
    FunctionGrader,
    Slots,
    read_once,
)
from reward_server.evaluation.graders.python_test_files import UnitGrader, plan
from reward_server.grading.crossing.python.refusals import Refusal, crossing_of
from reward_server.grading.python_tests.function_files import FunctionFile, written
from reward_server.grading.python_tests.vacuous import rules
from reward_server.grading.verdict import Run
from reward_server.recent import Recent

_BYTES_OF_CHARACTER = 20  # 14 were measured
_BYTES_OF_READ_CHARACTER = 2  # the texts themselves, twice if they were changed
_ASKED = ("the request says so",)
_APART = "TEST_PLACEMENT_ISOLATED"
_UNPLACED = "leave FunctionTests.placement unset"


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcessGrader:
    """Runs function tests in the solution's process.

    Args:
        functions: the tests of the request.
        file: the tests as a test file.
        units: the grader that runs the file.
        is_asked: whether the request placed them there.
    """

    functions: FunctionGrader
    file: FunctionFile
    units: UnitGrader
    is_asked: bool

    @property
    def wanted(self) -> frozenset[str]:
        """See `FunctionGrader.wanted`."""
        return self.functions.wanted

    @property
    def integrity(self) -> Integrity:
        """SHARED, since the tests run in the solution's process."""
        return self.units.integrity

    @property
    def flaw(self) -> str:
        """See `Grader`."""
        return self.functions.flaw

    def remedy(self) -> str:
        """Returns why the tests run in the solution's process, and how to change that."""
        remedy = self.units.remedy()
        return f"{remedy}, or {_UNPLACED}" if self.is_asked else remedy

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1 plus the number of copies."""
        return self.units.cost(policy)

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns results with the names that function tests have."""
        return self.functions.not_run()

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs the tests and, if they pass, their copies; see `Grader`."""
        runs = await self.units.grade(candidate, slots)
        return [run.with_tests(map(self._named, run.tests)) for run in runs]

    def _named(self, test: TestResult) -> TestResult:
        return replace(test, name=self.file.names.get(test.name, test.name))


async def function_grader(tests: FunctionTests, prompt: str) -> FunctionGrader | InProcessGrader:
    """Returns the grader of function tests.

    The request or the tests' text decides where they run. Their text alone decides the label.

    Args:
        tests: the tests.
        prompt: the task's code, as `continuation.read_prompt` returns it.

    Raises:
        UnsupportedError: the request places tests apart that the contract does not allow there.
    """
    tests, flaw = await _read(tests, prompt)
    characters = sum(map(len, (tests.test_code, tests.setup_code, *tests.asserts, prompt)))
    found = await read_once(
        _crossings, _BYTES_OF_CHARACTER, characters, _read_crossing, tests, prompt
    )
    is_asked = tests.placement is Placement.BESIDE
    refused = (str(found),) if isinstance(found, Refusal) else ()
    if refused and tests.placement is Placement.ISOLATED:
        raise UnsupportedError(f"{_APART} is not on offer for these tests: {found}; {_UNPLACED}")
    reasons = refused or (_ASKED if is_asked else ())
    apart = FunctionGrader(tests=tests, flaw=flaw, crossing=crossing_of(found))
    if tests.placement is Placement.ISOLATED:
        return apart
    if reasons:
        return await _beside(apart, prompt, reasons, is_asked=is_asked)
    return replace(apart, beside=partial(_beside, apart, prompt, (NO_DATA,)))


def _read_crossing(tests: FunctionTests, prompt: str) -> Crossing | Refusal:
    from reward_server.grading.crossing.python import texts  # its table takes a while to be made

    return texts.read_functions(tests, prompt)


async def _beside(
    apart: FunctionGrader, prompt: str, reasons: tuple[str, ...], *, is_asked: bool = False
) -> FunctionGrader | InProcessGrader:
    """Returns the grader of tests that the contract does not allow; some make no test file."""
    apart = replace(apart, reasons=reasons)
    tests, helpers = apart.tests, apart.crossing.helpers
    characters = sum(map(len, (tests.test_code, tests.setup_code, *tests.asserts, helpers)))
    file = await read_once(_files, _BYTES_OF_CHARACTER, characters, written, tests, helpers)
    if file is None:
        return apart
    reading = await plan(file.tests, prompt, reasons)
    units = UnitGrader(tests=file.tests, plan=reading)
    return InProcessGrader(functions=apart, file=file, units=units, is_asked=is_asked)


_crossings: Recent[Crossing | Refusal] = Recent(32 << 20)


async def _read(tests: FunctionTests, prompt: str) -> tuple[FunctionTests, str]:
    """Reads whether an answer can fail tests; see `vacuous.rules`."""
    characters = sum(map(len, (tests.test_code, tests.setup_code, *tests.asserts, prompt)))
    read = rules.read_functions
    return await read_once(_readings, _BYTES_OF_READ_CHARACTER, characters, read, tests, prompt)


_readings: Recent[tuple[FunctionTests, str]] = Recent(32 << 20)


_files: Recent[FunctionFile | None] = Recent(32 << 20)

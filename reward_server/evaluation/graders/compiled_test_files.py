"""Runs test files of compiled languages beside the solution, with a harness of the server.

Tests and solution are one program, as with test programs that cannot be split (`programs`). So
the answer is SHARED, and the assertions are rewritten to write nonces (random words). The text of
the files determines which tests have to be reported.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from reward_server.domain import (
    Commands,
    Ending,
    Execution,
    Integrity,
    Limits,
    RewardPolicy,
    TestOutcome,
    TestResult,
    UnitTests,
)
from reward_server.evaluation.graders import program_end
from reward_server.evaluation.graders.base import Candidate, Slots, read_once
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.graders.nonces import Nonces
from reward_server.evaluation.graders.outputs import kept, without_output
from reward_server.grading.compiled_tests.files import (
    TestFiles,
    harness,
    read_test_files,
    rewrite_test_files,
    rewritten_by,
)
from reward_server.grading.compiled_tests.harness_reports import read_reports, without_reports
from reward_server.grading.compiled_tests.observations import ProgramReport
from reward_server.grading.compiled_tests.vacuous import flaw_of_suite
from reward_server.grading.verdict import Run
from reward_server.languages import Language
from reward_server.recent import Recent

NAME = "tests"
_BYTES_OF_CHARACTER = 40  # 19 were measured


async def suite_grader(tests: UnitTests, language: Language, programs: Programs) -> SuiteGrader:
    """Reads test files and returns their grader."""
    characters = sum(len(text) for _, text in tests.files)
    known = await read_once(_files, _BYTES_OF_CHARACTER, characters, _known, tests, language)
    return SuiteGrader(tests=tests, known=known, programs=programs)


def _known(tests: UnitTests, language: Language) -> TestFiles:
    assert language.unit is not None
    known = read_test_files(tests.files, language.unit)
    heads = [(test.path, test.start) for test in known.tests] if known.complete else None
    of_language = language.name, language.unit.assertions
    flaw = flaw_of_suite(dict(tests.files), heads, tests.solution_path, *of_language)
    return replace(known, flaw=flaw)


_files: Recent[TestFiles] = Recent(32 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteGrader:
    """Compiles test files with the solution, and runs them once.

    Args:
        tests: the files.
        known: what their text says.
        programs: makes programs ready to run.
        draw: the source of nonces.
    """

    tests: UnitTests
    known: TestFiles
    programs: Programs
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    @property
    def wanted(self) -> frozenset[str]:
        """No names, since the solution is compiled as a whole."""
        return frozenset()

    @property
    def integrity(self) -> Integrity:
        """SHARED, since tests and solution are one program."""
        return Integrity.SHARED

    @property
    def flaw(self) -> str:
        """See `Grader`."""
        return self.known.flaw

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 2: the compiler's execution and the tests'."""
        return 2

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each test that the text names."""
        names = [test.name for test in self.known.tests] or [NAME]
        return tuple(TestResult(name=name, outcome=TestOutcome.NOT_RUN) for name in names)

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Makes the tests ready and runs them; see `Grader`."""
        language, suites = candidate.language, candidate.language.unit
        assert suites is not None
        nonces = Nonces.draw(self.draw)
        secret, tag = nonces.name, nonces.tag
        texts, rewritten = rewrite_test_files(
            self.known, suites, secret=secret, tag=tag, random=self.draw
        )
        texts |= harness(self.known, suites, secret=secret, tag=tag, word=nonces.ending)
        source = rewritten_by(suites.solutions, candidate.source, secret)
        path = self.tests.solution_path or language.source_file(source)
        files = {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}

        def compiling(limits: Limits) -> Commands:
            whole = {**candidate.files, **files}
            work = language.suite_compilation(source, path, secret, whole, limits)
            return replace(work, data=candidate.data)

        ready = await self.programs.compiled(language, compiling, slots)
        if ready.ending is not Ending.COMPLETED:
            return [Run.of(kept(ready), self.not_run())]
        work = language.suite_execution(source, path, secret, ready.product, candidate.limits)
        work = replace(work, files=candidate.files, data=candidate.data)
        execution = await slots.run(candidate.job(work))
        report = read_reports(
            execution.stdout.data,
            self.known,
            rewritten,
            tag=tag,
            ending=nonces.ending,
            failed=_said_to_fail(execution, language),
        )
        run = _judged(execution, report, tag)
        compiled = Run.of(replace(ready, product=b""), ())
        return [without_output(compiled), run]


def _said_to_fail(execution: Execution, language: Language) -> frozenset[str]:
    assert language.unit is not None
    said = execution.stdout.data.decode("utf-8", "replace")
    return frozenset(found["name"] for found in language.unit.failed.finditer(said))


def _judged(execution: Execution, report: ProgramReport, tag: str) -> Run:
    failed = any(test.outcome is TestOutcome.FAILED for test in report.tests)
    execution = program_end.conclude(
        execution, report, is_failure_status_normal=failed and report.ended
    )
    tests = report.tests or (TestResult(name=NAME, outcome=TestOutcome.NOT_RUN),)
    stdout = without_reports(execution.stdout, tag)
    return Run.of(kept(replace(execution, stdout=stdout)), program_end.results(tests, execution))

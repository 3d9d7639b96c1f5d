"""Test programs that are compiled with the solution.

Solution and tests are one program, so whatever the program says may be the solution's word. Where
the tests' assertions are understood they are rewritten to write secret words, see
`grading.rewriting`; otherwise the exit status and the word at the ending are all there is.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, replace
from functools import lru_cache

from reward_server.domain import (
    Ending,
    Execution,
    Integrity,
    ProgramTests,
    RewardPolicy,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.evaluation.graders import Candidate, Slots
from reward_server.evaluation.outputs import how_it_ended, kept, without_output
from reward_server.evaluation.programs import Programs
from reward_server.evaluation.secrets import Secrets
from reward_server.grading.observations import EARLY_EXIT, Told, read_words, without_words
from reward_server.grading.rewriting import Rewritten, rewrite
from reward_server.grading.understanding import Understanding, opened_for, understand
from reward_server.grading.verdict import Run
from reward_server.languages import Language

NAME = "program"
_QUICK_CHARACTERS = 1 << 12
_REMEMBERED = 256
_LAST_WORDS_BYTES = 4096
_NOTHING = Understanding(assertions=(), whole=False)


async def program_grader(
    tests: ProgramTests, language: Language, programs: Programs
) -> ProgramGrader:
    """Reads a test program and tells how it is judged."""
    if len(tests.test_code) <= _QUICK_CHARACTERS:
        understanding = _understood(tests.test_code, language)
    else:
        understanding = await asyncio.to_thread(_understood, tests.test_code, language)
    return ProgramGrader(tests=tests, understanding=understanding, programs=programs)


@lru_cache(maxsize=_REMEMBERED)
def _understood(test_code: str, language: Language) -> Understanding:
    if language.program is None or language.program.assertions is None:
        return _NOTHING
    return understand(test_code, language.program.assertions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramGrader:
    """Compiles a test program with the solution, and runs it once.

    Args:
        tests: the program.
        understanding: of its assertions.
        programs: makes programs ready to run.
        draw: where secrets come from.
    """

    tests: ProgramTests
    understanding: Understanding
    programs: Programs
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    @property
    def wanted(self) -> frozenset[str]:
        """Nothing: the solution is compiled as a whole."""
        return frozenset()

    @property
    def integrity(self) -> Integrity:
        """What the tests' text allows."""
        return Integrity.SHARED_TWINS if self.understanding.perturbs else Integrity.SHARED

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 2: the compiler's execution and the program's."""
        return 2

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each assertion that is understood, or else for the program."""
        lines = [one.line for one in self.understanding.assertions for _ in one.claims]
        names = [f"assertion {number} at line {line}" for number, line in enumerate(lines, 1)]
        return tuple(TestResult(name=name, outcome=TestOutcome.NOT_RUN) for name in names or [NAME])

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Makes the program ready and runs it; see `Grader`."""
        language = candidate.language
        assert language.program is not None
        secrets = Secrets.draw(self.draw)
        rewritten = self._rewritten(language, secrets)
        composed = language.program.compose(
            self._opened(candidate), rewritten.text, secret=secrets.name, word=secrets.ending
        )
        files = {**candidate.files, **composed.files}
        ready = await self.programs.ready(language, composed.source, slots, files, once=True)
        if ready.refusal is not None:
            return [Run(execution=kept(ready.refusal), tests=self.not_run())]
        execution = await slots.run(ready.job(candidate.limits, data=candidate.data))
        run = _judged(execution, rewritten, secrets, language)
        if ready.compilation is None:
            return [run]
        return [without_output(Run(execution=ready.compilation, tests=())), run]

    def _opened(self, candidate: Candidate) -> str:
        program = candidate.language.program
        if program is None or program.assertions is None:
            return candidate.source
        return opened_for(self.tests.test_code, candidate.source, program.assertions)

    def _rewritten(self, language: Language, secrets: Secrets) -> Rewritten:
        assert language.program is not None
        if language.program.assertions is None:
            return Rewritten(text=self.tests.test_code, sites=())
        return rewrite(
            self.tests.test_code,
            self.understanding,
            language.program.assertions,
            secret=secrets.name,
            tag=secrets.tag,
            random=self.draw,
        )


def _judged(
    execution: Execution, rewritten: Rewritten, secrets: Secrets, language: Language
) -> Run:
    sites = rewritten.sites
    told = read_words(execution.stdout.data, sites, tag=secrets.tag, ending=secrets.ending)
    execution = _concluded(execution, told)
    tests = _results(execution, told) if sites else (_only_result(execution, told, language),)
    stdout = without_words(execution.stdout, secrets.tag)
    return Run(execution=kept(replace(execution, stdout=stdout)), tests=tests)


def _concluded(execution: Execution, told: Told) -> Execution:
    """Says of a program that did not come to its normal end that it did not."""
    signals = {**execution.signals, **told.signals}
    if execution.ending is not Ending.COMPLETED:
        return replace(execution, signals=signals)
    exited = execution.termination.kind is TerminationKind.EXITED
    if not exited or execution.termination.value:
        message = how_it_ended(execution)
        return replace(execution, signals=signals, ending=Ending.CRASHED, message=message)
    if execution.stdout.truncated:
        message = "the output was not kept whole"
        return replace(execution, signals=signals, ending=Ending.CRASHED, message=message)
    if told.ended:
        return replace(execution, signals=signals)
    signals[EARLY_EXIT] = 1
    message = "the program left before its tests came to their end"
    return replace(execution, signals=signals, ending=Ending.CRASHED, message=message)


def _results(execution: Execution, told: Told) -> tuple[TestResult, ...]:
    """Returns one result a site; the first that was not come to is where the program ended."""
    names = [test.name for test in told.tests if test.outcome is TestOutcome.NOT_RUN]
    if not names or execution.ending is Ending.COMPLETED:
        return told.tests
    limited = execution.ending is Ending.LIMIT
    outcome = TestOutcome.LIMIT if limited else TestOutcome.ERROR
    return tuple(
        replace(test, outcome=outcome, message=execution.message) if test.name == names[0] else test
        for test in told.tests
    )


def _only_result(execution: Execution, told: Told, language: Language) -> TestResult:
    assert language.program is not None
    if execution.ending is Ending.COMPLETED:
        forged = bool(told.signals)
        outcome = TestOutcome.FAILED if forged else TestOutcome.PASSED
        message = "the program wrote words that are not its to write" if forged else ""
        return TestResult(name=NAME, outcome=outcome, message=message)
    asserted = language.program.failed.search(
        execution.stderr.data[-_LAST_WORDS_BYTES:].decode("utf-8", "replace")
    )
    if execution.ending is Ending.LIMIT:
        outcome = TestOutcome.LIMIT
    elif execution.ending is Ending.CRASHED and asserted and EARLY_EXIT not in execution.signals:
        outcome = TestOutcome.FAILED
    else:
        outcome = TestOutcome.ERROR
    return TestResult(name=NAME, outcome=outcome, message=execution.message)

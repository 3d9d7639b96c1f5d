"""What the end of a test program, and the words that it wrote, come to."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.evaluation.graders.nonces import Secrets
from reward_server.evaluation.graders.outputs import how_it_ended, kept
from reward_server.grading.compiled_tests.observations import (
    EARLY_EXIT,
    Told,
    read_words,
    without_words,
)
from reward_server.grading.compiled_tests.rewriting import Rewritten
from reward_server.grading.verdict import Run
from reward_server.languages import Language

NAME = "program"
_LAST_WORDS_BYTES = 4096


def judged(execution: Execution, rewritten: Rewritten, secrets: Secrets, language: Language) -> Run:
    """Judges a test program by its end and its output.

    Args:
        execution: of the program.
        rewritten: what it tells of its assertions.
        secrets: of this program.
        language: what it is written in.
    """
    sites = rewritten.sites
    told = read_words(execution.stdout.data, sites, tag=secrets.tag, ending=secrets.ending)
    execution = _concluded(execution, told, ran_tests(execution.stdout, language))
    tests = _results(execution, told) if sites else (_only_result(execution, told, language),)
    stdout = without_words(execution.stdout, secrets.tag)
    return Run(execution=kept(replace(execution, stdout=stdout)), tests=tests)


def ran_tests(stdout: CapturedStream, language: Language) -> bool:
    """Returns True unless a harness of tests says in a program's output that it ran none."""
    ran = language.program.ran if language.program is not None else None
    return ran is None or ran.search(stdout.data) is not None


def _concluded(execution: Execution, told: Told, ran: bool) -> Execution:
    """Marks an execution as CRASHED when the program ended abnormally."""
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
    if told.ended and ran:
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

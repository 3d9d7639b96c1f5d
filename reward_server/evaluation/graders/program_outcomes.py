"""Judges a test program by its end and by the words that it wrote."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    TestOutcome,
    TestResult,
)
from reward_server.evaluation.graders import program_end
from reward_server.evaluation.graders.nonces import Nonces
from reward_server.evaluation.graders.outputs import kept
from reward_server.grading.compiled_tests.observations import (
    EARLY_EXIT,
    ProgramReport,
    read_words,
    without_words,
)
from reward_server.grading.compiled_tests.rewriting import Rewritten
from reward_server.grading.verdict import Run
from reward_server.languages import Language

NAME = "program"
_LAST_WORDS_BYTES = 4096


def judged(execution: Execution, rewritten: Rewritten, nonces: Nonces, language: Language) -> Run:
    """Judges a test program by its end and its output.

    Args:
        execution: the execution of the program.
        rewritten: the words that its assertions write.
        nonces: the nonces of this program.
        language: the language of the program.
    """
    sites = rewritten.sites
    report = read_words(execution.stdout.data, sites, tag=nonces.tag, ending=nonces.ending)
    report = replace(report, ended=report.ended and ran_tests(execution.stdout, language))
    execution = program_end.conclude(execution, report)
    if sites:
        tests = program_end.results(report.tests, execution)
    else:
        tests = (_only_result(execution, report, language),)
    stdout = without_words(execution.stdout, nonces.tag)
    return Run.of(kept(replace(execution, stdout=stdout)), tests)


def ran_tests(stdout: CapturedStream, language: Language) -> bool:
    """Returns False if the output of a program says that it ran no test."""
    ran = language.program.ran if language.program is not None else None
    return ran is None or ran.search(stdout.data) is not None


def _only_result(execution: Execution, report: ProgramReport, language: Language) -> TestResult:
    assert language.program is not None
    if execution.ending is Ending.COMPLETED:
        forged = bool(report.signals)
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

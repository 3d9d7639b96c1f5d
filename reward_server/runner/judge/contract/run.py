"""Runs tests under the contract, and records the results: one execution for a pass."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...requests import FunctionRequest, PlanFields, SolutionProgram, UnitRequest
from ...wire import Outcome
from .. import handover
from ..endings import TaskError, message_of, outcome_of
from ..line import Line
from ..link import ClosedError, Link, OversizeFrameError
from ..report import Report, TestReport
from .call_tests import CallTests
from .changes import BEFORE
from .functions import SOLUTION, Functions
from .session import Session

UNASKED = "the tests never ask the solution for anything"


class Loading:
    """Sends the solution when the tests first ask it.

    Attributes:
        line: the line to it.
        ahead: questions that are sent with it.
        problem: why it could not be sent, which the tests do not see.
    """

    def __init__(
        self,
        program: SolutionProgram,
        link: Link,
        report: Report,
        blobs: Mapping[str, bytes],
    ) -> None:
        self._program = program
        self._link, self._report, self._blobs = link, report, blobs
        self.line = Line(link, program.result_bytes)
        self.ahead: Sequence[str] = ()
        self.problem: Exception | None = None

    def __call__(self) -> bool:
        """Returns True if the solution is loaded."""
        try:
            questions = self.line.frames_ahead(self.ahead)
            handover.hand_over(self._link, self._report, self._program, self._blobs, questions)
        except (ClosedError, OversizeFrameError) as error:
            self.problem = error
            return False
        return handover.load(self.line, self._report)


def session_of(
    request: FunctionRequest | UnitRequest,
    plan: PlanFields,
    link: Link,
    report: Report,
    blobs: Mapping[str, bytes],
) -> tuple[Session, Loading]:
    """Returns the session with a solution that is not yet sent."""
    program = SolutionProgram(
        predefined=isinstance(request, FunctionRequest) and "()." in request.entry_point,
        result_bytes=request.result_bytes,
        shared=plan["records"],
    )
    loading = Loading(program, link, report, blobs)
    session = Session(loading.line, loading, calls=request.calls, classes=plan["classes"])
    return session, loading


def run_functions(
    request: FunctionRequest, blobs: Mapping[str, bytes], link: Link, report: Report
) -> bool:
    """Runs function tests; returns True if they left nothing in this process.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    try:
        return _run_functions(request, blobs, link, report)
    finally:
        sys.modules.pop(SOLUTION, None)


def _run_functions(
    request: FunctionRequest, blobs: Mapping[str, bytes], link: Link, report: Report
) -> bool:
    plan = request.plan
    session, loading = session_of(request, plan, link, report, blobs)
    state = random.getstate()
    try:
        suite = Functions(request, plan, session)
        loading.ahead = [session.call(name, *given) for name, given in plan["ahead"]]
        report.tests = [TestReport(name=name) for name in suite.names]
        run_tests(suite, session, report, stop_at_failure=request.stop_at_first_failure)
        _check_that_they_asked(session, report)
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return False
    if loading.problem is not None:
        raise loading.problem
    conclude(session, report, partial(_again, suite, session, report, state))
    is_lowered = any(name.startswith("lowered") for name in session.signals)
    return plan["is_allowed"] and not is_lowered


def _check_that_they_asked(session: Session, report: Report) -> None:
    """Refuses tests that come to an end without a question, whatever their end is.

    Raises:
        TaskError: they do.
    """
    if session.has_asked or session.ended is not None:
        return
    messages = (test.message for test in report.tests if test.message)
    raise TaskError(next(messages, UNASKED))


def conclude(session: Session, report: Report, again: Callable[[], bool]) -> None:
    """Records how a session ended, and lowers the label for what a change decided.

    Args:
        session: the session.
        report: receives the results.
        again: runs the tests once more, without the solution; returns True if they did the same.
    """
    session.tell_events()
    if _has_passed(report):
        for name, first in session.missing().items():
            _fail_import(report.tests if first == BEFORE else [report.tests[first]], name)
    if session.ended is None and session.recording.changed and _has_passed(report):
        session.replay()
        if not again() or session.recording.differs:
            session.signals["lowered_change"] = 1
    if report.load is not None:
        report.signals = session.signals
        return
    handover.record_end(session.line, report)
    if not {"no_data", "unsendable"}.isdisjoint(report.signals):
        report.signals.pop("early_exit", None)  # the judge ended it
    if "judge_tampered" in report.signals:
        for test in report.tests:
            test.outcome, test.message = Outcome.ERROR, report.message


def _has_passed(report: Report) -> bool:
    return any(test.outcome is Outcome.PASSED for test in report.tests)


def _fail_import(tests: Sequence[TestReport], name: str) -> None:
    for test in tests:
        if test.outcome is Outcome.PASSED:
            test.outcome, test.message = Outcome.ERROR, f"ImportError: the program has no {name}"


def _again(suite: Functions, session: Session, report: Report, state: object) -> bool:
    """Runs the tests once more; returns True if the doubted ones conclude the same."""
    random.setstate(state)  # type: ignore[arg-type]  # `getstate` returned it
    doubted = session.recording.doubted
    caught(suite.prepare, session)
    for index, test in enumerate(report.tests):
        if test.outcome is Outcome.NOT_RUN:
            break
        error = caught(partial(suite.run, index), session)
        if index in doubted and outcome_of(error) is not test.outcome:
            return False
    session.finish()
    return True


def run_tests(
    suite: Functions | CallTests, session: Session, report: Report, *, stop_at_failure: bool
) -> None:
    """Runs the tests in order, until the session ends."""
    if not _prepare(suite, session, report):
        return
    for index, test in enumerate(report.tests):
        began = time.perf_counter_ns()
        error = caught(partial(suite.run, index), session)
        test.wall_ns = time.perf_counter_ns() - began
        _conclude(test, suite, error)
        if session.ended is not None or (stop_at_failure and test.outcome is not Outcome.PASSED):
            return


def _prepare(suite: Functions | CallTests, session: Session, report: Report) -> bool:
    error = caught(suite.prepare, session)
    if error is not None:
        _conclude(report.tests[0], suite, error)
    return error is None


def caught(action: Callable[[], None], session: Session) -> BaseException | None:
    """Runs code of the tests and returns its exception, or the one that ended the session."""
    try:
        action()
    except BaseException as error:  # noqa: BLE001  # tests may raise anything
        return session.ended or error
    session.finish()
    return session.ended


def _conclude(test: TestReport, suite: Functions | CallTests, error: BaseException | None) -> None:
    test.outcome = outcome_of(error)
    test.message = message_of(error, "", suite.where)

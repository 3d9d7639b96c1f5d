"""Runs tests under the contract, and records the results: one execution for a pass."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from functools import partial

from ...requests import FunctionRequest, PlanFields, SolutionProgram, UnitRequest
from ...wire import Outcome
from .. import handover
from ..endings import LIMITS, Cause, message_of, outcome_of
from ..link import ClosedError, Link, OversizeFrameError
from ..report import Report, TestReport
from ..tests.suite import TaskError
from .functions import Functions
from .session import DiffersError, Session

UNASKED = "the tests never ask the solution for anything"


class Loading:
    """Sends the solution when the tests first ask it.

    Attributes:
        problem: why it could not be sent, which the tests do not see.
    """

    def __init__(
        self, link: Link, report: Report, program: SolutionProgram, blobs: Mapping[str, bytes]
    ) -> None:
        self._link, self._report, self._program, self._blobs = link, report, program, blobs
        self.problem: Exception | None = None

    def __call__(self, session: Session) -> bool:
        """Returns True if the solution is loaded."""
        try:
            handover.hand_over(self._link, self._report, self._program, self._blobs)
        except (ClosedError, OversizeFrameError) as error:
            self.problem = error
            return False
        match _parsed(session.receive()):
            case ["loaded"]:
                return True
            case ["unloaded", ("compile" | "raise" | "exit") as kind, str(text)]:
                self._report.load = {"kind": kind, "message": text[:1000]}
                self._report.message = text[:1000]
            case _:
                session.forged("no word of the solution")
        return False


def _parsed(frame: bytes) -> object:
    try:
        return json.loads(frame)
    except (ValueError, RecursionError):
        return None


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
        contract=True,
    )
    loading = Loading(link, report, program, blobs)
    session = Session(
        link,
        loading,
        result_bytes=request.result_bytes,
        calls=request.calls,
        classes=plan["classes"],
    )
    return session, loading


def run_functions(
    request: FunctionRequest, blobs: Mapping[str, bytes], link: Link, report: Report
) -> bool:
    """Runs function tests; returns True if they left nothing in this process.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    plan = request.plan
    assert plan is not None
    session, loading = session_of(request, plan, link, report, blobs)
    state = random.getstate()
    try:
        suite = Functions(request, plan, session)
        _run(suite, session, report, stop_at_failure=request.stop_at_first_failure)
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return False
    if loading.problem is not None:
        raise loading.problem
    conclude(session, report, partial(_again, suite, session, report, state))
    return not any(name.startswith("lowered") for name in session.signals)


def _run(suite: Functions, session: Session, report: Report, *, stop_at_failure: bool) -> None:
    error = _caught(suite.prepare, session, -1)
    _blame_task(error, suite, session)
    report.tests = [TestReport(name=name) for name in suite.names]
    if error is not None:
        _conclude(report.tests[0], suite, error)
        return
    for index, test in enumerate(report.tests):
        began = time.perf_counter_ns()
        error = _caught(partial(suite.run, index), session, index)
        test.wall_ns = time.perf_counter_ns() - began
        _blame_task(error, suite, session)
        _conclude(test, suite, error)
        if session.ended is not None or (stop_at_failure and test.outcome is not Outcome.PASSED):
            return
    if not session.has_asked:
        raise TaskError(UNASKED)


def _blame_task(error: BaseException | None, suite: Functions, session: Session) -> None:
    """Refuses tests that fail before they ask the solution anything.

    Raises:
        TaskError: they do.
    """
    if error is not None and not session.loaded and session.ended is None:
        raise TaskError(f"{type(error).__name__}: {error} ({suite.where(error)})")


def _caught(action: Callable[[], None], session: Session, test: int) -> BaseException | None:
    """Runs code of the tests and returns its exception, or the one that ended the session."""
    session.begin(test)
    error: BaseException | None = None
    try:
        action()
    except BaseException as raised:  # noqa: BLE001  # tests may raise anything
        error = raised
    session.finish()
    return session.ended or error


def _conclude(test: TestReport, suite: Functions, error: BaseException | None) -> None:
    test.outcome = outcome_of(error)
    test.message = message_of(error, "", suite.where)


def conclude(session: Session, report: Report, again: Callable[[], bool]) -> None:
    """Records how a session ended, and lowers the label for what a change decided.

    Args:
        session: the session.
        report: receives the results.
        again: runs the tests once more, without the solution; returns True if they did the same.
    """
    session.tell_events()
    passed = any(test.outcome is Outcome.PASSED for test in report.tests)
    if session.ended is None and session.doubted and passed and not again():
        session.count("lowered_change")
    report.signals = session.signals
    ended = session.ended
    if ended is None or report.load is not None:
        return
    if ended.cause in LIMITS:
        report.limits.append(ended.cause.value)
    else:
        report.broken = ended.cause.value
    if ended.cause is Cause.CLOSED:
        report.signals.setdefault("early_exit", 1)
    report.message = str(ended)
    if "judge_tampered" in report.signals:
        for test in report.tests:
            test.outcome, test.message = Outcome.ERROR, str(ended)


def _again(suite: Functions, session: Session, report: Report, state: object) -> bool:
    """Runs doubted tests once more; returns True if they ask and conclude the same."""
    random.setstate(state)  # type: ignore[arg-type]  # `getstate` returned it
    doubted = session.doubted
    session.replay()
    try:
        _caught_again(suite.prepare, session, -1)
        for index, test in enumerate(report.tests):
            if test.outcome is Outcome.NOT_RUN:
                break
            error = _caught_again(partial(suite.run, index), session, index)
            if index in doubted and outcome_of(error) is not test.outcome:
                return False
    except DiffersError:
        return False
    return -1 not in doubted


def _caught_again(action: Callable[[], None], session: Session, test: int) -> BaseException | None:
    session.begin(test)
    error: BaseException | None = None
    try:
        action()
    except DiffersError:
        raise
    except BaseException as raised:  # noqa: BLE001  # tests may raise anything
        error = raised
    session.finish()
    return error

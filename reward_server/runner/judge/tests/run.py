"""Runs a suite of tests against a loaded solution and records the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ...wire import Outcome
from ..endings import LIMITS, Cause, message_of, outcome_of
from ..report import Report, TestReport
from .suite import Suite, Talk


def run_tests(suite: Suite, session: Talk, report: Report, *, stop_at_failure: bool) -> None:
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


def record_end(session: Talk, report: Report) -> None:
    """Records a session's signals, and the reason if it ended early."""
    report.signals = session.signals
    ended = session.ended
    if ended is None:
        return
    if ended.cause in LIMITS:
        report.limits.append(ended.cause.value)
    else:
        report.broken = ended.cause.value
    if ended.cause is Cause.CLOSED:
        report.signals["early_exit"] = report.signals.get("early_exit", 0) + 1
    report.message = str(ended)


def _prepare(suite: Suite, session: Talk, report: Report) -> bool:
    error = caught(suite.prepare, session)
    if error is not None:
        _conclude(report.tests[0], suite, error)
    return error is None


def caught(action: Callable[[], None], session: Talk) -> BaseException | None:
    """Runs code of the tests and returns its exception, or the one that ended the session."""
    try:
        action()
    except BaseException as error:  # noqa: BLE001  # tests may raise anything
        return session.ended or error
    session.finish()
    return session.ended


def _conclude(test: TestReport, suite: Suite, error: BaseException | None) -> None:
    test.outcome = outcome_of(error)
    test.message = message_of(error, "", suite.where)

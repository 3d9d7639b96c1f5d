"""Calls under the contract: arguments and expected values are JSON, and answers are data."""

from __future__ import annotations

from collections.abc import Mapping

from ...requests import CallRequest, SolutionProgram
from ..endings import TaskError
from ..handover import record_end
from ..link import Link
from ..report import Report, TestReport
from .call_tests import CallTests
from .run import Loading, run_tests
from .session import Session


def run_calls(request: CallRequest, blobs: Mapping[str, bytes], link: Link, report: Report) -> bool:
    """Runs calls; returns True, since they leave nothing in this process.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    program = SolutionProgram(
        predefined=True,
        result_bytes=request.result_bytes,
        signature=request.signature,
    )
    loading = Loading(program, link, report, blobs)
    session = Session(loading.line, loading, calls=request.calls)
    try:
        suite = CallTests(request, session)
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return True
    report.tests = [TestReport(name=name) for name in suite.names]
    run_tests(suite, session, report, stop_at_failure=request.stop_at_first_failure)
    if loading.problem is not None:
        raise loading.problem
    session.tell_events()
    if report.load is None:
        record_end(loading.line, report)
    else:
        report.signals = session.signals
    return True

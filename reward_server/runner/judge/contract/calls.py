"""Calls under the contract: arguments and expected values are JSON, and answers are data."""

from __future__ import annotations

from collections.abc import Mapping

from ...requests import CallRequest, SolutionProgram
from ..endings import SessionEnded
from ..line import Line
from ..link import Link
from ..report import Report, TestReport
from ..tests.call_tests import CallTests
from ..tests.run import record_end, run_tests
from ..tests.suite import TaskError
from .run import Loading
from .session import Session


class _Asked:
    """What calls ask of the session and its line."""

    def __init__(self, session: Session, line: Line) -> None:
        self._session, self._line = session, line

    def request(self, operation: str, *operands: object) -> object:
        """Returns an answer; see `Session.ask`."""
        return self._session.ask(operation, *operands)

    def forged(self, problem: str) -> SessionEnded:
        """Ends the session; see `Line.forged`."""
        return self._line.forged(problem)

    def note_untold(self) -> None:
        """Lowers the label: the solution decided what the task's signature leaves open."""
        self._session.lower("signature")


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
        suite = CallTests(request, _Asked(session, loading.line))
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return True
    report.tests = [TestReport(name=name) for name in suite.names]
    run_tests(suite, session, report, stop_at_failure=request.stop_at_first_failure)
    if loading.problem is not None:
        raise loading.problem
    session.tell_events()
    if report.load is None:
        record_end(session, report)
    else:
        report.signals = session.signals
    return True

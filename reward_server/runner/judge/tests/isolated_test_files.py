"""Test files that run in the judge, where the solution's module holds proxies.

The tests are collected before the solution is loaded. If this fails without a use of the solution,
the task is broken. If it used the solution, or imported a name that the solution lacks, the tests
are collected again from the start after the solution is loaded. Then any failure is the solution's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType

from ...channel.files import write_files
from ...frameworks import base, select
from ...frameworks.base import BrokenSuiteError
from ...requests import SolutionProgram, UnitRequest
from ...wire import Outcome
from .. import endings, handover
from ..link import ClosedError, Link, OversizeFrameError
from ..proxies import proxy
from ..proxies.solution_module import SolutionFinder, SolutionNames
from ..report import Report, TestReport
from ..session import Session
from ..text import aliases, arguments, observations
from .run import record_end
from .suite import TaskError

COLLECTION = "collection"
_JUDGES = ("test/", "data/")  # files that the judge writes to its own folder


class _Course:
    """Follows a suite in the judge.

    Args:
        session: the session with the solution.
        report: receives the outcomes.
        load: sends the solution and waits until it is loaded; returns True if it is.
        misled: returns True if the loaded solution lacks a name that the collection took from it.
        stop_at_failure: whether one failed test ends the run.

    Attributes:
        problem: the error of sending the solution, which the tests do not see.
        is_misled: whether the collection differs from one with the loaded solution.
    """

    def __init__(
        self,
        session: Session,
        report: Report,
        load: Callable[[], bool],
        misled: Callable[[], bool],
        *,
        stop_at_failure: bool,
    ) -> None:
        self._session = session
        self._report = report
        self._load = load
        self._misled = misled
        self._stop_at_failure = stop_at_failure
        self._began = 0
        self.problem: Exception | None = None
        self.is_misled = False

    @property
    def heard(self) -> bool:
        """Returns True if the solution is loaded."""
        return self._session.loaded

    def collected(self, names: Sequence[str]) -> bool:
        """Loads the solution, if the collection did not use it and found tests."""
        if not self.heard:
            if self._session.asked_early:
                return False
            if not names:
                return False
        self._report.tests = [TestReport(name=name) for name in names]
        if not self.heard:
            if not self.load():
                return False
            self.is_misled = self._misled()
        return not self.is_misled

    def again(self) -> None:
        """Prepares a new collection of the tests, with the loaded solution."""
        base.forget_modules()
        self._report.tests, self.is_misled = [], False

    def load(self) -> bool:
        """Sends the solution; returns True if it is loaded."""
        try:
            return self._load()
        except (ClosedError, OversizeFrameError) as error:
            self.problem = error
            return False

    def begin(self, index: int) -> None:
        """Starts the clock."""
        self._began = time.perf_counter_ns()

    def end(self, index: int, outcome: Outcome, error: BaseException | None, note: str) -> bool:
        """Records a test; if its session ended, it did not run to its end, even if it reports
        otherwise."""
        self._session.finish()
        ended = self._session.ended
        test = self._report.tests[index]
        test.wall_ns = test.wall_ns or time.perf_counter_ns() - self._began
        test.outcome = endings.outcome_of(ended) if ended is not None else outcome
        test.message = endings.message_of(ended or error, note, base.place_of)
        failed = test.outcome not in (Outcome.PASSED, Outcome.SKIPPED)
        return ended is None and not (failed and self._stop_at_failure)


def run(
    request: UnitRequest,
    blobs: Mapping[str, bytes],
    link: Link,
    report: Report,
    announce_crossing: Callable[[], object],
) -> None:
    """Runs the tests of a request.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    session = Session(
        link,
        proxy.make,
        result_bytes=request.result_bytes,
        calls=request.calls,
        announce_crossing=announce_crossing,
    )
    session.brings_changes = request.brings_changes
    if request.repeats_answers:
        session.repeat_answers()
    texts = base.texts_of(blobs)
    session.look_over(texts.values())
    write_files({name: one for name, one in blobs.items() if name.startswith(_JUDGES)})
    try:
        check_that_they_compile(texts)
        solution_names = _install(request.solution_path, texts, session)
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return
    program = SolutionProgram(
        predefined=False,
        result_bytes=request.result_bytes,
        identities=session.compares_identities,
    )

    def load() -> bool:
        solution = {name: one for name, one in blobs.items() if not name.startswith("test/")}
        session.cross()
        handover.hand_over(link, report, program, solution)
        loaded = handover.load(session, report)
        if loaded:
            _settle(solution_names)
        return loaded

    stop_at_failure = request.stop_at_first_failure
    course = _Course(session, report, load, solution_names.misled, stop_at_failure=stop_at_failure)
    _run_twice_if_needed(request.framework, sorted(texts), course, session, report)
    if course.problem is not None:
        raise course.problem
    session.note_end()
    record_end(session, report)


def check_that_they_compile(texts: Mapping[str, str]) -> None:
    """Refuses files that are not Python.

    Raises:
        TaskError: one of them does not compile.
    """
    for path, text in texts.items():
        try:
            compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise TaskError(f"{path} does not compile: {error}") from None


def _install(solution_path: str, texts: Mapping[str, str], session: Session) -> SolutionNames:
    """Prepares the interpreter, which serves no other execution afterwards, for the tests."""
    sys.path.insert(0, os.getcwd())
    sys.dont_write_bytecode = True
    solution_names = SolutionNames(texts, session)
    session.keeps_apart = partial(_keeps_apart, texts)
    session.observes = partial(_observes, texts)
    SolutionFinder(solution_path, solution_names).install()
    session.own.add_folder(os.getcwd())
    return solution_names


def _observes(
    texts: Mapping[str, str],
    frame: FrameType,
    names: tuple[str, ...],
    things: frozenset[int],
    nested: bool,
) -> bool:
    """Returns True if a test looks at objects that it made itself and passed by one name."""
    code = frame.f_code
    text = texts.get(os.path.relpath(code.co_filename))
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]  # these may be fixtures
    if text is None or not code.co_name.startswith("test") or not set(names).isdisjoint(given):
        return False
    position, known = observations.position_in(frame), aliases.of(frame, things)
    if position is None or known is None or not known.issubset(names):
        return False
    return observations.are_observed(text, position, names, nested, arguments.heard_in(frame))


def _keeps_apart(texts: Mapping[str, str], frame: FrameType, things: frozenset[int]) -> bool:
    """Returns True if changes of a call's arguments cannot change the expected answers."""
    text = texts.get(os.path.relpath(frame.f_code.co_filename))
    if text is None:
        return True  # a library's frame, which does not know the expected values
    position, names = observations.position_in(frame), aliases.of(frame, things)
    if position is None or names is None:
        return False
    return arguments.are_apart(text, position, arguments.heard_in(frame), (), names)


def _settle(solution_names: SolutionNames) -> None:
    folder = os.path.join(os.getcwd(), "")
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.startswith(folder):
            solution_names.settle(module)


def _run_twice_if_needed(
    framework: str, files: Sequence[str], course: _Course, session: Session, report: Report
) -> None:
    problem = _problem_of(framework, files, course)
    if course.is_misled:
        course.again()
        problem = _problem_of(framework, files, course)
    if session.loaded or course.problem is not None or report.ready:
        _record_problem(problem, report)
        return
    if not session.asked_early:
        report.blame, report.message = "task", problem or "the files hold no tests"
        return
    base.forget_modules()
    if course.load():
        _record_problem(_problem_of(framework, files, course), report)


def _problem_of(framework: str, files: Sequence[str], course: _Course) -> str | None:
    """Runs the tests; returns the reason if they cannot be collected."""
    try:
        select.driver(framework)(files, course, ())
    except BrokenSuiteError as error:
        return str(error)
    except BaseException as error:  # noqa: BLE001  # tests may raise anything
        return f"{type(error).__name__}: {error}"
    return None


def _record_problem(problem: str | None, report: Report) -> None:
    """Records the reason why the tests of a loaded solution did not run, as an error."""
    if report.load is None and not report.tests:
        message = problem or "no tests were left when the solution was there"
        report.tests = [TestReport(name=COLLECTION, outcome=Outcome.ERROR, message=message[:1000])]

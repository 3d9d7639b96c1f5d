"""Test files under the contract: pytest or unittest runs them here, with stand-ins to import."""

from __future__ import annotations

import os
import random
import sys
import time
import types
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec

from ...channel.files import MODULE_NAME, write_files
from ...frameworks import base, select
from ...frameworks.base import BrokenSuiteError
from ...requests import UnitRequest
from ...wire import Outcome
from .. import endings
from ..link import Link
from ..report import Report, TestReport
from .changes import BEFORE
from .functions import SolutionModule, load_modules
from .run import UNASKED, conclude, session_of
from .session import Session

COLLECTION = "collection"
_JUDGES = ("test/", "data/")  # files that the judge writes to its own folder


class _Finder:
    """Finds the solution's module in every folder in which its file would be importable."""

    def __init__(self, path: str, module: SolutionModule) -> None:
        self._path, self._module = os.path.abspath(path), module

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        """Returns the specification of a module, if it is the solution's."""
        file = f"{name.rpartition('.')[2]}.py"
        for folder in sys.path if path is None else path:
            if os.path.abspath(os.path.join(folder, file)) == self._path:
                return ModuleSpec(name, self)  # type: ignore[arg-type]  # it has a loader's methods
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Returns the module."""
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        """Does nothing."""


class _Course:
    """Follows a suite.

    Args:
        session: the session with the solution.
        report: receives the outcomes.
        stop_at_failure: whether one failed test ends the run.
    """

    heard = False

    def __init__(self, session: Session, report: Report, *, stop_at_failure: bool) -> None:
        self._session, self._report = session, report
        self._stop_at_failure = stop_at_failure
        self._began = 0

    def collected(self, names: Sequence[str]) -> bool:
        """Records the names of the tests; there have to be some."""
        self._session.finish()
        self._report.tests = [TestReport(name=name) for name in names]
        return bool(names) and self._session.ended is None

    def begin(self, index: int) -> None:
        """Starts the clock."""
        self._began = time.perf_counter_ns()
        self._session.begin(index)

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


class _Again:
    """Follows a suite that runs once more, without the solution.

    Attributes:
        differs: whether a doubted test ended in another way, or there are other tests.
    """

    heard = False

    def __init__(
        self, session: Session, tests: Sequence[TestReport], doubted: Collection[int]
    ) -> None:
        self._session, self._tests, self._doubted = session, tests, doubted
        self.differs = False

    def collected(self, names: Sequence[str]) -> bool:
        """Compares the names of the tests."""
        self.differs = list(names) != [test.name for test in self._tests]
        return not self.differs

    def begin(self, index: int) -> None:
        """Begins a test."""
        self._session.begin(index)

    def end(self, index: int, outcome: Outcome, error: BaseException | None, note: str) -> bool:
        """Compares the outcome of a test."""
        self._session.finish()
        self.differs |= index in self._doubted and outcome is not self._tests[index].outcome
        return not self.differs and index + 1 < len(self._tests)


def run(request: UnitRequest, blobs: Mapping[str, bytes], link: Link, report: Report) -> None:
    """Runs test files.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    plan = request.plan
    assert plan is not None
    solution = {name: one for name, one in blobs.items() if not name.startswith("test/")}
    session, loading = session_of(request, plan, link, report, solution)
    write_files({name: one for name, one in blobs.items() if name.startswith(_JUDGES)})
    # Its folder makes a package importable, although the file is not here.
    os.makedirs(os.path.dirname(os.path.abspath(request.solution_path)), exist_ok=True)
    sys.path.insert(0, os.getcwd())
    sys.dont_write_bytecode = True
    try:
        load_modules(plan)
    except ImportError as error:
        report.blame, report.message = "task", f"{type(error).__name__}: {error}"
        return
    sys.modules.pop(MODULE_NAME, None)
    module = SolutionModule(MODULE_NAME, plan, session)
    sys.meta_path.insert(0, _Finder(request.solution_path, module))
    files, state = sorted(base.texts_of(blobs)), random.getstate()
    course = _Course(session, report, stop_at_failure=request.stop_at_first_failure)
    session.begin(BEFORE)
    problem = _problem_of(request.framework, files, course)
    if loading.problem is not None:
        raise loading.problem
    if not session.has_asked and session.ended is None:
        report.blame, report.message = "task", problem or UNASKED
        return
    if problem is not None and not report.tests and report.load is None:
        report.tests = [TestReport(name=COLLECTION, outcome=Outcome.ERROR, message=problem[:1000])]
    conclude(session, report, partial(_again, request.framework, files, session, report, state))


def _problem_of(framework: str, files: Sequence[str], course: base.Course) -> str | None:
    """Runs the tests; returns the reason if they cannot be collected."""
    try:
        select.driver(framework)(files, course, ())
    except BrokenSuiteError as error:
        return str(error)
    except BaseException as error:  # noqa: BLE001  # tests may raise anything
        return f"{type(error).__name__}: {error}"
    return None


def _again(
    framework: str, files: Sequence[str], session: Session, report: Report, state: object
) -> bool:
    """Runs the tests once more; returns True if the doubted ones ask and conclude the same."""
    random.setstate(state)  # type: ignore[arg-type]  # `getstate` returned it
    session.begin(BEFORE)
    base.forget_modules()
    course = _Again(session, report.tests, session.recording.doubted)
    return _problem_of(framework, files, course) is None and not course.differs

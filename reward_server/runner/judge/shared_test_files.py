"""Test files that must run in the solution's process: the judge sends them and reads the results.

What this stops: tests that are broken in themselves, which the judge finds before it hears the
candidate, and messages that the runner's own code in the candidate would never send.

What it does not stop: forged results. The tests run in the candidate's process
(`candidate.shared_test_files`). The server also runs perturbed copies to find out whether the
tests really ran.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from ..frameworks import base
from ..requests import FilesProgram, SharedRequest
from ..wire import Outcome
from . import handover
from .endings import SessionEnded, TaskError
from .line import Line
from .link import Link
from .report import Report, TestReport

COLLECTION = "collection"
MOST_TESTS = 20_000
MOST_NAME_CHARACTERS = 1000
_REMEDY = "; if solutions have to make it, the repository needs an empty file"
_OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED)


def run(request: SharedRequest, blobs: Mapping[str, bytes], link: Link, report: Report) -> None:
    """Runs the tests of a request in the candidate.

    Raises:
        ClosedError, OversizeFrameError: the candidate did not receive the program.
    """
    session = Line(link, request.result_bytes)
    texts = base.texts_of(blobs)
    try:
        _check_that_they_compile(texts)
        _check_imports(texts, request.solution_path, request.modules)
    except TaskError as error:
        report.blame, report.message = "task", str(error)
        return
    program = FilesProgram(
        request.framework, request.solution_path, request.targets, request.import_paths
    )
    if not request.solution_path:
        blobs = {name: blob for name, blob in blobs.items() if name != "source"}
    handover.hand_over(link, report, program, blobs)
    if handover.load(session, report):
        _Watch(session, report, stops=request.stop_at_first_failure).follow()
    handover.record_end(session, report)


class _Watch:
    """Records the candidate's reports about the tests.

    Only the judge knows whether a first failure ends the run: the candidate runs true tests and
    copies without any message that would distinguish them.
    """

    def __init__(self, session: Line, report: Report, *, stops: bool) -> None:
        self._session = session
        self._report = report
        self._stops = stops
        self._failed = False
        self._next = 0
        self._began = 0

    def follow(self) -> None:
        """Receives reports until the last one, or until one breaks the protocol."""
        try:
            while self._take(self._session.receive()):
                self._began = time.perf_counter_ns()
                if self._stops and self._failed:
                    return
        except SessionEnded:
            return
        self._session.finish()
        if not self._report.tests:
            self._add_collection("the files hold no tests")

    def _take(self, message: list[object]) -> bool:
        match message:
            case ["collected", list(names)] if not self._report.tests and _are_names(names):
                self._report.tests = [TestReport(name=str(name)) for name in names]
            case ["broken", str(text)]:
                self._add_collection(text)
            case ["ended", int(index), str(outcome), str(text)] if self._may_end(index, outcome):
                self._end(index, Outcome(outcome), text)
            case ["done"]:
                return False
            case _:
                raise self._session.forged("no word of the tests")
        return True

    def _may_end(self, index: int, outcome: str) -> bool:
        """Returns True if a test can have ended: it is the next one or the previous one."""
        return (
            outcome in _OUTCOMES
            and max(0, self._next - 1) <= index <= self._next
            and index < len(self._report.tests)
        )

    def _end(self, index: int, outcome: Outcome, text: str) -> None:
        test = self._report.tests[index]
        test.outcome, test.message = outcome, text[:1000]
        self._failed = self._failed or outcome not in (Outcome.PASSED, Outcome.SKIPPED)
        test.wall_ns = test.wall_ns or time.perf_counter_ns() - self._began
        self._next = index + 1

    def _add_collection(self, message: str) -> None:
        if len(self._report.tests) < MOST_TESTS:
            added = TestReport(name=COLLECTION, outcome=Outcome.ERROR, message=message[:1000])
            self._report.tests = [*self._report.tests, added]


def _are_names(names: list[object]) -> bool:
    fit = (type(name) is str and len(name) <= MOST_NAME_CHARACTERS for name in names)
    return len(names) <= MOST_TESTS and all(fit) and len(set(names)) == len(names)


def _check_that_they_compile(texts: Mapping[str, str]) -> None:
    """Refuses files that are not Python.

    Raises:
        TaskError: one of them does not compile.
    """
    for path, text in texts.items():
        try:
            compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise TaskError(f"{path} does not compile: {error}") from None


def _check_imports(texts: Mapping[str, str], solution_path: str, modules: Sequence[str]) -> None:
    """Refuses files that import a missing module.

    Raises:
        TaskError: a module is neither installed, nor among the files, nor the solution's or the
            repository's.
    """
    own = {*modules} | {
        part.removesuffix(".py") for path in (*texts, solution_path) for part in path.split("/")
    }
    for path, text in texts.items():
        for name in _imported(ast.parse(text)):
            root = name.partition(".")[0]
            known = root in own or root in sys.modules or importlib.util.find_spec(root)
            if not known:
                raise TaskError(
                    f"{path}: ModuleNotFoundError: No module named {root!r}"
                    + ("" if solution_path else f"{_REMEDY} {root}.py")
                )


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yields the modules that a file imports unconditionally."""
    for node in tree.body:
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                yield module

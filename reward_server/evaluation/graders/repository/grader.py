"""Judges changes of a repository by its hidden tests.

What this stops:

- changes of tests, of their settings and of the framework: they do not count;
- an early exit, and a list of tests that lacks some: a missing test has failed;
- with a framework for Python, code that forges the outcomes of tests: perturbed copies of the tests
  have to fail;
- a report from a file that was there before the command ran: it is not read.

What it does not: with a command, the repository's code runs in the process that writes the report,
and may write any report. Only tests that have to fail, and the command's exit status, can show that
the report is false.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field, replace

from reward_server.domain import (
    Commands,
    Ending,
    Execution,
    Integrity,
    RepositoryTests,
    RewardPolicy,
    Termination,
    TerminationKind,
    TestCommand,
    TestOutcome,
    TestResult,
    Usage,
)
from reward_server.evaluation.graders.base import Candidate, Slots
from reward_server.evaluation.graders.outputs import kept, with_last_line
from reward_server.evaluation.graders.python_test_files import UnitGrader
from reward_server.evaluation.graders.repository.repositories import PythonTests, Repository
from reward_server.grading.repository.expectations import FAILURES, FORGED, Expectations
from reward_server.grading.repository.patches import PatchError, apply_patch
from reward_server.grading.repository.protection import Composed, composed
from reward_server.grading.repository.reports import MOST_BYTES, ReportError, read_report
from reward_server.grading.repository.tree import Tree, TreeError, check_apart
from reward_server.grading.verdict import Run
from reward_server.runner import wire

REPORT = "{report}"
UNCOUNTED = "uncounted_changes"
_NOT_FOUND = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryGrader:
    """Applies the changes of a completion, and runs the tests.

    Args:
        tests: the tests.
        repository: the repository that they test.
        language: name of the language of its source.
        is_whole: whether the candidate's files are the whole repository.
    """

    tests: RepositoryTests
    repository: Repository
    language: str
    is_whole: bool = False
    flaw = ""

    @property
    def wanted(self) -> frozenset[str]:
        """The empty set, since a patch defines no names."""
        return frozenset()

    @property
    def integrity(self) -> Integrity:
        """SHARED, since the tests run in one process with the repository's code."""
        return Integrity.SHARED

    @property
    def _expected(self) -> Expectations:
        tests = self.tests
        return Expectations(
            fail_to_pass=tests.fail_to_pass,
            pass_to_pass=tests.pass_to_pass,
            must_fail=tests.must_fail,
        )

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1, plus the number of copies of tests in Python."""
        python = self.repository.python
        return 1 if python is None else self._unit_grader(python).cost(policy)

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each test that has to pass."""
        return tuple(
            TestResult(name=name, outcome=TestOutcome.NOT_RUN) for name in self._expected.names
        )

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs the tests on the repository with the changes; see `Grader`."""
        try:
            changed = await asyncio.to_thread(self._changed, candidate)
        except PatchError as error:
            return [Run.of(_refusal(str(error)), self.not_run())]
        runs = await self._runs(candidate, changed.tree, slots)
        if not changed.uncounted:
            return runs
        return [run.with_signals({UNCOUNTED: changed.uncounted}) for run in runs]

    async def _runs(self, candidate: Candidate, tree: Tree, slots: Slots) -> list[Run]:
        python, command = self.repository.python, self.tests.runner
        if python is not None:
            return await self._unit_grader(python).grade(
                _with_files(candidate, tree, python), slots
            )
        assert isinstance(command, TestCommand)
        return [await _Command(command, self._expected, self.not_run()).run(candidate, tree, slots)]

    def _unit_grader(self, python: PythonTests) -> UnitGrader:
        return UnitGrader(tests=python.tests, plan=python.plan, expected=self._expected)

    def _changed(self, candidate: Candidate) -> Composed:
        base, tested, tests = self.repository.base, self.repository.tested, self.tests
        changed = Tree() if self.is_whole else apply_patch(base, candidate.source)
        removed = base.files.keys() - tested.files.keys()
        files = {
            path: text
            for path, text in {**changed.files, **candidate.files}.items()
            if path not in removed
        }
        executable = candidate.executable if self.is_whole else changed.executable
        result = composed(
            tested,
            replace(changed, files=files, executable=executable),
            self.repository.hidden,
            language=self.language,
            protected=tests.protected_paths,
            changeable=tests.changeable_paths,
            import_paths=tests.import_paths,
        )
        try:
            check_apart(result.tree.files)
        except TreeError as error:
            raise PatchError(f"with the changes, {error}") from None
        return result


def _with_files(candidate: Candidate, tree: Tree, python: PythonTests) -> Candidate:
    """Returns a candidate whose files are those of a repository, without those of the tests."""
    own = dict(python.tests.files)
    files = {path: text for path, text in tree.files.items() if path not in own}
    executable = frozenset(tree.executable - own.keys())
    return replace(candidate, source="", files=files, executable=executable)


def _refusal(message: str) -> Execution:
    return Execution(
        ending=Ending.COMPILE_ERROR,
        termination=Termination(kind=TerminationKind.STOPPED),
        message=message,
        usage=Usage(executions=0),
    )


@dataclass(frozen=True, slots=True)
class _Command:
    """One run of the command of a task."""

    command: TestCommand
    expected: Expectations
    not_run: tuple[TestResult, ...]
    path: str = field(default_factory=lambda: f".report-{secrets.token_hex(8)}.out")

    async def run(self, candidate: Candidate, tree: Tree, slots: Slots) -> Run:
        toolchain = candidate.language.toolchain
        usual = {} if toolchain is None else toolchain.environment
        product = await asyncio.to_thread(
            wire.pack, {"executable": sorted(tree.executable)}, tree.files
        )
        argv = tuple(part.replace(REPORT, self.path) for part in self.command.argv)
        work = Commands(
            commands=(argv,),
            environment={**usual, **dict(self.command.environment)},
            product=product,
            data=candidate.data,
            keep=(self.path,) if self._is_file else (),
            product_bytes=2 * MOST_BYTES,
            keeps_failed=True,
        )
        execution = await slots.run(candidate.job(work))
        if _is_not_found(execution) and await self._is_missing(candidate, slots):
            message = f"the sandbox has no executable {argv[0]!r}"
            broken = replace(execution, ending=Ending.INVALID_TASK, message=message, product=b"")
            return Run.of(kept(broken), self.not_run)
        return await self._judged(execution)

    async def _is_missing(self, candidate: Candidate, slots: Slots) -> bool:
        """Returns True if the executable is missing also where there is nothing of a candidate."""
        name = self.command.argv[0]
        if "/" in name:
            return False
        return _is_not_found(await slots.run(candidate.copy(Commands(commands=((name,),)))))

    @property
    def _is_file(self) -> bool:
        return any(REPORT in part for part in self.command.argv)

    async def _judged(self, execution: Execution) -> Run:
        product = execution.product
        execution = replace(execution, product=b"")
        if execution.ending is not Ending.COMPLETED:
            return Run.of(kept(execution), self.not_run)
        if execution.termination.kind is not TerminationKind.EXITED:
            return self._crashed(execution, "the command was ended by a signal")
        try:
            report = await asyncio.to_thread(self._read, execution, product)
        except ReportError as error:
            return self._crashed(execution, str(error))
        run = Run.of(kept(execution), self.expected.results(report))
        if contradiction := self._contradiction(execution, report):
            run = run.with_signals({FORGED: 1})
            return run.without_passes(TestOutcome.FAILED, contradiction)
        return run

    def _read(self, execution: Execution, product: bytes) -> list[TestResult]:
        content = execution.stdout.data
        if self._is_file:
            try:
                content = wire.unpack(product)[1].get(self.path, b"")
            except (ValueError, KeyError, TypeError):
                content = b""
        elif execution.stdout.truncated:
            raise ReportError("the output was not kept whole")
        if not content:
            raise ReportError(with_last_line("the command wrote no report", execution))
        return read_report(content, self.command.format)

    def _contradiction(self, execution: Execution, report: list[TestResult]) -> str:
        """Returns why a report cannot be that of the tests; "" if it can."""
        if self.expected.is_forged(report):
            return "the report says of a test that it passed, which it cannot"
        has_failed = any(test.outcome in FAILURES for test in report)
        if execution.termination.value and not has_failed:
            return f"all tests passed, but the command {_status(execution)}"
        return ""

    def _crashed(self, execution: Execution, message: str) -> Run:
        ended = replace(execution, ending=Ending.CRASHED, message=message)
        return Run.of(kept(ended), self.not_run)


def _is_not_found(execution: Execution) -> bool:
    exited = execution.termination.kind is TerminationKind.EXITED
    return exited and execution.termination.value == _NOT_FOUND


def _status(execution: Execution) -> str:
    return f"exited with status {execution.termination.value}"

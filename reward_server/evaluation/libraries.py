"""Finds libraries that a task imports and its sandbox lacks.

A completion is never asked: only imports of the prompt and the tests are tried, in a program that
does nothing else. They are tried once, after a completion that did not pass, so that a task whose
libraries are there costs nothing. What its text does not use is left out, and the task is judged
without it. Anything else that is missing makes the task invalid for every completion.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from reward_server.domain import (
    Ending,
    Execution,
    Limits,
    Submission,
    TerminationKind,
    UnitTests,
    Verdict,
)
from reward_server.evaluation.graders.base import Slots
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.readings import Readings
from reward_server.grading.missing_modules import MOST_MODULES
from reward_server.grading.task_imports import (
    are_classes_of_many,
    imports_of,
    may_define,
    tests_of,
    unused,
    without,
)
from reward_server.languages import Language
from reward_server.languages.imports import Import
from reward_server.recent import Recent

# A pass shows that nothing is missing; so does a solution that was stopped while it ran.
ASKED = (Verdict.COMPILE_ERROR, Verdict.RUNTIME_ERROR, Verdict.FAILED, Verdict.INVALID_TASK)
_MOST_IMPORTS = 64
_KEPT_BYTES, _BYTES_OF_CHARACTER = 16 << 20, 4
_SECRET = "s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """What a task imports and its sandbox lacks.

    Args:
        needed: names of the libraries that the task uses.
        unused: imports that can be left out.
    """

    needed: tuple[str, ...] = ()
    unused: tuple[Import, ...] = ()

    def __bool__(self) -> bool:
        """Returns False if nothing is missing."""
        return bool(self.needed or self.unused)

    def left_out(self, submission: Submission) -> Submission:
        """Returns the submission without what its task does not use."""
        return without(submission, self.unused)


class Libraries:
    """Tries the imports of tasks, and remembers those that are missing.

    Args:
        programs: makes programs ready to run.
        limits: the server's defaults.
    """

    def __init__(self, programs: Programs, limits: Limits) -> None:
        self._programs = programs
        self._limits = limits
        self._tried: Readings[tuple[Import, ...]] = Readings(_KEPT_BYTES)
        self._tasks: Recent[Lacking] = Recent(_KEPT_BYTES)

    def known(self, submission: Submission, language: Language, owner: str) -> Lacking | None:
        """Returns what a task of an owner lacks; None if nobody has tried."""
        return self._tasks.get(_task(submission, language, owner))

    async def find(
        self,
        submission: Submission,
        language: Language,
        owner: str,
        slots: Slots,
        compiles: Callable[[Submission], Awaitable[bool]],
    ) -> Lacking:
        """Returns what a task lacks, which is nothing if nobody can tell.

        Args:
            submission: whose task it is.
            language: of the task.
            owner: of the task.
            slots: where imports are tried.
            compiles: returns True if the text of another task compiles without a solution.

        Raises:
            SandboxError, DeadlineError: as the slots.
        """
        trial = _Trial(submission, language, self._programs, self._limits, slots)
        try:
            missing = await self._missing(trial, owner)
        except _UndecidedError:
            return Lacking()
        spare = unused(missing, submission, language)
        hidden = tuple(one for one in missing if one not in spare and not one.names)
        if hidden and await compiles(without(submission, missing)):
            spare += hidden
        names = dict.fromkeys(one.module for one in missing if one not in spare)
        lacking = Lacking(needed=tuple(names)[:MOST_MODULES], unused=spare)
        key = _task(submission, language, owner)
        self._tasks.put(key, _size(_texts(submission)), lacking)
        return lacking

    async def _missing(self, trial: _Trial, owner: str) -> tuple[Import, ...]:
        imports = imports_of(trial.submission, trial.language)
        if not imports or len(imports) > _MOST_IMPORTS:
            return ()

        async def read() -> tuple[tuple[Import, ...], int]:
            return await trial.missing(imports), _size(one.statement for one in imports)

        key = owner, trial.language.name, trial.is_suite, _names(trial.submission), imports
        missing = await self._tried.find(key, read)
        return missing if missing and await trial.are_libraries(missing) else ()


class _UndecidedError(Exception):
    """A trial was stopped, so that it shows nothing."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """Tries the imports of one task."""

    submission: Submission
    language: Language
    programs: Programs
    limits: Limits
    slots: Slots

    @property
    def is_suite(self) -> bool:
        """Whether imports are compiled as test files, which find more than programs do."""
        imports = self.language.imports
        is_unit = isinstance(self.submission.tests, UnitTests)
        return is_unit and imports is not None and imports.undefined is not None

    async def missing(self, imports: Sequence[Import]) -> tuple[Import, ...]:
        """Returns the imports that work neither alone nor behind those that do.

        An import can need the ones before it, and files of tests can use a name for two libraries.
        """
        if await self._works(imports):
            return ()
        present: list[Import] = []
        missing: list[Import] = []
        for one in imports:
            if await self._works([*present, one]):
                present.append(one)
            elif not await self._works([one]):
                missing.append(one)
        return tuple(missing)

    async def are_libraries(self, missing: Sequence[Import]) -> bool:
        """Returns False if a solution may define what is missing."""
        if not self.is_suite or not may_define(self.submission, self.language):
            return True
        if are_classes_of_many(missing, ()):
            return True
        imports = self.language.imports
        assert imports is not None
        assert imports.undefined is not None
        texts = tests_of(self.submission.tests)
        path = next(iter(texts))
        files = {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}
        said = (await self._compiled(texts[path], path, files)).stderr.data
        names = imports.undefined.findall(said.decode("utf-8", "replace"))
        return are_classes_of_many(missing, names)

    async def _works(self, imports: Sequence[Import]) -> bool:
        table = self.language.imports
        assert table is not None
        source = table.program(imports)
        if self.is_suite:
            return _did(await self._compiled(source, self.language.source_file(source), {}))
        data = dict(self.submission.data_files)
        ready = await self.programs.ready(self.language, source, self.slots, data=data, once=True)
        limits = self.language.default_limits(self.limits)
        return _did(ready.refusal or await self.slots.run(ready.job(limits)))

    async def _compiled(self, source: str, path: str, files: dict[str, bytes]) -> Execution:
        files = {name: data for name, data in files.items() if name != path}
        work = partial(self.language.suite_compilation, source, path, _SECRET, files)
        return await self.programs.compiled(self.language, work, self.slots)


def _did(execution: Execution) -> bool:
    """Returns whether a program that only imports reached its end.

    Raises:
        _UndecidedError: it was stopped.
    """
    ended = execution.termination
    if execution.limits_hit or ended.kind is not TerminationKind.EXITED:
        raise _UndecidedError
    return execution.ending is Ending.COMPLETED and ended.value == 0


def _size(texts: Iterable[str]) -> int:
    return _BYTES_OF_CHARACTER * sum(map(len, texts))


def _texts(submission: Submission) -> Iterator[str]:
    yield submission.prompt
    yield from tests_of(submission.tests).values()


def _names(submission: Submission) -> tuple[str, ...]:
    return tuple(name for name, _ in submission.data_files)


def _task(submission: Submission, language: Language, owner: str) -> tuple[object, ...]:
    kind = type(submission.tests)
    return owner, language.name, kind, _names(submission), *_texts(submission)

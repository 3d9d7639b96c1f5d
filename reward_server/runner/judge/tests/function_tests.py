"""Tests given as Python: `check(candidate)`, lists of asserts, or a sequence of statements.

Their own code runs once before the solution is loaded. If it fails then, the task is broken. If it
uses the solution, it runs again from the start after the solution is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import CoroutineType, FrameType, GeneratorType
from typing import Any

from ...channel.files import MODULE_NAME
from ...requests import FunctionRequest
from .. import surroundings
from ..endings import NotLoaded
from ..proxies.imported import ImportedModule
from ..session import Session
from ..text import aliases, arguments, observations
from . import prompt
from . import sources as texts
from .scope import Scope
from .suite import TaskError

_MODULE = "<module>"
_PAIRING = ("zip(", "map(")  # they end with the shorter argument


class FunctionTests:
    """Tests of functions and classes.

    Args:
        request: the request.
        session: the session with the solution.

    Raises:
        TaskError: the tests fail without the solution, or there are none, or they check nothing.
    """

    def __init__(self, request: FunctionRequest, session: Session) -> None:
        self._session = session
        self._entry_point = request.entry_point
        self._texts = texts.read(request)
        self._texts.check_that_they_ask(self._entry_point)
        sources = [text.source for text in self._texts.all]
        self._prompt = request.prompt
        self._scope = Scope(sources, self._entry_point, self._prompt, session)
        self._imported = ImportedModule(sys.modules[MODULE_NAME], session)
        sys.modules[MODULE_NAME] = self._imported
        session.doubts_empty = any(word in source for source in sources for word in _PAIRING)
        session.look_over(sources)
        session.observes, session.raises = self._observes, self._raises
        session.keeps_apart = self._keeps_apart
        session.brings_changes = request.brings_changes
        if request.repeats_answers:
            session.repeat_answers()
        self._globals: dict[str, object] = {}
        self._tests: list[tuple[str, Callable[[], None]]] = []
        if self._texts.has_check:
            self._tests.append((texts.CHECK, self._run_check))
        for text in self._texts.all[len(self._texts.support) :]:
            self._tests.append((text.name, partial(self._execute, text)))
        self.names: Sequence[str] = [name for name, _ in self._tests]
        self._forward()
        self._is_prepared = self._try_early()

    def _forward(self) -> None:
        sources = "\n".join(text.source for text in self._texts.all)
        surroundings.forward(self._session.request, sources)

    @property
    def is_plain(self) -> bool:
        """Returns True if the tests' own text leaves nothing behind; see `purity`."""
        return self._texts.are_plain

    def prepare(self) -> None:
        """Runs the code before the tests, if it needs the solution or imports names that it
        lacks."""
        self._forward()
        if self._is_prepared and not self._imported.has_misled():
            self._scope.settle(self._globals)
        else:
            self._run_support()

    def run(self, index: int) -> None:
        """Runs a test to its end."""
        self._tests[index][1]()

    def where(self, error: BaseException) -> str:
        """Returns the innermost line of the tests in an exception's traceback."""
        return self._texts.place_of(error)

    def _observes(
        self, frame: FrameType, names: tuple[str, ...], things: frozenset[int], nested: bool
    ) -> bool:
        """Returns True if a test looks at the arguments of its current call."""
        code, position = frame.f_code, observations.position_in(frame)
        text = next(
            (one for one in self._texts.all if one.code.co_filename == code.co_filename), None
        )
        if text is None or position is None:
            return False
        known = aliases.of(frame, things)
        if known is None:
            return False
        others = (other for other in self._texts.all if other is not text)
        if code.co_name == _MODULE and any(other.mentioned & set(names) for other in others):
            return False
        heard = arguments.heard_in(frame) | self._scope.solution_names
        known = known.difference(names)
        return observations.are_observed(text.source, position, names, nested, heard, known)

    def _keeps_apart(self, frame: FrameType, things: frozenset[int]) -> bool:
        """Returns True if changes of a call's arguments cannot change the expected answers."""
        code = frame.f_code
        texts = {one.code.co_filename: one for one in self._texts.all}
        text = texts.pop(code.co_filename, None)
        if text is None and code.co_filename != prompt.FILE_NAME:
            return True
        position, names = observations.position_in(frame), aliases.of(frame, things)
        if position is None or names is None:
            return False
        source = self._prompt if text is None else text.source
        others = tuple(one.source for one in texts.values()) if code.co_name == _MODULE else ()
        heard = arguments.heard_in(frame) | self._scope.solution_names
        are_apart = arguments.are_apart(source, position, heard, others, names)
        if text is None and not are_apart:
            self._session.note_met_in_prompt()
        return are_apart

    def _raises(self, frame: FrameType, line: int) -> bool:
        """Returns True if a line of the tests itself raises an exception, and not the solution."""
        name = frame.f_code.co_filename
        text = next((one for one in self._texts.all if one.code.co_filename == name), None)
        return text is not None and observations.raises_by_itself(text.source, line)

    def _try_early(self) -> bool:
        """Runs the tests' own code without the solution; returns True if that sufficed."""
        try:
            self._run_support()
            if self._texts.script is not None:
                self._execute(self._texts.script)
        except NotLoaded:
            return False
        except BaseException as error:  # noqa: BLE001  # tests may raise anything
            if self._session.asked_early:
                return False
            place = self._texts.place_of(error)
            raise TaskError(f"{type(error).__name__}: {error} ({place})") from None
        if self._texts.script is not None and not self._session.asked_early:
            raise TaskError("the tests never ask the solution for anything")
        if self._session.asked_early:
            return False
        if self._texts.has_check and not self._is_check_defined():
            raise TaskError("check() is not defined")
        return True

    def _run_support(self) -> None:
        self._globals = self._scope.fresh_globals(self._texts.class_body_names)
        for text in self._texts.support:
            self._execute(text)

    def _is_check_defined(self) -> bool:
        """Returns True if the tests define check(); one in the solution is not a test."""
        return texts.CHECK in self._globals and callable(self._globals[texts.CHECK])

    def _run_check(self) -> None:
        if not self._is_check_defined():
            raise NameError("check() is not defined")
        check: Any = self._globals[texts.CHECK]
        code = getattr(check, "__code__", None)
        takes_nothing = code is not None and not code.co_argcount
        result = check() if takes_nothing else check(self._scope.proxy(self._entry_point))
        if isinstance(result, CoroutineType):
            import asyncio  # slow to import, and few tests need it

            asyncio.run(result)
        elif isinstance(result, GeneratorType):
            raise TypeError("check() is a generator, which nobody runs")

    def _execute(self, text: texts.Text) -> None:
        exec(text.code, self._globals)

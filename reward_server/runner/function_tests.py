"""Tests given as Python: `check(candidate)`, lists of asserts, or statements one after another.

Their own code runs once before the solution is there. If it fails by then, it is broken; if it
asks for the solution, it is run again, afresh, when the solution is loaded.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType, CoroutineType, GeneratorType, TracebackType
from typing import NamedTuple, cast

from . import names
from .scope import Scope
from .session import NotLoaded, Session
from .suite import TaskError

_CHECK = "check"
_CHECK_DEFINITION = re.compile(r"^(?:async +)?def +check *\( *(\w*)|^check *=", re.MULTILINE)
_MAX_SHOWN = 200


class _Text(NamedTuple):
    """A piece of the tests: its name, its source and what it compiles to."""

    name: str
    source: str
    code: CodeType


def _compiled(name: str, source: str) -> _Text:
    try:
        return _Text(name, source, compile(source, f"<{name}>", "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"{name} does not compile: {error}") from None


class FunctionTests:
    """Tests of functions and classes.

    Args:
        header: of a request document in mode "function".
        session: to the solution.

    Raises:
        TaskError: the tests fail by themselves, or there are none, or they ask nothing.
    """

    def __init__(self, header: dict[str, object], session: Session) -> None:
        self._session = session
        self._entry_point = cast("str", header["entry_point"])
        self._support: list[_Text] = []
        self._tests: list[tuple[str, Callable[[], None]]] = []
        self._texts: list[_Text] = []
        self._is_script = False
        self._reads_parameter = False
        self._own_names: set[str] = set()
        self._take_texts(header)
        self.names: Sequence[str] = [name for name, _ in self._tests]
        sources = [text.source for text in self._texts]
        self._scope = Scope(sources, self._entry_point, cast("str", header["prompt"]), session)
        self._needed = frozenset[str]().union(
            *(names.in_class_bodies(text.code) for text in self._texts)
        )
        self._check_that_they_ask()
        self._globals: dict[str, object] = {}
        self._is_prepared = self._try_early()

    def prepare(self) -> None:
        """Runs what comes before the tests, if it needs the solution."""
        if not self._is_prepared:
            self._run_support()

    def run(self, index: int) -> None:
        """Runs a test to its end."""
        self._tests[index][1]()

    def where(self, error: BaseException) -> str:
        """Returns the line of the tests that an exception went through last."""
        place = ""
        texts = {text.code.co_filename: text for text in self._texts}
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            text = texts.get(traceback.tb_frame.f_code.co_filename)
            if text is not None:
                line = text.source.splitlines()[traceback.tb_lineno - 1].strip()
                place = f"{text.name}, line {traceback.tb_lineno}: {line[:_MAX_SHOWN]}"
            traceback = traceback.tb_next
        return place

    # --------------------------------------------------------------------- what they consist of

    def _take_texts(self, header: dict[str, object]) -> None:
        setup, code = cast("str", header["setup_code"]), cast("str", header["test_code"])
        if setup:
            self._support.append(self._taken("setup_code", setup))
        if code:
            self._take_code(self._taken("test_code", code))
        for number, source in enumerate(cast("list[str]", header["asserts"]), 1):
            text = self._taken(f"assert {number}", source)
            self._tests.append((text.name, partial(self._execute, text)))
        if not self._tests:
            raise TaskError("there are no tests")

    def _taken(self, name: str, source: str) -> _Text:
        self._texts.append(_compiled(name, source))
        return self._texts[-1]

    def _take_code(self, text: _Text) -> None:
        definition = _CHECK_DEFINITION.search(text.source)
        if definition:
            parameter = definition[1] or _CHECK
            self._reads_parameter = len(re.findall(rf"\b{parameter}\b", text.source)) > 1
            self._own_names.add(_CHECK)
            self._support.append(text)
            self._tests.append((_CHECK, self._run_check))
        elif names.checks_at_top_level(text.source):
            self._is_script = True
            self._tests.append((text.name, partial(self._execute, text)))
        else:
            self._support.append(text)

    def _check_that_they_ask(self) -> None:
        """Refuses tests whose text cannot ask the solution for anything."""
        found = frozenset[str]().union(*(names.mentioned(text.code) for text in self._texts))
        if self._reads_parameter:
            if not self._entry_point:
                raise TaskError("check() has a parameter, and there is no entry point")
        elif all(self._is_own(name) for name in found):
            raise TaskError("the tests never ask the solution for anything")

    def _is_own(self, name: str) -> bool:
        known = name in self._own_names or hasattr(builtins, name)
        return known and name != self._entry_point

    # ------------------------------------------------------------------------- how they are run

    def _try_early(self) -> bool:
        """Runs the tests' own code without the solution; tells whether that was enough."""
        try:
            self._run_support()
            if self._is_script:
                self._tests[0][1]()
        except NotLoaded:
            return False
        except BaseException as error:  # noqa: BLE001  # tests may raise anything
            if self._session.asked_early:
                return False
            place = self.where(error)
            raise TaskError(f"{type(error).__name__}: {error} ({place})") from None
        if self._is_script and not self._session.asked_early:
            raise TaskError("the tests never ask the solution for anything")
        return not self._session.asked_early

    def _run_support(self) -> None:
        self._globals = self._scope.fresh_globals(self._needed)
        for text in self._support:
            self._execute(text)

    def _run_check(self) -> None:
        check = cast("Callable[..., object]", self._globals[_CHECK])
        code = getattr(check, "__code__", None)
        takes_nothing = code is not None and not code.co_argcount
        result = check() if takes_nothing else check(self._scope.proxy(self._entry_point))
        if isinstance(result, CoroutineType):
            import asyncio

            asyncio.run(result)
        elif isinstance(result, GeneratorType):
            raise TypeError("check() is a generator, which nobody runs")

    def _execute(self, text: _Text) -> None:
        exec(text.code, self._globals)

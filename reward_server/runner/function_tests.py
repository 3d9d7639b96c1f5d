"""Tests given as Python: `check(candidate)`, lists of asserts, or statements one after another.

Their own code runs once before the solution is there. If it fails by then, it is broken; if it
asks for the solution, it is run again, afresh, when the solution is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType, TracebackType
from typing import NamedTuple, cast

from . import names
from .scope import Scope
from .session import NotLoaded, Session
from .suite import TaskError

_CHECK = "check"
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
        self._setup = _compiled("setup_code", cast("str", header["setup_code"]))
        self._code = _compiled("test_code", cast("str", header["test_code"]))
        asserts = cast("list[str]", header["asserts"])
        self._asserts = [_compiled(f"assert {n}", text) for n, text in enumerate(asserts, 1)]
        self._texts = [self._setup, self._code, *self._asserts]
        sources = [text.source for text in self._texts]
        self._scope = Scope(sources, self._entry_point, cast("str", header["prompt"]), session)
        self._namespace: dict[str, object] = {}
        self._has_check = _CHECK in names.names_of(self._code.source).defined
        self._is_script = not self._has_check and names.checks_at_top_level(self._code.source)
        self._tests: list[tuple[str, Callable[[], None]]] = self._find_tests()
        self.names: Sequence[str] = [name for name, _ in self._tests]
        self._is_prepared = self._try_early()

    def prepare(self) -> None:
        """Runs what comes before the tests, if it needs the solution."""
        if not self._is_prepared:
            self._run_setup()

    def run(self, index: int) -> None:
        """Runs a test to its end."""
        self._tests[index][1]()

    def where(self, error: BaseException) -> str:
        """Returns the line of the tests that an exception went through last."""
        place = ""
        sources = {text.code.co_filename: text for text in self._texts}
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            text = sources.get(traceback.tb_frame.f_code.co_filename)
            if text is not None:
                line = text.source.splitlines()[traceback.tb_lineno - 1].strip()
                place = f"{text.name}, line {traceback.tb_lineno}: {line[:_MAX_SHOWN]}"
            traceback = traceback.tb_next
        return place

    def _find_tests(self) -> list[tuple[str, Callable[[], None]]]:
        tests: list[tuple[str, Callable[[], None]]] = []
        if self._has_check:
            tests.append((_CHECK, self._run_check))
        elif self._is_script:
            tests.append((self._code.name, partial(self._execute, self._code)))
        for text in self._asserts:
            tests.append((text.name, partial(self._execute, text)))
        if not tests:
            raise TaskError("there are no tests")
        uses_parameter = self._has_check and names.reads_parameter(self._code.source, _CHECK)
        if uses_parameter and not self._entry_point:
            raise TaskError("check() has a parameter, and there is no entry point")
        if not self._scope.asks_solution and not uses_parameter:
            raise TaskError("the tests never ask the solution for anything")
        return tests

    def _try_early(self) -> bool:
        """Runs the tests' own code without the solution; tells whether that was enough."""
        try:
            self._run_setup()
            if self._is_script:
                self._execute(self._code)
        except NotLoaded:
            return False
        except BaseException as error:  # noqa: BLE001  # tests may raise anything
            if self._session.asked_early:
                return False
            place = self.where(error)
            raise TaskError(f"{type(error).__name__}: {error} ({place})") from None
        return not self._session.asked_early

    def _run_setup(self) -> None:
        self._namespace = self._scope.namespace()
        self._execute(self._setup)
        if not self._is_script:
            self._execute(self._code)

    def _run_check(self) -> None:
        check = cast("Callable[..., object]", self._namespace[_CHECK])
        code = getattr(check, "__code__", None)
        if code is not None and not code.co_argcount:
            check()
        else:
            check(self._scope.proxy(self._entry_point))

    def _execute(self, text: _Text) -> None:
        exec(text.code, self._namespace)

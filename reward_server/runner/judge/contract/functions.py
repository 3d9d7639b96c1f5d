"""Function tests under the contract: `check(candidate)`, lists of asserts, or statements.

The server has read their text (`grading.crossing`), and its plan says which names are the
solution's. Everything else is bound before anything of the solution runs: built-ins, modules, and
what the prompt defines in full.
"""

from __future__ import annotations
import __future__

import builtins
import functools
import importlib
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from ...requests import FunctionRequest, PlanFields
from ..endings import TaskError
from .changes import BEFORE
from .session import Session

CHECK, CANDIDATE, SOLUTION = "check", "candidate", "solution"
_HELPERS = "<prompt>"
_MAX_SHOWN = 200


class Names(dict[str, object]):
    """Globals of the tests.

    An exception of the solution is asked for when it is first used, and a constant each time.
    """

    def __init__(self, plan: PlanFields, session: Session) -> None:
        super().__init__(__name__="__main__", __builtins__=builtins)
        self._raised, self._values, self._session = plan["raised"], plan["values"], session
        self.update({name: session.named(name) for name in plan["names"] if "(" not in name})
        for name in (*self._raised, *self._values):
            self.pop(name, None)

    def __missing__(self, name: str) -> object:
        if name in self._values:
            return self._session.value(name)
        if name not in self._raised:
            raise KeyError(name)
        self[name] = found = self._session.kind(name)
        return found


class SolutionModule(ModuleType):
    """What `import solution` gives to tests."""

    _asks_solution = True

    def __init__(self, name: str, plan: PlanFields, session: Session) -> None:
        super().__init__(name)
        self._free = free_names(plan)
        self.__all__ = [*plan["names"], *self._free]
        self._plan, self._session = plan, session

    def __getattr__(self, name: str) -> object:
        if name in self._free:
            return self._free[name]
        if name not in self._plan["names"]:
            raise AttributeError(name)
        if name in self._plan["values"]:
            return self._session.value(name)
        is_raised = name in self._plan["raised"]
        return self._session.kind(name) if is_raised else self._session.imported(name)


class Functions:
    """Tests of functions and classes.

    Args:
        request: the request.
        plan: what the server read in the tests' text.
        session: the session with the solution.

    Raises:
        TaskError: a text does not compile, or there are no tests.
    """

    def __init__(self, request: FunctionRequest, plan: PlanFields, session: Session) -> None:
        self._plan, self._session = plan, session
        self._entry = request.entry_point
        asserts = enumerate(request.asserts, 1)
        support = {"setup_code": request.setup_code, "test_code": request.test_code}
        self._texts = {name: text for name, text in support.items() if text}
        self._texts |= {f"assert {number}": text for number, text in asserts}
        self._codes = {name: _compiled(name, text) for name, text in self._texts.items()}
        session.codes = list(self._codes.values())
        self._globals: dict[str, object] = {}
        self._support = [name for name in self._codes if name in support]
        names = [name for name in self._codes if name not in support]
        if plan["form"] == "check":
            names.insert(0, CHECK)
        elif plan["form"] == "script":
            self._support.remove("test_code")
            names.insert(0, "test_code")
        self.names: Sequence[str] = names
        if not names:
            raise TaskError("there are no tests")

    def prepare(self) -> None:
        """Binds all names, and runs what stands before the tests."""
        self._session.begin(BEFORE)
        sys.modules[SOLUTION] = SolutionModule(SOLUTION, self._plan, self._session)
        self._globals = Names(self._plan, self._session)
        load_modules(self._plan)
        self._globals.update(free_names(self._plan))
        if self._plan["helpers"]:
            flag = __future__.annotations.compiler_flag
            exec(compile(self._plan["helpers"], _HELPERS, "exec", flag, True), self._globals)
        records = {name: self._globals[name] for name in self._plan["records"]}
        self._session.take_records(records)
        if self._entry:
            self._globals.setdefault(CANDIDATE, self._session.named(self._entry))
        for name in self._support:
            exec(self._codes[name], self._globals)

    def run(self, index: int) -> None:
        """Runs a test to its end."""
        self._session.begin(index)
        name = self.names[index]
        if name != CHECK:
            exec(self._codes[name], self._globals)
            return
        check: Any = self._globals[CHECK]
        takes_nothing = not check.__code__.co_argcount
        if not (takes_nothing or self._entry):
            raise TaskError("check takes the entry point, and the request names none")
        result = check() if takes_nothing else check(self._session.named(self._entry))
        if hasattr(result, "send"):
            raise TypeError("check() is a generator, which nobody runs")

    def where(self, error: BaseException) -> str:
        """Returns the innermost line of the tests in an exception's traceback."""
        place, traceback = "", error.__traceback__
        files = {f"<{name}>": name for name in self._texts}
        while traceback is not None:
            name = files.get(traceback.tb_frame.f_code.co_filename, "")
            if name:
                line = self._texts[name].splitlines()[traceback.tb_lineno - 1].strip()
                place = f"{name}, line {traceback.tb_lineno}: {line[:_MAX_SHOWN]}"
            traceback = traceback.tb_next
        return place


def load_modules(plan: PlanFields) -> None:
    """Imports what the tests use, before anything of the solution is heard."""
    for name in plan["modules"]:
        importlib.import_module(name)


def free_names(plan: PlanFields) -> dict[str, object]:
    """Returns what the tests use without importing it: modules, and names of `typing`."""
    found: dict[str, object] = {}
    for word, name in plan["free"].items():
        module, _, rest = name.rpartition(".")
        known = vars(sys.modules[module])[rest] if module else importlib.import_module(name)
        found[word] = known
    return found


@functools.lru_cache(maxsize=256)
def _compiled(name: str, text: str) -> CodeType:
    try:
        return compile(text, f"<{name}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"{name} does not compile: {error}") from None

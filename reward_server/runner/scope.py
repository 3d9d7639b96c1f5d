"""The names that tests find: the solution's as proxies, the prompt's and modules as themselves.

The tests' own text decides what is the solution's: every global name that they use and nobody
else defines. Names that the prompt defines come from the prompt, and modules of the standard
library that the tests use without importing them are imported here, so that what a test expects
is not computed by the solution's own helpers.
"""

from __future__ import annotations

import builtins
import importlib
import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import cast

from . import faults, names, prompt, solution
from .proxy import Proxy
from .session import Session

_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")


class _SolutionModule(types.ModuleType):
    """What `import solution` gives to a test."""

    def __init__(self, look_up: Callable[[str], object]) -> None:
        super().__init__(solution.NAME)
        self._look_up = look_up

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._look_up(name)


class Scope:
    """Names for the tests of one execution.

    Args:
        sources: the texts of the tests.
        entry_point: what is under test; it may hide a built-in name.
        prompt_text: trusted code in front of the solution.
        session: to the solution.
    """

    def __init__(
        self, sources: Iterable[str], entry_point: str, prompt_text: str, session: Session
    ) -> None:
        self._session = session
        self._text = "\n".join(sources)
        self._stand_ins: dict[str, object] = {}
        found = [names.names_of(source) for source in sources if source]
        self.defined = frozenset[str]().union(*(each.defined for each in found))
        used = frozenset[str]().union(*(each.used for each in found))
        caught = [names.caught_names(source) for source in sources if source]
        self._caught = frozenset[str]().union(*caught) - vars(builtins).keys()
        free = used - self.defined - (vars(builtins).keys() - {entry_point})
        self._names = self._find(free, entry_point, prompt_text)
        sys.modules[solution.NAME] = _SolutionModule(self.stand_in)

    @property
    def asks_solution(self) -> bool:
        """Tells whether the tests' text uses any name of the solution's."""
        return bool(self._stand_ins) or solution.NAME in self._text

    def namespace(self) -> dict[str, object]:
        """Returns fresh globals for the tests."""
        return {"__name__": "__main__", **self._names}

    def stand_in(self, name: str) -> object:
        """Returns what stands for a name of the solution's."""
        if _CLASS_NAME.fullmatch(name):
            self._session.operators = True
        if name not in self._stand_ins:
            self._stand_ins[name] = self._make(name)
        return self._stand_ins[name]

    def proxy(self, name: str) -> Proxy:
        """Returns a proxy of a name of the solution's, or of `Class().method`."""
        return Proxy(self._session, ["name", name])

    def _make(self, name: str) -> object:
        if name not in self._caught:
            return self.proxy(name)
        kind = cast("type[faults.CandidateError]", type(name, (faults.CandidateError,), {}))
        self._session.expected[f"{solution.NAME}.{name}"] = kind
        return kind

    def _find(self, free: frozenset[str], entry_point: str, prompt_text: str) -> dict[str, object]:
        others = free - {entry_point}
        helpers = prompt.helpers(prompt_text, self.proxy) if others and prompt_text else {}
        found: dict[str, object] = {}
        for name in free:
            if name in helpers and name != entry_point:
                found[name] = helpers[name]
            elif self._is_module(name):
                found[name] = importlib.import_module(name)
            else:
                found[name] = self.stand_in(name)
        return found

    def _is_module(self, name: str) -> bool:
        """Tells whether a name is a standard module that the tests never call."""
        if name not in sys.stdlib_module_names:
            return False
        return re.search(rf"\b{name}\s*\(", self._text) is None

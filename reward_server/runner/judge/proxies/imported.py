"""The module that `import solution` gives to function tests.

What this stops: a pass of a test that imports a name which the solution lacks, and never uses it.

What it does not do: it does not look up names; see `scope`.
"""

from __future__ import annotations

import types

from ..session import Session
from .proxy import is_defined


class ImportedModule(types.ModuleType):
    """The module of the solution, which lacks the names that the loaded solution lacks.

    Args:
        found: the module that looks names up.
        session: the session with the solution.
    """

    def __init__(self, found: types.ModuleType, session: Session) -> None:
        super().__init__(found.__name__)
        self._found = found
        self._session = session
        self._taken: set[str] = set()
        self._known: set[str] = set()

    def __getattr__(self, name: str) -> object:
        meant: object = getattr(self._found, name)
        self._taken.add(name)
        if self._session.loaded and not self._has(name):
            raise AttributeError(name)
        return meant

    def has_misled(self) -> bool:
        """Returns True if a test took a name, before the solution was loaded, that the solution
        lacks."""
        return not all(map(self._has, self._taken))

    def _has(self, name: str) -> bool:
        if name not in self._known and is_defined(self._session, name):
            self._known.add(name)
        return name in self._known

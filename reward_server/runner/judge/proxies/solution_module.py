"""The solution's module as the judge's test files import it: its names as proxies.

Before the solution is loaded, a name gives a proxy without a request, so that tests can import it
before there is a solution. Later a name gives its value: data as itself, and anything else as a
proxy. If the tests catch an exception class, they get a class of the judge, to which the solution's
exceptions are mapped.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
import types
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec

from ...channel.files import MODULE_NAME
from ..session import Session
from ..text import names
from .caught import Caught, CaughtClass
from .proxy import Proxy, is_defined, is_named, named

_BUILTINS = vars(builtins)
_CLASS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
_CONSTANT_NAME = re.compile(r"_*[A-Z][A-Z0-9_]*")
_MUTABLE = (list, dict, set, bytearray)


class SolutionNames:
    """Looks up the names that the tests take from the solution.

    Args:
        texts: the texts of the tests, by path; they compile.
        session: the session with the solution.
    """

    def __init__(self, texts: Mapping[str, str], session: Session) -> None:
        self._session = session
        self._caught = Caught(list(texts.values()), session)
        self._taken: set[str] = set()
        self._listed: set[str] = set()
        self._texts = texts
        session.may_mix = self._may_mix

    def look_up(self, name: str) -> object:
        """Returns the value or proxy for a name of the solution.

        Raises:
            AttributeError: the solution is loaded and has no such name.
        """
        self._taken.add(name)
        if name in self._caught:
            return self._caught.look_up(name)
        proxy = named(self._session, name)
        return self.value_of(proxy) if self._session.loaded else proxy

    def value_of(self, proxy: Proxy) -> object:
        """Returns the value of a proxy for a name, after the solution was loaded.

        Raises:
            AttributeError: the name is undefined.
        """
        try:
            return self._session.request("value", proxy)
        except NameError as error:
            raise AttributeError(str(error)) from None

    def all_names(self) -> list[str]:
        """Returns the names for a file that imports all names."""
        taken = set(names.handed_on(self._texts))
        for text in self._texts.values():
            taken |= names.taken_from_elsewhere([text])
        self._listed |= {name for name in taken - _BUILTINS.keys() if not name.startswith("__")}
        return sorted(filter(self._may_have, self._listed))

    def misled(self) -> bool:
        """Returns True if a file took a name, before the solution was loaded, that is undefined."""
        return not all(map(self._may_have, self._taken - self._listed))

    def _may_have(self, name: str) -> bool:
        return not self._session.loaded or is_defined(self._session, name)

    def settle(self, module: types.ModuleType) -> None:
        """Replaces proxies that a test module imported by the data for which they stand."""
        for name, value in list(vars(module).items()):
            if isinstance(value, CaughtClass):
                setattr(module, name, self._caught.settled(value))
            if not is_named(value):
                continue
            try:
                meant = self.value_of(value)
            except AttributeError:
                continue
            # A mutable value is replaced only if its name looks like that of a constant; the
            # solution may change others.
            if not isinstance(meant, _MUTABLE) or _CONSTANT_NAME.fullmatch(name):
                setattr(module, name, meant)

    def _may_mix(self) -> bool:
        """Returns True if the tests use a name of the solution that looks like a class name."""
        return any(map(_CLASS_NAME.fullmatch, self._taken))


class _SolutionModule(types.ModuleType):
    """The module that a test gets by importing the solution."""

    def __init__(self, name: str, solution_names: SolutionNames) -> None:
        super().__init__(name)
        self._solution_names = solution_names

    def __getattr__(self, name: str) -> object:
        if name == "__all__":
            return self._solution_names.all_names()
        if name.startswith("__"):
            raise AttributeError(name)
        return self._solution_names.look_up(name)


class SolutionFinder:
    """Finds the solution's module in every folder in which its file would be importable.

    Args:
        path: path of the solution's file, relative to the working folder; the file does not exist.
        solution_names: the names in the module.
    """

    def __init__(self, path: str, solution_names: SolutionNames) -> None:
        self._path = os.path.abspath(path)
        self._is_package = os.path.basename(path) == "__init__.py"
        self._solution_names = solution_names

    def install(self) -> None:
        """Makes the solution importable."""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        sys.modules.pop(MODULE_NAME, None)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        """Returns the specification of a module, if it is the solution's."""
        last = name.rpartition(".")[2]
        file = f"{last}/__init__.py" if self._is_package else f"{last}.py"
        if not self._path.endswith(file):
            return None
        for folder in sys.path if path is None else path:
            if os.path.abspath(os.path.join(folder, file)) == self._path:
                return self._spec(name)
        return None

    def _spec(self, name: str) -> ModuleSpec:
        spec = ModuleSpec(name, self, is_package=self._is_package)  # type: ignore[arg-type]  # as above
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(self._path))
        return spec

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Makes the module."""
        return _SolutionModule(spec.name, self._solution_names)

    def exec_module(self, module: types.ModuleType) -> None:
        """Does nothing."""

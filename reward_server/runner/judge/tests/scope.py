"""The global names of tests: proxies of the solution, names of the prompt, and modules.

The tests' text decides which names are the solution's: every global name that the tests use and
that is not defined elsewhere. Names that the prompt defines come from the prompt, except those
under test (`under_test`). Modules of the standard library that the tests use without importing them
are imported here, so that the solution's own helpers do not compute what a test expects.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...channel.codec import Foreign
from ...channel.files import MODULE_NAME
from ..proxies.caught import Caught, CaughtClass
from ..proxies.proxy import Proxy, is_named
from ..proxies.proxy import named as proxy_of
from ..session import Session
from ..text import names, purity
from . import prompt, under_test

_BUILTINS: Mapping[str, object] = vars(builtins)
_CANDIDATE = "candidate"
_KIND = "type"
_HEADROOM = 500  # frames
_set_limit = sys.setrecursionlimit  # tests may replace the name in `sys`, see `surroundings`
_KIND_USE = re.compile(rf"(?<![\w.]){_KIND}\b\s*\(?")
_IMPORT = re.compile(r"\s*(?:from|import)\s")
_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")


class _Globals(dict[str, object]):
    """Globals of the tests, which look a name up when it is first used.

    Data of the solution is looked up each time, since the solution may rebind its name.
    """

    def __init__(self, find: Callable[[str], object]) -> None:
        super().__init__(__name__="__main__")
        self._find = find

    def __missing__(self, name: str) -> object:
        found = self._find(name)
        if not isinstance(found, _Meant):
            self[name] = found
            return found
        return found.value


class _Meant(NamedTuple):
    """Data that is the value of a name of the solution."""

    value: object


class _SolutionModule(types.ModuleType):
    """The module that `import solution` gives to a test."""

    def __init__(self, look_up: Callable[[str], object]) -> None:
        super().__init__(MODULE_NAME)
        self._look_up = look_up

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._look_up(name)


class Scope:
    """Names for the tests of one execution.

    Args:
        sources: the texts of the tests; they compile.
        entry_point: the function or class under test; it may hide a built-in name.
        prompt_text: trusted code in front of the solution.
        session: the session with the solution; it learns of tests that are not pure, see `purity`.
    """

    def __init__(
        self, sources: Sequence[str], entry_point: str, prompt_text: str, session: Session
    ) -> None:
        self._session = session
        self._sources = sources
        self._entry_point = entry_point
        self._prompt = prompt.parse(prompt_text) if prompt_text else None
        self._tested = under_test.under_test(prompt_text, entry_point, *sources)
        self._caught = Caught(sources, session)
        self._stand_ins: dict[str, object] = {}
        self._imported: set[str] = set()
        session.may_mix = self._may_mix
        if prompt.complete_classes(self._prompt, self._tested):
            session.classes.update(self._complete_classes())
        sys.modules[MODULE_NAME] = _SolutionModule(self._import)

    def fresh_globals(self, in_class_bodies: frozenset[str]) -> dict[str, object]:
        """Returns globals for the tests.

        Args:
            in_class_bodies: names that class bodies look up. Class bodies cannot look names up on
                first use, so the solution's names among them are looked up in advance.
        """
        found = _Globals(self._find)
        self._session.own.add_namespace(found, has_classes=_define_classes(self._sources))
        for name in in_class_bodies & self._taken if in_class_bodies else ():
            meant = self._find(name)
            found[name] = meant.value if isinstance(meant, _Meant) else meant
        return found

    def settle(self, found: dict[str, object]) -> None:
        """Replaces the proxies that the tests imported before loading by the data for which they
        stand."""
        for name, value in list(found.items()):
            if is_named(value):
                meant = self._meant(name)
                found[name] = meant.value if isinstance(meant, _Meant) else value

    def _stand_in(self, name: str) -> object:
        if name in self._caught:
            return self._caught.look_up(name)
        if name not in self._stand_ins:
            self._stand_ins[name] = self.proxy(name)
        return self._stand_ins[name]

    def _import(self, name: str) -> object:
        self._imported.add(name)
        meant = self._meant(name)
        return meant.value if isinstance(meant, _Meant) else meant

    def _meant(self, name: str) -> object:
        """Returns the data of a name, else its proxy."""
        if name in self._caught:
            self._session.check_that_it_is_loaded()  # its bases are not known before
        stand_in = self._stand_in(name)
        is_asked = self._session.loaded and is_named(stand_in) and self._may_be_data(name)
        if not is_asked:
            return stand_in
        try:
            value = self._session.request("value", stand_in)
        except NameError:
            return stand_in
        is_constant = name.isupper()  # other names may be functions or classes
        return stand_in if isinstance(value, Proxy) and not is_constant else _Meant(value)

    def _may_be_data(self, name: str) -> bool:
        """Returns True if the tests do not use a name as they use functions and classes."""
        is_class = _CLASS_NAME.fullmatch(name) is not None and not name.isupper()
        if is_class or name == self._entry_point:
            return False
        use = re.compile(rf"(?:(?<![\w.'\"])|\b{MODULE_NAME}\.){name}\b(?!\s*[(.\[=])|\b{name} ==")
        lines = (line for source in self._sources for line in source.splitlines() if name in line)
        return any(use.search(line) for line in lines if not _IMPORT.match(line))

    def proxy(self, name: str) -> Proxy:
        """Returns a proxy of a name of the solution, or of `Class().method`."""
        return proxy_of(self._session, name)

    @property
    def solution_names(self) -> frozenset[str]:
        """The names by which the tests refer to the solution."""
        own = {_CANDIDATE, self._entry_point.partition("(")[0]}
        return (self._taken - self._helpers.keys()) | own | self._tested

    def _may_mix(self) -> bool:
        """Returns True if the tests use a name of the solution that looks like a class name."""
        taken = {*self._taken, *self._imported, self._entry_point} - self._session.classes.keys()
        return any(map(_CLASS_NAME.fullmatch, taken))

    def _find(self, name: str) -> object:
        if name == self._entry_point:
            return self._stand_in(name)
        if name == _CANDIDATE and self._entry_point:
            return self.proxy(self._entry_point)
        if name == _KIND and self._asks_for_kinds:
            return self._kind_of
        if name in _BUILTINS:
            return _BUILTINS[name]
        if name.startswith("__"):
            raise KeyError(name)
        if name in self._tested:
            return self._meant(name)
        if name in self._helpers and not isinstance(self._helpers[name], CaughtClass):
            return self._helpers[name]
        if self._is_module(name):
            if isinstance(meant := self._meant(name), _Meant) and not isinstance(
                meant.value, Foreign
            ):
                return meant
            if name not in purity.MODULES:
                self._session.cross()
            return importlib.import_module(name)
        return self._meant(name)

    @functools.cached_property
    def _asks_for_kinds(self) -> bool:
        """Returns True if the tests only call `type`, and make no class with it."""
        return not any(
            id(node) not in called
            for source in self._sources
            if not all(use.endswith("(") for use in _KIND_USE.findall(source))
            for called, node in _uses(source, _KIND)
        )

    def _kind_of(self, value: object, *body: Any) -> object:
        """Does what `type` does; for an object of the solution, returns the proxy of its class."""
        if body or not isinstance(value, Foreign):
            made: Any = type
            return made(value, *body)
        kind = self._session.request("kind", value)
        named = self._session.request("get", kind, "__name__")
        taken = {*self._taken, *self._imported}
        stand_in = self._stand_in(named) if type(named) is str and named in taken else kind
        return stand_in if stand_in == kind else kind

    @functools.cached_property
    def _helpers(self) -> Mapping[str, object]:
        if not prompt.is_plain(self._prompt):
            self._session.cross()
        own, limit = self._session.own, sys.getrecursionlimit()
        _set_limit(limit + _HEADROOM)  # the tests may use a name at great depth
        try:
            return prompt.helpers(self._prompt, self._stand_in, own, self._tested)
        finally:
            _set_limit(limit)

    def _complete_classes(self) -> dict[str, object]:
        """Returns the classes that the prompt defines completely, or none without a prompt's
        code."""
        names = prompt.complete_classes(self._prompt, self._tested)
        found = ((name, self._helpers.get(name)) for name in names)
        return {name: kind for name, kind in found if isinstance(kind, type)}

    def _is_module(self, name: str) -> bool:
        """Returns True if a name is a standard module that the tests never call."""
        if name not in sys.stdlib_module_names:
            return False
        return not any(re.search(rf"\b{name}\s*\(", source) for source in self._sources)

    @functools.cached_property
    def _taken(self) -> frozenset[str]:
        """The names that the tests use and do not define."""
        return names.taken_from_elsewhere(self._sources) - _BUILTINS.keys()


def _define_classes(sources: Sequence[str]) -> bool:
    """Returns True if any text contains the word `class`, and so may define one."""
    return any("class" in source for source in sources)


def _uses(source: str, name: str) -> Iterator[tuple[set[int], ast.Name]]:
    """Yields the uses of a name in a text, each with the identities of all called expressions."""
    nodes = list(ast.walk(ast.parse(source)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == name:
            yield called, node

"""Exception classes that both sides have: Python's own, and those of libraries.

What this stops: an exception of the candidate that silently ends a part of the tests.
`StopIteration` ends a `for` or an `all`, `SkipTest` a test, and `SystemExit` a process. The
candidate cannot name these classes, so the judge never raises one of them, or a subclass, for the
candidate. No module is imported because the candidate named it, and no code of a library runs to
make an exception: its class defines no `__new__`, and its `__init__` is not called. The candidate
reports the attributes that `__init__` would have set.

What it does not stop: a false claim that the solution raised an exception, such as `ValueError`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MemberDescriptorType, ModuleType
from typing import Any, TypeGuard

from . import packages

MAX_NAMES = 64
_MAX_CHARACTERS = 200
_QUIET = (StopIteration, StopAsyncIteration, ExceptionGroup)
_PYTHONS = frozenset(kind for kind in vars(builtins).values() if isinstance(kind, type))
_BUILTIN: Mapping[str, type[Exception]] = {
    f"builtins.{kind.__name__}": kind
    for kind in _PYTHONS
    if issubclass(kind, Exception) and kind is not Exception and not issubclass(kind, _QUIET)
}
# Exceptions that end a test or its runner are recognized by their modules and by words in the
# names of their classes. Private exceptions end something inside their library.
_RUNNERS = frozenset(
    (
        *("bdb", "doctest", "pdb", "test", "unittest"),
        *("_pytest", "hypothesis", "nose", "nose2", "pluggy", "pytest", "testtools", "twisted"),
    )
)
_ENDING = re.compile(
    r"(?:^|\.)_|Stop|Skip|Exit|Quit|Abort|Return|Break|Restart|Escape|EndOf|Terminat"
    r"|FoundException"
)
_ACTING = frozenset(("__new__", "__init_subclass__", "__getattribute__", "__setattr__", "__del__"))
_all_parts = vars(type)["__mro__"].__get__  # works also for a class that hides some of its bases
_PLAIN = (type(None), bool, int, float, str, bytes, tuple)


def known_class(names: Iterable[str]) -> type[Exception] | None:
    """Returns this side's most derived class with one of these names."""
    for name in names:
        kind = _BUILTIN.get(name) or _of_library(name)
        if kind is not None:
            return kind
    return None


def known_classes(names: Sequence[str]) -> tuple[type[Exception], ...]:
    """Returns this side's classes with these names, except base classes of others among them."""
    found = [kind for name in names[:MAX_NAMES] if (kind := known_class([name])) is not None]
    return tuple(
        kind
        for kind in dict.fromkeys(found)
        if not any(other is not kind and issubclass(other, kind) for other in found)
    )


def is_known(kind: type) -> bool:
    """Returns True if the name of an exception's class refers to that class on this side."""
    return known_class([name_of(kind)]) is kind


def name_of(kind: type) -> str:
    """Returns the name that the other side gets for a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_library(name: str) -> type[Exception] | None:
    """Returns the class with this name in a module that this side has loaded already."""
    module = name if len(name) <= _MAX_CHARACTERS else ""
    while "." in module and module not in sys.modules:
        module = module.rpartition(".")[0]
    rest = name[len(module) + 1 :]
    if not rest or _ENDING.search(rest) or not _is_library(module.partition(".")[0]):
        return None
    kind = _in_module(sys.modules.get(module), rest.split("."))
    return kind if _is_plain_exception(kind) and name_of(kind) == name else None


def _is_library(package: str) -> bool:
    if package in _RUNNERS or package == __name__.partition(".")[0]:
        return False
    if package in sys.stdlib_module_names:
        return True
    file = getattr(getattr(sys.modules.get(package), "__spec__", None), "origin", None)
    return type(file) is str and packages.is_installed(file)


def _in_module(module: object, names: Sequence[str]) -> object:
    """Returns the object with these names in a module and its classes, without running code."""
    found: Any = module if issubclass(type(module), (ModuleType, type)) else None
    for name in names:
        is_holder = issubclass(type(found), (ModuleType, type))
        found = vars(found).get(name) if is_holder else None
    return found


def _is_plain_exception(kind: object) -> TypeGuard[type[Exception]]:
    if type(kind) is not type or not issubclass(kind, Exception) or issubclass(kind, _QUIET):
        return False
    return not any(_ACTING & vars(part).keys() for part in _own_parts(kind))


def _own_parts(kind: type) -> Iterator[type]:
    """Returns a class and its bases, without Python's own."""
    return (part for part in kind.__mro__ if part not in _PYTHONS)


def construct(kind: type[Exception], arguments: list[object]) -> Exception:
    """Makes an exception, with the arguments if its class accepts them without code of its own."""
    if not any("__init__" in vars(part) for part in _own_parts(kind)):
        with contextlib.suppress(Exception):  # a constructor may raise anything for other arguments
            made: Exception = type.__call__(kind, *arguments)  # the judge's own class
            return made
    error = kind.__new__(kind)
    error.args = tuple(arguments)
    return error


# --------------------------------------------------------------------------------- attributes


def attributes_of(error: BaseException, *, has_object: bool = False) -> dict[str, object]:
    """Returns the attributes that an exception itself has.

    Attributes of Python's own classes are left out if they are None, their initial value. Private
    ones are included only for a library's class, whose text depends on them.

    Args:
        error: the exception.
        has_object: whether the other side can request all others than those in slots of a class
            that both sides have.
    """
    kind: Any = type(error)
    found = dict[str, object]()
    for name, slot in _slots(kind).items():
        with contextlib.suppress(AttributeError):  # the slot is empty
            value = slot.__get__(error)
            if value is not None or slot.__objclass__ not in _PYTHONS:
                found[name] = value
    if not has_object:
        found |= {name: one for name, one in vars(error).items() if not _is_computed(kind, name)}
    tells_private = any(map(_is_private, found)) and is_known(kind)
    return {name: one for name, one in found.items() if _is_told(name, private=tells_private)}


@functools.lru_cache(maxsize=256)
def _slots(kind: type) -> Mapping[str, MemberDescriptorType]:
    """Returns the slots of a class by name, without those that other attributes hide."""
    found = {name: one for part in reversed(kind.__mro__) for name, one in vars(part).items()}
    slots = {name: one for name, one in found.items() if type(one) is MemberDescriptorType}
    return {name: one for name, one in slots.items() if _is_told(name, private=True)}


def _is_computed(kind: type, name: str) -> bool:
    """Returns True if a class computes an attribute by a descriptor."""
    found = next((vars(part)[name] for part in kind.__mro__ if name in vars(part)), None)
    return hasattr(type(found), "__get__")


def give(error: BaseException, name: object, value: object) -> None:
    """Sets an attribute of an exception, unless its class here uses the name otherwise."""
    kind = type(error)
    is_librarys = type(kind) is type and is_known(kind)
    if not _is_told(name, private=is_librarys):
        return
    holder = next((part for part in _all_parts(kind) if name in vars(part)), None)
    found = None if holder is None else vars(holder)[name]
    if type(found) is MemberDescriptorType:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            found.__set__(error, value)
    elif holder is None or (is_librarys and isinstance(found, _PLAIN)):
        error.__dict__[name] = value


def _is_private(name: object) -> bool:
    return type(name) is str and name.startswith("_")


def _is_told(name: object, *, private: bool) -> TypeGuard[str]:
    if type(name) is not str or not name.isidentifier():
        return False
    return not name.startswith("_") or (private and not name.startswith(("__", "_runner")))

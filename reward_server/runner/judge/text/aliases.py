"""Finds further names by which a test can reach an argument of a call.

`for xs in batch: f(xs)` passes an element of `batch`, and `data` may be another name of `batch`.
The text of the call does not show this. But during the call, some variable or object of the test
refers to every object that the test can examine afterwards.

What this stops: a solution that changes an object which the test also reaches by another name, and
from which it computes an expected value.

What it does not do: it does not look into the solution's objects, into libraries, or into objects
that only C code holds.
"""

from __future__ import annotations

import gc
import os
import sys
import types
from collections.abc import Iterable, Iterator

from ...channel.codec import Foreign
from ...values import arrays, changes, live

_MOST = 1 << 16
_NOT_LOOKED_INTO = (Foreign, types.FrameType, types.CodeType, types.TracebackType)
_MAIN = "__main__"  # the module of a prompt's code and of tests that are not files
_UNCHANGING = changes.UNCHANGING


def of(frame: types.FrameType, wanted: Iterable[int]) -> frozenset[str] | None:
    """Returns the names in a frame that hold one of some objects, or lead to one.

    Args:
        frame: a frame of a test.
        wanted: the identities of the objects.

    Returns:
        The names; None if the search would take too long.
    """
    search, found = _Search(frozenset(wanted), frame.f_globals), set[str]()
    own = frame.f_locals.get("self")
    fields = {f"self.{name}": value for name, value in getattr(own, "__dict__", {}).items()}
    for name, value in {**frame.f_globals, **frame.f_locals, **fields}.items():
        if name != "self" and search.leads(value):
            found.add(name)
    return frozenset(found) if search.left > 0 else None


class _Search:
    """Follows references, up to a limit.

    Args:
        wanted: the identities to find.
        names: globals whose values are all examined anyway.

    Attributes:
        left: how many more objects may be examined.
    """

    def __init__(self, wanted: frozenset[int], names: dict[str, object]) -> None:
        self._wanted = wanted
        self._names = names
        self._dull: dict[int, object] = {}
        self.left = _MOST

    def leads(self, value: object) -> bool:
        """Returns True if a value is wanted or leads to a wanted object."""
        seen, waiting = dict[int, object](), [value]
        while waiting and self.left > 0:
            one = waiting.pop()
            identity = id(one)
            if identity in self._wanted:
                return True
            if identity in seen or identity in self._dull or type(one) in _UNCHANGING:
                continue
            self.left -= 1
            seen[identity] = one
            waiting += self._held_by(one)
        self._dull |= seen
        return False

    def _held_by(self, value: object) -> Iterable[object]:
        if isinstance(value, _NOT_LOOKED_INTO):
            return ()
        if isinstance(value, types.FunctionType):
            bound = (*(value.__closure__ or ()), *(value.__defaults__ or ()))
            return (*bound, *(value.__kwdefaults__ or {}).values(), *self._known_to(value))
        if isinstance(value, (type, types.ModuleType)):
            return vars(value).values() if _is_own(value) else ()
        if arrays.is_of_numpys(value):  # it does not support the garbage collector
            return (*live.made_of(value), *arrays.objects_in(value))
        return gc.get_referents(value)

    def _known_to(self, function: types.FunctionType) -> Iterator[object]:
        """Yields the values of the globals that a function of another module uses."""
        names = function.__globals__
        if names is self._names or not _is_of_tests(names.get("__name__")):
            return
        waiting = [function.__code__]
        while waiting:
            code = waiting.pop()
            yield from (names[name] for name in code.co_names if name in names)
            waiting += (one for one in code.co_consts if isinstance(one, types.CodeType))


def _is_own(value: type | types.ModuleType) -> bool:
    """Returns True for classes and modules of the tests and the prompt."""
    return _is_of_tests(value.__module__ if isinstance(value, type) else value.__name__)


def _is_of_tests(module: object) -> bool:
    path = getattr(sys.modules.get(str(module)), "__file__", None)
    is_file = isinstance(path, str) and path.startswith(os.path.join(os.getcwd(), ""))
    return module == _MAIN or is_file

"""Names by which a test knows what a call hands over, beside those in the text of the call.

`for xs in batch: f(xs)` hands over what `batch` holds, and `data` may be another name of it. The
text does not tell, but while the call is made everything that can be looked at afterwards is held
by something in the test.

What this stops: a change of what another name holds, from which a test computes what it expects.

What it does not: look into the solution's objects, modules, classes and what only C code holds.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable

from . import changes
from .codec import Foreign

_MOST = 1 << 16
_NOT_LOOKED_INTO = (
    *(Foreign, type, types.ModuleType, types.FrameType, types.CodeType, types.TracebackType),
)
_UNCHANGING = changes.UNCHANGING | {types.BuiltinFunctionType}


def of(frame: types.FrameType, wanted: Iterable[int]) -> frozenset[str] | None:
    """Returns the names in a frame that hold some things, or what leads to them.

    Args:
        frame: of a test.
        wanted: the identities of the things.

    Returns:
        The names; None if too much is held to tell.
    """
    search, found = _Search(frozenset(wanted)), set[str]()
    own = frame.f_locals.get("self")
    fields = {f"self.{name}": value for name, value in getattr(own, "__dict__", {}).items()}
    for name, value in {**frame.f_globals, **frame.f_locals, **fields}.items():
        if name != "self" and search.leads(value):
            found.add(name)
    return frozenset(found) if search.left > 0 else None


class _Search:
    """Follows references, to a bound.

    Args:
        wanted: the identities that are looked for.

    Attributes:
        left: how many more things may be looked at.
    """

    def __init__(self, wanted: frozenset[int]) -> None:
        self._wanted = wanted
        self._dull: dict[int, object] = {}
        self.left = _MOST

    def leads(self, value: object) -> bool:
        """Returns True if a value is wanted, or leads to something that is."""
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
            waiting += _held_by(one)
        self._dull |= seen
        return False


def _held_by(value: object) -> Iterable[object]:
    if isinstance(value, _NOT_LOOKED_INTO):
        return ()
    if isinstance(value, types.FunctionType):
        return (*(value.__closure__ or ()), *(value.__defaults__ or ()))
    return gc.get_referents(value)

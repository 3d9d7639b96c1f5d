"""Data whose class adds attributes: the value crosses, and attributes are asked for over there.

A member of an `IntEnum` is an int with a name, a stack may be a list with methods. The judge makes
an object of a class of its own, derived from the built-in one, of the value that crossed.

What this stops: comparison, order, arithmetic, truth, length, iteration and hash are the built-in
class's, on the value that crossed, so such an object passes for no value but its own.

What it does not: make attributes true. What a method answers is the solution's word, as a proxy's.
Text and items are asked for over there too, where the solution's class has its own way with them;
they are the solution's answer either way.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from . import changes
from .codec import Foreign, is_asked_for

if TYPE_CHECKING:
    from .session import Session

# What is asked for where the solution's class overrides it, by special method.
SHOWN: Mapping[str, str] = {
    "__str__": "str",
    "__repr__": "repr",
    "__format__": "format",
    "__getitem__": "item",
    "__setitem__": "set_item",
    "__delitem__": "delete_item",
    "__missing__": "missing",
}
_ASKED_AS = {"missing": "item"}  # for a key that the value lacks
BASES = (
    *(int, float, complex, str, bytes, tuple, frozenset, Decimal),
    *(list, dict, set, bytearray, deque, OrderedDict, defaultdict, Counter),
)


class Extended(Foreign):
    """What all of these have in common."""

    _runner_session: Session
    _runner_reference: list[object]
    _runner_shown: frozenset[str] = frozenset()  # while it is made, all is its base's own way

    def runner_reference(self) -> list[object]:
        """Returns what the candidate knows the object by."""
        return self._runner_reference

    def __getattr__(self, name: str) -> object:
        if not is_asked_for(name) or name.startswith("_runner_"):
            raise AttributeError(name)
        return self._runner_session.request("get", self, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._runner_session.request("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._runner_session.request("delete", self, name)

    def __copy__(self) -> object:
        return self._runner_session.request("copy", self)

    def __deepcopy__(self, memo: object) -> object:
        return self._runner_session.request("deepcopy", self)


def _shown(own: Callable[..., object], operation: str) -> Callable[..., object]:
    request = _ASKED_AS.get(operation, operation)

    def method(self: Extended, *operands: object) -> object:
        if operation in self._runner_shown:
            return self._runner_session.request(request, self, *operands)
        return own(self, *operands)

    return method


def _no_key(owner: Mapping[object, object], key: object) -> object:
    raise KeyError(key)


def _class_on(base: type) -> type[Extended]:
    own: dict[str, Callable[..., object]] = {
        **({"__missing__": _no_key} if issubclass(base, dict) else {}),
        **{name: getattr(base, name) for name in SHOWN if hasattr(base, name)},
    }
    methods = {name: _shown(method, SHOWN[name]) for name, method in own.items()}
    return cast("type[Extended]", type(base.__name__, (Extended, base), methods))


CLASSES: Mapping[type, type[Extended]] = {base: _class_on(base) for base in BASES}


def make(
    session: Session, value: object, reference: list[object], shown: frozenset[str]
) -> Extended:
    """Makes an object with a value of an exact class among `BASES`."""
    kind = cast("Callable[..., Extended]", CLASSES[type(value)])
    if isinstance(value, defaultdict):
        made = kind(value.default_factory, value)
    elif isinstance(value, deque):
        made = kind(value, value.maxlen)
    else:
        made = kind(value)
    vars(made).update(_runner_session=session, _runner_reference=reference, _runner_shown=shown)
    return made


def updated(known: Extended, value: object) -> bool:
    """Brings an object to the value that its data has by now; returns False if it cannot be."""
    if changes.can_change(value):
        changes.replace(known, value)
        return True
    base = type(value)
    return bool(cast("Callable[..., object]", base.__eq__)(known, value))

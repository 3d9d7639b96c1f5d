"""Data whose class adds attributes: the value crosses, and the judge asks the candidate for
attributes.

For example, a member of an `IntEnum` is an int with a name, and a stack may be a list with methods.
The judge makes an object of the value that crossed. Its class is defined by the judge and derives
from the built-in class.

What this stops: an object that equals values other than its own. Equality and hash are those of the
built-in class, on the value that crossed. If the solution's class overrides comparison, its object
may equal data that differs from its value. Then it is also compared with other data. If it equals
that too, it counts as equal to nothing.

What it does not stop: other false answers. The answer of a method is the solution's claim, as with
a proxy. The judge asks the candidate for everything that the class overrides, such as operators,
items, text and methods. A pass with any of these except text and items is never ISOLATED
(`Session.extend`).
"""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Protocol, TypeGuard

from ..values import changes
from .codec import Foreign, ProtocolViolation, is_asked_for
from .decoys import is_data, other_data
from .operations import ARITHMETIC, IN_PLACE, ORDER

# The operations that the judge requests if the solution's class overrides them, by special method.
SHOWN: Mapping[str, str] = {
    "__str__": "str",
    "__repr__": "repr",
    "__format__": "format",
    "__getitem__": "item",
    "__setitem__": "set_item",
    "__delitem__": "delete_item",
    "__missing__": "item",
}
_BINARY = frozenset((*ARITHMETIC, *ORDER))
_REFLECTED = {f"__r{name}__": name for name in ARITHMETIC}
# Conversions to numbers are the base's. The judge itself reads data by the base's own methods.
ASKED: Mapping[str, str] = {
    **SHOWN,
    **{
        f"__{name}__": name
        for name in ("call", "neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil")
    },
    **{f"__{name}__": name for name in ("eq", "ne", "hash", "len", "bool", "contains")},
    **{f"__{name}__": name for name in ("iter", "reversed", *ORDER, *ARITHMETIC)},
    **{f"__i{name}__": f"i{name}" for name in IN_PLACE},
    **_REFLECTED,
}
FACTORY = "default_factory"  # stands for a default factory that cannot cross
# Those whose answers crossed with the value, or are compared with it (`consistency`).
EXACT = frozenset((*SHOWN, FACTORY))
# Operators whose other operand is often an expected value: `abs(found - 3.25) < 1e-6`.
_COMPARING = frozenset(("sub", *ORDER))
_DIVIDING = frozenset(("truediv", "floordiv", "mod", "divmod", "and", "or", "xor"))
_MAX_CLASSES = 1000
_MAX_METHODS = 200
BASES = (
    *(int, float, complex, str, bytes, tuple, frozenset, Decimal),
    *(list, dict, set, bytearray, deque, OrderedDict, defaultdict, Counter),
)


class Asks(Protocol):
    """Sends the candidate requests; see `Session`."""

    def request(self, operation: str, *operands: object) -> object:
        """Returns the result of an operation."""


class Extended(Foreign):
    """The base of all classes of extended data."""

    _runner_session: Asks
    _runner_reference: list[object]

    def runner_reference(self) -> list[object]:
        """Returns the candidate's reference to the object."""
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


def _method(base: type, name: str) -> object:
    """Returns the attribute for a name that the solution's class overrides."""
    if name in _SPECIAL:
        return _SPECIAL[name](base)
    operation = ASKED.get(name)
    if operation is None:
        return property(lambda self: self._runner_session.request("get", self, name))
    if operation.removeprefix("i") in _BINARY or operation in _BINARY:
        return _binary(base, name, operation)

    def method(self: Extended, *operands: object) -> object:
        return self._runner_session.request(operation, self, *operands)

    return method


def _binary(base: type, name: str, operation: str) -> object:
    """Returns an operator that does not reveal to the solution data that a test may expect."""
    own = getattr(base, name, None)
    bare = name.strip("_").removeprefix("r" if name in _REFLECTED else "")
    bare = bare if bare in _BINARY else bare.removeprefix("i")
    is_native = bare in _COMPARING or (bare in _DIVIDING and own is not None)

    def method(self: Extended, other: object) -> object:
        if is_native and not isinstance(other, Foreign):
            return NotImplemented if own is None else own(self, other)
        asked = (other, self) if name in _REFLECTED else (self, other)
        return self._runner_session.request(operation, *asked)

    return method


def _call(base: type) -> Callable[..., object]:
    def method(self: Extended, *args: object, **kwargs: object) -> object:
        return self._runner_session.request("call", self, list(args), kwargs or None, True)

    return method


def _filled(base: type) -> Callable[..., object]:
    def method(self: Any, key: object) -> object:
        answer: object = self._runner_session.request("item", self, key)
        dict.setdefault(self, key, answer)
        return answer

    return method


def _answering(operation: str, kind: type) -> Callable[[type], Callable[..., object]]:
    """Returns a maker of methods whose answer is of one class."""

    def made(base: type) -> Callable[..., object]:
        def method(self: Extended, *operands: object) -> object:
            answer = self._runner_session.request(operation, self, *operands)
            if type(answer) is not kind:
                raise TypeError(f"the solution answered {operation} with no {kind.__name__}")
            return answer

        return method

    return made


def _iterated(base: type) -> Callable[..., object]:
    def method(self: Extended) -> object:
        answer: Any = self._runner_session.request("iter", self)
        return answer if isinstance(answer, Foreign) else iter(answer)

    return method


def _compared(operation: str) -> Callable[[type], Callable[..., object]]:
    """Returns a maker of `==` or `!=`, which does not trust an object that equals all data."""
    equal = operation == "eq"  # the answer for equal objects

    def made(base: type) -> Callable[..., object]:
        own = getattr(base, f"__{operation}__")

        def method(self: Extended, other: object) -> object:
            native = own(self, other)
            is_foreign = isinstance(other, Foreign)
            if not (is_foreign or is_data(other)):
                return native
            asked = self._runner_session.request(operation, self, other) is True
            if is_foreign or asked is not equal or native is equal:
                return asked
            return equal is _is_told_apart(self, other, other_data(other), operation)

        return method

    return made


def _contained(base: type) -> Callable[..., object]:
    """Returns `in`, which distrusts an object that claims to hold all data."""
    asked = _answering("contains", bool)(base)

    def method(self: Extended, other: object) -> object:
        is_held = asked(self, other)
        if not is_held or not is_data(other) or _holds(base, self, other):
            return is_held
        # An honest container may hold one of the two as well.
        decoys = (other_data(other), other_data(other, is_unusual=True))
        return any(_is_told_apart(self, other, decoy, "contains") for decoy in decoys)

    return method


def _holds(base: type, one: object, other: object) -> bool:
    """Returns True if the data itself holds something, by the base's method."""
    try:
        return bool(base.__contains__(one, other))  # type: ignore[operator]  # or it has none
    except (AttributeError, TypeError):
        return False


def _is_told_apart(one: Extended, other: object, decoy: object, operation: str) -> bool:
    """Returns True if an object's answer about data differs from that about other data of its
    form."""
    is_other = decoy != other  # else the two cannot be distinguished
    return is_other and one._runner_session.request(operation, one, decoy) is (operation == "ne")


_SPECIAL: Mapping[str, Callable[[type], Callable[..., object]]] = {
    "__call__": _call,
    "__iter__": _iterated,
    **{f"__{name}__": _compared(name) for name in ("eq", "ne")},
    "__contains__": _contained,
    "__bool__": _answering("bool", bool),
    **{f"__{name}__": _answering(name, int) for name in ("len", "hash")},
    FACTORY: _filled,
}


def _derived(bases: tuple[type, ...], methods: dict[str, object]) -> type[Extended]:
    made: Any = type(Extended.__name__, bases, methods)
    kind: type[Extended] = made
    return kind


CLASSES: Mapping[type, type[Extended]] = {base: _derived((Extended, base), {}) for base in BASES}


def is_method(base: type, name: object) -> TypeGuard[str]:
    """Returns True for a name that a class derived from `base` may override."""
    return type(name) is str and (name in ASKED or is_public_method(base, name))


def is_public_method(base: type, name: str) -> bool:
    """Returns True for a method of a built-in class that the judge may request from the
    candidate."""
    if name == FACTORY:
        return issubclass(base, defaultdict)
    return not name.startswith("_") and callable(getattr(base, name, None))


@functools.cache
def _class_with(base: type, names: frozenset[str]) -> type[Extended]:
    """Returns the class of objects that request these methods from the candidate.

    Raises:
        ProtocolViolation: there are too many such classes or methods.
    """
    if len(names) > _MAX_METHODS or _class_with.cache_info().currsize >= _MAX_CLASSES:
        raise ProtocolViolation("too many classes of extended data")
    methods = {"__missing__" if name == FACTORY else name: _method(base, name) for name in names}
    return _derived((CLASSES[base],), methods)


def make(
    session: Asks, value: object, reference: list[object], methods: frozenset[str]
) -> Extended:
    """Makes an object from a value of an exact class among `BASES`.

    Args:
        session: the session with the candidate.
        value: the data.
        reference: a reference to the object.
        methods: those that its class overrides.

    Raises:
        ProtocolViolation: there are too many of them.
    """
    base: Any = type(value)
    kind: Callable[..., Extended] = CLASSES[base]
    if isinstance(value, defaultdict):
        made = kind(value.default_factory, value)
    elif isinstance(value, deque):
        made = kind(value, value.maxlen)
    else:
        made = kind(value)
    vars(made).update(_runner_session=session, _runner_reference=reference)
    if methods:
        object.__setattr__(made, "__class__", _class_with(base, methods))
    return made


def updated(known: Extended, value: object) -> bool:
    """Updates an object to the present value of its data; returns False if that is impossible."""
    if changes.can_change(value):
        changes.replace(known, value)
        return True
    base: Any = type(value)
    return bool(base.__eq__(known, value))

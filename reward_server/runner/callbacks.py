"""What the tests hand to the solution and is not data: it stays here and is called back.

What this stops: a candidate that looks through a test's function or object at the test's own
data. A function can be called and nothing else; an iterator can be asked for its next element;
an object shows its public attributes, and what these hold is handed over by the same rules. Which
things are handed over at all is decided by `offers`.

What it does not: protect what a test hands over on purpose.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping

from .codec import ProtocolViolation
from .offers import FUNCTION, ITERATOR, OBJECT, kind_of


def _public(name: object) -> str:
    if type(name) is not str or name.startswith("_"):
        raise AttributeError(name)
    return name


def _get(owner: object, name: object) -> object:
    return getattr(owner, _public(name))


def _set(owner: object, name: object, value: object) -> None:
    setattr(owner, _public(name), value)


def _call(function: Callable[..., object], args: object, kwargs: object) -> object:
    if type(args) is not list or type(kwargs) is not dict or not all(map(_is_text, kwargs)):
        raise ProtocolViolation("not arguments")
    return function(*args, **kwargs)


def _is_text(name: object) -> bool:
    return type(name) is str


_CALL: Mapping[str, Callable[..., object]] = {"call": _call}
_NEXT: Mapping[str, Callable[..., object]] = {"next": builtins.next, "iter": builtins.iter}
_EVERYTHING: Mapping[str, Callable[..., object]] = {
    **_CALL,
    "iter": builtins.iter,
    "get": _get,
    "set": _set,
    "len": builtins.len,
    "bool": builtins.bool,
    "str": builtins.str,
    "repr": builtins.repr,
    "hash": builtins.hash,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "contains": operator.contains,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_ALLOWED = {FUNCTION: _CALL, ITERATOR: _NEXT, OBJECT: _EVERYTHING}


class Callbacks:
    """The things handed over in one execution."""

    def __init__(self) -> None:
        self._things: list[object] = []
        self._numbers: dict[int, int] = {}

    def refer(self, value: object) -> list[object]:
        """Returns the reference of a thing: its number, how it is handed over, its name.

        Raises:
            NotDataError: it must not be handed over.
        """
        kind = kind_of(value)
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._things)
            self._things.append(value)
        name = getattr(value, "__name__", "") if kind == FUNCTION else type(value).__name__
        return ["test", number, kind, str(name)]

    def resolve(self, number: object) -> object:
        """Returns a thing that was handed over.

        Raises:
            ProtocolViolation: there is no such thing.
        """
        if type(number) is not int or not 0 <= number < len(self._things):
            raise ProtocolViolation("a reference to nothing")
        return self._things[number]

    def perform(self, operation: object, operands: object) -> object:
        """Does what the candidate asks for.

        Raises:
            ProtocolViolation: its shim would not ask so.
        """
        if type(operands) is not list or not operands or type(operation) is not str:
            raise ProtocolViolation("not an operation")
        owner = operands[0]
        if id(owner) not in self._numbers:
            raise ProtocolViolation("an operation on something else")
        action = _ALLOWED[kind_of(owner)].get(operation)
        if action is None:
            raise ProtocolViolation("an operation that is not offered")
        return action(*operands)

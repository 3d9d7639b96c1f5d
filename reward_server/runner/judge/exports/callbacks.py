"""Objects, other than data, that the tests pass to the solution, and that stay in the judge.

What this stops: a candidate that refers to an object which was not passed to it. `membrane` decides
which objects may be passed, and which operations are allowed.

What it does not do: it does not protect an object that a test passes to the solution on purpose.
"""

from __future__ import annotations

import types
from typing import Any, TypeGuard

from ...channel.codec import Foreign, ProtocolViolation
from .membrane import BOUND, FUNCTION, Membrane, is_hashed_by_address

_WRITTEN_FUNCTION = "written function"  # one of Python's own kind, as `def` and `lambda` make it


class Callbacks:
    """The objects handed over in one execution.

    Args:
        membrane: the rule for the tests of the execution.
    """

    def __init__(self, membrane: Membrane) -> None:
        self._membrane = membrane
        self._things: list[object] = []
        self._numbers: dict[object, int] = {}

    def refer(self, value: object) -> list[object]:
        """Returns the reference of an object: its number, the way of passing it, and its name.

        Raises:
            NotDataError: it must not be handed over.
        """
        kind = self._membrane.kind_of(value)
        key = _key_of(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._things)
            self._things.append(value)
        name = getattr(value, "__name__", "") if kind == FUNCTION else type(value).__name__
        is_written = type(value) is types.FunctionType
        return ["test", number, _WRITTEN_FUNCTION if is_written else kind, str(name)]

    def resolve(self, number: object) -> object:
        """Returns an object that was handed over.

        Raises:
            ProtocolViolation: there is no such object.
        """
        if type(number) is not int or not 0 <= number < len(self._things):
            raise ProtocolViolation("a reference to nothing")
        return self._things[number]

    def perform(self, operation: object, operands: object) -> object:
        """Performs a request of the candidate.

        Raises:
            ProtocolViolation: the candidate's shim would not send it.
        """
        if type(operands) is not list or not operands or type(operation) is not str:
            raise ProtocolViolation("not an operation")
        owner, *rest = operands
        if _key_of(owner) not in self._numbers:
            raise ProtocolViolation("an operation on something else")
        if operation == "hash" and not rest:
            return self._hash_of(owner)
        if owner is hash and operation == "call" and _is_one_argument(rest):
            return self._hash_of(rest[0][0])
        return self._membrane.perform(operation, owner, rest)

    def _hash_of(self, value: object) -> int:
        """Returns a hash without an address; the number of an object that has no other hash."""
        if type(value) is tuple:
            return hash(tuple(_Hashed(self._hash_of(part)) for part in value))
        if type(value) is frozenset:
            return hash(frozenset(_Hashed(self._hash_of(part)) for part in value))
        if not isinstance(value, Foreign) and is_hashed_by_address(value):
            return self._numbers.get(_key_of(value), 0)
        return hash(value)


def _key_of(value: object) -> object:
    """Returns an object's key. It is the identity, except for a bound method: Python makes a new
    one at each access, so the key is the method itself, which compares by object and function."""
    return value if isinstance(value, BOUND) else id(value)


class _Hashed:
    """A stand-in with a given hash, for the hash of a container."""

    __slots__ = ("_hash",)

    def __init__(self, number: int) -> None:
        self._hash = number

    def __hash__(self) -> int:
        return self._hash


def _is_one_argument(operands: list[object]) -> TypeGuard[list[Any]]:
    match operands:
        case [list(args), dict(named)]:
            return len(args) == 1 and not named
    return False

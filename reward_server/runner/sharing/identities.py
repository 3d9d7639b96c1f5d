"""Identity of immutable data on both sides, for tests that ask whether two values are one object.

Data crosses as copies, so `f(3) is f(3)` would be false for every text or tuple, and `is not` would
be true. If the text of the tests looks at identity, such data crosses with a number, and each
number stands for one object. Strings that the interpreter interns stay interned.

What this stops: an answer that is one object although the tests require two, or the reverse.

What it does not do: it does not prove identity. The solution claims which data is one object in the
candidate. Such a claim is harmless, since for each one there is a program in which it is true. If
data has lost its number, this is counted.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import functools
import sys
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..channel.cache import remembered
from ..channel.codec import IDENTICAL, ProtocolViolation
from ..channel.encoding import ENCODERS, Encode, Encoder
from ..values import changes

JUDGE, CANDIDATE = 0, 1  # the judge's numbers are even, the candidate's odd
_UNNUMBERED, _INTERNED = -1, -2
_MOST = 1 << 16
_MOST_ELEMENTS = 1 << 20
_KINDS = (
    *(int, float, complex, str, bytes, tuple, frozenset, range, Decimal, Fraction),
    *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
)
_WORDS = (" is ", "assertIs", "id(", "is_", "nan", "NaN")
_NAMES = frozenset(("id", "is_", "is_not", "nan", "NaN"))  # `[nan] == [nan]` is true for one object
_ASSERTIONS = frozenset(("assertIs", "assertIsNot"))


@remembered
def are_looked_at(source: str) -> bool:
    """Returns True if a text of tests asks whether two values, except well-known ones, are one
    object."""
    if not any(word in source for word in _WORDS):
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(map(_looks, ast.walk(tree)))


def _looks(node: ast.AST) -> bool:
    match node:
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = (left, *others)
            return any(
                isinstance(operator, (ast.Is, ast.IsNot)) and not any(map(_is_well_known, pair))
                for operator, *pair in zip(operators, sides, others, strict=False)
            )
        case ast.Call(func=ast.Attribute(attr=name), args=[one, other, *_]) if name in _ASSERTIONS:
            return not (_is_well_known(one) or _is_well_known(other))
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name in _NAMES
        case ast.Constant(value=str(text)):
            return text.lower() == "nan"
    return False


def _is_well_known(node: ast.expr) -> bool:
    """Returns True for singletons of every process: None, truth values, classes."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, (bool, type(...)))
    return isinstance(node, ast.Name) and hasattr(builtins, node.id)


class Identities:
    """The numbered data of one side of a session.

    Args:
        first: the first number that this side gives.

    Attributes:
        lost: how often data crossed whose identity is unknown.
    """

    def __init__(self, first: int) -> None:
        self._values: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        self._first = self._next = first
        self._elements = 0
        self.lost = 0

    def number_of(self, value: object) -> int:
        """Returns the number with which data crosses."""
        if type(value) is str and _is_interned(value):
            return _INTERNED
        number = self._numbers.get(id(value))
        if number is None and not self._takes(value):
            self.lost += 1
            return _UNNUMBERED
        if number is None:
            number, self._next = self._next, self._next + 2
            self._add(number, value)
        return number

    def identified(self, number: int, value: object) -> object:
        """Returns the value with a number; if it is new, registers the value that came with it.

        Raises:
            ProtocolViolation: nothing can have this number.
        """
        if number == _INTERNED and type(value) is str:
            return sys.intern(value)
        if number in self._values:
            return self._known(self._values[number], value)
        if number != _UNNUMBERED and (number < 0 or number % 2 == self._first):
            raise ProtocolViolation("a number of nothing")
        if not (type(value) in _IDENTIFYING or isinstance(value, tuple)):
            raise ProtocolViolation("a number for what can change")
        if number == _UNNUMBERED or not self._takes(value):
            self.lost += 1
        else:
            self._add(number, value)
        return value

    def _known(self, known: object, value: object) -> object:
        """Returns the known value, unless it is a tuple whose content differs from the one that
        came."""
        if isinstance(known, tuple) and not changes.are_alike(known, value):
            self.lost += 1
            return value
        return known

    def _takes(self, value: object) -> bool:
        return len(self._values) < _MOST and self._elements + _size(value) <= _MOST_ELEMENTS

    def _add(self, number: int, value: object) -> None:
        self._values[number] = value
        self._numbers[id(value)] = number
        self._elements += _size(value)


def _size(value: object) -> int:
    if isinstance(value, int):
        return 1 + value.bit_length() // 64
    if isinstance(value, (str, bytes, tuple, frozenset)):
        return 1 + len(value)
    return 1


def _is_interned(text: str) -> bool:
    return len(text) > 1 and sys.intern(text[:1] + text[1:]) is text


class IdentifyingEncoder(Encoder):
    """Encodes values, with numbers for immutable data.

    Args:
        identities: the numbers.
        args, options: see `Encoder`.
    """

    def __init__(self, identities: Identities, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._identities = identities
        self._encoders: Mapping[type, Encode] = {**self._encoders, **_IDENTIFYING}

    @staticmethod
    def are_json(values: list[Any]) -> bool:
        """Returns True if JSON can represent the values unchanged, without numbers."""
        return {type(None), bool}.issuperset(map(type, values))

    def unchanging(self, value: object, content: object) -> object:
        """Returns the JSON value of immutable data, with its number."""
        return {IDENTICAL: [self._identities.number_of(value), content]}


def _identify(encode: Encode, encoder: Encoder, value: object, depth: int) -> object:
    return encoder.unchanging(value, encode(encoder, value, depth))


_IDENTIFYING: Mapping[type, Encode] = {
    kind: functools.partial(_identify, ENCODERS[kind]) for kind in _KINDS
}

"""The data that crosses between judge and candidate: a closed set of types, as JSON.

What this stops: anything of the candidate's but data reaching the judge. Decoding makes exact
built-in (or standard library) objects from a closed set of tags and runs no code of the other
side; nothing is ever imported because the other side named it.

What it does not: decide whether the data is true, or right.

None, bool, str, float and int up to 64 bits are themselves in JSON, a list is an array. All else
is an object with one member, whose name is the type's tag (see `decoding`). Tags are resolved
inside the C scanner, innermost first, so that a large list costs no Python code for an element.

Subclasses of these types are cast down to them, by the base's own methods; a named tuple is a
tuple, an `IntEnum` an int. A `defaultdict` keeps its factory only where that is a plain type. A
time zone becomes its offset at that moment. A numpy array decodes to an array where numpy is
loaded already, else to nested lists. What has no tag is left to `References`.
A built-in type is its name; a candidate names only `ANSWERED_TYPES`, in answers. What it hands to
the tests' functions holds no type, so that none of these can be made to build something.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Protocol

MAX_DEPTH = 100
MAX_CONTAINERS = 2_000_000
MAX_OBJECTS = 200_000  # that are not data, in one execution
MAX_INTEGER_DIGITS = 1_000_000  # hexadecimal
MAX_DECIMAL_EXPONENT = 10_000
REFERENCE = "@"


class ProtocolViolation(Exception):  # noqa: N818  # it is the other side's deed, not our error
    """What the other side sent is not what this protocol allows."""


class NotDataError(Exception):
    """A value cannot cross."""


class TooLargeError(NotDataError):
    """A value is larger than what may cross."""


class References(Protocol):
    """Turns what is not data into a reference, and a reference into what it stands for."""

    def refer(self, value: object) -> object:
        """Returns the JSON value of a reference to `value`.

        Raises:
            NotDataError: it must not cross.
        """

    def resolve(self, reference: object) -> object:
        """Returns what a reference stands for.

        Raises:
            ProtocolViolation: there is no such thing.
        """


class Foreign:
    """An object of the other side's, here known by a reference."""

    __slots__ = ()

    def runner_reference(self) -> list[object]:
        """Returns what the other side knows it by."""
        raise NotImplementedError


class DataOnly:
    """References of a place where only data may cross."""

    def refer(self, value: object) -> object:
        """Refuses."""
        raise NotDataError(f"{type(value).__name__} is not data")

    def resolve(self, reference: object) -> object:
        """Refuses."""
        raise ProtocolViolation("a reference where only data may be")


FACTORIES: Mapping[str, type] = {
    kind.__name__: kind for kind in (bool, dict, float, int, list, set, str, tuple)
}
TYPES: Mapping[str, type] = {
    "NoneType": type(None),
    **{kind.__name__: kind for kind in vars(builtins).values() if isinstance(kind, type)},
}
_CATCHES_TOO_MUCH = (BaseException, Exception, AssertionError)
# What a candidate can answer with: types whose objects are data, and exceptions that end nothing.
ANSWERED_TYPES: Mapping[str, type] = {
    name: kind
    for name, kind in TYPES.items()
    if kind
    in (
        *(type(None), bool, int, float, complex, str, bytes, bytearray),
        *(list, tuple, set, frozenset, dict, range, slice),
    )
    or (
        issubclass(kind, Exception)
        and kind not in _CATCHES_TOO_MUCH
        and not issubclass(kind, (StopIteration, StopAsyncIteration, ExceptionGroup))
    )
}

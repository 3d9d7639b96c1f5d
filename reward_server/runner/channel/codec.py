"""The data that crosses between judge and candidate: a closed set of types, as JSON.

What this stops: anything of the candidate except data that reaches the judge. Decoding makes
objects of exact built-in or standard library types from a closed set of tags, and runs no code of
the other side. It never imports a module because the other side named it.

What it does not do: it does not decide whether the data is right.

None, bool, str, float and int up to 64 bits are the same in JSON, and a list is an array. Every
other value is an object with one member, whose name is the type's tag (see `decoding`). The JSON
scanner, which is written in C, resolves tags, innermost first. So no Python code runs for the
elements of a large list.

A value of a subclass becomes a value of its base type, by the methods of the base; this is marked.
If the class has its own attributes, a reference to the object crosses too (`extended`). Named
tuples keep their fields' names (`records`). A `defaultdict` keeps its factory only if that is a
plain type. A time zone crosses as its offset, with its name if it has one, or as its name in the
library. Any other time zone becomes its offset at that moment, and this is marked. A numpy array is
decoded to an array if numpy is loaded already, and otherwise to nested lists. Values without a tag
are left to `References`.

If tests look at identity, immutable data has an identity number beside it (`identities`).

A built-in type crosses as its name. A candidate may only name `ANSWERED_TYPES`, and only in
answers. If it calls functions of the tests, its arguments contain no type, so that it cannot make
these functions create an object.
"""

from __future__ import annotations

import builtins
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from ..values.records import Records

MAX_DEPTH = 400  # levels of containers
FRAMES_OF_A_VALUE = 5 * MAX_DEPTH + 100  # added to the recursion limit to encode or decode a value
MAX_CONTAINERS = 2_000_000
MAX_OBJECTS = 200_000  # objects that are not data, in one execution
MAX_INTEGER_DIGITS = 1_000_000  # hexadecimal
MAX_DECIMAL_EXPONENT = 10_000
REFERENCE = "@"
SHARED, LIVE, AGAIN = "shared", "live", "again"  # see `same_containers` and `live`
IDENTICAL = "one"  # see `identities`
_SPECIAL_NAMES = frozenset(
    (
        *("__all__", "__annotations__", "__author__", "__defaults__", "__dict__", "__doc__"),
        *("__kwdefaults__", "__members__", "__name__", "__qualname__", "__version__"),
        *("__wrapped__", "_name_", "_value_"),
    )
)


class ProtocolViolation(Exception):  # noqa: N818  # it is a fault of the other side
    """The other side sent something that this protocol does not allow."""


class NotDataError(Exception):
    """A value cannot cross."""


class TooLargeError(NotDataError):
    """A value is too large to cross."""


class Message(Protocol):
    """A message that is being encoded, as seen by the code that writes references into it.

    Attributes:
        listed: numbers of the objects whose contents it has or will have.
        waiting: objects whose contents it will have.
        is_listing: whether these contents are being written.
    """

    is_listing: bool

    @property
    def listed(self) -> set[int]: ...  # noqa: D102  # see the class

    @property
    def waiting(self) -> deque[object]: ...  # noqa: D102  # see the class

    def value(self, value: object) -> object:
        """Returns the JSON value of a value."""


class References(Protocol):
    """Converts objects that are not data to references, and references to objects.

    Attributes:
        records: the classes of named tuples.
    """

    records: Records

    def refer(self, value: object, encoder: Message) -> object:
        """Returns the JSON value of a reference to `value`.

        Args:
            value: the object.
            encoder: the encoder of the message, for what is sent with the reference.

        Raises:
            NotDataError: the object must not cross.
        """

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns True if an object that is not data may be a key or an element of a set."""

    def resolve(self, reference: object) -> object:
        """Returns the object of a reference.

        Raises:
            ProtocolViolation: there is no such object.
        """

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Returns an object of built-in data whose class adds attributes.

        Args:
            value: the data.
            reference: a reference to the object.
            shown: methods that its class overrides, see `extended`.

        Raises:
            ProtocolViolation: there is no such object.
        """

    def note_cast(self) -> None:
        """Records that a value was of another class on the other side."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Returns the counterpart of an exception that is a result.

        Raises:
            ProtocolViolation: there is no such exception.
        """


class Foreign:
    """An object of the other side, known here by a reference."""

    __slots__ = ()

    def runner_reference(self) -> list[object]:
        """Returns the other side's reference to the object."""
        raise NotImplementedError


def is_asked_for(name: str) -> bool:
    """Returns True if an attribute with this name is requested from the other side.

    Other special names have a meaning for the interpreter or for native libraries
    (`__array_interface__`, `__mro_entries__`, `_as_parameter_`). These use an address, a size or a
    base class without checking it.
    """
    is_special = name[:1] == "_" == name[-1:] and bool(name.strip("_"))
    return not is_special or name in _SPECIAL_NAMES


class DataOnly:
    """References for messages in which only data may cross."""

    def __init__(self, records: Records | None = None) -> None:
        self.records = records or Records()

    def refer(self, value: object, encoder: Message) -> object:
        """Raises NotDataError."""
        raise NotDataError(f"{type(value).__name__} is not data")

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns False."""
        return False

    def resolve(self, reference: object) -> object:
        """Raises ProtocolViolation."""
        raise ProtocolViolation("a reference where only data may be")

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Raises ProtocolViolation."""
        raise ProtocolViolation("a reference where only data may be")

    def note_cast(self) -> None:
        """Does nothing."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Raises ProtocolViolation."""
        raise ProtocolViolation("an exception where only data may be")


FACTORIES: Mapping[str, type] = {
    kind.__name__: kind for kind in (bool, dict, float, int, list, set, str, tuple)
}
TYPES: Mapping[str, type] = {
    "NoneType": type(None),
    **{kind.__name__: kind for kind in vars(builtins).values() if isinstance(kind, type)},
}
_CATCHES_TOO_MUCH = (BaseException, Exception, AssertionError)
# The types that a candidate can answer with: types of data, and exceptions that end no iteration or
# test.
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

"""The data that crosses between judge and candidate: a closed set of types, as JSON.

What this stops: anything of the candidate's but data reaching the judge. Decoding makes exact
built-in (or standard library) objects from a closed set of tags and runs no code of the other
side; nothing is ever imported because the other side named it.

What it does not: decide whether the data is true, or right.

None, bool, str, float and int up to 64 bits are themselves in JSON, a list is an array. All else
is an object with one member, whose name is the type's tag (see `decoding`). Tags are resolved
inside the C scanner, innermost first, so that a large list costs no Python code for an element.

Subclasses of these types are cast down to them, by the base's own methods, or cross with a
reference to the object where the class has attributes of its own (`extended`); one that loses its
class says so. Named tuples keep
their fields' names (`records`). A `defaultdict` keeps its factory only where that is a plain type.
A time zone is its offset, with its name if it has one, or its name in the library; any other
becomes its offset at that moment, and says so. A numpy array decodes to an array where numpy is
loaded already, else to nested lists. What has no tag is left to `References`.
Where tests look at identity, data that cannot change has a number beside (`identities`).
A built-in type is its name; a candidate names only `ANSWERED_TYPES`, in answers. What it hands to
the tests' functions holds no type, so that none of these can be made to build something.
"""

from __future__ import annotations

import builtins
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from ..values.records import Records

MAX_DEPTH = 400  # levels of containers
FRAMES_OF_A_VALUE = 5 * MAX_DEPTH + 100  # of the recursion limit, to encode or decode one
MAX_CONTAINERS = 2_000_000
MAX_OBJECTS = 200_000  # that are not data, in one execution
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


class ProtocolViolation(Exception):  # noqa: N818  # it is the other side's deed, not our error
    """What the other side sent is not what this protocol allows."""


class NotDataError(Exception):
    """A value cannot cross."""


class TooLargeError(NotDataError):
    """A value is larger than what may cross."""


class Message(Protocol):
    """A message that is being encoded, as those know it who write references into it.

    Attributes:
        listed: numbers of the objects whose contents it has or will have.
        waiting: objects whose contents it will have.
        is_listing: whether these are being written.
    """

    is_listing: bool

    @property
    def listed(self) -> set[int]: ...  # noqa: D102  # see the class

    @property
    def waiting(self) -> deque[object]: ...  # noqa: D102  # see the class

    def value(self, value: object) -> object:
        """Returns the JSON value of a value."""


class References(Protocol):
    """Turns what is not data into a reference, and a reference into what it stands for.

    Attributes:
        records: the classes of named tuples.
    """

    records: Records

    def refer(self, value: object, encoder: Message) -> object:
        """Returns the JSON value of a reference to `value`.

        Args:
            value: what is referred to.
            encoder: of the message, for what goes with the reference.

        Raises:
            NotDataError: it must not cross.
        """

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns True if what is not data may be a key, or an element of a set, in a message."""

    def resolve(self, reference: object) -> object:
        """Returns what a reference stands for.

        Raises:
            ProtocolViolation: there is no such thing.
        """

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Returns an object of built-in data whose class adds attributes.

        Args:
            value: the data.
            reference: to the object.
            shown: methods that its class does in its own way, see `extended`.

        Raises:
            ProtocolViolation: there is no such thing.
        """

    def note_cast(self) -> None:
        """Records that a value was of another class over there."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Returns what stands for an exception that is a result.

        Raises:
            ProtocolViolation: there is no such thing.
        """


class Foreign:
    """An object of the other side's, here known by a reference."""

    __slots__ = ()

    def runner_reference(self) -> list[object]:
        """Returns what the other side knows it by."""
        raise NotImplementedError


def is_asked_for(name: str) -> bool:
    """Returns True if an attribute with this name is asked for over there.

    Other special names have a meaning to the interpreter or to native libraries
    (`__array_interface__`, `__mro_entries__`, `_as_parameter_`), which take an address, a size or
    a base class at its word.
    """
    is_special = name[:1] == "_" == name[-1:] and bool(name.strip("_"))
    return not is_special or name in _SPECIAL_NAMES


class DataOnly:
    """References of a place where only data may cross."""

    def __init__(self, records: Records | None = None) -> None:
        self.records = records or Records()

    def refer(self, value: object, encoder: Message) -> object:
        """Refuses."""
        raise NotDataError(f"{type(value).__name__} is not data")

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns False."""
        return False

    def resolve(self, reference: object) -> object:
        """Refuses."""
        raise ProtocolViolation("a reference where only data may be")

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Refuses."""
        raise ProtocolViolation("a reference where only data may be")

    def note_cast(self) -> None:
        """Ignores it."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Refuses."""
        raise ProtocolViolation("an exception where only data may be")


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

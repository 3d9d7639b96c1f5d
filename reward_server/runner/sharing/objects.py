"""Objects of classes that the prompt defines completely: their fields cross.

What this stops: a solution that redefines a class of the prompt, and so controls the prompt's
helpers and the comparisons of such objects in the judge. In the judge an object is of the judge's
own definition of the class. Its fields are those that the other side reports, and they are data
like any other.

What it does not do: it does not decide whether the data is right. As in one process, a solution can
change the fields of an object that it was given. Containers in fields are copies. If such a
container has another holder and changes, the tests could notice that they see a copy; this is
counted. The next message contains the changes of the latest objects, whether it mentions them or
not.

A reference is ["record", class, number]; the first reference of a message has a fourth element:
rows of [number, [field, ...], [value, ...]] for all objects that the message mentions. The side
that sends an object first numbers it, the judge upwards from 1 and the candidate downwards from -1.
Later, each side updates its object. ["member", class, name] is a member of an enumeration, and
["flag", class, value] a member of a `Flag` or a combination of members, which has no name.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..channel.codec import MAX_OBJECTS, Message, ProtocolViolation, TooLargeError
from ..values import changes, live
from . import same_containers

RECORD, MEMBER, FLAG = "record", "member", "flag"
JUDGE, CANDIDATE = 1, -1
MaySet = Callable[[object, str, object], bool]
_MOST_NESTED = 8  # levels of objects that are hashed by their content


class SharedObjects:
    """The objects that one side shares with the other.

    Args:
        side: `JUDGE` or `CANDIDATE`.
        classes: returns this side's classes by name.
        may_set: returns True if a field of an object may get another value; records the changes
            that the tests do not see.

    Attributes:
        lost: how many changed containers in fields have another holder.
    """

    def __init__(
        self, side: int, classes: Callable[[], Mapping[str, object]], may_set: MaySet
    ) -> None:
        self._side = side
        self._classes = classes
        self._may_set = may_set
        self._objects: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        self._born = 0
        self._empty: set[int] = set()
        self._states: dict[int, object] = {}
        self.received: list[object] = []
        self.lost = 0

    def knows(self, value: object) -> bool:
        """Returns True if the other side has the class of a value."""
        kind = type(value)
        known = self._classes().get(kind.__name__) is kind
        return known and not isinstance(value, (BaseException, type))

    def may_be_key(self, value: object, encoder: Message, depth: int = _MOST_NESTED) -> bool:
        """Returns True for an object whose hash is by identity, or is known when it arrives.

        An object that hashes its content may be hashed before the message's data about it has
        arrived, if it is a key in the data of another object, or if its content can change.
        """
        if not self.knows(value):
            return False
        if isinstance(value, enum.Enum) or type(value).__hash__ is object.__hash__:
            return True
        fields = [] if encoder.is_listing else list(fields_of(value).values())
        return bool(fields) and all(self._is_settled(field, encoder, depth) for field in fields)

    def _is_settled(self, field: object, encoder: Message, depth: int) -> bool:
        if type(field) in changes.UNCHANGING:
            return True
        if not depth:
            return False
        if type(field) is tuple:
            return all(self._is_settled(part, encoder, depth - 1) for part in field)
        return self.may_be_key(field, encoder, depth - 1)

    def refer(self, value: object, encoder: Message) -> list[object]:
        """Returns the reference of an object for which `knows` returns True.

        Raises:
            NotDataError: one of its fields cannot cross.
        """
        kind = type(value).__name__
        if isinstance(value, enum.Flag):
            return [FLAG, kind, encoder.value(vars(value)["_value_"])]
        if isinstance(value, enum.Enum):
            return [MEMBER, kind, value.name]
        number = self._number_of(value)
        if number not in encoder.listed:
            encoder.listed.add(number)
            encoder.waiting.append(value)
        rows = [] if encoder.is_listing else list(self._listed(encoder))
        return [RECORD, kind, number, rows] if rows else [RECORD, kind, number]

    def resolve(self, reference: list[object]) -> object:
        """Returns the object of a reference, and applies the rows that come with it.

        Raises:
            ProtocolViolation: there is no such object.
        """
        match reference:
            case ["member", str(name), str(member)]:
                return self._member(name, member)
            case ["flag", str(name), int(number)]:
                return self._flag(name, number)
            case ["record", str(name), int(number)]:
                return self._object(name, number)
            case ["record", str(name), int(number), list(rows)]:
                found = self._object(name, number)
                for row in rows:
                    self._take(row)
                return found
            case _:
                raise ProtocolViolation("an unknown record")

    def changed(self) -> list[object]:
        """Returns those of the latest objects that have changed since the other side got them."""
        return [
            self._objects[number]
            for number, state in self._states.items()
            if state != _state_of(self._objects[number])
        ]

    def _told(self, number: int) -> None:
        """Records that both sides agree on an object."""
        self._states.pop(number, None)
        self._states[number] = _state_of(self._objects[number])
        if len(self._states) > _MOST_WATCHED:
            del self._states[next(iter(self._states))]

    def finish(self) -> None:
        """Ends a message.

        Raises:
            ProtocolViolation: the message mentioned an object without a row.
        """
        if self._empty:
            raise ProtocolViolation("a record without a row")

    # --------------------------------------------------------------------------- sending

    def _number_of(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._objects) >= MAX_OBJECTS:
                raise TooLargeError(f"is the last of more than {MAX_OBJECTS} objects")
            self._born += 1
            number = self._side * self._born
            self._keep(number, value)
        return number

    def _listed(self, encoder: Message) -> Iterator[object]:
        """Yields the rows of the waiting objects, and of the objects that these mention."""
        encoder.is_listing = True
        while encoder.waiting:
            value = encoder.waiting.popleft()
            fields = fields_of(value)
            values = [encoder.value(field) for field in fields.values()]
            number = self._numbers[id(value)]
            self._told(number)
            yield [number, list(fields), values]
        encoder.is_listing = False

    # ------------------------------------------------------------------------- receiving

    def _member(self, name: str, member: str) -> object:
        kind = self._class(name)
        members = getattr(kind, "__members__", {}) if issubclass(kind, enum.Enum) else {}
        if member not in members:
            raise ProtocolViolation("an unknown member")
        return members[member]

    def _flag(self, name: str, number: int) -> object:
        """Returns a member or a combination of members, without code of the class."""
        kind = self._class(name)
        if type(number) is not int or not issubclass(kind, enum.Flag):
            raise ProtocolViolation("an unknown flag")
        known = kind._value2member_map_
        if number in known:
            return known[number]
        if len(known) >= MAX_OBJECTS:
            raise ProtocolViolation("too many flags")
        return _combined(kind, number)

    def _class(self, name: str) -> type:
        kind = self._classes().get(name)
        if not isinstance(kind, type) or issubclass(kind, (BaseException, type)):
            raise ProtocolViolation("an unknown class")
        return kind

    def _object(self, name: str, number: int) -> object:
        kind = self._class(name)
        found = self._objects.get(number)
        if found is None:
            if number * self._side >= 0 or issubclass(kind, enum.Enum):
                raise ProtocolViolation("a record of nothing")
            if len(self._objects) >= MAX_OBJECTS:
                raise ProtocolViolation("too many records")
            found = self._made(kind)
            self._keep(number, found)
            self._empty.add(number)
        if type(found) is not kind:
            raise ProtocolViolation("a record of another class")
        return found

    @staticmethod
    def _made(kind: type) -> object:
        try:
            made: object = object.__new__(kind)
        except TypeError:
            raise ProtocolViolation("a class without plain objects") from None
        return made

    def _keep(self, number: int, value: object) -> None:
        self._objects[number] = value
        self._numbers[id(value)] = number

    def _take(self, row: object) -> None:
        match row:
            case [int(number), list(names), list(values)] if number in self._objects:
                if len(names) != len(values):
                    raise ProtocolViolation("fields without values")
                self._fill(self._objects[number], names, values)
                self._empty.discard(number)
                self._told(number)
                self.received.append(self._objects[number])
            case _:
                raise ProtocolViolation("a row of nothing")

    def _fill(self, owner: object, names: list[object], values: list[object]) -> None:
        fields = fields_of(owner)
        for name, value in zip(names, values, strict=True):
            if type(name) is not str or name.startswith("__"):
                raise ProtocolViolation("a field without a name")
            before = fields.pop(name, _NOTHING)
            if (
                before is value
                or _are_alike(before, value)
                or not self._may_set(owner, name, value)
            ):
                continue
            self.lost += _can_change(value) and _is_shown(before)
            object.__setattr__(owner, name, value)
        for name in fields:  # the other side has deleted these fields
            if self._may_set(owner, name, None):
                object.__delattr__(owner, name)


def _state_of(owner: object) -> object:
    """Returns the content of an object's fields, which is equal as long as nothing changes."""
    try:
        return {name: _content_of(field) for name, field in fields_of(owner).items()}
    except RecursionError:
        return None


def _content_of(value: object) -> object:
    kind = type(value)
    if kind in changes.UNCHANGING:
        return kind, value
    if live.is_array(value):
        return live.state_of(value)
    if not isinstance(value, (*changes.KINDS, tuple)):
        return id(value)
    parts = live.elements(value)
    is_flat = changes.UNCHANGING.issuperset(map(type, parts))
    return kind, parts if is_flat else list(map(_content_of, parts))


def _are_alike(before: object, value: object) -> bool:
    try:
        return changes.are_alike(before, value)
    except RecursionError:
        return False


def _is_shown(before: object) -> bool:
    """Returns True if a container or array from a field has another holder."""
    if not _can_change(before):
        return False
    return same_containers.references_to([before]) > _OF_A_FIELD or live.is_part(before)


def _can_change(value: object) -> bool:
    return same_containers.can_be_shared(value) or live.is_array(value)


def _combined(kind: type[enum.Flag], number: int) -> object:
    make: Any = vars(enum.Flag)["_missing_"]
    try:
        made = make.__func__(kind, number)
    except ValueError:
        raise ProtocolViolation("a flag without members") from None
    if type(made) is not kind:
        raise ProtocolViolation("a flag that its class does not keep")
    return made


def fields_of(value: object) -> dict[str, object]:
    """Returns an object's fields, including those in slots."""
    fields: dict[str, object] = {}
    for base in type(value).__mro__:
        for name, descriptor in vars(base).items():
            if type(descriptor) is _SLOT and not name.startswith("__"):
                _add_slot(fields, name, value)
    held = getattr(value, "__dict__", {})
    return {**fields, **{name: one for name, one in held.items() if not name.startswith("__")}}


class _Slotted:
    __slots__ = ("slot",)


_SLOT = type(vars(_Slotted)["slot"])
_OF_A_FIELD = 3  # references: the field's, and two of the examination itself
_MOST_WATCHED = 128  # objects whose changes are sent even if no message mentions them
_NOTHING = object()  # the field does not exist


def _add_slot(fields: dict[str, object], name: str, value: object) -> None:
    try:
        fields[name] = object.__getattribute__(value, name)
    except AttributeError:
        return

"""Containers that both sides hold: each side sees the other's changes.

For example, `cart.items.append(x)` changes a list that crossed as data, `self.items = items` keeps
a list of the test, and `return xs` returns the test's own list. Such a container has a number,
which stands for it in all further messages. A receiver applies the changes in a message before it
uses the message. A number is valid as long as both sides hold the container (`same_containers`).

What this stops: a change of anything except a container that crossed. A container gets the elements
of the other side's container, but the elements themselves are not changed.

What it does not do: it only synchronizes the latest containers, up to a size. Others are copies
from then on, and this is counted. A change of a `live` value other than an array is also counted.
"""

from __future__ import annotations

from collections import Counter, UserDict, UserList
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..channel.codec import REFERENCE, Foreign, NotDataError, ProtocolViolation, TooLargeError
from ..channel.encoding import Encoder, cast_down
from ..values import changes, live
from . import same_containers

_MOST = 256
_MOST_ELEMENTS = 1 << 20


@dataclass(slots=True, eq=False)
class _Entry:
    """A container with a number.

    Attributes:
        value: the container.
        is_own: whether this side handed it over, first or later.
        is_live: whether it crossed as a copy that does not change, see `live`.
        state: its content when both sides last agreed.
    """

    value: object
    is_own: bool
    is_live: bool = False
    state: list[object] = field(default_factory=list)


class Containers:
    """The containers of one session, as one side has them.

    Attributes:
        entries: the containers, by number.
        lost: how many are no longer synchronized.
    """

    def __init__(self) -> None:
        self.entries: dict[int, _Entry] = {}
        self._numbers: dict[int, int] = {}
        self._offered: list[object] = []
        self._unsettled: set[int] = set()
        self._out_of_step: set[int] = set()
        self._next = 0
        self.lost = 0

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, number: object) -> bool:
        return number in self.entries

    # ------------------------------------------------------------------------------ numbers

    def number_of(self, value: object) -> int | None:
        """Returns the number of a container, or None."""
        return self._numbers.get(id(value))

    def offer(self, value: object) -> int:
        """Returns the number that a container gets if the current message is sent."""
        number = self._numbers[id(value)] = self._next + len(self._offered)
        self._offered.append(value)
        return number

    @property
    def offered(self) -> int:
        """How many containers got numbers for the current message, which is not sent yet."""
        return len(self._offered)

    def withdraw(self, count: int = 0) -> None:
        """Removes the numbers of a message that is not sent, except the first `count`."""
        for value in self._offered[count:]:
            del self._numbers[id(value)]
        del self._offered[count:]

    def sent(self, updates: Iterable[list[Any]]) -> None:
        """Records that a message with `updates` was sent."""
        self._unsettled.update(number for number, _ in updates)
        for value in self._offered:
            self._add(value, is_own=True, is_live=live.is_live(value))
        self._offered.clear()
        self.settle()

    def _add(self, value: object, *, is_own: bool, is_live: bool) -> None:
        self.entries[self._next] = _Entry(value, is_own, is_live)
        self._numbers[id(value)] = self._next
        self._unsettled.add(self._next)
        self._next += 1

    def receive(self, number: int, value: object, *, is_live: bool = False) -> None:
        """Registers a container or a live value that came with a number.

        Raises:
            ProtocolViolation: it is neither, or the number belongs to another one.
        """
        if number != self._next or type(number) is not int:
            raise ProtocolViolation("a number out of turn")
        if not (same_containers.can_be_shared(value) or (is_live and _may_be_live(value))):
            raise ProtocolViolation("a number for what cannot change")
        self._add(value, is_own=False, is_live=is_live)

    def value_of(self, number: object) -> object:
        """Returns the container with this number.

        Raises:
            ProtocolViolation: there is none.
        """
        entry = self.entries.get(number) if type(number) is int else None
        if entry is None:
            raise ProtocolViolation("a number of nothing")
        return entry.value

    # ------------------------------------------------------------------------------ changes

    def updates(self, encoder: Encoder) -> list[list[object]]:
        """Returns numbers and JSON values of the containers that have changed."""
        found = []
        for number, entry in self._changed():
            content = self._content(encoder, entry)
            if content is None:
                self.lost += number not in self._out_of_step
                self._out_of_step.add(number)
            else:
                found.append([number, content])
        return found

    def _content(self, encoder: Encoder, entry: _Entry) -> object:
        """Returns the JSON value of a container's or array's content, or None if it cannot
        cross."""
        if entry.is_live and not live.keeps_form(entry.value, entry.state):
            return None
        count = self.offered
        try:
            content = encoder.content(plain(entry.value))
        except TooLargeError:
            raise
        except NotDataError:
            content = None
        if type(content) is dict and REFERENCE in content:
            content = None
        if content is None:
            self.withdraw(count)
        return content

    def _changed(self) -> Iterator[tuple[int, _Entry]]:
        for number, entry in list(self.entries.items()):
            are_same = live.are_same if entry.is_live else changes.are_same
            if not are_same(entry.state, self._state_of(entry)):
                yield number, entry

    def replace(self, number: int, content: object) -> None:
        """Gives a container, or an array, the elements of another.

        Raises:
            ProtocolViolation: there is no such container, or it cannot hold them.
        """
        self._refuse(number, content)
        value = _builtin(self.value_of(number))
        if type(content) in changes.KINDS:
            changes.replace(value, content)
        else:
            live.replace(value, content)
        self._unsettled.add(number)

    def check(self, updates: Mapping[int, object]) -> None:
        """Refuses contents that containers cannot get; counts changes that live values cannot show.

        Raises:
            ProtocolViolation: there is no such container, or it cannot get these elements.
        """
        if not updates:
            return
        for number, content in updates.items():
            self._refuse(number, content)
            value = self.value_of(number)
            self.lost += _may_be_live(content) and not live.can_hold(value, content)
        showing = [number for number, entry in self.entries.items() if entry.is_live]
        self.lost += any(self._are_entangled(n, other) for n in updates for other in showing)

    def _refuse(self, number: int, content: object) -> None:
        value = _builtin(self.value_of(number))
        is_container = type(content) in changes.KINDS and isinstance(value, type(content))
        if not is_container and not (self.entries[number].is_live and _may_be_live(content)):
            raise ProtocolViolation("a change that cannot be made")

    def _are_entangled(self, number: int, other: int) -> bool:
        one, shown = _builtin(self.entries[number].value), self.entries[other].value
        return number != other and not live.are_apart(one, shown)

    def look_back(self) -> None:
        """Counts changes since the last message, if a live value may have to show them."""
        showing = {number for number, entry in self.entries.items() if entry.is_live}
        if showing:
            changed = {number for number, _ in self._changed()}
            self.lost += bool(changed) and len(changed | showing) > 1

    def settle(self) -> None:
        """Records that both sides agree on the containers of the last message."""
        if not self._unsettled:
            return
        for number in self._unsettled & self.entries.keys():
            entry = self.entries[number]
            entry.state = self._state_of(entry)
        self._unsettled.clear()

    def is_own(self, number: int) -> bool:
        """Returns True if this side handed a container over."""
        return self.entries[number].is_own

    def own(self) -> Iterator[tuple[int, object]]:
        """Returns the containers that this side passed to the other."""
        return ((n, entry.value) for n, entry in self.entries.items() if entry.is_own)

    @property
    def numbers(self) -> list[int]:
        """The numbers of all containers."""
        return list(self.entries)

    def hand_over(self, values: Iterable[object]) -> None:
        """Records that this side hands values over, with the containers in them."""
        for identity in changes.reachable(values):
            number = self._numbers.get(identity)
            if number is not None and number in self.entries:
                self.entries[number].is_own = True

    def put(self, number: int, value: object) -> None:
        """Assigns a number to another container, of the other side."""
        entry = self.entries[number]
        self._numbers.pop(id(entry.value), None)
        entry.value, entry.is_own = value, False
        self._numbers[id(value)] = number
        self._unsettled.add(number)

    def _state_of(self, entry: _Entry) -> list[object]:
        """Returns a container's content, in which entries replace containers with numbers."""
        value = entry.value
        parts = live.state_of(value) if entry.is_live else live.elements(plain(value))
        if changes.UNCHANGING.issuperset(map(type, parts)):
            return parts
        return [self.entries.get(self._numbers.get(id(part), -1), part) for part in parts]

    # ------------------------------------------------------------------------------ holders

    def held(self, values: Sequence[object]) -> list[int]:
        """Returns the numbers of containers that are data and that something on this side holds.

        Args:
            values: further values, in a list that has the only reference to some of them.
        """
        numbers = {id(entry.value): number for number, entry in self.entries.items()}
        known = Counter(numbers.keys())
        known.update(map(id, values))  # no name holds any of them
        roots = [*(entry.value for entry in self.entries.values()), *values]
        found = same_containers.held(roots, known)
        kept = [number for identity, number in numbers.items() if identity in found]
        return [number for number in kept if number not in self._out_of_step]

    def keep(self, numbers: Iterable[object]) -> None:
        """Forgets all containers except those with these numbers.

        Raises:
            ProtocolViolation: there are no such containers.
        """
        wanted = set(numbers)
        if not wanted <= self.entries.keys():
            raise ProtocolViolation("numbers of nothing")
        for number in self.entries.keys() - wanted:
            entry = self.entries.pop(number)
            if self._numbers.get(id(entry.value)) == number:
                del self._numbers[id(entry.value)]
            entry.value, entry.state = None, []

    def in_step(self, numbers: list[int]) -> list[int]:
        """Returns the latest of some containers, as many as can be synchronized."""
        kept, elements = list[int](), 0
        for number in sorted(numbers, reverse=True)[:_MOST]:
            elements += live.size_of(self.entries[number].state)
            if elements <= _MOST_ELEMENTS:
                kept.append(number)
        self.lost += len(numbers) - len(kept)
        return kept


def plain(value: object) -> object:
    """Returns the built-in container with the content of a container."""
    return cast_down(_builtin(value))


def _may_be_live(value: object) -> bool:
    """Returns True for a live value, and for one that stays an object of the other side."""
    return live.is_live(value) or isinstance(value, Foreign)


def _builtin(value: object) -> object:
    return value.data if isinstance(value, (UserDict, UserList)) else value

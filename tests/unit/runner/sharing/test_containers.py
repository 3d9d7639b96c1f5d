"""Containers that judge and candidate keep in step, and data that comes with its object."""

from __future__ import annotations

import json
from collections import OrderedDict, UserList, deque
from types import MappingProxyType
from typing import Any, cast

import pytest

from reward_server.runner.channel import extended
from reward_server.runner.channel.codec import DataOnly, ProtocolViolation
from reward_server.runner.channel.decoding import Decoder
from reward_server.runner.channel.encoding import Encoder, cast_down
from reward_server.runner.sharing.containers import Containers
from reward_server.runner.values import records
from tests.unit.runner.judge.test_session import an_object, session_with

MEBIBYTE = 1 << 20


def _encode(value: object) -> object:
    return Encoder(DataOnly(), MEBIBYTE).value(cast_down(value))


def _crossed(content: object) -> Any:
    return cast("Any", Decoder(DataOnly()).loads(json.dumps([content]).encode()))[0]


class Stack(list[object]):
    """A list with a method."""

    def peek(self) -> object:
        """Returns the last element."""
        return self[-1]


class Sides:
    """Two sides, of which the first handed a container over."""

    def __init__(self, value: Any) -> None:
        self.ours, self.theirs, self.value = Containers(), Containers(), value
        encoder = Encoder(DataOnly(), 64 * MEBIBYTE, containers=self.ours)
        frame = encoder.dumps([encoder.value([value])])
        decoder = Decoder(DataOnly(), containers=self.theirs)
        self.copy: Any = cast("Any", decoder.loads(frame))[0][0]
        self.ours.sent([])
        self.theirs.settle()

    def tell(self, sender: Containers, receiver: Containers) -> int:
        """Has one side tell the other what changed; returns the number of these containers."""
        encoder = Encoder(DataOnly(), MEBIBYTE, containers=sender)
        updates = sender.updates(encoder)
        frame = encoder.dumps([updates])
        sender.sent(updates)
        told = cast("Any", Decoder(DataOnly(), containers=receiver).loads(frame))[0]
        for number, content in told:
            receiver.replace(number, content)
        receiver.settle()
        return len(updates)


@pytest.mark.parametrize(
    "value",
    [[1], {"a": 1}, {1}, deque([1]), OrderedDict(a=1), bytearray(b"a"), Stack([1]), UserList([1])],
    ids=lambda value: type(value).__name__,
)
def test_what_one_side_changes_the_other_has(value: Any) -> None:
    sides = Sides(value)
    assert sides.tell(sides.theirs, sides.ours) == 0
    sides.copy.clear()
    assert sides.tell(sides.theirs, sides.ours) == 1
    assert not value
    assert sides.tell(sides.ours, sides.theirs) == sides.tell(sides.theirs, sides.ours) == 0


def test_elements_change_their_places_and_nothing_else() -> None:
    first, second = [1], [2]
    sides = Sides([first, second])
    copies = list(sides.copy)
    sides.copy.reverse()
    assert sides.tell(sides.theirs, sides.ours) == 1
    assert sides.value[0] is second
    assert sides.value[1] is first
    sides.value[0].append(sides.value)
    sides.value[0][-1] = [first]
    assert sides.tell(sides.ours, sides.theirs) == 1
    assert copies == [[1], [2, [[1]]]]
    assert copies[1][1][0] is copies[0]


def test_a_container_that_nobody_else_holds_is_forgotten() -> None:
    sides = Sides([[1], [2]])
    inner, sides.copy = sides.copy[1], None
    assert [sides.theirs.value_of(number) for number in sides.theirs.held(())] == [inner]
    sides.theirs.keep(sides.theirs.held(()))
    assert len(sides.theirs) == 1
    assert sides.theirs.number_of(inner) is not None
    del inner
    assert sides.theirs.held(()) == []


@pytest.mark.parametrize("content", [{}, (), "a", 1, None, {1}, Stack()], ids=repr)
def test_a_container_becomes_nothing_else(content: object) -> None:
    sides = Sides([1])
    with pytest.raises(ProtocolViolation):
        sides.theirs.replace(0, content)
    assert sides.copy == [1]


def test_only_the_latest_containers_and_small_ones_are_kept_in_step() -> None:
    many, large = Sides([[number] for number in range(300)]), Sides([[0] * (2 * MEBIBYTE)])
    assert len(many.ours.in_step(many.ours.numbers)) == 256
    assert many.ours.lost == 46
    large.ours.settle()
    assert len(large.ours.in_step(large.ours.numbers)) == 2


@pytest.mark.parametrize(
    "told",
    [
        1,
        [],
        [[]],
        [[], None],
        [[], [7], 0],
        [[], [0, True], 0],
        [[], []],
        [[], [], None],
        [[[0]], []],
        [[[0]], [], 0],
        [[["0", []]], [], 0],
        [[[7, []]], [], 0],
        [[[0, 5]], [0], 0],
        [[[0, {"dict": [[], []]}]], [0], 0],
        [[[0, [{"again": 0}]]], [0], 0],
    ],
    ids=str,
)
def test_changes_of_containers_that_are_none_are_forged(told: object) -> None:
    proxy, _ = an_object(["return", {"shared": [0, [1]]}, told, 0])
    with pytest.raises(BaseException, match="broke the protocol"):
        proxy.attribute  # noqa: B018  # it asks


@pytest.mark.parametrize(
    "content",
    [
        [0, 1],
        [0, "a"],
        [0, {"tuple": []}],
        [0, None],
        [1, {"memoryview": ["B", ""]}],
        [-1, []],
        [True, []],
        ["0", []],
        [0],
        [0, [], 0],
        [],
        {"again": 0},
        1,
    ],
    ids=str,
)
def test_live_values_that_are_none_are_forged(content: object) -> None:
    proxy, _ = an_object(["return", {"live": content}, None, 0])
    with pytest.raises(BaseException, match="broke the protocol"):
        proxy.attribute  # noqa: B018  # it asks


# --------------------------------------------------------------------- named tuples, views


def test_a_named_tuple_keeps_its_fields() -> None:
    point = records.Records().build("Point", ["x", "y"], [1, 2])
    crossed = _crossed(Encoder(DataOnly(), MEBIBYTE).value(point))
    assert crossed == (1, 2)
    assert crossed.x == 1
    assert crossed._asdict() == {"x": 1, "y": 2}
    assert repr(crossed) == "Point(x=1, y=2)"


@pytest.mark.parametrize(
    "content",
    [
        ["P", ["_x"], [1]],
        ["P", ["__eq__"], [1]],
        ["P", ["class"], [1]],
        ["P", ["x", "x"], [1, 2]],
        ["P", ["x"], [1, 2]],
        ["P", ["x"]],
        ["P;import os", ["x"], [1]],
        ["P", ["x=1)"], [1]],
        [1, ["x"], [1]],
        ["P", [1], [1]],
        ["P", "x", [1]],
        ["P", [f"f{n}" for n in range(300)], list(range(300))],
    ],
    ids=lambda content: str(content)[:30],
)
def test_a_named_tuple_of_other_names_is_refused(content: object) -> None:
    with pytest.raises(ProtocolViolation):
        _crossed({"record": content})


def test_classes_of_named_tuples_are_counted() -> None:
    known = records.Records()
    with pytest.raises(ValueError, match="too many classes"):
        [known.build(f"P{number}", ["x"], [1]) for number in range(2000)]


@pytest.mark.parametrize(
    "value",
    [{"a": 1}.keys(), {"a": 1}.items(), MappingProxyType({"a": 1}), memoryview(b"abc")],
    ids=lambda value: type(value).__name__,
)
def test_a_view_stays_one(value: object) -> None:
    crossed = _crossed(_encode(value))
    assert type(crossed) is type(value)
    assert crossed == value


@pytest.mark.parametrize(
    "content",
    [
        {"dict_keys": ["a", "a"]},
        {"dict_items": [["a"], []]},
        {"memoryview": "xyz"},
        {"mappingproxy": [["a"], 5]},
        {"library": ["os.environ", "a", ["object", 0, "", 0]]},
        {"library": ["array.array", "i0", ["object", 0, "", 0]]},
        {"extended": [1, ["object", 0, "", 0], []]},
    ],
    ids=str,
)
def test_no_other_view_is_made(content: object) -> None:
    import array  # noqa: F401  # so that one of them could be made

    with pytest.raises(ProtocolViolation):
        _crossed(content)


# ------------------------------------------------------------------ data that has attributes


def _extended(value: object, *shown: str) -> Any:
    session, _ = session_with()
    return session.extend(value, ["object", 0, "", 0], list(shown))


@pytest.mark.parametrize("base", extended.BASES, ids=lambda base: base.__name__)
def test_extended_data_compares_as_its_base_does(base: type) -> None:
    made = _extended(base())
    assert made == base()
    assert isinstance(made, base)
    for name in (
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__hash__",
        "__len__",
        "__iter__",
        "__bool__",
    ):
        assert getattr(type(made), name, None) == getattr(base, name, None)


@pytest.mark.parametrize("name", ["__array_interface__", "__array__", "__index__", "__x__"])
def test_extended_data_has_no_special_attribute_that_its_base_lacks(name: str) -> None:
    made = _extended([1])
    with pytest.raises(AttributeError):
        getattr(made, name)


@pytest.mark.parametrize(
    ("value", "reference", "shown"),
    [
        (None, ["object", 0, "", 0], []),
        (True, ["object", 0, "", 0], []),
        (1, ["object", -1, "", 0], []),
        (1, ["test", 0], []),
        (1, ["object", 0, "", 0], ["eq"]),
        (1, ["object", 0, "", 0], [["eq"]]),
        (1, 5, []),
    ],
    ids=str,
)
def test_other_extended_data_is_forged(value: object, reference: object, shown: object) -> None:
    session, _ = session_with()
    with pytest.raises((ProtocolViolation, TypeError)):
        session.extend(value, reference, shown)


def test_extended_data_of_one_object_is_one_object() -> None:
    session, _ = session_with()
    reference = ["object", 3, "", 0]
    one = session.extend([1], reference, [])
    assert session.extend([1, 2], reference, []) is one == [1, 2]
    number = session.extend(5, reference, [])
    assert session.extend(5, reference, []) is number == 5
    assert session.extend(6, reference, []) == 6

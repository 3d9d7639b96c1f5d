"""Containers that judge and candidate keep in step, and data that comes with its object."""

from __future__ import annotations

import json
from collections import OrderedDict, UserList, deque
from types import MappingProxyType
from typing import Any, cast

import pytest

from reward_server.runner import extended, records
from reward_server.runner.codec import DataOnly, ProtocolViolation
from reward_server.runner.containers import Given, Held
from reward_server.runner.decoding import Decoder
from reward_server.runner.encoding import Encoder, cast_down
from tests.unit.runner.test_session import an_object, session_with

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


@pytest.mark.parametrize(
    "value",
    [[1], {"a": 1}, {1}, deque([1]), OrderedDict(a=1), bytearray(b"a"), Stack([1]), UserList([1])],
    ids=lambda value: type(value).__name__,
)
def test_what_the_tests_change_the_solution_has(value: Any) -> None:
    given, held = Given(_encode), Held(_encode)
    number = given.number_of(value)
    assert number is not None
    copy = held.hold(number, _crossed(_encode(value)))
    assert not held.changed()
    cast("Any", copy).clear()
    given.take([[number, _crossed(content)] for number, content in held.changed()])
    assert not value
    assert not held.changed()


def test_what_the_solution_changes_the_tests_see() -> None:
    given, held, value = Given(_encode), Held(_encode), [1]
    number = given.number_of(value)
    copy = held.hold(cast("int", number), [1])
    value.append(2)
    assert held.refresh([(number, content) for number, content in given.changed()])  # type: ignore[misc]
    assert copy == [1, 2]
    assert held.hold(cast("int", number), [1, 2, 3]) is copy == [1, 2, 3]


def test_a_refreshed_container_leaves_what_the_tests_put_into_it_alone() -> None:
    held, mine = Held(_encode), [1, 2]
    copy = cast("list[object]", held.hold(1, []))
    copy.append(mine)
    assert held.refresh([(1, [[]])])
    assert copy == [[]]
    assert mine == [1, 2]


@pytest.mark.parametrize("content", [{}, (), "a", 1, None, {1}, Stack()], ids=repr)
def test_a_container_becomes_nothing_else(content: object) -> None:
    held = Held(_encode)
    held.hold(1, [1])
    assert not held.refresh([(1, content)])


def test_a_number_that_nobody_holds_changes_nothing() -> None:
    assert Held(_encode).refresh([(7, [1])])


def test_only_the_latest_containers_and_small_ones_are_kept_in_step() -> None:
    given = Given(_encode)
    values = [[number] for number in range(40)]
    assert len({given.number_of(value) for value in values}) == 40
    for value in values:
        value.append(0)
    assert len(given.changed()) == 32
    assert given.number_of([0] * MEBIBYTE) is None


@pytest.mark.parametrize(
    "answer",
    [
        ["return", [1], None, 0, "1", []],
        ["return", [1], None, 0, True, []],
        ["return", 5, None, 0, 1, []],
        ["return", None, None, 0, None, [[1]]],
        ["return", None, None, 0, None, [["a", []]]],
        ["return", None, None, 0, None, {"tuple": []}],
        ["return", 5, [[], None], 0],
    ],
    ids=str,
)
def test_a_container_that_is_none_is_forged(answer: list[object]) -> None:
    proxy, _ = an_object(answer)
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

"""What crosses arrives as exactly what it was, and nothing else arrives."""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.runner.channel.data import BadDataError, NotDataError
from reward_server.runner.channel.reading import Reader
from reward_server.runner.channel.writing import Writer

VALUES = (
    *(None, True, 3, 2**100, -1.5, 1j, "a\ud800", b"\xff", (1, (2,)), frozenset((1, 2)), range(3)),
    *([1, [2]], {1: [2]}, {1, 2}, Counter("aab"), OrderedDict(a=1), deque([1, 2], 3)),
    *(date(2024, 1, 2), datetime(2024, 1, 2, 3, tzinfo=UTC), time(3, 4), timedelta(3)),
    *(
        MappingProxyType({"a": 1}),
        bytearray(b"ab"),
        time(3, tzinfo=timezone(timedelta(hours=1), "X")),
    ),
    *(Decimal("1.50"), Fraction(1, 3), UUID(int=5), numpy.float64(2), numpy.int64(3)),
)
Point = namedtuple("Point", "x y")  # noqa: PYI024  # a user's


class Level(IntEnum):
    """A user's numbers."""

    LOW = 1


def _refuse(value: object) -> object:
    raise NotDataError(type(value).__name__)


def _resolve(reference: object) -> object:
    raise BadDataError("a reference")


def _crossed(value: object, *, casts: bool = False) -> tuple[object, Reader]:
    writer = Writer(_refuse, casts=casts)
    written = writer.value(value)
    told, rows = json.loads(json.dumps([written, writer.rows()]))
    reader = Reader(_resolve, rows)
    return reader.value(told), reader


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_listed_value_arrives_as_it_was(value: object) -> None:
    found, reader = _crossed(value)
    assert (type(found), found, reader.narrow) == (type(value), value, False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    )
)
def test_any_plain_value_arrives_as_it_was(value: object) -> None:
    assert _crossed(value)[0] == value


@pytest.mark.parametrize(
    "values",
    [
        [2**63 - 1, 1 - 2**63],
        [2**63, -1],
        [0, -(2**63), 10**400],
        [True, 1, False, 0, None],
        [math.inf, -math.inf, -0.0, 1e308, 1e308],
        [math.nan, math.inf, 1.5],
        [math.inf, math.nan],
        ["NaN", "1", ""],
    ],
)
def test_lists_of_one_type_arrive_as_they_were(values: list[object]) -> None:
    found, reader = _crossed([values, tuple(values), dict(enumerate(values))])
    assert repr(found) == repr([values, tuple(values), dict(enumerate(values))])
    nans = [one for one in found[0] if one != one]  # type: ignore[index]  # it is a list
    assert all(one is math.nan for one in nans)
    assert set(reader.texts) == {one for one in values if isinstance(one, str)}


def test_containers_that_are_the_same_stay_the_same() -> None:
    row = [0, 0]
    [first, second], _ = _crossed([row, row])  # type: ignore[misc]  # it is a list of two
    assert first is second


@pytest.mark.parametrize(
    ("value", "cast"),
    [
        (Point(1, 2), (1, 2)),
        (Level.LOW, 1),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (bytearray(b"ab"), b"ab"),
        (UserDict(a=1), {"a": 1}),
        ({1: 2}.keys(), {1: 2}.keys()),
    ],
)
def test_a_value_of_a_subclass_arrives_as_one_of_its_base(value: object, cast: object) -> None:
    assert _crossed(value, casts=True)[0] == cast


def test_an_iterator_arrives_as_what_it_yields() -> None:
    found, _ = _crossed(map(str, [1, 2]), casts=True)
    assert list(found) == ["1", "2"]  # type: ignore[call-overload]  # it is an iterator


@pytest.mark.parametrize("kind", ["float16", "float32", "int8", "uint8", "complex64"])
def test_a_narrow_number_arrives_as_it_is_and_is_told(kind: str) -> None:
    for value in (numpy.zeros((2, 2), kind), numpy.zeros(1, kind)[0]):
        found, reader = _crossed(value)
        assert found.dtype == numpy.dtype(kind)  # type: ignore[attr-defined]  # it is of numpy
        assert reader.narrow


@pytest.mark.parametrize("value", [object(), len, _refuse, type, Level])
def test_what_is_not_listed_does_not_cross(value: object) -> None:
    with pytest.raises(NotDataError):
        _crossed([value], casts=True)


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ({"r": 3}, []),
        ({"r": -1}, [["l"]]),
        ({"eval": ["1"]}, []),
        ({"t": 3}, []),
        ({"h": ["name", "x"]}, []),
        ({"np": ["O", "aaaaaaaa"]}, []),
        ({"np": ["f4,f2", "aaaaaaaa"]}, []),
        ({"decimal": ["1E+999999999"]}, []),
        ({"n": 5}, []),
        (None, [["x", 1]]),
        (None, [["a", "O", [1], "aaaaaaaa"]]),
        (None, [["a", "<f8", [10**9], "aaaaaaaa"]]),
        (None, [["s", {"r": 0}]]),
        (None, [["R", "Node", "__class__", 3]]),
        (None, [["d", 1]]),
        (None, [7]),
    ],
    ids=repr,
)
def test_what_no_writer_writes_is_refused(written: object, rows: object) -> None:
    with pytest.raises(BadDataError):
        Reader(_resolve, rows).value(written)


@pytest.mark.parametrize("factory", [list, int, None])
def test_a_default_dictionary_keeps_a_factory_that_is_listed(factory: type | None) -> None:
    found, _ = _crossed(defaultdict(factory, a=1))
    assert isinstance(found, defaultdict)
    assert (found, found.default_factory) == ({"a": 1}, factory)


@pytest.mark.parametrize(
    "value",
    [
        defaultdict(lambda: 5),
        Decimal("1e20000"),
        numpy.zeros(2, dtype=[("a", int)]),
        numpy.ma.array([1], mask=[1]),
        {"a": slice(1)},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_more_than_its_type_says_is_no_data(value: object) -> None:
    with pytest.raises(NotDataError):
        _crossed(value, casts=True)


def test_arrays_of_objects_arrive_with_their_lists() -> None:
    value = numpy.array([[1], [1, 2], None], dtype=object)
    found, _ = _crossed(value)
    assert list(found) == [[1], [1, 2], None]  # type: ignore[call-overload]  # it is an array


def test_a_region_s_time_arrives_as_one_with_its_offset() -> None:
    value = datetime(2024, 7, 1, tzinfo=ZoneInfo("America/New_York"))
    found, _ = _crossed(value, casts=True)
    assert (found, str(found)) == (value, str(value))

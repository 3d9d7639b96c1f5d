from __future__ import annotations

import array as typed_array
import datetime
import enum
import json
import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reward_server.runner.channel import codec, decoding
from reward_server.runner.channel.codec import (
    DataOnly,
    NotDataError,
    ProtocolViolation,
    TooLargeError,
)
from reward_server.runner.channel.decoding import Decoder
from reward_server.runner.channel.encoding import Encoder
from reward_server.runner.sharing.identities import (
    CANDIDATE,
    JUDGE,
    IdentifyingEncoder,
    Identities,
    are_looked_at,
)
from tests.support.sampling import times
from tests.support.timing import cpu_seconds, steps

MEBIBYTE = 1 << 20


def encoded(value: object, limit_bytes: int = 64 * MEBIBYTE) -> bytes:
    encoder = Encoder(DataOnly(), limit_bytes)
    return encoder.dumps([encoder.value(value)])


def decoded(data: bytes) -> object:
    message = Decoder(DataOnly()).loads(data)
    assert type(message) is list
    return message[0]


def crossed(value: object) -> object:
    return decoded(encoded(value))


def same(one: object, other: object) -> bool:
    """Equality that tells types apart, and takes nan for nan and -0.0 for -0.0 only."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, complex):
        return repr(one) == repr(other)
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.keys()), list(other.keys())) and same(
            list(one.values()), list(other.values())
        )
    if isinstance(one, Decimal):
        return str(one) == str(other)
    return one == other


offsets = st.timedeltas(
    min_value=datetime.timedelta(hours=-23), max_value=datetime.timedelta(hours=23)
)
zones = st.none() | offsets.map(datetime.timezone)
atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(1 << 400), max_value=1 << 400),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.decimals().filter(lambda number: not number.is_snan()),
    st.fractions(),
    st.dates(),
    st.times(timezones=zones),
    st.datetimes(timezones=zones),
    st.timedeltas(),
    st.builds(range, st.integers(), st.integers(), st.integers(1)),
    st.sampled_from([int, str, list, dict, ValueError, type(None), object]),
)
hashable_atoms = atoms.filter(lambda value: value == value)
values = st.recursive(
    atoms | st.binary().map(bytearray),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.lists(inner).map(deque),
        st.sets(hashable_atoms),
        st.frozensets(hashable_atoms),
        st.dictionaries(hashable_atoms, inner),
        st.dictionaries(hashable_atoms, inner).map(OrderedDict),
        st.dictionaries(hashable_atoms, inner).map(lambda items: defaultdict(list, items)),
        st.dictionaries(hashable_atoms, st.integers()).map(Counter),
        st.tuples(st.none() | st.integers(), st.integers(), st.none()).map(lambda p: slice(*p)),
    ),
    max_leaves=8,
)


@given(values)
@example("\ud83d\ude00")
@example("\ud83d" + "😀")
@example(["\ud83d", "\ude00"])
@example([1, -(1 << 63), (1 << 63) - 1, 1 << 63])
@example([True, 1, 1.0, None, "a"])
@example(-0.0)
@example({(1, frozenset({2})): {3: [4]}})
def test_every_value_comes_back_as_it_was(value: object) -> None:
    assert same(crossed(value), value)


@given(st.binary(max_size=200))
def test_random_bytes_are_a_violation_or_data(data: bytes) -> None:
    decoder = Decoder(DataOnly())
    try:
        decoder.loads(data)
    except ProtocolViolation:
        return


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=10)
        | st.dictionaries(st.sampled_from([*decoding.DECODERS, "@", "x"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@settings(max_examples=times(300, by_default=60))
@given(json_values)
def test_random_tags_are_a_violation_or_data(value: object) -> None:
    try:
        Decoder(DataOnly()).loads(json.dumps([value]).encode())
    except ProtocolViolation:
        return


@given(values, st.data())
def test_a_changed_byte_is_a_violation_or_data(value: object, data: st.DataObject) -> None:
    message = bytearray(encoded(value))
    position = data.draw(st.integers(0, len(message) - 1))
    message[position] = data.draw(st.integers(0, 255))
    try:
        Decoder(DataOnly()).loads(bytes(message))
    except ProtocolViolation:
        return


# ------------------------------------------------------------------------------ identities

ONE = (1000, "a b")


@pytest.mark.parametrize(
    "value", [ONE, "a b" * 3, "red", 10**30, 2.5, float("nan"), b"ab", ([1], 2), frozenset("ab")]
)
def test_data_is_one_on_both_sides_if_identities_cross(value: object) -> None:
    judge, candidate = Identities(JUDGE), Identities(CANDIDATE)
    theirs, _ = identified(candidate, judge, [value, value])
    again, other = identified(candidate, judge, [value, "c" + str(ONE)])
    assert theirs is again is not other
    assert same(theirs, value)
    assert identified(judge, candidate, [theirs]) == [value]
    assert identified(judge, candidate, [[theirs]])[0][0] is value
    assert judge.lost == candidate.lost == 0


def test_an_identity_that_cannot_be_kept_is_counted() -> None:
    judge, candidate = Identities(JUDGE), Identities(CANDIDATE)
    large = "a b" * MEBIBYTE
    assert identified(candidate, judge, [large]) == [large]
    assert judge.lost == candidate.lost == 1


def identified(sender: Identities, receiver: Identities, values: list[Any]) -> list[Any]:
    encoder = IdentifyingEncoder(sender, DataOnly(), 64 * MEBIBYTE)
    decoder = Decoder(DataOnly())
    decoder.identities = receiver
    return cast("list[Any]", decoder.loads(encoder.dumps(encoder.items(values))))


@pytest.mark.parametrize(
    "content",
    [
        "1",
        [],
        [1],
        [1, "a", 2],
        ["1", "a"],
        [0, "a"],
        [-3, "a"],
        [1, [2]],
        [1, {"set": []}],
        [1, None],
    ],
    ids=str,
)
def test_an_identity_that_nobody_gave_is_a_violation(content: object) -> None:
    decoder = Decoder(DataOnly())
    decoder.identities = Identities(JUDGE)
    with pytest.raises(ProtocolViolation):
        decoder.loads(json.dumps([{"one": content}]).encode())


def test_an_identity_means_what_it_meant_first() -> None:
    decoder = Decoder(DataOnly())
    decoder.identities = judge = Identities(JUDGE)
    assert decoder.loads(b'[{"one": [1, "a"]}, {"one": [1, 5]}]') == ["a", "a"]
    told = b'[{"one": [3, {"tuple": [1]}]}, {"one": [3, {"tuple": [2]}]}]'
    assert decoder.loads(told) == [(1,), (2,)]
    assert judge.lost == 1


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("assert f(1) is None and f(2) is not True # is it", False),
        ("assert type(f(1)) is int and int is type(f(2))", False),
        ("self.assertIs(f(1), True)", False),
        ("valid(1)", False),
        ("a is (", False),
        ("assert f(1) is f(1)", True),
        ("assert a is None is not b is c", True),
        ("self.assertIsNot(f(1), x)", True),
        ("len({id(x) for x in f()})", True),
        ("from operator import is_ as same", True),
        ("assert f([float('nan')])", True),
    ],
)
def test_identities_cross_where_a_text_looks_at_them(text: str, looks: bool) -> None:
    assert are_looked_at(text) is looks


# ------------------------------------------------------------------------ hostile messages


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"[",
        b"[1] ",
        b"[1][2]",
        b'[{"list": [1]}]',
        b'[{"tuple": [1], "set": [1]}]',
        b"[{}]",
        b'[{"tuple": 1}]',
        b'[{"set": [1, 1]}]',
        b'[{"set": [[1]]}]',
        b'[{"dict": [[1], [2, 3]]}]',
        b'[{"dict": [[1, 1], [2, 3]]}]',
        b'[{"dict": [[[]], [1]]}]',
        b'[{"int": "12"}]',
        b'[{"int": "0x_1"}]',
        b'[{"int": " 0x1"}]',
        b'[{"int": "0x' + b"f" * 1_100_000 + b'"}]',
        b"[" + b"9" * 5000 + b"]",
        b'[{"Decimal": "1E+999999999"}]',
        b'[{"Decimal": "x"}]',
        b'[{"Fraction": [1, 0]}]',
        b'[{"Fraction": [2, 4]}]',
        b'[{"Fraction": [1, -2]}]',
        b'[{"range": [0, 1, 0]}]',
        b'[{"bytes": "0"}]',
        b'[{"str": "ff"}]',
        b'[{"date": [0, 1, 1]}]',
        b'[{"datetime": [2000, 1, 1, 0, 0, 0, 0, 2, null]}]',
        b'[{"timedelta": 99999999999999999999999999}]',
        b'[{"timezone": 99999999999999}]',
        b'[{"defaultdict": ["eval", [], []]}]',
        b'[{"deque": [1, [1, 2]]}]',
        b'[{"deque": [-1, []]}]',
        b'[{"type": "Popen"}]',
        b'[{"@": ["object", 1]}]',
        b'[{"array": ["<O8", [1], "AAAAAAAAAAA="]}]',
        b'[{"array": ["<i4", [1], "AAAAAAAAAAA="]}]',
        b'[{"library": ["array.array", "", null]}]',
        b'[{"library": ["array.array", "\xc3", null]}]',
        b'[{"library": ["array.array", "i0", null]}]',
        b'[{"library": ["uuid.UUID", "", null]}]',
        b'[{"array": ["<i4", [-1], ""]}]',
        b'[{"array": ["<i4", [1000000000, 0], ""]}]',
        b'[{"array": ["<i4", [0, 1000000000], ""]}]',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"tuple":[' * 50_000 + b"]}" * 50_000,
        "[é]".encode("latin-1"),
        b'["\xff"]',
    ],
)
def test_what_no_encoder_makes_is_a_violation(message: bytes) -> None:
    assert typed_array  # whose texts are read where it is loaded
    with pytest.raises(ProtocolViolation):
        Decoder(DataOnly()).loads(message)


@pytest.mark.parametrize("tag", ["set", "frozenset"])
def test_keys_that_all_collide_are_a_violation(tag: str) -> None:
    modulus = (1 << 61) - 1

    def message(shift: int) -> bytes:
        integers = [hex(modulus * factor + shift * factor) for factor in range(5, 5_000)]
        return json.dumps([{tag: [{"int": digits} for digits in integers]}]).encode()

    def refuse() -> None:
        with pytest.raises(ProtocolViolation, match="collide"):
            Decoder(DataOnly()).loads(colliding)

    colliding, apart = message(0), message(1)
    assert cpu_seconds(refuse) < 5 * cpu_seconds(lambda: Decoder(DataOnly()).loads(apart))


def test_honest_keys_are_not_taken_for_colliding() -> None:
    value = {number * 1024: None for number in range(-5000, 5000)}
    assert crossed(value) == value


def test_more_containers_than_allowed_are_refused_before_they_are_made() -> None:
    message = b"[" + b"[]," * codec.MAX_CONTAINERS + b"[]]"
    with pytest.raises(ProtocolViolation, match="containers"):
        Decoder(DataOnly()).loads(message)


# ------------------------------------------------------------------------------ the encoder


class Flag(enum.IntEnum):
    UP = 3


class Point(NamedTuple):
    x: int
    y: int


class AlwaysEqual(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 99

    def __int__(self) -> int:
        return 99


class ListThatLies(list):  # type: ignore[type-arg]
    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter([9, 9, 9])

    def __len__(self) -> int:
        return 3


class DictThatLies(dict):  # type: ignore[type-arg]
    def items(self):  # type: ignore[no-untyped-def]
        return [(9, 9)]

    def __eq__(self, other: object) -> bool:
        return True


class TextThatLies(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "lie"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("value", "plain", "overloads"),
    [
        (Flag.UP, 3, 0),
        (type("P", (tuple,), {})((1, 2)), (1, 2), 0),
        (AlwaysEqual(5), 5, 1),
        (ListThatLies([1]), [1], 0),
        (DictThatLies({1: 2}), {1: 2}, 1),
        (TextThatLies("truth"), "truth", 1),
        (type("F", (float,), {})(1.5), 1.5, 0),
        (type("C", (complex,), {})(1j), 1j, 0),
        (type("B", (bytes,), {})(b"a"), b"a", 0),
        (type("A", (bytearray,), {})(b"a"), bytearray(b"a"), 0),
        (type("S", (set,), {})({1}), {1}, 0),
        (type("Z", (frozenset,), {})({1}), frozenset({1}), 0),
        (type("D", (Decimal,), {})("1.50"), Decimal("1.50"), 0),
        (type("Q", (Fraction,), {})(1, 2), Fraction(1, 2), 0),
        (type("T", (datetime.datetime,), {})(2000, 1, 2, 3), datetime.datetime(2000, 1, 2, 3), 0),
        (type("Y", (datetime.date,), {})(2000, 1, 2), datetime.date(2000, 1, 2), 0),
        (type("L", (datetime.timedelta,), {})(-1, 2, 3), datetime.timedelta(-1, 2, 3), 0),
    ],
)
def test_a_subclass_is_cast_down_by_its_base(value: object, plain: object, overloads: int) -> None:
    encoder = Encoder(DataOnly(), MEBIBYTE)
    crossed_value = decoded(encoder.dumps([encoder.value(value)]))
    assert same(crossed_value, plain)
    assert encoder.overloads_cast_down == overloads


def test_a_factory_that_is_no_plain_type_stays_behind() -> None:
    value = crossed(defaultdict(lambda: 1, a=2))
    assert isinstance(value, defaultdict)
    assert value == {"a": 2}
    assert value.default_factory is None


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(NotDataError, match="contains itself"):
        encoded(value)


def test_the_same_list_twice_is_no_cycle() -> None:
    row = [0]
    assert crossed([row, row]) == [[0], [0]]


def test_a_value_that_unfolds_to_more_than_the_limit_is_refused_early() -> None:
    value: list[object] = [0]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(TooLargeError):  # or the test would outlast its time
        encoded(value, MEBIBYTE)


@pytest.mark.parametrize(
    "value",
    [
        "a" * 1000,
        list(range(1000)),
        1 << 10_000,
        b"a" * 1000,
        {1: "a" * 1000},
        Decimal("1e20000"),
    ],
    ids=["str", "list", "int", "bytes", "dict", "Decimal"],
)
def test_a_large_value_is_refused(value: object) -> None:
    with pytest.raises(TooLargeError):
        encoded(value, 500)


def test_nesting_crosses_up_to_the_limit() -> None:
    value: object = 0
    for _ in range(codec.MAX_DEPTH - 1):
        value = (value,)
    assert crossed(value) == value
    with pytest.raises(NotDataError):
        encoded((value, [[value]]))


@pytest.mark.parametrize("value", [object(), lambda: 1, iter([]), {object()}, {lambda: 1: 2}, math])
def test_what_is_not_data_is_left_to_references(value: object) -> None:
    class Noted(DataOnly):
        def refer(self, value: object, encoder: Encoder) -> object:
            return "noted"

    encoder = Encoder(Noted(), MEBIBYTE)
    assert json.loads(encoder.dumps([encoder.value(value)])) == [{"@": "noted"}]


@pytest.mark.parametrize(
    "value",
    [
        list(range(100_000)),
        [float(number) for number in range(20_000)],
        [str(number) for number in range(100_000)],
    ],
    ids=["int", "float", "str"],
)
def test_a_large_list_crosses_without_a_step_for_an_element(value: list[object]) -> None:
    assert crossed(value) == value
    assert steps(lambda: crossed(value)) < 5_000


def test_rows_cross_in_steps_in_the_measure_of_their_number() -> None:
    few, many = ([[number, number] for number in range(count)] for count in (100, 1000))
    assert crossed(many) == many
    assert steps(lambda: crossed(many)) < 11 * steps(lambda: crossed(few)) < 11 * 100 * 500


# -------------------------------------------------------------------------------- numpy


def test_arrays_and_their_numbers_cross_where_numpy_is_loaded() -> None:
    numpy = pytest.importorskip("numpy")
    for array in (
        numpy.arange(6).reshape(2, 3),
        numpy.array([[1.5, math.nan]]),
        numpy.array([True, False]),
        numpy.array([1j], dtype="complex64"),
        numpy.zeros((0, 3)),
        numpy.array(5),
        numpy.arange(6, dtype=">i2")[::2],
    ):
        other = crossed(array)
        assert type(other) is numpy.ndarray
        assert other.dtype == array.dtype
        assert other.shape == array.shape
        assert numpy.array_equal(other, array, equal_nan=array.dtype.kind == "f")
    number = crossed(numpy.float32(1.5))
    assert type(number) is numpy.float32
    assert number == 1.5


def test_arrays_are_nested_lists_where_numpy_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")
    cases = [
        (numpy.arange(6).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
        (numpy.array([[[1.5], [2.5]]]), [[[1.5], [2.5]]]),
        (numpy.array([True]), [True]),
        (numpy.array([1 + 2j]), [1 + 2j]),
        (numpy.zeros((2, 0)), [[], []]),
        (numpy.array(5), 5),
        (numpy.float64(2.5), 2.5),
        (numpy.arange(2, dtype=">i2"), [0, 1]),
    ]
    data = [(encoded(array), expected) for array, expected in cases]
    monkeypatch.delitem(sys.modules, "numpy")
    for message, expected in data:
        assert same(decoded(message), expected)

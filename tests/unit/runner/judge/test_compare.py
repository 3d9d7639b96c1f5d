from __future__ import annotations

import json
import math
from collections import OrderedDict, deque
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.runner.judge import compare

NAN, INFINITY = math.nan, math.inf


def same(
    expected: object,
    observed: object,
    kind: str = "TRAILING_WHITESPACE",
    absolute: float = 0.0,
    relative: float = 0.0,
) -> bool:
    check = compare.checker(kind, absolute_tolerance=absolute, relative_tolerance=relative)
    return check(expected, observed)


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (1, 1),
        (1, 1.0),
        (1.5, Decimal("1.5")),
        (2, Fraction(4, 2)),
        ([1, [2]], (1, (2,))),
        ({"1": 2}, {1: 2}),
        ({"true": 1, "null": 2, "1.5": 3}, {True: 1, None: 2, 1.5: 3}),
        ({"a": [1]}, OrderedDict(a=(1,))),
        (NAN, NAN),
        (INFINITY, INFINITY),
        (None, None),
        (True, True),
        ("", ""),
        ([], ()),
        (10**30, 10**30),
        ([1, 2.0, 3], [1.0, 2, 3]),
        (3, numpy.int64(3)),
        (True, numpy.bool_(True)),
        ([[0, 1]], [numpy.arange(2)]),
        ([None, [1]], numpy.array([None, [1]], dtype=object)),
        ({"3": [1.5]}, {numpy.int64(3): numpy.array([1.5])}),
    ],
)
def test_the_same_json_is_the_same(expected: object, observed: object) -> None:
    assert same(expected, observed)
    assert same(expected, observed, "EXACT")


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (None, 0),
        (None, False),
        (0, None),
        ([], None),
        ([], ""),
        ([], {}),
        ([], set()),
        ([1], {1}),
        ([1], deque([1])),
        (True, "True"),
        (True, 2),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ([1, 2], [1]),
        ("1", 1),
        ("a", b"a"),
        (1, 1.0000001),
        (NAN, 1.0),
        (1.0, NAN),
        (INFINITY, 1e308),
        (INFINITY, -INFINITY),
        ([NAN], [0.0]),
        ({"1": 2}, {"1": 2, "2": 3}),
        ({"1": 2, "2": 3}, {"1": 2}),
        ({"1": 2}, {1: 2, "1": 2}),
        ({"1": 2}, {(1,): 2}),
        ({"a": 1}, [["a", 1]]),
        (1, 1 + 0j),
        ("a", "a "),
        (1, object()),
    ],
)
def test_other_json_is_not_the_same(expected: object, observed: object) -> None:
    assert not same(expected, observed)


@pytest.mark.parametrize(
    ("expected", "observed"),
    [(1, True), (0, False), (False, 0), (True, 1.0), ([1], [True]), ({"a": False}, {"a": 0})],
)
def test_a_boolean_is_a_number_unless_exactness_is_asked(
    expected: object, observed: object
) -> None:
    assert same(expected, observed)
    assert not same(expected, observed, "EXACT")
    assert same(expected, expected, "EXACT")


@pytest.mark.parametrize(
    ("expected", "observed", "is_same"),
    [
        (1.0, 1.05, True),
        (1.0, 1.2, False),
        ([1.0, {"a": 2}], (1.05, {"a": 2.05}), True),
        (10, 11, False),
        (10, 10.05, True),
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (INFINITY, 1e300, False),
        (INFINITY, INFINITY, True),
        (1.0, INFINITY, False),
        (1.0, NAN, False),
        (1.0, True, True),
        (1.0, False, False),
        ("1.0", "1.05", False),
        (1.0, "1.0", False),
        (10**310, 1.0, False),
    ],
)
def test_a_tolerance_is_for_numbers(expected: object, observed: object, is_same: bool) -> None:
    assert same(expected, observed, "FLOAT", absolute=0.1) is is_same


def test_a_relative_tolerance_is_of_the_expected_value() -> None:
    assert same(1000.0, 1009.0, "FLOAT", relative=0.01)
    assert not same(1000.0, 1011.0, "FLOAT", relative=0.01)
    assert not same(0.0, 1e-9, "FLOAT", relative=0.5)


@pytest.mark.parametrize(
    ("expected", "observed", "is_same"),
    [
        ([1, 2, 2], [2, 1, 2], True),
        ([1, 2, 2], [2, 1, 1], False),
        ([[1, 2], [3]], ((3,), (1, 2)), True),
        ([[1, 2]], [[2, 1]], False),
        ([{"a": 1}, {"b": NAN}], [{"b": NAN}, {"a": 1.0}], True),
        ([1, 0], [False, True], True),
        ([1], [None], False),
        ([None, "a"], ["a", None], True),
        ([1], {1}, False),
        ("ab", "ba", False),
        ([object()], [object()], False),
    ],
)
def test_elements_may_come_in_any_order(expected: object, observed: object, is_same: bool) -> None:
    assert same(expected, observed, "UNORDERED_LINES") is is_same


def test_a_long_list_in_another_order_is_compared_at_once() -> None:
    numbers = list(range(100_000))
    assert same(numbers, numbers[::-1], "UNORDERED_LINES")


def test_letter_case_and_tokens_are_for_texts() -> None:
    assert same(["Straße", 1], ["STRASSE", 1], "CASE_INSENSITIVE")
    assert not same("a", "b", "CASE_INSENSITIVE")
    assert same(["a  b\n"], ["a b"], "TOKENS")
    assert not same("a b", "ab", "TOKENS")


def test_a_checker_program_compares_no_values() -> None:
    with pytest.raises(ValueError, match="PROGRAM"):
        compare.checker("PROGRAM", absolute_tolerance=0, relative_tolerance=0)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(json_values, json_values)
def test_two_values_are_the_same_when_their_canonical_forms_are(one: object, other: object) -> None:
    expected = _canonical(one) == _canonical(other)
    assert same(one, other) is expected
    assert same(one, other, "FLOAT") is expected


@given(json_values)
def test_a_value_is_the_same_as_itself_read_again(value: object) -> None:
    again = json.loads(json.dumps(value))
    for kind in ("EXACT", "FLOAT", "UNORDERED_LINES", "CASE_INSENSITIVE", "TOKENS"):
        assert same(value, again, kind)


def _canonical(value: object) -> object:
    if isinstance(value, list):
        return "list", tuple(map(_canonical, value))
    if isinstance(value, dict):
        return "dict", frozenset((key, _canonical(item)) for key, item in value.items())
    if isinstance(value, str) or value is None:
        return type(value), value
    return "number", "nan" if value != value else value

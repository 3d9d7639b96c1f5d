"""Values that an honest object may take for the same are never exchanged."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.grading.copies.draws import drawn, may_agree
from reward_server.grading.copies.words import Told, Words

ALIKE: list[tuple[object, object]] = [
    ("1.0", "1.0.0"),
    ("Content-Type", "content-type"),
    ("a b", "ab"),
    ("a_b", "A-b"),
    ("ab", "ba"),
    ("é", "É"),
    ("0", "+"),
    (360, 0),
    (b"Ab", b"aB"),
    (10, 370),
    (1, 13),
    (1, 25),
    (5, -5),
    (0.333, 0.3334),
    (1e17, 1e17 + 16),
    (123456, 123457),
    (0, None),
    (0, False),
    (1, True),
    ([1, 2, 2], [2, 1]),
    ([[1], 2], (2, 1)),
    ({"a": 1}, {1: "A"}),
    ([370], [10]),
    ([1, 2, 0], [1, 2]),
    ({"a": 1, "b": 0}, {"a": 1, "c": 0}),
    ([*range(100)], [*range(200, 300)]),
]
APART: list[tuple[object, object]] = [
    ("YES", "NO"),
    ("1.0", "2.1"),
    (4, 5),
    (111, 224),
    (True, False),
    (None, 1),
    (3.5, 4.0),
    ([1, 2], [1, 3]),
    ([], [1]),
    ({"a": 1}, {"a": 2}),
    ("", "a"),
]


@pytest.mark.parametrize(("value", "other"), ALIKE, ids=repr)
def test_what_an_equality_of_its_own_may_take_for_the_same_may_agree(
    value: object, other: object
) -> None:
    assert may_agree(value, other)
    assert may_agree(other, value)


@pytest.mark.parametrize(("value", "other"), APART, ids=repr)
def test_what_no_equality_takes_for_the_same_does_not(value: object, other: object) -> None:
    assert not may_agree(value, other)
    assert not may_agree(other, value)


@given(st.recursive(st.integers() | st.text() | st.none() | st.floats(), st.lists, max_leaves=6))
def test_a_value_agrees_with_itself(value: object) -> None:
    assert may_agree(value, value)


@pytest.mark.parametrize("value", [0, 2, -7, 255, 3.5, 10**6])
def test_a_distant_number_is_the_same_modulo_nothing(value: float) -> None:
    draws = (drawn(value, Words(Told(""), ()), random.Random(seed), "object") for seed in range(40))
    others: list[float] = [next(one) for one in draws]  # type: ignore[misc]  # numbers
    for modulus in (3, 7, 13, 17, 24, 97, 256, 360, 3600, 65536, 1 << 31, 998244353, 10**9 + 7):
        assert all((other - value) % modulus for other in others)
        assert may_agree(value, value + modulus, counts=True)
        assert may_agree([1, value], [1, value - 5 * modulus], counts=True)
    assert not any(may_agree(value, other, counts=True) for other in others)

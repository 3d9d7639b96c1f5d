"""What stands beside an expected value does not tell which of them it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.grading.compiled_tests.decoys import others
from reward_server.grading.compiled_tests.literals import Literal, read_literal
from reward_server.grading.compiled_tests.tokens import tokenize
from reward_server.languages import load_languages
from reward_server.languages.assertions import Assertions
from tests.support.sampling import times

quickly = settings(deadline=None, max_examples=times(30, by_default=10))
NUMBERS = st.integers(min_value=0, max_value=(1 << 64) - 1)
TEXTS = st.text(alphabet="aZ05 _.,()-", min_size=1, max_size=6)


def assertions_of(name: str) -> Assertions:
    program = load_languages().find(name).program
    assert program is not None
    assert program.assertions is not None
    return program.assertions


RUST, JAVA = assertions_of("rust"), assertions_of("java")


def literal(text: str, language: Assertions = RUST) -> Literal:
    found = read_literal(tokenize(text, language), language)
    assert found is not None
    return found


def shown(text: str, seed: int, language: Assertions = RUST, count: int = 7) -> frozenset[str]:
    """Returns all that a reader can find for a value in a program of that lot."""
    return frozenset((text, *others(literal(text, language), count, language, str(seed))))


def assert_each_may_be_the_right_one(text: str) -> None:
    for seed in range(5):
        for count in (1, 2, 7):
            found = shown(text, seed, count=count)
            assert all(shown(other, seed, count=count) == found for other in found)


@quickly
@given(NUMBERS)
def test_each_of_the_numbers_found_may_be_the_right_one(number: int) -> None:
    assert_each_may_be_the_right_one(str(number))
    assert len(shown(str(number), 0)) >= 8


@pytest.mark.parametrize(
    "text",
    [
        *("7", "-1", "-128", "255u8", "2.5", "-0.5", "1_000_000", "123456.75f64", "99999.9"),
        *("'c'", "'Z'", "'0'", "true", '"olleh dlrow"', '"a"', '"Yes, 2 (two)"'),
        *("vec![1, 2, 30]", 'Some("abc")', "(1, true)", "vec![vec![1.5], vec![]]"),
    ],
)
def test_each_of_the_values_found_may_be_the_right_one(text: str) -> None:
    assert_each_may_be_the_right_one(text)
    assert len(shown(text, 0)) >= (2 if text == "true" else 8)


@quickly
@given(TEXTS)
def test_each_of_the_texts_found_may_be_the_right_one(text: str) -> None:
    if any(letter.isalnum() for letter in text):
        assert_each_may_be_the_right_one(f'"{text}"')
    assert len(shown(f'"{text}"', 0)) >= 8


@quickly
@given(NUMBERS, st.integers(), st.integers(min_value=1, max_value=3))
def test_as_many_are_drawn_as_make_a_guess_hard(number: int, seed: int, count: int) -> None:
    assert count <= len(shown(str(number), seed, count=count)) - 1 <= 2 * count


def test_each_of_a_class_is_drawn_for_some_program() -> None:
    drawn = set[str]().union(*(shown("5", seed, count=1) for seed in range(200)))
    assert drawn == {*"01234567"}


@pytest.mark.parametrize(
    ("sign", "limit"),
    [("", (1 << bits) - 1) for bits in (7, 8, 15, 16, 31, 32, 63, 64)]
    + [("-", 1 << bits) for bits in (7, 15, 31, 63)],
)
def test_what_stands_beside_the_largest_number_of_a_type_is_of_that_type(
    sign: str, limit: int
) -> None:
    for seed in range(20):
        found = {int(one) for one in shown(f"{sign}{limit}", seed)}
        assert len(found) >= 8 or limit > 1 << 30
        assert len(found) > 1
        assert max(map(abs, found)) == limit
        assert all(str(one).startswith(sign) for one in found)


@pytest.mark.parametrize("text", ["16777216", "9007199254740993", "123456789.0", "1000000.5"])
def test_no_rounding_hides_that_a_large_number_is_another(text: str) -> None:
    value = float(text)
    assert all(abs(float(other) - value) > 1e-4 * value for other in shown(text, 0) - {text})


@pytest.mark.parametrize("text", ["0x1F", "0b11", "007", "1_0", '"""\ntext"""', "null"])
def test_what_cannot_be_exchanged_safely_is_not(text: str) -> None:
    assert shown(text, 0, JAVA) == {text}


def test_a_set_is_not_given_a_value_twice() -> None:
    for seed in range(20):
        for other in shown("Set.of(1, 2, 3)", seed, JAVA):
            inside = other.removeprefix("Set.of(").removesuffix(")").split(", ")
            assert len({*inside}) == 3

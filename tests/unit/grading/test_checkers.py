"""Output is right or wrong for the reason that the checker's rule gives."""

from __future__ import annotations

import hashlib
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import Checker, CheckerKind
from reward_server.grading.checkers import difference
from tests.support.timing import cpu_seconds, takes_at_most

EVERY_KIND = [kind for kind in CheckerKind if not Checker(kind=kind).is_program]


def same(
    kind: CheckerKind,
    expected: bytes,
    actual: bytes,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
) -> bool:
    checker = Checker(kind=kind, absolute_tolerance=absolute, relative_tolerance=relative)
    return difference(checker, expected, actual) == ""


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(text=st.binary(max_size=100))
def test_every_text_equals_itself(kind: CheckerKind, text: bytes) -> None:
    assert same(kind, text, text)


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (b"1\n2\n", b"1\n"),
        (b"1\n", b"1\n2\n"),
        (b"1", b""),
        (b"", b"1"),
        (b"1 2", b"12"),
        (b"a", b"b"),
        (b"1\n1\n2\n", b"1\n2\n2\n"),
    ],
)
def test_no_kind_accepts_other_text(kind: CheckerKind, expected: bytes, actual: bytes) -> None:
    assert not same(kind, expected, actual)


@pytest.mark.promise(
    "White space at the ends of output lines does not count by default.", "Verdicts"
)
@pytest.mark.parametrize("actual", [b"1  \n2", b"1\r\n2\r\n", b"1\n2\n\n \n", b"1\t\n2\x0b\n"])
def test_trailing_white_space_does_not_count_unless_exactness_is_asked(actual: bytes) -> None:
    assert same(CheckerKind.TRAILING_WHITESPACE, b"1\n2\n", actual)
    assert same(CheckerKind.CASE_INSENSITIVE, b"1\n2\n", actual)
    assert same(CheckerKind.UNORDERED_LINES, b"1\n2\n", actual)
    assert not same(CheckerKind.EXACT, b"1\n2\n", actual)


@pytest.mark.parametrize("actual", [b"\n1\n2", b" \n\r\n1\n2\n", b"\n\n1 \n2\n\n"])
def test_blank_lines_around_the_text_do_not_count_unless_exactness_is_asked(actual: bytes) -> None:
    assert same(CheckerKind.TRAILING_WHITESPACE, b"1\n2\n", actual)
    assert same(CheckerKind.CASE_INSENSITIVE, actual, b"1\n2\n")
    assert not same(CheckerKind.EXACT, b"1\n2\n", actual)


@pytest.mark.parametrize("actual", [b" 1\n2", b"1\n\n2", b"1 2", b"\n 1\n2", b"\n"])
def test_leading_and_inner_white_space_counts(actual: bytes) -> None:
    assert not same(CheckerKind.TRAILING_WHITESPACE, b"1\n2\n", actual)


def test_tokens_may_stand_on_any_line() -> None:
    assert same(CheckerKind.TOKENS, b"1 2\n3", b"1\n2\n\n3 ")
    assert not same(CheckerKind.TOKENS, b"1 2 3", b"1 2 3 4")
    assert not same(CheckerKind.TOKENS, b"1.0", b"1")


def test_letter_case_counts_unless_told_otherwise() -> None:
    assert same(CheckerKind.CASE_INSENSITIVE, "YES Ä".encode(), "yes ä".encode())
    assert not same(CheckerKind.TRAILING_WHITESPACE, b"YES", b"yes")
    assert same(CheckerKind.CASE_INSENSITIVE, b"\xffA", b"\xffa")


def test_unordered_lines_keep_their_leading_white_space() -> None:
    assert same(CheckerKind.UNORDERED_LINES, b"  a\n\n \n b", b" b\n  a")
    assert not same(CheckerKind.UNORDERED_LINES, b"  a\nb", b"b\na")


def test_unordered_lines_count_as_often_as_they_occur() -> None:
    assert same(CheckerKind.UNORDERED_LINES, b"a\nb\n\na\n", b"b\na\na")
    assert not same(CheckerKind.UNORDERED_LINES, b"a\nb\na\n", b"b\nb\na")


# ------------------------------------------------------------------------------------ numbers


def test_numbers_within_either_tolerance_are_right() -> None:
    assert same(CheckerKind.FLOAT, b"0.3", b"0.30000000000000004", absolute=1e-9)
    assert same(CheckerKind.FLOAT, b"3e10", b"30000000001.5", relative=1e-9)
    assert not same(CheckerKind.FLOAT, b"0.3", b"0.31", absolute=1e-9, relative=1e-2)


def test_other_ways_to_write_a_number_are_right_without_a_tolerance() -> None:
    assert same(CheckerKind.FLOAT, b"1.50 -0 +2", b"1.5 0 2.0")


def test_words_are_compared_as_words() -> None:
    assert same(CheckerKind.FLOAT, b"Case #1: 2.5", b"Case #1: 2.50")
    assert not same(CheckerKind.FLOAT, b"Case #1: 2.5", b"case #1: 2.5", absolute=10)


def test_a_relative_tolerance_accepts_no_other_whole_number() -> None:
    assert not same(CheckerKind.FLOAT, b"1000000007", b"1000000008", relative=1e-6)
    assert not same(CheckerKind.FLOAT, b"1000000007", b"1000000008.0", relative=1e-6)
    assert same(CheckerKind.FLOAT, b"3", b"2.9999999999", relative=1e-6)


def test_an_absolute_tolerance_counts_for_whole_numbers_too() -> None:
    assert same(CheckerKind.FLOAT, b"5", b"6", absolute=1)


def test_whole_numbers_beyond_a_double_s_precision_are_told_apart() -> None:
    assert not same(CheckerKind.FLOAT, b"12345678901234567890", b"12345678901234567891")
    assert same(CheckerKind.FLOAT, b"12345678901234567890", b"+12345678901234567890")


@pytest.mark.promise("NaN and infinity equal no other number, with every tolerance.", "Verdicts")
@pytest.mark.parametrize("special", [b"nan", b"inf", b"-inf", b"Infinity"])
@pytest.mark.parametrize("other", [b"0", b"1e308", b"-1e308", b"nanx", b"1e400"])
def test_nan_and_infinity_equal_nothing_else_whatever_the_tolerance(
    special: bytes, other: bytes
) -> None:
    for expected, actual in ((special, other), (other, special)):
        assert not same(CheckerKind.FLOAT, expected, actual, absolute=1e300, relative=1.0)


def test_nan_and_infinity_equal_themselves_however_written() -> None:
    assert same(CheckerKind.FLOAT, b"nan inf -inf", b"NaN +Infinity -INFINITY")
    assert not same(CheckerKind.FLOAT, b"inf", b"-inf", absolute=1e300)
    assert not same(CheckerKind.FLOAT, b"nan", b"inf", absolute=1e300)


@pytest.mark.parametrize("token", [b"1_000", b"0x10", b"1e", b".", b"1,5", "١".encode(), b"1j"])
def test_what_only_python_takes_for_a_number_is_a_word(token: bytes) -> None:
    assert not same(CheckerKind.FLOAT, b"1", token, absolute=1e300)
    assert same(CheckerKind.FLOAT, token, token)


def test_numbers_too_large_for_a_double_equal_only_their_own_text() -> None:
    assert not same(CheckerKind.FLOAT, b"1e400", b"1e401", relative=1.0)
    assert same(CheckerKind.FLOAT, b"1e400", b"1e400")


@given(
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.floats(0, 1e6),
    st.floats(0, 1),
)
def test_a_tolerance_means_what_its_name_says(
    expected: float, actual: float, absolute: float, relative: float
) -> None:
    accepted = same(
        CheckerKind.FLOAT,
        repr(expected).encode(),
        repr(actual).encode(),
        absolute=absolute,
        relative=relative,
    )
    distance = abs(expected - actual)
    assert accepted == (distance <= max(absolute, relative * abs(expected)))
    if math.isinf(distance):
        assert not accepted


# ------------------------------------------------------------------------------------ hostile


def test_the_message_tells_where_and_quotes_little() -> None:
    message = difference(Checker(), b"1\n2\n", b"1\n" + b"x" * 10_000)
    assert message.startswith("line 2: expected '2', got 'xxx")
    assert len(message) < 200
    assert difference(Checker(kind=CheckerKind.TOKENS), b"1 2", b"1") == (
        "token 2: expected '2', got the end"
    )
    assert difference(Checker(kind=CheckerKind.EXACT), b"abc", b"abd") == (
        "byte 2: expected 'c', got 'd'"
    )


FLOODS = {
    "tokens": b"1 ",
    "lines": b"1\n",
    "blank lines": b"\n",
    "one line": b"1",
    "white space": b" \t\x0b",
    "nulls": b"\0",
    "not unicode": b"\xff\xfe",
}


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("seed", FLOODS.values(), ids=FLOODS.keys())
def test_a_flood_costs_no_more_than_the_expected_output(kind: CheckerKind, seed: bytes) -> None:
    flood = seed * (1_000_000 // len(seed))
    output = b"1\n" + flood + b"x"
    assert not same(kind, b"1\n2\n", output, absolute=1.0)
    read_once = cpu_seconds(lambda: hashlib.blake2b(output))
    assert takes_at_most(60 * read_once, lambda: same(kind, b"1\n2\n", output, absolute=1.0))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_large_right_output_is_compared_in_linear_time(kind: CheckerKind) -> None:
    source = random.Random(1)
    text = b"\n".join(str(source.random()).encode() for _ in range(20_000))
    assert not same(kind, text, text + b"\n1")
    read_once = cpu_seconds(lambda: [float(word) for word in text.split()])
    assert takes_at_most(30 * read_once, lambda: same(kind, text, text + b"\n1"))

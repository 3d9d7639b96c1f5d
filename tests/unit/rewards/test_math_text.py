"""The text of an answer to mathematics, and of its reference."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.rewards.math_text import ANSWER_CHARACTERS, answer_text, boxed, reference_text


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (r"so \boxed{\frac{1}{2}}.", r"\boxed{\frac{1}{2}}"),
        (r"\boxed{1} no, \boxed{ 2. }", r"\boxed{2}"),
        (r"\boxed{1} and \boxed{2", r"\boxed{1}"),
        (r"<think>\boxed{1}</think><answer>\boxed{2}</answer>", r"\boxed{2}"),
        (r"<think>\boxed{1}</think><answer>2</answer>", r"\boxed{2}"),
        ("<answer>x^2 + 1</answer>", r"\boxed{x^2 + 1}"),
        ("<answer>the answer is 2</answer>", "the answer is 2"),
        ("<answer>$2$</answer>", "$2$"),
        ("<answer></answer> 2", ""),
        ("it is 2", "it is 2"),
        ("x" * 5000 + " 2", "x" * (ANSWER_CHARACTERS - 2) + " 2"),
        (r"\boxed{" + "1" * (ANSWER_CHARACTERS + 1) + "}", ""),
        (r"\boxed{}", ""),
        ("\\boxed{1\x00\ud8002}", r"\boxed{1  2}"),
        ("", ""),
    ],
)
def test_an_answer_is_the_last_box_or_the_tag_or_the_end(completion, expected):
    assert answer_text(completion) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("42", r"\boxed{42}"),
        ("6 * 7 = 42\n#### 42", r"\boxed{42}"),
        (r"thus \boxed{\sqrt{2}}", r"\boxed{\sqrt{2}}"),
        ("$x$", r"\boxed{x}"),
        ("$5", r"\boxed{$5}"),
        ("42.", r"\boxed{42}"),
    ],
)
def test_a_reference_becomes_a_box(reference, expected):
    assert reference_text(reference) == expected


@given(st.text(alphabet="\\boxed{}ab "))
def test_what_a_box_holds_is_balanced(text):
    found = boxed(text)
    assert found is None or found.count("{") == found.count("}")


@pytest.mark.parametrize("tag", ["", "<answer>"])
@pytest.mark.parametrize(
    "text", [r"\boxed{", "{", "<answer>", "a b ", "\\", "a", "a" * 50 + "1", "a  ", "aa" + " " * 50]
)
def test_a_long_text_takes_no_time(tag, text):
    # In front of "1", since white space at the end is stripped.
    found = answer_text(tag + text * 20_000 + "1")
    assert len(found) <= ANSWER_CHARACTERS + len(r"\boxed{}")


def test_a_long_word_and_long_white_space_take_no_time():
    assert answer_text("<answer>" + "a" * 1_000_000 + "1") == ""
    assert answer_text("<answer>aa" + " " * 500_000 + "1") == ""
    assert answer_text("<answer>aa" + " " * 500_000 + "bb") == "bb"


@given(st.text(alphabet="aB \n1", max_size=12))
def test_an_answer_with_two_words_side_by_side_is_a_sentence(text):
    two_words = re.search(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}", text) is not None
    found = answer_text(f"<answer>{text}</answer>")
    assert found.startswith(r"\boxed{") == (bool(text.strip()) and not two_words)

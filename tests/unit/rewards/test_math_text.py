"""The text of an answer to mathematics, and of its reference."""

from __future__ import annotations

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


@pytest.mark.parametrize("text", [r"\boxed{", "{", "<answer>", "a b ", "\\"])
def test_a_long_text_takes_no_time(text):
    assert len(answer_text(text * 20_000)) <= ANSWER_CHARACTERS + len(r"\boxed{}")

"""Rewards for right answers, on completions as the well-known GRPO tutorials ask for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_client import TaskError
from trainer_client.rewards import (
    correctness_reward,
    exact_answer_reward,
    int_reward,
    numeric_tolerance_reward,
)
from trainer_client.rewards.answers import last_number, same

GSM8K = "Six boxes of seven are 6 * 7 = <<6*7=42>>42.\n#### 42"
REFERENCED = [correctness_reward, exact_answer_reward, numeric_tolerance_reward]


def tagged(answer: str) -> str:
    return f"<reasoning>\n6 times 7\n</reasoning>\n<answer>\n{answer}\n</answer>\n"


def one(reward, text: str, reference: object = None, **options):
    columns = {} if reference is None else {"answer": [reference]}
    [found] = reward(prompts=["?"], completions=[text], **columns, **options)
    return found


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        (tagged("42"), "42", 2.0),
        (tagged("42"), 42, 2.0),
        (tagged("42"), GSM8K, 2.0),
        (tagged("1,234"), "#### 1,234", 2.0),
        (tagged("1234"), "#### 1,234", 2.0),
        (tagged("$5"), "5", 2.0),
        (tagged("-$5"), "-5", 2.0),
        (tagged("50%"), r"50\%", 2.0),
        (tagged("42."), "42", 2.0),
        (tagged("42.00"), "42", 2.0),
        (tagged("Paris"), "Paris", 2.0),
        (tagged("paris"), "Paris", 0.0),
        (tagged("42 boxes"), "42", 0.0),
        (tagged("420"), "42", 0.0),
        (tagged("1,23"), "123", 0.0),
        (tagged("41") + tagged("42"), "42", 2.0),
        (tagged("42") + tagged("41"), "42", 0.0),
        ("<answer>42", "42", 2.0),
        ("42", "42", 0.0),
        (tagged(""), "42", 0.0),
        (tagged("."), "$", 0.0),
        ("", "42", 0.0),
    ],
)
def test_a_right_answer_in_its_tag_earns_two(text, reference, expected):
    assert one(correctness_reward, text, reference) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (tagged("42"), 0.5),
        (tagged("-3"), 0.5),
        (tagged("\u22123"), 0.5),
        (tagged("3\u2212"), 0.0),
        (tagged("1,234"), 0.5),
        (tagged("4.2"), 0.0),
        (tagged("²"), 0.0),
        (tagged("٤٢"), 0.0),
        (tagged("4 2"), 0.0),
        (tagged("forty-two"), 0.0),
        ("42", 0.0),
        ("", 0.0),
    ],
)
def test_a_whole_number_earns_half_right_or_wrong(text, expected):
    assert one(int_reward, text) == expected


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        (tagged("42"), "42", 1.0),
        (" 42 \n", "42", 1.0),
        ("42", GSM8K, 1.0),
        ("42.0", "42", 0.0),
        ("It is 42", "42", 0.0),
        ("", "42", 0.0),
    ],
)
def test_an_exact_answer_is_the_reference_to_the_letter(text, reference, expected):
    assert one(exact_answer_reward, text, reference) == expected


@pytest.mark.parametrize(
    ("text", "reference", "options", "expected"),
    [
        (tagged("42.4"), "42", {}, 1.0),
        (tagged("42.5"), "42", {}, 1.0),
        (tagged("42.51"), "42", {}, 0.0),
        ("between 40 and 42", "42", {}, 1.0),
        ("it costs $1,234.60 now", "1,234.50", {"atol": 0.2}, 1.0),
        ("110", "100", {"atol": 0.0, "rtol": 0.1}, 1.0),
        ("111", "100", {"atol": 0.0, "rtol": 0.1}, 0.0),
        ("-41.9", "-42", {}, 1.0),
        ("3/4", "0.75", {"atol": 0.0}, 1.0),
        ("1/0", "0.75", {}, 0.0),
        ("50%", "50", {}, 1.0),
        ("1e3", "1000", {}, 1.0),
        ("1e999", "42", {}, 0.0),
        ("nan", "42", {}, 0.0),
        ("inf", "42", {}, 0.0),
        ("no number", "42", {}, 0.0),
        ("", "42", {}, 0.0),
        ("<answer>none</answer> 42", "42", {}, 0.0),
    ],
)
def test_a_number_near_the_reference_earns_one(text, reference, options, expected):
    assert one(numeric_tolerance_reward, text, reference, **options) == expected


MINUS = "\u2212"
FIVES = ["5", "+5", "$5", r"\$5", "€5", "5.0", "+$5", "$+5", "$ 5", "£5.00"]
MINUS_FIVES = ["-5", "-$5", "$-5", r"-\$5", r"\$-5", "-€5.0", "-$ 5", f"{MINUS}5", f"{MINUS}$5"]


@pytest.mark.parametrize("reward", [correctness_reward, numeric_tolerance_reward])
@pytest.mark.parametrize("text", [*FIVES, *MINUS_FIVES])
@pytest.mark.parametrize("reference", [*FIVES, *MINUS_FIVES])
def test_money_has_its_sign_in_front_or_behind(reward, text, reference):
    alike = (text in FIVES) == (reference in FIVES)
    assert bool(one(reward, tagged(text), f"#### {reference}")) == alike


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-€1,200", -1200),
        (f"{MINUS}£1,234.5", -1234.5),
        ("it lost -$5.", -5),
        ("(-$5)", -5),
        ("x=-$.5", -0.5),
        (r"\(-\$5\)", -5),
        (f"1e{MINUS}3", 0.001),
        ("5-3", 3),
        (f"5{MINUS}3", 3),
        ("5-$3", 3),
        ("5 - 3", 3),
        ("5 - $3", 3),
        (f"$5 {MINUS} $3", 3),
        ("$3-$5", 5),
        ("US-$5", 5),
        ("5 -3", -3),
        ("5 -$3", -3),
        ("- $5", 5),
        ("-$", None),
    ],
)
def test_a_sign_is_one_in_front_of_money_where_it_is_one_in_front_of_digits(text, number):
    assert last_number(text) == number


@given(st.text(alphabet="5x.( -+$", max_size=6), st.sampled_from(["-", "+", MINUS]))
def test_money_behind_a_sign_changes_no_number(before, sign):
    assert last_number(f"{before}{sign}$7") == last_number(f"{before}{sign}7")


@pytest.mark.parametrize("reward", REFERENCED)
def test_any_of_several_references_is_right(reward):
    columns = {"references": [["41", "42"], ["43", "44"]]}
    found = reward(prompts=["?"] * 2, completions=[tagged("42")] * 2, **columns)
    assert [value > 0 for value in found] == [True, False]


@pytest.mark.parametrize("reward", REFERENCED)
@pytest.mark.parametrize("missing", [None, "", "  ", [], [None]])
def test_a_row_without_a_reference_has_no_reward(reward, missing):
    columns = {"reference": [missing, "42"]}
    found = reward(prompts=["?"] * 2, completions=[tagged("42")] * 2, **columns)
    assert found[0] is None
    assert found[1] > 0


@pytest.mark.parametrize("reward", REFERENCED)
def test_a_column_with_a_value_goes_before_the_next_one(reward):
    columns = {"reference": ["42", None], "answer": ["of the whole solution: 1", "42"]}
    found = reward(prompts=["?"] * 2, completions=[tagged("42")] * 2, **columns)
    assert all(found)


@pytest.mark.parametrize("reward", REFERENCED)
def test_a_data_set_without_a_reference_column_is_a_mistake_that_is_named(reward):
    with pytest.raises(TaskError, match=f"{reward.__name__} row: answer: is absent"):
        reward(prompts=["?"], completions=[tagged("42")], solution=["42"])


@pytest.mark.parametrize("reward", REFERENCED)
def test_a_reference_of_another_type_costs_its_row_only_and_is_logged(reward, caplog):
    columns = {"answer": [{"value": 42}, True, float("nan"), 42]}
    found = reward(prompts=["?"] * 4, completions=[tagged("42")] * 4, **columns)
    assert found[:3] == [None] * 3
    assert found[3] > 0
    assert "answer: must be text or a number, not dict" in caplog.text


@pytest.mark.parametrize("options", [{"atol": -1.0}, {"rtol": math.nan}, {"atol": math.inf}])
def test_tolerances_without_sense_are_refused(options):
    with pytest.raises(ValueError, match="must be finite and not negative"):
        one(numeric_tolerance_reward, "42", "42", **options)


def test_a_reference_without_a_number_costs_its_row_only_and_is_logged(caplog):
    assert one(numeric_tolerance_reward, "42", "Paris") is None
    assert "no number: 'Paris'" in caplog.text


@pytest.mark.parametrize("reward", [*REFERENCED, int_reward])
def test_chats_of_many_turns_and_of_none_are_judged(reward):
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "tool", "content": tagged("41")},
        {"role": "assistant", "content": [{"type": "text", "text": tagged("42")}]},
    ]
    found = reward(prompts=[[]] * 2, completions=[chat, []], answer=["42", "42"])
    assert found[0] > 0
    assert found[1] == 0.0


@given(st.integers(-(10**30), 10**30))
def test_a_number_is_itself_with_separators_money_and_decimals(number):
    assert same(f"{number:,}", f"#### {number}")
    assert same(f"{number}.0", str(number))
    assert same(f"${number:,}.", str(number))


@given(st.text(), st.text(min_size=1))
@settings(max_examples=30)
def test_no_text_crashes_a_judgement(text, reference):
    for reward in (correctness_reward, exact_answer_reward, int_reward):
        one(reward, f"<answer>{text}", reference)
        one(reward, text, reference)
    last_number(text)


@pytest.mark.parametrize(
    "text", ["1", "1,", "1,234", "<answer>", "$", "1.", "1e", "-", "1/", "-$", " ", "-$ "]
)
def test_a_long_text_takes_no_time(text):
    for reward in (*REFERENCED, int_reward):
        one(reward, "<answer>" + text * 50_000, "42")


@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.parametrize(
    ("number", "text"),
    [(1e-7, "0.0000001"), (1e16, "10,000,000,000,000,000"), (42.0, "42"), (-0.5, "-0.5")],
)
def test_a_reference_of_any_size_is_a_plain_numeral(kind, number, text):
    completions = [f"<answer>{text}</answer>", "<answer>7</answer>"]
    columns = {"answer": [kind(number)] * 2}
    assert correctness_reward(["?"] * 2, completions, **columns) == [2.0, 0.0]


@pytest.mark.parametrize("reward", [correctness_reward, exact_answer_reward])
def test_a_reference_with_nothing_behind_its_mark_is_none(reward):
    columns = {"answer": ["It is so. ####", "It is so.\n#### \n", "#### 1"]}
    completions = ["", "<answer></answer>", "<answer>1</answer>"]
    assert [one is None for one in reward(["?"] * 3, completions, **columns)] == [True, True, False]

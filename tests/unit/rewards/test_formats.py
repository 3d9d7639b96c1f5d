"""Rewards for form, on completions as the well-known GRPO tutorials ask for."""

from __future__ import annotations

import pytest

from trainer_client.rewards import (
    clipped,
    soft_format_reward,
    strict_format_reward,
    think_answer_format_reward,
    with_options,
    xmlcount_reward,
)

STRICT = "<reasoning>\n6 times 7\n</reasoning>\n<answer>\n42\n</answer>\n"
THOUGHT = "<think>six times seven makes forty-two</think>"


def one(reward, text, **options):
    [found] = reward(prompts=["?"], completions=[text], **options)
    [chat] = reward(prompts=[[]], completions=[[{"role": "assistant", "content": text}]], **options)
    assert found == chat
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STRICT, 0.5),
        (STRICT.removesuffix("\n"), 0.5),
        (STRICT.replace("6 times 7", "6 times 7\nis what is asked"), 0.5),
        (STRICT + STRICT, 0.0),
        ("Well.\n" + STRICT, 0.0),
        (STRICT + "Done.", 0.0),
        (STRICT.replace("\n", ""), 0.0),
        (STRICT.replace("</reasoning>\n", "</reasoning>\n\n"), 0.0),
        (STRICT.replace("</answer>", ""), 0.0),
        (STRICT.replace("<answer>", "<answer>\n<answer>"), 0.0),
        ("<answer>\n42\n</answer>\n<reasoning>\n6 times 7\n</reasoning>\n", 0.0),
        ("", 0.0),
    ],
)
def test_the_strict_form_has_each_tag_once_on_a_line_of_its_own(text, expected):
    assert one(strict_format_reward, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STRICT, 0.5),
        (STRICT.replace("\n", ""), 0.5),
        ("Well. " + STRICT + " Done.", 0.5),
        ("<reasoning>a</reasoning> and <reasoning>b</reasoning> <answer>c</answer>", 0.5),
        ("<reasoning>a</reasoning> so <answer>c</answer>", 0.0),
        ("<reasoning>a</reasoning><answer>c", 0.0),
        ("</reasoning><answer>c</answer>", 0.0),
        ("<answer>c</answer><reasoning>a</reasoning>", 0.0),
        ("42", 0.0),
    ],
)
def test_the_soft_form_is_found_anywhere_and_over_many_lines(text, expected):
    assert one(soft_format_reward, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STRICT, 0.5),
        (STRICT.removesuffix("\n"), 0.5),
        (STRICT + "x" * 100, 0.4),
        (STRICT + "x" * 1000, -0.5),
        (STRICT.replace("<reasoning>\n", ""), 0.375),
        (STRICT.replace("<reasoning>\n", "<reasoning>\n<reasoning>\n"), 0.375),
        (STRICT.partition("<answer>")[0], 0.25),
        ("<reasoning>\n", 0.125),
        ("x" * 10_000, 0.0),
        ("", 0.0),
    ],
)
def test_each_tag_counts_and_text_behind_the_answer_costs(text, expected):
    assert one(xmlcount_reward, text) == pytest.approx(expected)


def test_the_trailing_penalty_has_no_bound_but_clipped_sets_one():
    assert one(clipped(xmlcount_reward, low=0.0), STRICT + "x" * 5000) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{THOUGHT}<answer>42</answer>", 1.0),
        (f"\n{THOUGHT}\n\n<answer>\n42\n</answer>\n", 1.0),
        ("<think>42</think><answer>42</answer>", 0.5),
        (f"{THOUGHT}<answer> </answer>", 0.5),
        ("<think></think><answer></answer>", 0.5),
        (f"{THOUGHT}<answer>42</answer> I hope", 0.0),
        (f"Sure: {THOUGHT}<answer>42</answer>", 0.0),
        (f"{THOUGHT} so <answer>42</answer>", 0.0),
        (f"{THOUGHT}{THOUGHT}<answer>42</answer>", 0.0),
        (f"<answer>42</answer>{THOUGHT}", 0.0),
        ("", 0.0),
    ],
)
def test_thought_and_answer_earn_in_part_where_their_content_is_thin(text, expected):
    assert one(think_answer_format_reward, text) == expected


def test_a_thought_that_the_chat_template_opened_counts_from_there():
    text = "six times seven makes forty-two</think><answer>42</answer>"
    assert one(think_answer_format_reward, text) == 0.0
    assert one(think_answer_format_reward, text, think_opened=True) == 1.0


def test_values_are_options():
    half = with_options(strict_format_reward, name="tags", value=0.25)
    assert half.__name__ == "tags"
    assert one(half, STRICT) == 0.25


EVERY = [
    *(strict_format_reward, soft_format_reward, xmlcount_reward, think_answer_format_reward),
]


@pytest.mark.parametrize("reward", EVERY, ids=lambda reward: reward.__name__)
def test_a_completion_without_text_earns_nothing(reward):
    call = {"role": "assistant", "content": None, "tool_calls": []}
    silent = [[], [call], [{"role": "tool", "content": STRICT}]]
    assert reward(prompts=[[]] * 3, completions=silent) == [0.0] * 3


@pytest.mark.parametrize("reward", EVERY, ids=lambda reward: reward.__name__)
def test_of_many_turns_the_last_of_the_assistant_is_judged(reward):
    turns = [
        {"role": "assistant", "content": f"{STRICT}{THOUGHT}"},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": "no form at all"},
    ]
    assert reward(prompts=[[]], completions=[turns]) == [0.0]


@pytest.mark.parametrize("reward", EVERY, ids=lambda reward: reward.__name__)
@pytest.mark.parametrize("text", ["<reasoning>\n", "</reasoning>", "\n</answer>", "<", "\n"])
def test_a_long_text_of_one_tag_takes_no_time(reward, text):
    one(reward, text * 50_000)

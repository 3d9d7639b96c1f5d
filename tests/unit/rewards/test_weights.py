"""What rewards are worth beside each other."""

from __future__ import annotations

from trainer_client.rewards import (
    clipped,
    correctness_reward,
    ensemble,
    int_reward,
    length_reward,
    soft_format_reward,
    strict_format_reward,
    xmlcount_reward,
)

FORMS = [int_reward, strict_format_reward, soft_format_reward, xmlcount_reward]
WRONG = "<reasoning>\nx\n</reasoning>\n<answer>\n41\n</answer>\n"


def call(text: str, **columns) -> dict:
    return {"prompts": ["?"], "completions": [text], "answer": ["42"], **columns}


def test_the_forms_of_the_tutorials_pay_a_wrong_answer_as_much_as_a_right_one_adds():
    assert sum(reward(**call(WRONG))[0] for reward in FORMS) == 2.0
    assert correctness_reward(**call(WRONG)) == [0.0]
    assert correctness_reward(**call(WRONG.replace("41", "42"))) == [2.0]


def test_text_behind_the_answer_can_cost_more_than_a_right_one_is_worth_unless_clipped():
    long = WRONG.replace("41", "42") + "x" * 3000
    assert xmlcount_reward(**call(long))[0] + correctness_reward(**call(long))[0] < 0.0
    bounded = clipped(xmlcount_reward, -0.5, 0.5)
    assert bounded(**call(long))[0] + correctness_reward(**call(long))[0] == 1.5


def test_the_least_of_two_pays_no_length_without_a_right_answer():
    both = ensemble([correctness_reward, length_reward], how="min")
    ideal = {"completion_ids": [[0] * 256]}
    assert length_reward(**call(WRONG, **ideal)) == [1.0]
    assert both(**call(WRONG, **ideal)) == [0.0]
    assert both(**call(WRONG.replace("41", "42"), **ideal)) == [1.0]

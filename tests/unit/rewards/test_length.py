"""Rewards and penalties for length and repetition."""

from __future__ import annotations

import pytest

from trainer_client import TaskError
from trainer_client.rewards import length_reward, overlong_penalty, repetition_penalty

EVERY = [
    (length_reward, {"target": 10}),
    (overlong_penalty, {"limit": 100, "cache": 20}),
    (repetition_penalty, {}),
]


def of_tokens(reward, *lengths: int, **options):
    ids = [list(range(length)) for length in lengths]
    texts = ["x"] * len(ids)
    return reward(prompts=texts, completions=texts, completion_ids=ids, **options)


def test_length_is_best_at_the_target_and_falls_linearly_on_both_sides():
    found = of_tokens(length_reward, 0, 5, 10, 15, 20, 1000, target=10)
    assert found == [0.0, 0.5, 1.0, 0.5, 0.0, 0.0]


def test_length_within_the_tolerance_costs_nothing():
    found = of_tokens(length_reward, 0, 4, 8, 12, 16, 21, target=10, tolerance=2)
    assert found == [0.0, 0.5, 1.0, 1.0, 0.5, 0.0]


def test_the_overlong_punishment_is_that_of_the_equation():
    found = of_tokens(overlong_penalty, 0, 80, 81, 90, 100, 101, limit=100, cache=20)
    assert found == [0.0, 0.0, -0.05, -0.5, -1.0, -1.0]


def test_without_a_cache_only_what_is_longer_than_the_limit_is_punished():
    assert of_tokens(overlong_penalty, 100, 101, limit=100, cache=0) == [0.0, -1.0]


@pytest.mark.parametrize(
    ("ids", "options", "expected"),
    [
        ([1, 2, 3, 4], {}, 0.0),
        ([5, 5, 5, 5, 5], {"ngram": 2}, -0.75),
        ([5, 5, 5, 5, 5], {"ngram": 2, "penalty": -0.1}, -0.075),
        ([1, 2, 1, 2], {"ngram": 1}, -0.5),
        ([1, 2], {}, 0.0),
        ([], {}, 0.0),
    ],
)
def test_repetition_is_punished_by_its_share_of_the_n_grams(ids, options, expected):
    found = repetition_penalty(prompts=["?"], completions=["x"], completion_ids=[ids], **options)
    assert found == [pytest.approx(expected)]


@pytest.mark.parametrize(
    ("unit", "expected"), [("words", 0.5), ("characters", 1.0), ("tokens", 0.25)]
)
def test_units_are_a_choice(unit, expected):
    options = {"completion_ids": [[7]], "target": 4 if unit != "characters" else 6, "unit": unit}
    assert length_reward(prompts=["?"], completions=["two ws"], **options) == [expected]


@pytest.mark.parametrize(
    ("reward", "options", "problem"),
    [
        (length_reward, {"target": 0}, "tolerance must be from 0 to below target 0"),
        (length_reward, {"target": 5, "tolerance": 5}, "tolerance must be from 0"),
        (length_reward, {"unit": "pages"}, "no unit 'pages'"),
        (overlong_penalty, {"limit": 10, "cache": 11}, "cache must be from 0 to limit 10"),
        (overlong_penalty, {"limit": 0, "cache": 0}, "which is above 0"),
        (repetition_penalty, {"ngram": 0}, "ngram must be at least 1"),
        (repetition_penalty, {"penalty": 0.5}, "penalty must be from"),
        (repetition_penalty, {"penalty": float("nan")}, "penalty must be from"),
    ],
)
def test_options_out_of_range_are_refused(reward, options, problem):
    with pytest.raises(ValueError, match=problem):
        of_tokens(reward, 3, **options)


@pytest.mark.parametrize(("reward", "options"), EVERY)
def test_tokens_that_nobody_handed_over_are_a_mistake_that_is_named(reward, options):
    with pytest.raises(TaskError, match="completion_ids: is absent"):
        reward(prompts=["?"], completions=["x"], **options)
    with pytest.raises(TaskError, match="completion_ids: 2 for 1 completions"):
        reward(prompts=["?"], completions=["x"], completion_ids=[[1], [2]], **options)


@pytest.mark.parametrize(("reward", "options"), EVERY)
def test_chats_without_text_have_no_length(reward, options):
    found = reward(prompts=[[]], completions=[[]], unit="words", **options)
    assert found == [0.0]

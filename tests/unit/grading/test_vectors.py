"""An outcome vector is believed only if it could not be guessed."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import TestOutcome, TestResult
from reward_server.grading.perturbable import Unit
from reward_server.grading.vectors import BITS, Vector, draw_units, runs_needed

PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED


def results(**outcomes: TestOutcome) -> tuple[TestResult, ...]:
    return tuple(TestResult(name=name, outcome=outcome) for name, outcome in outcomes.items())


def rows(*outcomes: TestOutcome) -> tuple[TestResult, ...]:
    return tuple(
        TestResult(name=f"t[{number}]", outcome=outcome) for number, outcome in enumerate(outcomes)
    )


@given(st.integers(1, 500))
def test_twins_leave_no_more_to_chance_than_promised(count: int) -> None:
    assert count * runs_needed(count) >= BITS
    assert count * (runs_needed(count) - 1) < BITS


def test_what_cannot_be_proven_needs_no_twins() -> None:
    assert runs_needed(0) == 0


def test_an_honest_twin_fails_where_it_was_made_wrong() -> None:
    vector = Vector(tests=results(a=PASSED, b=PASSED, c=FAILED))
    assert not vector.compare(results(a=FAILED, b=PASSED, c=FAILED), {Unit("a")})


def test_a_wrong_test_that_passes_is_counted() -> None:
    vector = Vector(tests=results(a=PASSED, b=PASSED))
    found = vector.compare(results(a=PASSED, b=PASSED), {Unit("a"), Unit("b")})
    assert (found.passed, found.failed, found.missing) == (2, 0, 0)


def test_a_true_test_that_fails_is_counted() -> None:
    found = Vector(tests=results(a=PASSED, b=PASSED)).compare(
        results(a=FAILED, b=SKIPPED), {Unit("a")}
    )
    assert (found.passed, found.failed) == (0, 1)


def test_tests_that_are_not_there_are_counted() -> None:
    vector = Vector(tests=results(a=PASSED, b=PASSED))
    assert vector.compare((), {Unit("a")}).missing == 2
    assert vector.compare(results(a=FAILED, x=PASSED), {Unit("a")}).missing == 1


def test_rows_are_told_apart_by_their_place_and_not_by_their_name() -> None:
    vector = Vector(tests=rows(PASSED, PASSED))
    wrong = (TestResult(name="t[other]", outcome=FAILED), TestResult(name="t[1]", outcome=PASSED))
    assert not vector.compare(wrong, {Unit("t", 0, 2)})
    assert vector.compare(wrong, {Unit("t", 1, 2)})


def test_only_what_passed_can_be_proven() -> None:
    vector = Vector(tests=(*rows(PASSED, FAILED), *results(a=PASSED, b=FAILED, c=SKIPPED)))
    units = (Unit("t", 0, 2), Unit("t", 1, 2), Unit("a"), Unit("b"), Unit("c"), Unit("gone"))
    assert vector.provable(units) == (Unit("t", 0, 2), Unit("a"))


def test_rows_of_another_number_than_in_the_text_prove_nothing() -> None:
    assert Vector(tests=rows(PASSED, PASSED)).provable((Unit("t", 0, 3),)) == ()


def test_each_unit_is_made_wrong_half_of_the_time() -> None:
    units, draw = [Unit(f"t{number}") for number in range(8)], random.Random(1)
    drawn = [draw_units(units, draw) for _ in range(400)]
    for unit in units:
        assert 140 < sum(unit in chosen for chosen in drawn) < 260

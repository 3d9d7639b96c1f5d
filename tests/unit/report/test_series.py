from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.report.series import made, pool, smoothed, told

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "gaps"),
    [
        ([1.0, 2.0], []),
        ([1.0, None, None, 2.0], [(1, 2)]),
        ([None, 1.0, None], [(0, 0), (2, 2)]),
        ([None, None], [(0, 1)]),
        ([], []),
    ],
)
def test_gaps_are_the_stretches_without_a_value(values, gaps):
    assert made(enumerate(values)).gaps == gaps


def test_a_mean_over_runs_has_a_gap_where_one_of_them_has_and_ends_with_the_shortest():
    first = made([(1, 0.0), (2, None), (3, 1.0), (4, 1.0)])
    second = made([(1, 1.0), (2, 1.0), (3, 0.0)])
    found = pool([first, second])
    assert found.mean.steps.tolist() == [1, 2, 3]
    np.testing.assert_equal(found.mean.values, [0.5, NAN, 0.5])
    np.testing.assert_allclose(found.spread, [0.5**0.5, NAN, 0.5**0.5])


def test_a_single_run_has_no_spread():
    found = pool([made([(1, 0.5), (2, 0.7)])])
    np.testing.assert_equal(found.spread, [NAN, NAN])
    np.testing.assert_equal(found.mean.values, [0.5, 0.7])


def test_smoothing_leaves_gaps_where_they_are_and_counts_them_for_nothing():
    found = smoothed(made(enumerate([1.0, None, 3.0, 5.0])), 3)
    np.testing.assert_equal(found.values, [1.0, NAN, 4.0, 4.0])


@given(st.lists(st.none() | st.floats(-10, 10), max_size=40), st.integers(1, 21))
def test_a_smoothed_line_has_the_same_gaps_and_stays_within_its_values(values, window):
    series = made(enumerate(values))
    found = smoothed(series, window)
    known = np.isfinite(series.values)
    np.testing.assert_array_equal(np.isfinite(found.values), known)
    if known.any():
        assert found.values[known].min() >= series.values[known].min() - 1e-9
        assert found.values[known].max() <= series.values[known].max() + 1e-9


def test_a_series_is_told_in_words_with_what_is_missing():
    series = made([(1, 0.25), (2, None), (3, 0.125), (4, 0.5)])
    assert told(series) == (
        "0.25 at step 1, 0.5 at step 4, lowest 0.125 at step 3, highest 0.5 at step 4; "
        "no value at 1 of 4 steps"
    )
    assert told(series, percent=True).startswith("25.0% at step 1, 50.0% at step 4")
    assert told(made([(1, None)])) == "no values"

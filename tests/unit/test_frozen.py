"""What counts as a verdict that changed, and that the kept rows are those that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.frozen import results, wrong
from benchmarks.frozen.__main__ import REQUESTS, RESULTS
from benchmarks.frozen.judging import Result
from benchmarks.frozen.rows import Key, recorded

PASSED = Result("PASSED", 1.0, "ISOLATED", ())
SIGNALLED = Result("PASSED", 1.0, "ISOLATED", ("cast",))
SHARED = Result("PASSED", 1.0, "SHARED", ())
FAILED = Result("FAILED", 0.0, "ISOLATED", ())
LATE = Result("TIME_LIMIT_EXCEEDED", 0.0, "ISOLATED", ())


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ({PASSED}, {PASSED}, False),
        ({PASSED}, {SIGNALLED}, False),
        ({PASSED, FAILED}, {FAILED}, False),
        ({PASSED}, {SHARED}, True),
        ({FAILED}, {FAILED, PASSED}, True),
        ({PASSED}, {PASSED, LATE}, False),
        ({PASSED}, {LATE}, True),
    ],
)
def test_a_verdict_a_reward_or_a_label_that_was_not_kept_is_a_change(
    before: set[Result], now: set[Result], changed: bool
) -> None:
    assert results.unlike(frozenset(before), frozenset(now)) is changed


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    kept = {Key("set", "row", "reference"): frozenset((SIGNALLED, FAILED))}
    results.write(tmp_path / "file.xz", kept)
    assert results.read(tmp_path / "file.xz") == kept
    assert results.read(tmp_path / "none.xz") == {}


@pytest.mark.parametrize(
    ("answer", "changed"),
    [(1, 2), (True, False), ("a", "a?"), ([1, 2], [1]), ((), (0,)), ({"a"}, {"a", "?"}), (None, 0)],
)
def test_a_changed_answer_is_another_one(answer: object, changed: object) -> None:
    names: dict[str, object] = {}
    exec(wrong.functions(f"def f():\n    return {answer!r}\n", "f")["changed"], names)
    assert names["f"]() == changed  # type: ignore[operator]  # it is a function


def test_an_emptying_solution_is_right_and_empties_what_it_was_given() -> None:
    names: dict[str, object] = {}
    given = [1, 2]
    exec(wrong.functions("def f(xs):\n    return len(xs)\n", "f")["emptying"], names)
    assert names["f"](given) == 2  # type: ignore[operator]  # it is a function
    assert given == []


def test_every_request_that_is_recorded_in_python_has_a_result_that_is_kept() -> None:
    kept, python = results.read(RESULTS), ("attacks", "cases", "honest")
    assert [key for key, _ in recorded(REQUESTS) if key.set in python and key not in kept] == []

"""The outcomes of true tests and their copies, as every honest solution has them.

A *unit* is an assertion, with one row of its table if it has one; a *leaf* is an element of its
expected value. A secret schedule determines which units each copy makes wrong. It promises three
things:

- Every unit is wrong in at least one copy and true in another, and so is every leaf of its expected
  value. So a lie about one input, such as an object that equals everything, is always found.
- A random answer for one unit passes with a chance of at most `MOST_CHANCE`.
- A whole vector is guessed with a chance of at most `2 ** -BITS`.
"""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reward_server.domain import TestOutcome, TestResult
from reward_server.grading.copies.copies import WHOLE, Change
from reward_server.grading.copies.observed import read_note
from reward_server.grading.copies.sites import Assertion, Unit

BITS = 20
MOST_CHANCE = 0.01
MOST_LEAVES = 20  # leaves of an expected value that are all shown to be compared
_MOST_COPIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """How the outcomes of a copy differ from those that the outcomes of the true tests imply.

    Args:
        passed: assertions that held although they were made wrong.
        failed: assertions that failed although they were not changed.
        missing: tests that a copy's run had more or less often, or reported incompletely.
    """

    passed: int = 0
    failed: int = 0
    missing: int = 0

    def __bool__(self) -> bool:
        return bool(self.passed or self.failed or self.missing)

    def __add__(self, other: Discrepancy) -> Discrepancy:
        return Discrepancy(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            missing=self.missing + other.missing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeVector:
    """The outcomes of the true tests, in order.

    Args:
        tests: their results.
        shapes: how often each assertion is tried, by its test and number. Without shapes a failed
            test need not report which assertions failed.
    """

    tests: tuple[TestResult, ...]
    shapes: Mapping[tuple[str, int], Assertion] = field(default_factory=dict)

    def provable(self, units: Iterable[Unit]) -> tuple[Unit, ...]:
        """Returns the units whose tests all passed, with the same rows as in the text."""
        outcomes = self._outcomes()
        return tuple(
            unit
            for unit in units
            if (rows := outcomes.get(unit.test))
            and (unit.row is None or len(rows) == unit.rows)
            and all(one is TestOutcome.PASSED for one in _of_row(rows, unit.row))
        )

    def unproven(self, units: Collection[Unit]) -> tuple[Unit, ...]:
        """Returns the units of tests that passed with other rows than those of the text."""
        outcomes = self._outcomes()
        return tuple(
            unit
            for unit in units
            if TestOutcome.PASSED in (rows := outcomes.get(unit.test, []))
            and unit.row is not None
            and len(rows) != unit.rows
        )

    def compare(self, copy: Sequence[TestResult], perturbed: Collection[Unit]) -> Discrepancy:
        """Compares a copy's outcomes with those that follow from its changes."""
        names = [base_name(test.name) for test in self.tests]
        if [base_name(test.name) for test in copy] != names:
            return Discrepancy(missing=max(1, abs(len(copy) - len(self.tests))))
        wrong: dict[str, list[Unit]] = {}
        for unit in perturbed:
            wrong.setdefault(unit.test, []).append(unit)
        numbers: dict[str, set[int]] = {}
        for owner, number in self.shapes:
            numbers.setdefault(owner, set()).add(number)
        seen, found = Counter[str](), Discrepancy()
        for test, other, name in zip(self.tests, copy, names, strict=True):
            own = [unit for unit in wrong.get(name, ()) if unit.row in (None, seen[name])]
            seen[name] += 1
            found += self._compared(test, other, own, numbers.get(name, set()))
        return found

    def _outcomes(self) -> dict[str, list[TestOutcome]]:
        found: dict[str, list[TestOutcome]] = {}
        for test in self.tests:
            found.setdefault(base_name(test.name), []).append(test.outcome)
        return found

    def _compared(
        self, test: TestResult, other: TestResult, wrong: Sequence[Unit], numbers: Collection[int]
    ) -> Discrepancy:
        true, actual = test.outcome is TestOutcome.PASSED, other.outcome is TestOutcome.PASSED
        if not true or not wrong:
            return Discrepancy(passed=actual and not true, failed=true and not actual)
        if actual:
            return Discrepancy(passed=len(wrong))
        return self._compared_in_detail(other, wrong, numbers) if numbers else Discrepancy()

    def _compared_in_detail(
        self, other: TestResult, wrong: Sequence[Unit], numbers: Collection[int]
    ) -> Discrepancy:
        told = read_note(other.message)
        if told is None or set(told) != set(numbers):
            return Discrepancy(missing=1)
        found, name = Discrepancy(), wrong[0].test
        for number in numbers:
            shape = self.shapes[name, number]
            failing = frozenset[int]().union(
                *(shape.tries_of(unit.case) for unit in wrong if unit.assertion == number)
            )
            found += _compared_truths(told[number], shape.tries, failing)
        return found


def _compared_truths(truths: str, tries: int, failing: Collection[int]) -> Discrepancy:
    if len(truths) != tries:
        return Discrepancy(missing=1)
    held = {number for number, truth in enumerate(truths) if truth == "1"}
    return Discrepancy(
        passed=len(held & {*failing}), failed=len({*range(tries)} - held - {*failing})
    )


def _of_row(outcomes: Sequence[TestOutcome], row: int | None) -> Sequence[TestOutcome]:
    return outcomes if row is None else outcomes[row : row + 1]


def base_name(name: str) -> str:
    """Returns a test's name without parameters, and without the number of a repeated name."""
    return name.partition("[")[0].partition("#")[0]


# ----------------------------------------------------------------------------- schedules


def runs_needed(weights: Collection[int]) -> int:
    """Returns how many copies units with these numbers of leaves need."""
    # An ending weighs nothing: it shows by itself whether it was made wrong.
    telling = [weight for weight in weights if weight] or [1 for _ in weights]
    counts = Counter(min(weight, MOST_LEAVES) for weight in telling)
    if not counts:
        return 0
    for copies in range(2, _MOST_COPIES):
        patterns = {weight: _patterns(copies, weight) for weight in counts}
        if all(patterns.values()):
            bits = sum(count * math.log2(patterns[weight]) for weight, count in counts.items())
            if bits >= BITS:
                return copies
    return _MOST_COPIES


def schedule(weights: Mapping[Unit, int], draw: random.Random) -> list[Change]:
    """Draws which units each copy makes wrong, and which leaf of each."""
    copies = runs_needed(weights.values())
    found: list[dict[Unit, int]] = [{} for _ in range(copies)]
    for unit, weight in weights.items():
        sizes = _sizes(copies, max(1, min(weight, MOST_LEAVES)))
        chances = [math.comb(copies, size) for size in sizes]
        size = draw.choices(sizes, chances)[0]
        for place, leaf in zip(
            draw.sample(range(copies), size), _dealt(weight, size, draw), strict=True
        ):
            found[place][unit] = leaf
    return list(found)


def _dealt(weight: int, size: int, draw: random.Random) -> list[int]:
    """Distributes leaves without repetition; in the remaining copies the whole value may change."""
    dealt = draw.sample(range(weight), min(weight, size))
    return [*dealt, *(WHOLE for _ in range(size - len(dealt)))]


@functools.lru_cache(maxsize=4096)
def _patterns(copies: int, weight: int) -> int:
    return sum(math.comb(copies, size) for size in _sizes(copies, weight))


def _sizes(copies: int, weight: int) -> list[int]:
    """Returns in how many of the copies a unit may be wrong."""
    return [size for size in range(weight, copies) if _chance(copies - size, size) <= MOST_CHANCE]


def _chance(true: int, wrong: int) -> float:
    """Returns the best chance of random answers to be right about a unit.

    A solution that answers "it holds" with probability p is right with p^true (1-p)^wrong, which is
    greatest for p = true / (true + wrong).
    """
    both = true + wrong
    return float((true / both) ** true * (wrong / both) ** wrong)

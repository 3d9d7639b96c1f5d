"""Outcome vectors of true tests and their twins: what an honest solution cannot miss.

Each unit of a twin is made wrong with one half's chance, in secret. A candidate that does not know
which were is right about one unit with one half's chance, so twins are run until that leaves less
than `2 ** -BITS` for a whole vector.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from reward_server.domain import TestOutcome, TestResult
from reward_server.grading.perturbable import Unit

BITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """How a twin's outcomes differ from what follows from the true ones.

    Args:
        passed: tests that passed though they were made wrong.
        failed: tests that failed though they were as true as before.
        missing: tests of which a twin's run had more or fewer.
    """

    passed: int = 0
    failed: int = 0
    missing: int = 0

    def __bool__(self) -> bool:
        return bool(self.passed or self.failed or self.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """What came of the true tests, in order."""

    tests: tuple[TestResult, ...]
    _units: tuple[frozenset[Unit], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_units", tuple(_units_of(self.tests)))

    def provable(self, units: Collection[Unit]) -> tuple[Unit, ...]:
        """Returns the units whose tests all passed, and whose rows are those of the text."""
        passing: dict[Unit, bool] = {}
        for test, own in zip(self.tests, self._units, strict=True):
            for unit in own:
                passing[unit] = passing.get(unit, True) and test.outcome is TestOutcome.PASSED
        return tuple(unit for unit in units if passing.get(unit, False))

    def compare(self, twin: Sequence[TestResult], perturbed: Collection[Unit]) -> Discrepancy:
        """Compares a twin's outcomes with those that follow from what was made wrong in it."""
        if [test.name.partition("[")[0] for test in twin] != [
            test.name.partition("[")[0] for test in self.tests
        ]:
            return Discrepancy(missing=max(1, abs(len(twin) - len(self.tests))))
        chosen, passed, failed = frozenset(perturbed), 0, 0
        for test, own, other in zip(self.tests, self._units, twin, strict=True):
            expected = test.outcome is TestOutcome.PASSED and not own & chosen
            actual = other.outcome is TestOutcome.PASSED
            passed += actual and not expected
            failed += expected and not actual
        return Discrepancy(passed=passed, failed=failed)


def runs_needed(count: int) -> int:
    """Returns how many twins it takes where each holds so many units."""
    return -(-BITS // count) if count else 0


def draw_units(units: Sequence[Unit], draw: random.Random) -> frozenset[Unit]:
    """Chooses each unit with one half's chance."""
    return frozenset(unit for unit in units if draw.getrandbits(1))


def _units_of(tests: Sequence[TestResult]) -> list[frozenset[Unit]]:
    names = [test.name.partition("[")[0] for test in tests]
    counts = {name: names.count(name) for name in set(names)}
    seen: dict[str, int] = {}
    found = []
    for name in names:
        row = seen.get(name, 0)
        seen[name] = row + 1
        found.append(frozenset({Unit(name), Unit(name, row, counts[name])}))
    return found

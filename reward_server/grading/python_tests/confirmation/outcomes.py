"""Compares the results of a perturbed test's assertions with those that its changes must cause."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from reward_server.domain import TestOutcome, TestResult
from reward_server.grading.python_tests.confirmation.sites import TURN, Assertion

# Stands for a site in a place: the parts of the assertion that reveal something are left out.
LEFT_OUT = -1
# The prefix of a report. One word for each assertion follows: "p" for each time it held, "f"
# for each time it failed. If single evaluations are not reported, each letter occurs once at most.
PREFIX = "observed "
_REPORT = re.compile(PREFIX + r"([pf,]*)")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Place:
    """Where a site is: its test, its assertion's number in the test, and its number in the
    assertion."""

    test: str
    assertion: int
    site: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """How the outcomes of a perturbed copy differ from the outcomes that it should have.

    Args:
        passed: assertions that held although their expected value was replaced.
        other: other deviations: true assertions that failed, conditions that changed from one run
            to the next, tests that did not reach their end.
        silent: tests without an evaluated assertion, which is no deviation.
    """

    passed: int = 0
    other: int = 0
    silent: int = 0

    def __bool__(self) -> bool:
        return bool(self.passed or self.other)

    def __add__(self, more: Deviation) -> Deviation:
        return Deviation(
            passed=self.passed + more.passed,
            other=self.other + more.other,
            silent=self.silent + more.silent,
        )


def told(test: TestResult) -> list[str] | None:
    """Returns the words of a perturbed test's report; None if it did not reach its end."""
    found = _REPORT.match(test.message)
    if test.outcome is not TestOutcome.FAILED or found is None:
        return None
    return found[1].split(",")


def deviation(
    test: str, assertions: Sequence[Assertion], said: Sequence[str] | None, wrong: Collection[Place]
) -> Deviation:
    """Compares the report of one test with the results that follow from its wrong places."""
    if said is None or len(said) != len(assertions):
        return Deviation(other=1)
    total = Deviation()
    for number, (assertion, word) in enumerate(zip(assertions, said, strict=True)):
        sites = range(len(assertion.sites))
        chosen = {site for site in sites if Place(test=test, assertion=number, site=site) in wrong}
        if Place(test=test, assertion=number, site=LEFT_OUT) in wrong:
            chosen = set(sites) if assertion.telling and assertion.telling.is_whole else set()
        for expected, seen, kind in _pairs(assertion, word, chosen):
            if seen == "" and not assertion.is_sure:
                continue
            if seen != expected:
                lied = expected == "f" and "p" in seen and kind != TURN
                total += Deviation(passed=int(lied), other=int(not lied))
    return total


def _pairs(
    assertion: Assertion, word: str, chosen: Collection[int]
) -> Iterator[tuple[str, str, str]]:
    """Yields the result that each site must have, the one that it had, and its kind of change."""
    for number, site in enumerate(assertion.sites):
        seen = word[number : number + 1] if assertion.rows else word
        yield "f" if number in chosen else "p", seen, site.kind
    if assertion.rows and word and len(word) != assertion.rows:
        yield str(assertion.rows), str(len(word)), TURN

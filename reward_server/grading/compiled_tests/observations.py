"""Reads the words that a rewritten test program wrote; see `rewriting`.

The candidate can write to the output, too. So words are searched everywhere in it. Only whole
groups of known words, in the order of the program, are accepted. Anything else is a forgery, and
every test fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reward_server.domain import CapturedStream, TestOutcome, TestResult
from reward_server.grading.compiled_tests.rewriting import WORD_DIGITS, Site

FORGED_WORD, TWIN_PASSED, EARLY_EXIT = "forged_word", "twin_passed", "early_exit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramReport:
    """The results of a program's tests, read from its output.

    Args:
        tests: results, in the order of the text; those of tests that did not run are NOT_RUN.
        ended: whether the program wrote the word at its end.
        signals: counted evidence of tampering.
    """

    tests: tuple[TestResult, ...]
    ended: bool
    signals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a word: its site, its observation there, and whether it means "holds"."""

    site: int
    position: int
    held: bool


def site_names(sites: Sequence[Site]) -> list[str]:
    """Returns the names of the sites' tests."""
    return [f"assertion {number} at line {site.line}" for number, site in enumerate(sites, 1)]


def read_words(output: bytes, sites: Sequence[Site], *, tag: str, ending: str) -> ProgramReport:
    """Reads the words in a program's output.

    Args:
        output: the whole output.
        sites: the sites of the program.
        tag: the tag with which every word begins.
        ending: the word at the end of the program.
    """
    words = [word.decode() for word in re.findall(_pattern(tag), output)]
    # The ending's word belongs to no site, so it counts as forged anywhere except at the end.
    ended = ending in words
    groups, forged = _grouped(words[:-1] if ended else words, sites)
    tests = [_result(site, groups[index], ended) for index, site in enumerate(sites)]
    twins = sum(twin_passed(site, groups[index]) for index, site in enumerate(sites))
    signals = {FORGED_WORD: forged, TWIN_PASSED: twins}
    if forged or twins:
        message = "the program told what its assertions cannot have found"
        tests = [(TestOutcome.FAILED, message)] * len(tests)
    named = zip(site_names(sites), tests, strict=True)
    return ProgramReport(
        tests=tuple(
            TestResult(name=name, outcome=outcome, message=message)
            for name, (outcome, message) in named
        ),
        ended=ended,
        signals={name: count for name, count in signals.items() if count},
    )


def without_words(stream: CapturedStream, tag: str) -> CapturedStream:
    """Removes the words, and the line ends around them, from the output of a program."""
    data = re.sub(rb"\n" + _pattern(tag) + rb"\n", b"", stream.data)
    lost = len(stream.data) - len(data)
    return CapturedStream(data=data, size_bytes=stream.size_bytes - lost)


def _pattern(tag: str) -> bytes:
    return b"%s[0-9a-f]{%d}" % (tag.encode(), WORD_DIGITS)


def _grouped(words: Sequence[str], sites: Sequence[Site]) -> tuple[list[list[list[bool]]], int]:
    """Returns the groups of each site, and the number of words that belong to none.

    A site in a loop, or in a function that is called again, has many groups.
    """
    groups = Groups(sites)
    for word in words:
        groups.add(word)
    return groups.found, groups.forged


class Groups:
    """Groups the words of each site's observations in the order in which they come.

    Attributes:
        found: the groups of each site; a group has the result of each observation: whether it held.
        forged: the number of words that belong to no group.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self.found: list[list[list[bool]]] = [[] for _ in sites]
        self.forged = 0
        self._sites = sites
        self._places = _places(sites)
        self._open = -1

    def add(self, word: str) -> int | None:
        """Adds a word; returns the index of the site whose group it completes, or None."""
        place = self._places.get(word)
        if place is not None and place.position == 0 and self._open == -1:
            self.found[place.site].append([])
        elif (
            place is None
            or place.site != self._open
            or place.position != len(self.found[place.site][-1])
        ):
            self.forged += 1
            return None
        group = self.found[place.site][-1]
        group.append(place.held)
        whole = len(group) == len(self._sites[place.site].observations)
        self._open = -1 if whole else place.site
        return place.site if whole else None


def _places(sites: Sequence[Site]) -> dict[str, _Place]:
    return {
        word: _Place(index, position, word == observation.held)
        for index, site in enumerate(sites)
        for position, observation in enumerate(site.observations)
        for word in (observation.held, observation.missed)
    }


def _result(site: Site, groups: list[list[bool]], ended: bool) -> tuple[TestOutcome, str]:
    right = [observation.holds for observation in site.observations]
    whole = [group for group in groups if len(group) == len(right)]
    if any(group != right for group in whole):
        return TestOutcome.FAILED, "it does not hold"
    if len(whole) < len(groups) or (not whole and not ended):
        return TestOutcome.NOT_RUN, ""
    if whole:
        return TestOutcome.PASSED, ""
    # The tests' text makes a site optional, and never what the program did.
    if site.optional:
        return TestOutcome.SKIPPED, "the program did not come to it"
    return TestOutcome.FAILED, "the program ended without coming to it"


def twin_passed(site: Site, groups: list[list[bool]]) -> bool:
    """Returns True if a value was equal to two values that are not equal."""
    return any(sum(group) > 1 for group in groups if len(site.observations) > 1)

"""Reads the report of a harness that ran tests beside the solution; see `languages.suites`.

The solution could have written the whole report. So a failed test always counts. A passed test
counts under three conditions: it began and ended; each of its watched assertions was reached and
wrote the right words; and nothing in the report is impossible.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reward_server.domain import CapturedStream, TestOutcome, TestResult
from reward_server.grading.compiled_tests.files import TestFiles
from reward_server.grading.compiled_tests.observations import (
    FORGED_WORD,
    TWIN_PASSED,
    Groups,
    ProgramReport,
    twin_passed,
)
from reward_server.grading.compiled_tests.rewriting import WORD_DIGITS, Rewritten, Site

MISSING_TEST, FORGED_SKIP = "missing_test", "forged_skip"
_MOST_RESULTS = 4096
_MESSAGE_CHARACTERS = 500
_OUTCOMES = {"p": TestOutcome.PASSED, "f": TestOutcome.FAILED, "s": TestOutcome.SKIPPED}
_FORGED = "the program told what its tests cannot have found"


@dataclass(slots=True, kw_only=True, eq=False)
class Report:
    """The report on a test.

    Args:
        name: its name in the text.
        title: its unique name.
        outcome: NOT_RUN until its end is reported.
        seconds: the reported duration.
        message: why it did not pass.
    """

    name: str
    title: str
    outcome: TestOutcome = TestOutcome.NOT_RUN
    seconds: float = 0.0
    message: str = ""

    def fail(self, message: str) -> None:
        """Records a failure; the first one stays."""
        if self.outcome is not TestOutcome.FAILED:
            self.outcome, self.message = TestOutcome.FAILED, message


def read_reports(
    output: bytes,
    known: TestFiles,
    rewritten: Mapping[str, Rewritten],
    *,
    tag: str,
    ending: str,
    failed: frozenset[str],
) -> ProgramReport:
    """Reads the report of a harness, and the words of the tests' assertions.

    Args:
        output: the whole output of the program.
        known: the test files.
        rewritten: the rewritten files, by path.
        tag: the tag with which each report begins.
        ending: the word at the end.
        failed: the names of tests that the framework reports as failed.
    """
    places = [(path, site) for path, one in rewritten.items() for site in one.sites]
    reader = _Reader([site for _, site in places], places)
    ended = False
    for event in re.finditer(_pattern(tag), output):
        if ended:
            reader.groups.forged += 1
        elif event["word"] is not None and event["word"].decode() == ending:
            ended = True
        else:
            reader.read(event)
    return _concluded(reader, known, ended=ended, failed=failed)


def without_reports(stream: CapturedStream, tag: str) -> CapturedStream:
    """Removes the reports, and the line ends around them, from the output of a program."""
    data = re.sub(rb"\n" + _pattern(tag) + rb"\n", b"", stream.data)
    lost = len(stream.data) - len(data)
    return CapturedStream(data=data, size_bytes=stream.size_bytes - lost)


def _pattern(tag: str) -> bytes:
    parts = (
        rb"(?P<word>%s[0-9a-f]{%d})" % (tag.encode(), WORD_DIGITS),
        rb"%s\+(?P<name>[^\t\n]*)\t(?P<begun>[^\t\n]*)" % tag.encode(),
        rb"%s-(?P<outcome>[pfs])\t(?P<seconds>\d{1,9}(?:\.\d{1,9})?)" % tag.encode()
        + rb"\t(?P<done>[^\t\n]*)\t(?P<message>[^\n]*)",
    )
    return rb"(?:%s)" % b"|".join(parts)


@dataclass(slots=True)
class _Reader:
    """Follows the reports from beginning to end."""

    sites: Sequence[Site]
    places: Sequence[tuple[str, Site]]
    reports: list[Report] = field(default_factory=list)
    running: list[Report] = field(default_factory=list)
    groups: Groups = field(init=False)

    def __post_init__(self) -> None:
        self.groups = Groups(self.sites)

    def read(self, event: re.Match[bytes]) -> None:
        if event["word"] is not None:
            self._observed(event["word"].decode())
        elif event["begun"] is not None:
            self._begun(_text(event["name"]), _text(event["begun"]))
        else:
            self._done(event)

    def _observed(self, word: str) -> None:
        index = self.groups.add(word)
        if index is None:
            return
        site = self.sites[index]
        if self.groups.found[index][-1] != [one.holds for one in site.observations]:
            for report in self.running:
                report.fail(_does_not_hold(site))
            if not self.running:  # an assertion that ran after its test
                self.groups.forged += 1

    def _begun(self, name: str, title: str) -> None:
        if len(self.reports) < _MOST_RESULTS:
            report = Report(name=name, title=title)
            self.reports.append(report)
            self.running.append(report)

    def _done(self, event: re.Match[bytes]) -> None:
        title = _text(event["done"])
        matching = [report for report in self.running if report.title == title]
        if not matching:
            self.groups.forged += 1
            return
        # Only the one that is named: tests that run at the same time end in any order.
        report = matching[-1]
        index = self.running.index(report)
        del self.running[index]
        report.seconds = float(event["seconds"])
        outcome = _OUTCOMES[event["outcome"].decode()]
        if report.outcome is TestOutcome.NOT_RUN:
            report.outcome = outcome
            report.message = _text(event["message"])[:_MESSAGE_CHARACTERS]
        if report.outcome is TestOutcome.FAILED:
            for around in self.running[:index]:
                around.fail(f"{title} failed")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _concluded(
    reader: _Reader, known: TestFiles, *, ended: bool, failed: frozenset[str]
) -> ProgramReport:
    groups = reader.groups
    missed = Counter(dict(_missed(reader, known)))
    _fail_owners(reader, known)
    signals = Counter[str]()
    for report in reader.reports:
        if report.name in failed:
            report.fail("the framework says so")
        if report.outcome is TestOutcome.SKIPPED and not known.may_be_skipped(report.name):
            report.fail("it was skipped, and not by its author")
            signals[FORGED_SKIP] += 1
        if report.outcome is TestOutcome.PASSED and missed[report.name]:
            report.fail(f"it did not come to the assertion at line {missed[report.name]}")
    pairs = zip(reader.sites, groups.found, strict=True)
    signals[TWIN_PASSED] = sum(twin_passed(site, found) for site, found in pairs)
    signals[FORGED_WORD] = groups.forged
    named = [(report.name, _result(report)) for report in reader.reports]
    for name in _absent(reader.reports, known):
        named.append((name, _absent_result(name, known, ended=ended)))
        signals[MISSING_TEST] += named[-1][1].outcome is TestOutcome.FAILED
    tests = _in_order(named, known)
    if signals[TWIN_PASSED] or signals[FORGED_WORD]:
        failing = TestOutcome.FAILED
        tests = [TestResult(name=test.name, outcome=failing, message=_FORGED) for test in tests]
    return ProgramReport(tests=tuple(tests), ended=ended, signals=dict(+signals))


def _missed(reader: _Reader, known: TestFiles) -> Iterator[tuple[str, int]]:
    """Yields tests with an assertion that was not reached, and its line."""
    for (path, site), found in zip(reader.places, reader.groups.found, strict=True):
        whole = any(len(group) == len(site.observations) for group in found)
        if not whole and not site.optional:
            yield from ((name, site.line) for name in _owners(path, site, known))


def _fail_owners(reader: _Reader, known: TestFiles) -> None:
    """Fails the tests whose text has an assertion that failed, whichever test was running."""
    for (path, site), found in zip(reader.places, reader.groups.found, strict=True):
        right = [one.holds for one in site.observations]
        if all(group == right for group in found if len(group) == len(right)):
            continue
        for name in _owners(path, site, known):
            own = [report for report in reader.reports if report.name == name]
            if not any(report.outcome is TestOutcome.FAILED for report in own):
                for report in own:
                    report.fail(_does_not_hold(site))


def _owners(path: str, site: Site, known: TestFiles) -> Iterator[str]:
    """Yields the names of the tests whose text has an assertion."""
    for test in known.tests:
        if test.path == path and site.line in test.lines:
            yield test.name


def _does_not_hold(site: Site) -> str:
    return f"the assertion at line {site.line} does not hold"


def _absent(reports: Sequence[Report], known: TestFiles) -> Iterator[str]:
    """Yields the names of the tests in the text that did not begin."""
    told = Counter(report.name for report in reports)
    for name, count in known.counts.items():
        yield from [name] * (count - told[name])


def _absent_result(name: str, known: TestFiles, *, ended: bool) -> TestResult:
    if not ended:
        return TestResult(name=name, outcome=TestOutcome.NOT_RUN)
    if known.may_be_skipped(name):
        return TestResult(name=name, outcome=TestOutcome.SKIPPED)
    return TestResult(name=name, outcome=TestOutcome.FAILED, message="it was not run")


def _in_order(named: Sequence[tuple[str, TestResult]], known: TestFiles) -> list[TestResult]:
    """Orders results like the tests in the text.

    A result without a test in the text keeps its place after the result before it. A passed result
    does not count if the text has no test of its name, or if the name already has as many results
    as tests: a solution could report any number of passes in any order.
    """
    order = {name: place for place, name in enumerate(known.counts)}
    left, place, placed = Counter(known.counts), -1, []
    for name, result in named:
        left[name] -= result.outcome is not TestOutcome.PASSED
    for name, result in named:
        place = order.get(name, place)
        if result.outcome is TestOutcome.PASSED and known.complete:
            left[name] -= 1
            result = replace(result, counts=left[name] >= 0)
        placed.append((place, result))
    return [result for _, result in sorted(placed, key=lambda one: one[0])]


def _result(report: Report) -> TestResult:
    return TestResult(
        name=report.title,
        outcome=report.outcome,
        message=report.message,
        wall_time_seconds=report.seconds,
    )

"""Reads reports about tests: JUnit's XML and the Test Anything Protocol.

A report comes from a process that runs untrusted code, so it is hostile input. Its reader bounds
its size, and XML must not declare entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from reward_server.domain import ReportFormat, TestOutcome, TestResult

MOST_BYTES = 8 << 20
MOST_TESTS = 20_000
_NAME_CHARACTERS = 1000
_POINT = re.compile(r"^( *)(ok|not ok)\b(?: +\d+)?(?: +-)? *(.*)$")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b", re.IGNORECASE)
_TIME = re.compile(r"(?<!\\)# time=[\d.]+ *m?s$")
_INDENT = 4
_OUTCOMES = {
    "failure": TestOutcome.FAILED,
    "error": TestOutcome.ERROR,
    "skipped": TestOutcome.SKIPPED,
}


class ReportError(ValueError):
    """Bytes that are no report."""


def read_report(report: bytes, kind: ReportFormat) -> list[TestResult]:
    """Reads a report.

    Raises:
        ReportError: the report is malformed or too large.
    """
    if len(report) > MOST_BYTES:
        raise ReportError(f"the report has more than {MOST_BYTES} bytes")
    read = _JUnit().read if kind is ReportFormat.JUNIT_XML else _tap
    return list(read(report))


def _check_count(count: int) -> None:
    if count > MOST_TESTS:
        raise ReportError(f"the report has more than {MOST_TESTS} tests")


class _JUnit:
    """The results in a report in XML."""

    def __init__(self) -> None:
        self._found: list[TestResult] = []
        self._name: str | None = None
        self._outcome = TestOutcome.PASSED
        self._message = ""

    def read(self, report: bytes) -> list[TestResult]:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(report, True)
        except ReportError:
            raise
        except (expat.ExpatError, ValueError, LookupError) as error:  # or an unknown encoding
            raise ReportError(f"the report is not XML: {error}") from None
        return self._found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            owner, name = attributes.get("classname", ""), attributes.get("name", "")
            self._name = f"{owner}::{name}" if owner else name
            self._outcome, self._message = TestOutcome.PASSED, ""
        elif self._name is not None and tag in _OUTCOMES:
            self._outcome = _OUTCOMES[tag]
            self._message = attributes.get("message", "")

    def _end(self, tag: str) -> None:
        if tag == "testcase" and self._name is not None:
            self._found.append(_result(self._name, self._outcome, self._message))
            _check_count(len(self._found))
            self._name = None


def _refuse(*_: object) -> None:
    raise ReportError("the report declares a document type")


def _tap(report: bytes) -> Iterator[TestResult]:
    """Yields the results of a report in TAP; a subtest's lines stand before its parent's.

    Lines end as their writers end them: other characters that end a line for Python, such as
    U+2028, are part of what a test printed.
    """
    waiting: list[list[tuple[str, TestOutcome]]] = []
    is_detail = False
    count = 0
    for line in re.split("\r?\n", report.decode("utf-8", "replace")):
        bare = line.strip(" ")
        is_detail = bare != "..." if is_detail else bare == "---"
        point = None if is_detail else _POINT.match(line)
        if point is None:
            continue
        count += 1
        _check_count(count)
        level = len(point[1]) // _INDENT
        if level > 64:
            raise ReportError("the report is nested too deeply")
        name, outcome = _described(point[3], passed=point[2] == "ok")
        while len(waiting) <= level:
            waiting.append([])
        inner = [one for deeper in waiting[level + 1 :] for one in deeper]
        del waiting[level + 1 :]
        named = [(name, outcome), *_below(name, inner)]
        if level:
            waiting[level] += named
        else:
            yield from (_result(one, told, "") for one, told in named)


def _below(
    parent: str, inner: Iterable[tuple[str, TestOutcome]]
) -> Iterator[tuple[str, TestOutcome]]:
    for name, outcome in inner:
        yield f"{parent} > {name}"[:_NAME_CHARACTERS], outcome


def _described(text: str, *, passed: bool) -> tuple[str, TestOutcome]:
    outcome = TestOutcome.PASSED if passed else TestOutcome.FAILED
    if directive := _DIRECTIVE.search(text):
        outcome = TestOutcome.SKIPPED
        text = text[: directive.start()]
    return _TIME.sub("", text).strip()[:_NAME_CHARACTERS], outcome


def _result(name: str, outcome: TestOutcome, message: str) -> TestResult:
    return TestResult(name=name[:_NAME_CHARACTERS], outcome=outcome, message=message[:1000])

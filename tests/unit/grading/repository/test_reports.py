"""Reports are read by name, and hostile ones are refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import ReportFormat, TestOutcome, TestResult
from reward_server.grading.repository.expectations import Expectations
from reward_server.grading.repository.reports import ReportError, read_report

JUNIT, TAP = ReportFormat.JUNIT_XML, ReportFormat.TAP
PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED


def _told(report: str, kind: ReportFormat) -> dict[str, TestOutcome]:
    return {test.name: test.outcome for test in read_report(report.encode(), kind)}


def test_junit_reports_are_read() -> None:
    report = """<?xml version="1.0"?><testsuites><testsuite>
    <testcase classname="a.B" name="one"/><testcase name="two"><failure message="no">x</failure>
    </testcase><testcase name="three"><skipped/></testcase><testcase name="four"><error/></testcase>
    <testcase name="five"><system-out>failure</system-out></testcase></testsuite></testsuites>"""
    assert _told(report, JUNIT) == {
        "a.B::one": PASSED,
        "two": FAILED,
        "three": SKIPPED,
        "four": TestOutcome.ERROR,
        "five": PASSED,
    }


def test_tap_reports_are_read_with_their_subtests() -> None:
    report = """TAP version 13
# Subtest: sums
    # Subtest: of two
    ok 1 - of two
      ---
      error: |-
        ok 3 - of four
      ...
    not ok 2 - of three # time=1.5ms
    1..2
not ok 1 - sums
ok 2 later # SKIP not yet
ok - known # TODO
1..3
"""
    assert _told(report, TAP) == {
        "sums": FAILED,
        "sums > of two": PASSED,
        "sums > of three": FAILED,
        "later": SKIPPED,
        "known": SKIPPED,
    }


@pytest.mark.parametrize(
    "end", ["\u2028", "\u2029", "\x85", "\x1c", "\x1d", "\x1e", "\x0b", "\x0c", "\r"]
)
def test_what_tests_print_begins_no_line_of_a_tap_report(end: str) -> None:
    report = (
        f"TAP version 13\r\n# printed{end}ok 1 - forged{end}not ok 2 - later\r\nnot ok 1 - real\r\n"
    )
    assert _told(report, TAP) == {"real": FAILED}


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (b"<testsuite>", "not XML"),
        (b"", "not XML"),
        (b'<!DOCTYPE t [<!ENTITY a "a">]><t>&a;</t>', "declares a document type"),
    ],
)
def test_what_is_no_report_is_refused(report: bytes, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read_report(report, JUNIT)


def test_a_report_that_is_too_large_is_refused() -> None:
    with pytest.raises(ReportError, match="more than"):
        read_report(b"x" * (9 << 20), JUNIT)


@given(report=st.binary(max_size=200), kind=st.sampled_from(ReportFormat))
def test_no_bytes_raise_anything_else(report: bytes, kind: ReportFormat) -> None:
    with contextlib.suppress(ReportError):
        read_report(report, kind)


def _result(name: str, outcome: TestOutcome) -> TestResult:
    return TestResult(name=name, outcome=outcome)


def test_a_test_that_is_missing_or_skipped_has_failed_and_the_worst_report_counts() -> None:
    expected = Expectations(fail_to_pass=("a", "b", "c", "d"))
    reported = [_result("b", SKIPPED), _result("c", PASSED), _result("c", FAILED)]
    told = expected.results([*reported, _result("d", PASSED), _result("other", FAILED)])
    assert [test.outcome for test in told] == [FAILED, FAILED, FAILED, PASSED]


def test_tests_that_passed_before_earn_nothing_and_are_needed() -> None:
    expected = Expectations(fail_to_pass=("a",), pass_to_pass=("b",))
    a, b = expected.results([_result("a", FAILED), _result("b", PASSED)])
    assert (a.counts, b.counts) == (True, False)
    a, b = expected.results([_result("a", PASSED), _result("b", FAILED)])
    assert (a.counts, b.counts) == (False, True)


def test_a_report_in_which_a_test_that_must_fail_did_not_is_forged() -> None:
    expected = Expectations(fail_to_pass=("a",), must_fail=("x",))
    assert not expected.is_forged([_result("a", PASSED), _result("x", FAILED)])
    assert expected.is_forged([_result("x", PASSED)])
    assert expected.is_forged([_result("x", FAILED), _result("x", PASSED)])
    assert expected.is_forged([_result("a", PASSED)])


@pytest.mark.parametrize("encoding", ["nope", "idna", "big5", "base64"])
def test_an_encoding_that_cannot_be_read_is_refused(encoding: str) -> None:
    with pytest.raises(ReportError, match="not XML"):
        read_report(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode(), JUNIT)


def test_a_hostile_report_costs_little_memory_and_time() -> None:
    below = b"    ok a\n" * 10_000
    found = read_report(below + b"ok " + b"x" * 1_000_000, TAP)
    assert {len(test.name) for test in found} == {1000}
    # Without a bound, each space would be tried as the beginning of all that follow.
    (one,) = read_report(b"ok a" + b" " * 1_000_000 + b"x", TAP)
    assert one.name == f"a{' ' * 999}"
    for report, kind in ((b"    ok a\n" * 20_001, TAP), (b"<a>" + b"<testcase/>" * 20_001, JUNIT)):
        with pytest.raises(ReportError, match="more than 20000 tests"):
            read_report(report, kind)

"""The kinds of findings, and what the audit concludes about a task."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


class Severity(enum.StrEnum):
    """What a finding means for its task."""

    DROP = "drop"
    WARN = "warn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of finding.

    Args:
        severity: its severity, unless the caller chooses another.
        meaning: what is wrong, as a sentence.
        remedy: what its author can do.
    """

    severity: Severity
    meaning: str
    remedy: str


def _drop(meaning: str, remedy: str) -> Kind:
    return Kind(severity=Severity.DROP, meaning=meaning, remedy=remedy)


def _warn(meaning: str, remedy: str) -> Kind:
    return Kind(severity=Severity.WARN, meaning=meaning, remedy=remedy)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "no_tests": _drop(
            "Nothing in the tests can fail, or there are none.", "Write tests, or drop the task."
        ),
        "invalid_task": _drop(
            "The server refuses the task, or its tests are broken.",
            "Correct what the reason names.",
        ),
        "reference_fails": _drop(
            "The reference solution does not pass.", "Correct the solution or the tests."
        ),
        "flaky": _drop(
            "The reference solution passes in some runs and fails in others.",
            "Seed random numbers, sort what has no order, and do not measure time.",
        ),
        "order_dependent": _drop(
            "The reference solution passes only if the tests run in their order.",
            "Give each test its own state.",
        ),
        "limit_too_small": _drop(
            "The reference solution passes only with larger limits than the task has.",
            "Take the suggested limits.",
        ),
        "limit_tight": _warn(
            "The reference solution needs more than half of a limit.", "Take the suggested limits."
        ),
        "empty_passes": _drop("An empty answer passes.", "Add tests that need an answer."),
        "constant_passes": _drop(
            "A solution that returns the same value for all arguments passes.",
            "Add tests whose results differ.",
        ),
        "echo_passes": _drop(
            "A solution that returns its first argument passes.",
            "Add tests whose result differs from the argument.",
        ),
        "shape_passes": _drop(
            "A solution passes whose results have the right types and sizes, and wrong content.",
            "Compare results with expected values.",
        ),
        "examples_pass": _drop(
            "A solution that knows only the examples in the prompt passes.",
            "Add tests that the prompt does not show.",
        ),
        "hack_passes": _drop(
            "A generic attack on graders passes.",
            "Write the tests in a form that the server judges apart from the solution.",
        ),
        "partial_reward": _warn(
            "An answer that solves nothing earns a part of the reward.",
            "Pay for all tests together, or add tests that need an answer.",
        ),
        "tests_readable": _warn(
            "A solution can read the tests while it runs.",
            "Write the tests in a form that the server judges apart from the solution.",
        ),
        "answers_in_data": _drop(
            "A data file that the solution can read holds answers.",
            "Put expected values into the tests.",
        ),
        "leak": _drop(
            "The prompt gives answers away.", "Remove them from the prompt, or add other tests."
        ),
        "example_contradicts": _warn(
            "An example in the prompt contradicts the reference solution, which passes.",
            "Correct the example.",
        ),
        "duplicate": _drop("An earlier task has the same prompt and tests.", "Keep one of them."),
        "same_prompt": _warn(
            "An earlier task has the same prompt and other tests.", "Merge the tests."
        ),
        "no_reference": _warn(
            "There is no reference solution, so it is not known whether the task can be solved.",
            "Add a reference solution.",
        ),
        "not_judged": _drop(
            "The server did not judge the task, by no fault of the task.", "Audit the task again."
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a task.

    Args:
        kind: a key of `KINDS`.
        reason: what was seen.
    """

    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What the reference solution used, and limits that leave room for others.

    Args:
        cpu_time_seconds: CPU time of its most expensive execution.
        peak_memory_bytes: its greatest memory.
        limits: suggested limits, by their field in `Limits`.
    """

    cpu_time_seconds: float
    peak_memory_bytes: int
    limits: Mapping[str, float]


@dataclass(slots=True, kw_only=True)
class TaskReport:
    """What the audit found about a task.

    Args:
        id: the task's id.
        digest: the digest of its tests, prompt and data.
        language: its language.
        tests: its kind of tests.
        findings: what is wrong with it.
        integrity: the label of its answers: ISOLATED or SHARED; "" if it was never judged.
        placement: the placement that its tests need if it is not the one that the server chooses.
        runs: number of runs of the reference solution.
        passed: number of those that passed.
        needs: the need for resources; None if the reference solution never passed.
        cheats: names of the answers that solve nothing and were judged.
    """

    id: str
    digest: str
    language: str
    tests: str
    findings: list[Finding] = field(default_factory=list)
    integrity: str = ""
    placement: str = ""
    runs: int = 0
    passed: int = 0
    needs: Needs | None = None
    cheats: list[str] = field(default_factory=list)

    def found(self, kind: str, reason: str) -> None:
        """Adds a finding."""
        assert kind in KINDS
        self.findings.append(Finding(kind=kind, reason=reason))

    def has(self, *kinds: str) -> bool:
        """Returns True if there is a finding of one of the kinds."""
        return any(one.kind in kinds for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Severities:
    """Which kinds of findings drop a task.

    Args:
        kept: kinds that only warn, though they drop by default.
        dropped: kinds that drop, though they only warn by default.
    """

    kept: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()

    def of(self, finding: Finding) -> Severity:
        """Returns the severity of a finding."""
        if finding.kind in self.kept:
            return Severity.WARN
        return Severity.DROP if finding.kind in self.dropped else KINDS[finding.kind].severity

    def drops(self, report: TaskReport) -> bool:
        """Returns True if a task is dropped."""
        return any(self.of(one) is Severity.DROP for one in report.findings)

"""The findings as JSON, for programs; `reward-train` reads it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reward_server.audit.findings import KINDS, Severities, TaskReport
from reward_server.audit.other_graders.results import GraderResult

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """An audit of a file of tasks.

    Args:
        source: name of the file.
        server: version and backend of the server that judged.
        started: when, in ISO 8601.
        seconds: how long it took.
        requests: number of completions that were judged.
        severities: which findings drop a task.
        reports: the tasks, in the order of the file.
        graders: graders of other projects that were tried.
    """

    source: str
    server: str
    started: str
    seconds: float
    requests: int
    severities: Severities
    reports: Sequence[TaskReport]
    graders: Sequence[GraderResult] = field(default=())

    @property
    def dropped(self) -> list[TaskReport]:
        """The tasks that have a finding that drops them."""
        return [one for one in self.reports if self.severities.drops(one)]

    @property
    def unjudged(self) -> list[TaskReport]:
        """The tasks that the server did not judge."""
        return [one for one in self.reports if one.has("not_judged")]

    @property
    def counts(self) -> Counter[str]:
        """The number of tasks that have each kind of finding."""
        return Counter(kind for one in self.reports for kind in {f.kind for f in one.findings})


def document(audit: Audit) -> dict[str, Any]:
    """Returns the audit for programs."""
    return {
        "format": FORMAT,
        "source": audit.source,
        "server": audit.server,
        "started": audit.started,
        "seconds": round(audit.seconds, 3),
        "requests": audit.requests,
        "summary": {
            "tasks": len(audit.reports),
            "kept": len(audit.reports) - len(audit.dropped),
            "dropped": len(audit.dropped),
            "not_judged": len(audit.unjudged),
            "with_warnings_only": sum(
                bool(one.findings) and not audit.severities.drops(one) for one in audit.reports
            ),
            "forms": dict(Counter(one.integrity for one in audit.reports if one.integrity)),
            "findings": {kind: audit.counts[kind] for kind in KINDS if audit.counts[kind]},
        },
        "tasks": [task_document(one, audit.severities) for one in audit.reports],
        "graders": [one.document() for one in audit.graders],
    }


def task_document(report: TaskReport, severities: Severities) -> dict[str, Any]:
    """Returns what was found about a task, for programs."""
    needs = report.needs
    return {
        "id": report.id,
        "digest": report.digest,
        "kept": not severities.drops(report),
        "language": report.language,
        "tests": report.tests,
        "form": report.integrity or None,
        "placement": report.placement or None,
        "reference": {"runs": report.runs, "passed": report.passed},
        "cpu_time_seconds": needs.cpu_time_seconds if needs else None,
        "peak_memory_bytes": needs.peak_memory_bytes if needs else None,
        "suggested_limits": dict(needs.limits) if needs else None,
        "cheats": len(report.cheats),
        "findings": [
            {"kind": one.kind, "severity": str(severities.of(one)), "reason": one.reason}
            for one in report.findings
        ],
    }

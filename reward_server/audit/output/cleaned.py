"""A file of the tasks that are kept, with limits and form, and one of those that are dropped."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reward_server.audit.findings import Severities, TaskReport
from reward_server.audit.output.document import task_document
from reward_server.audit.tasks import Task

_FORM_TAG = "audit_form"
_INTEGERS = ("memory_bytes",)


def kept_lines(
    tasks: Sequence[Task], reports: Sequence[TaskReport], severities: Severities
) -> Iterator[str]:
    """Yields the lines of the tasks that are kept, in their own form.

    Each has the suggested limits, the tag `audit_form` with the label of its answers, and the
    placement that its tests need. Other fields stay as they are, also the reference solution.
    """
    for task, report in zip(tasks, reports, strict=True):
        if not severities.drops(report):
            yield json.dumps(_with_limits(task, report))


def dropped_lines(reports: Sequence[TaskReport], severities: Severities) -> Iterator[str]:
    """Yields a line for each task that is dropped, with the reasons."""
    for report in reports:
        if severities.drops(report):
            told = task_document(report, severities)
            yield json.dumps({name: told[name] for name in ("id", "digest", "findings")})


def _with_limits(task: Task, report: TaskReport) -> dict[str, Any]:
    line = copy.deepcopy(dict(task.line))
    request = line
    if "request" in line:
        given = line["request"]
        request = json.loads(given) if isinstance(given, str) else dict(given)
        line["request"] = request
    if report.needs is not None:
        request["limits"] = {**_known(request.get("limits")), **_limits(report.needs.limits)}
    if report.integrity:
        request["tags"] = {**(request.get("tags") or {}), _FORM_TAG: report.integrity}
    if report.placement:
        request["function"] = {**request["function"], "placement": report.placement}
    return line


def _known(limits: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns a line's limits without those that are suggested, in both forms of their names."""
    replaced = {"cpuTimeSeconds", "wallTimeSeconds", "memoryBytes"}
    return {name: value for name, value in (limits or {}).items() if name not in replaced}


def _limits(suggested: Mapping[str, float]) -> dict[str, float | int]:
    return {name: int(value) if name in _INTEGERS else value for name, value in suggested.items()}

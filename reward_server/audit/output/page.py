"""The findings as one HTML page that loads nothing and runs no script.

Tasks are written by others, and so are messages that quote them; `elements` writes them as text.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections.abc import Iterable, Sequence

from reward_server.audit.findings import KINDS, Needs, Severities, Severity, TaskReport
from reward_server.audit.other_graders.results import GraderResult
from reward_server.audit.output.document import Audit
from reward_server.audit.output.elements import (
    add_numbers,
    add_table,
    add_text,
    new_page,
    written,
)
from reward_server.audit.tasks import Task

_LONGEST = 4000


def page(audit: Audit, tasks: Sequence[Task]) -> bytes:
    """Returns the page as UTF-8."""
    root, body = new_page(f"{audit.source}: audit of tasks")
    _heading(body, audit)
    _kinds(body, audit)
    _graders(body, audit.graders)
    known = {task.id: task for task in tasks}
    dropped = audit.dropped
    _list(body, "Dropped tasks", dropped, known, audit.severities)
    warned = [one for one in audit.reports if one.findings and one not in dropped]
    _list(body, "Kept tasks with warnings", warned, known, audit.severities)
    _all(body, audit)
    return written(root)


def _heading(body: ET.Element, audit: Audit) -> None:
    add_text(body, "p", "Audit of tasks", **{"class": "kind"})
    add_text(body, "h1", audit.source)
    about = (
        f"{audit.started}; {audit.server}; {audit.requests} completions in {audit.seconds:.0f} s"
    )
    add_text(body, "p", about, **{"class": "about"})
    kept = len(audit.reports) - len(audit.dropped)
    isolated = sum(one.integrity == "ISOLATED" for one in audit.reports)
    numbers = (
        ("tasks", len(audit.reports)),
        ("kept", kept),
        ("dropped", len(audit.dropped)),
        ("judged apart (ISOLATED)", isolated),
        ("not judged", len(audit.unjudged)),
    )
    add_numbers(body, numbers)


def _kinds(body: ET.Element, audit: Audit) -> None:
    add_text(body, "h2", "Findings")
    if not audit.counts:
        add_text(body, "p", "None.")
        return
    rows = [
        (kind, str(audit.counts[kind]), KINDS[kind].meaning, KINDS[kind].remedy)
        for kind in KINDS
        if audit.counts[kind]
    ]
    add_table(body, ("finding", "tasks", "what it means", "what to do"), rows)


def _graders(body: ET.Element, graders: Iterable[GraderResult]) -> None:
    for grader in graders:
        add_text(body, "h2", f"The grader at {grader.url}")
        add_text(body, "p", grader.summary)
        rows = [(name, f"{paid} of {tried}") for name, (paid, tried) in grader.cheats.items()]
        add_table(body, ("answer that solves nothing", "tasks on which it is rewarded"), rows)


def _list(
    body: ET.Element,
    title: str,
    reports: Sequence[TaskReport],
    known: dict[str, Task],
    severities: Severities,
) -> None:
    add_text(body, "h2", f"{title} ({len(reports)})")
    for report in reports:
        box = ET.SubElement(body, "details")
        summary = ET.SubElement(box, "summary")
        add_text(summary, "b", report.id)
        add_text(summary, "span", " " + ", ".join(sorted({one.kind for one in report.findings})))
        items = ET.SubElement(box, "ul")
        for one in report.findings:
            weight = "drops the task" if severities.of(one) is Severity.DROP else "warns"
            item = ET.SubElement(items, "li")
            add_text(item, "b", f"{one.kind} ({weight}): ")
            add_text(item, "span", one.reason)
        task = known[report.id]
        for name, text in (("Prompt", task.question), ("Reference solution", task.reference)):
            if text.strip():
                add_text(box, "h3", name)
                cut = f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
                add_text(box, "pre", cut)


def _all(body: ET.Element, audit: Audit) -> None:
    add_text(body, "h2", "All tasks")
    rows = [
        (
            one.id,
            "dropped" if audit.severities.drops(one) else "kept",
            one.language,
            one.tests,
            one.integrity,
            f"{one.passed} of {one.runs}" if one.runs else "",
            *_needs(one.needs),
        )
        for one in audit.reports
    ]
    heads = ("task", "", "language", "tests", "form", "reference passes")
    add_table(body, (*heads, "CPU", "memory", "suggested CPU", "suggested memory"), rows)


def _needs(needs: Needs | None) -> tuple[str, str, str, str]:
    if needs is None:
        return ("", "", "", "")
    return (
        f"{needs.cpu_time_seconds:.3f} s",
        f"{needs.peak_memory_bytes / (1 << 20):.0f} MiB",
        f"{needs.limits['cpu_time_seconds']:.1f} s",
        f"{needs.limits['memory_bytes'] / (1 << 20):.0f} MiB",
    )

"""The findings as one HTML page that loads nothing and runs no script.

Tasks are written by others, and so are messages that quote them. The page is built as a tree, and
all text in it is text of a node, so that none of it can become markup. A content security policy
allows the page's own style by its hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections.abc import Iterable, Sequence
from importlib import resources

from reward_server.audit.findings import KINDS, Needs, Severities, Severity, TaskReport
from reward_server.audit.other_graders.results import GraderResult
from reward_server.audit.output.document import Audit
from reward_server.audit.tasks import Task

_LONGEST = 4000
_UNWRITABLE = {number: "\ufffd" for number in range(32) if chr(number) not in "\t\n"} | {
    127: "\ufffd"
}


def page(audit: Audit, tasks: Sequence[Task]) -> bytes:
    """Returns the page as UTF-8."""
    style = resources.files("reward_server.audit.output").joinpath("page.css").read_text("utf-8")
    root = ET.Element("html", lang="en")
    head = ET.SubElement(root, "head")
    ET.SubElement(head, "meta", charset="utf-8")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    ET.SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    ET.SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    ET.SubElement(head, "meta", name="referrer", content="no-referrer")
    ET.SubElement(head, "meta", {"name": "color-scheme", "content": "light dark"})
    _text(head, "title", f"{audit.source}: audit of tasks")
    ET.SubElement(head, "style").text = style
    body = ET.SubElement(root, "body")
    _heading(body, audit)
    _kinds(body, audit)
    _graders(body, audit.graders)
    known = {task.id: task for task in tasks}
    dropped = audit.dropped
    _list(body, "Dropped tasks", dropped, known, audit.severities)
    warned = [one for one in audit.reports if one.findings and one not in dropped]
    _list(body, "Kept tasks with warnings", warned, known, audit.severities)
    _all(body, audit)
    text: bytes = ET.tostring(root, encoding="utf-8", method="html")
    return b"<!DOCTYPE html>\n" + text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> ET.Element:
    node = ET.SubElement(parent, tag, attributes)
    node.text = text.translate(_UNWRITABLE).encode("utf-8", "replace").decode()
    return node


def _heading(body: ET.Element, audit: Audit) -> None:
    _text(body, "p", "Audit of tasks", **{"class": "kind"})
    _text(body, "h1", audit.source)
    about = (
        f"{audit.started}; {audit.server}; {audit.requests} completions in {audit.seconds:.0f} s"
    )
    _text(body, "p", about, **{"class": "about"})
    numbers = ET.SubElement(body, "dl", {"class": "numbers"})
    kept = len(audit.reports) - len(audit.dropped)
    isolated = sum(one.integrity == "ISOLATED" for one in audit.reports)
    for name, value in (
        ("tasks", len(audit.reports)),
        ("kept", kept),
        ("dropped", len(audit.dropped)),
        ("judged apart (ISOLATED)", isolated),
        ("not judged", len(audit.unjudged)),
    ):
        pair = ET.SubElement(numbers, "div")
        _text(pair, "dt", name)
        _text(pair, "dd", str(value))


def _kinds(body: ET.Element, audit: Audit) -> None:
    _text(body, "h2", "Findings")
    if not audit.counts:
        _text(body, "p", "None.")
        return
    rows = [
        (kind, str(audit.counts[kind]), KINDS[kind].meaning, KINDS[kind].remedy)
        for kind in KINDS
        if audit.counts[kind]
    ]
    _table(body, ("finding", "tasks", "what it means", "what to do"), rows)


def _graders(body: ET.Element, graders: Iterable[GraderResult]) -> None:
    for grader in graders:
        _text(body, "h2", f"The grader at {grader.url}")
        _text(body, "p", grader.summary)
        rows = [(name, f"{paid} of {tried}") for name, (paid, tried) in grader.cheats.items()]
        _table(body, ("answer that solves nothing", "tasks on which it is rewarded"), rows)


def _table(body: ET.Element, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    box = ET.SubElement(body, "div", {"class": "scroll"})
    table = ET.SubElement(box, "table")
    head = ET.SubElement(ET.SubElement(table, "thead"), "tr")
    for name in heads:
        _text(head, "th", name)
    inner = ET.SubElement(table, "tbody")
    for row in rows:
        line = ET.SubElement(inner, "tr")
        for value in row:
            _text(line, "td", value)


def _list(
    body: ET.Element,
    title: str,
    reports: Sequence[TaskReport],
    known: dict[str, Task],
    severities: Severities,
) -> None:
    _text(body, "h2", f"{title} ({len(reports)})")
    for report in reports:
        box = ET.SubElement(body, "details")
        summary = ET.SubElement(box, "summary")
        _text(summary, "b", report.id)
        _text(summary, "span", " " + ", ".join(sorted({one.kind for one in report.findings})))
        items = ET.SubElement(box, "ul")
        for one in report.findings:
            weight = "drops the task" if severities.of(one) is Severity.DROP else "warns"
            item = ET.SubElement(items, "li")
            _text(item, "b", f"{one.kind} ({weight}): ")
            _text(item, "span", one.reason)
        task = known[report.id]
        for name, text in (("Prompt", task.question), ("Reference solution", task.reference)):
            if text.strip():
                _text(box, "h3", name)
                cut = f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
                _text(box, "pre", cut)


def _all(body: ET.Element, audit: Audit) -> None:
    _text(body, "h2", "All tasks")
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
    _table(body, (*heads, "CPU", "memory", "suggested CPU", "suggested memory"), rows)


def _needs(needs: Needs | None) -> tuple[str, str, str, str]:
    if needs is None:
        return ("", "", "", "")
    return (
        f"{needs.cpu_time_seconds:.3f} s",
        f"{needs.peak_memory_bytes / (1 << 20):.0f} MiB",
        f"{needs.limits['cpu_time_seconds']:.1f} s",
        f"{needs.limits['memory_bytes'] / (1 << 20):.0f} MiB",
    )

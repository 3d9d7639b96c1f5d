"""The files of an audit: what is kept, what is dropped, and a page that nothing can break."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import Any

from rich.console import Console

from reward_server.audit.findings import Needs, Severities, TaskReport
from reward_server.audit.other_graders.results import GraderResult
from reward_server.audit.output.cleaned import dropped_lines, kept_lines
from reward_server.audit.output.document import Audit, document
from reward_server.audit.output.page import page
from reward_server.audit.tasks import Task, read_tasks
from reward_server.cli.audits.printing import print_audit

HOSTILE = (
    "</style></pre><script>alert(1)</script><img src=x onerror=alert(2)>&lt;b&gt;[red]\x00\ud800"
)
NEEDS = Needs(
    cpu_time_seconds=0.1,
    peak_memory_bytes=1 << 20,
    limits={"cpu_time_seconds": 2.0, "wall_time_seconds": 5.0, "memory_bytes": float(1 << 27)},
)


def tasks(*lines: dict[str, Any]) -> list[Task]:
    return list(read_tasks(json.dumps(line).encode() for line in lines))


def report(task: Task, *kinds: str, placement: str = "") -> TaskReport:
    found = TaskReport(
        id=task.id, digest=task.digest, language=task.language, tests=task.kind, needs=NEEDS
    )
    found.integrity, found.placement = "ISOLATED", placement
    for kind in kinds:
        found.found(kind, HOSTILE)
    return found


def audited(reports: list[TaskReport], *graders: GraderResult) -> Audit:
    return Audit(
        source=HOSTILE,
        server="reward-server 1, backend local",
        started="2026-01-01T00:00:00+00:00",
        seconds=2.0,
        requests=9,
        severities=Severities(),
        reports=reports,
        graders=graders,
    )


def test_a_line_that_is_kept_gets_limits_form_and_placement_and_loses_nothing() -> None:
    tests = {"entryPoint": "f", "asserts": ["assert f(1) == 2"]}
    request = {
        "function": tests,
        "limits": {"memoryBytes": 1 << 25, "calls": 9},
        "tags": {"a": "b"},
    }
    lines = [
        {"id": "a", "completion": "x", **request},
        {"task_id": "b", "prompt": "Write.", "request": json.dumps(request), "extra": [1]},
        {"task_id": "c", "request": {"stdio": {}}},
    ]
    found = tasks(*lines)
    reports = [report(found[0], placement="TEST_PLACEMENT_BESIDE"), report(found[1], "same_prompt")]
    reports.append(report(found[2], "no_tests"))
    first, second = (json.loads(line) for line in kept_lines(found, reports, Severities()))
    limits = {**NEEDS.limits, "calls": 9}
    tags = {"a": "b", "audit_form": "ISOLATED"}
    placed = {**tests, "placement": "TEST_PLACEMENT_BESIDE"}
    assert first == {**lines[0], "limits": limits, "tags": tags, "function": placed}
    assert second["request"] == {**request, "limits": limits, "tags": tags}
    assert (second["prompt"], second["extra"]) == ("Write.", [1])
    assert len(list(read_tasks(json.dumps(line).encode() for line in (first, second)))) == 2
    (dropped,) = (json.loads(line) for line in dropped_lines(reports, Severities()))
    assert dropped["id"] == "c"
    assert [one["kind"] for one in dropped["findings"]] == ["no_tests"]


class Elements(HTMLParser):
    """Collects the elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_no_text_of_a_task_or_a_grader_becomes_markup() -> None:
    line = {"task_id": HOSTILE, "prompt": HOSTILE, "request": {}, "reference": HOSTILE}
    found = tasks(line)
    grader = GraderResult(url=HOSTILE, tasks=1, references=1, unanswered=1, problem=HOSTILE)
    grader.count(HOSTILE, is_paid=True)
    for kinds in (("leak",), ("same_prompt",), ()):
        text = page(audited([report(found[0], *kinds)], grader), found).decode()
        elements = Elements()
        elements.feed(text)
        assert not elements.seen & {"script", "img", "pre" if not kinds else "script"}
        assert not {name for name in elements.attributes if name.startswith("on") or name == "src"}
        assert "alert(1)" in text
        assert "\x00" not in text
        assert re.search(r"default-src 'none'; style-src 'sha256-[\w+/]+='", text)


def test_printed_tables_show_text_of_tasks_as_it_is() -> None:
    found = tasks({"task_id": "[red]a[/]", "request": {}})
    console = Console(file=io.StringIO(), width=200)
    print_audit(audited([report(found[0], "leak")]), console, None)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]a[/]" in text
    assert "0 of 1 tasks kept, 1 dropped" in text


def test_the_document_counts_tasks_and_kinds() -> None:
    found = tasks(*({"task_id": name, "request": {}} for name in "abc"))
    reports = [report(found[0], "leak", "leak"), report(found[1], "same_prompt"), report(found[2])]
    told = document(audited(reports))["summary"]
    assert told["findings"] == {"leak": 1, "same_prompt": 1}
    assert (told["kept"], told["dropped"], told["with_warnings_only"]) == (2, 1, 1)
    assert told["forms"] == {"ISOLATED": 3}

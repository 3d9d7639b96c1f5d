"""Prints an audit as tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reward_server.audit.findings import KINDS, Severity
from reward_server.audit.output.document import Audit

_MOST_NAMES = 5
_MOST_TASKS = 20
_LONGEST = 160


def print_audit(audit: Audit, console: Console, out: Path | None) -> None:
    """Prints what was found; text of tasks is never taken for markup."""
    if audit.counts:
        console.print(_kinds(audit))
        console.print(_tasks(audit))
    for grader in audit.graders:
        console.print(f"{grader.url}: {grader.summary}", markup=False, highlight=False)
        for name in grader.fooled_by:
            paid, tried = grader.cheats[name]
            console.print(f"  {name}: rewarded on {paid} of {tried} tasks", markup=False)
    forms = Counter(one.integrity for one in audit.reports if one.integrity)
    told = ", ".join(f"{form} {count}" for form, count in forms.most_common())
    console.print(f"forms: {told or 'not known'}", markup=False, highlight=False)
    kept = len(audit.reports) - len(audit.dropped)
    console.print(
        f"{kept} of {len(audit.reports)} tasks kept, {len(audit.dropped)} dropped"
        f" ({len(audit.unjudged)} not judged); {audit.requests} completions in"
        f" {audit.seconds:.1f} s" + (f"; files are in {out}" if out else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _kinds(audit: Audit) -> Table:
    table = Table("finding", "tasks", "such as", "what it means")
    for kind in KINDS:
        reports = [one for one in audit.reports if one.has(kind)]
        if not reports:
            continue
        found = next(one for one in reports[0].findings if one.kind == kind)
        colour = "red" if audit.severities.of(found) is Severity.DROP else "yellow"
        names = ", ".join(one.id for one in reports[:_MOST_NAMES])
        meaning = KINDS[kind].meaning
        table.add_row(f"[{colour}]{kind}[/]", str(len(reports)), escape(names), meaning)
    return table


def _tasks(audit: Audit) -> Table:
    dropped = audit.dropped
    table = Table("task", "finding", "reason", title=f"dropped tasks: {len(dropped)}")
    for report in dropped[:_MOST_TASKS]:
        for one in report.findings:
            table.add_row(escape(report.id), one.kind, escape(one.reason[:_LONGEST]))
    if len(dropped) > _MOST_TASKS:
        table.add_row(f"and {len(dropped) - _MOST_TASKS} more", "", "")
    return table

"""Prints a comparison as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.comparison.figures import Spread

_NONE = "–"


def print_comparison(console: Console, found: dict[str, Any]) -> None:
    """Prints a table of speed for each width, one of all else, and what was not measured."""
    machine = found["machine"]
    console.print(
        f"{machine['cores']} cores, {machine['tasks']} tasks, {found['rounds']} rounds in"
        f" {found['seconds']:.0f} s; medians (least to greatest of the rounds)",
        markup=False,
        highlight=False,
    )
    if machine["is_busy"]:
        console.print(
            f"The machine was busy: load {machine['load_before']} on {machine['cores']} cores when"
            " the comparison began. Do not quote these figures.",
            style="yellow",
            markup=False,
            highlight=False,
        )
    measured = [one for one in found["peers"] if "widths" in one]
    for width in found["widths"]:
        console.print(_speed(measured, width))
    console.print(_rest(measured))
    for one in found["peers"]:
        if one["problem"]:
            state = "not measured to the end" if "widths" in one else "not measured"
            console.print(f"{one['name']}: {state}: {one['problem']}", markup=False, soft_wrap=True)


def _speed(measured: list[dict[str, Any]], width: int) -> Table:
    table = _table(
        ("verdicts/s", "ours / its", "CPU ms", "its / ours", "p50, p90, p99 ms"),
        f"{width} in flight",
    )
    for one in measured:
        row = next((row for row in one["widths"] if row["in_flight"] == width), None)
        if row is None:
            continue
        table.add_row(
            escape(one["name"]),
            shown(row["verdicts_per_second"], 1, 1),
            shown(row.get("own_rate_divided_by_its"), 1, 2),
            shown(row["cpu_seconds_per_verdict"], 1000, 1),
            shown(row.get("its_cpu_divided_by_own"), 1, 2),
            percentiles(row["latency_seconds"]),
        )
    return table


def _rest(measured: list[dict[str, Any]]) -> Table:
    table = _table(
        ("untrue", "none", "attacks passed", "start, s", "MiB idle, loaded", "isolation"),
        "Verdicts that are not true, no verdict, attacks, start to first verdict, memory",
    )
    for one in measured:
        table.add_row(
            escape(one["name"]),
            str(one["untrue_verdicts"]),
            str(one["without_verdict"]),
            attacks(one),
            shown(one["start_to_first_verdict_seconds"], 1, 2),
            f"{mebibytes(one['memory_bytes']['idle'])}, {mebibytes(one['memory_bytes']['loaded'])}",
            escape(one["isolation"] or "none"),
        )
    return table


def _table(columns: Sequence[str], title: str) -> Table:
    table = Table(title=title)
    table.add_column("peer", no_wrap=True)
    for column in columns:
        table.add_column(column)
    return table


def shown(values: Spread | None, factor: float, digits: int) -> str:
    """Returns a median with its spread, or a dash."""
    if values is None:
        return _NONE
    median, least, most = (
        f"{values[name] * factor:.{digits}f}" for name in ("median", "min", "max")
    )
    return median if least == most else f"{median} ({least} to {most})"


def percentiles(values: dict[str, float] | None) -> str:
    """Returns three percentiles in milliseconds, or a dash."""
    if values is None:
        return _NONE
    return ", ".join(f"{values[name] * 1000:.0f}" for name in ("p50", "p90", "p99"))


def mebibytes(size: int | None) -> str:
    """Returns a size in MiB, or a dash."""
    return _NONE if size is None else f"{size / (1 << 20):.0f}"


def attacks(one: dict[str, Any]) -> str:
    """Returns how many attacks were rewarded, of how many."""
    told = one["attacks"]
    if not told["tried"]:
        return _NONE
    return f"{told['passed']} of {told['tried']}"

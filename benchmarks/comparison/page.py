"""A comparison as one HTML page that loads nothing and runs no script."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from benchmarks.comparison.charts import Mark, Row, add_chart
from benchmarks.comparison.printing import attacks, mebibytes, percentiles, shown
from reward_server.audit.output.elements import (
    add_numbers,
    add_table,
    add_text,
    new_page,
    written,
)

_METHOD = (
    "Each round gives every peer one turn at each width, one peer at a time, in an order that "
    "rotates. A turn judges right and wrong solutions of the same tasks, at most "
    "{most_in_a_turn}, and begins none after {turn_seconds:g} s. All submissions differ. A figure "
    "is the median of the rounds, with the least and the greatest; a ratio is that of two turns of "
    "the same round. Latencies are those of all rounds. CPU time is user and system time of the "
    "processes that are named below, also of those that ended, and excludes the command that asks. "
    "It is divided by the number of verdicts."
)
_WORDS = (
    "An untrue verdict accepts a wrong solution or rejects a right one. No verdict is a time-out "
    "or a failure. An attack is one of the generic attacks of `reward-server audit`, sent for "
    "{attacked_tasks} tasks; it passed if it was accepted for one of them."
)


def page(found: dict[str, Any]) -> bytes:
    """Returns the page of a comparison, as `figures` describes it."""
    style = resources.files("benchmarks.comparison").joinpath("page.css").read_text("utf-8")
    root, body = new_page("Comparison with other ways to judge", style=style)
    measured = [one for one in found["peers"] if "widths" in one]
    _heading(body, found, measured)
    _plots(body, found, measured)
    _tables(body, found, measured)
    _about(body, found, measured)
    return written(root)


def _heading(body: ET.Element, found: dict[str, Any], measured: Sequence[dict[str, Any]]) -> None:
    machine = found["machine"]
    add_text(body, "p", "Comparison", **{"class": "kind"})
    add_text(body, "h1", f"{found['peers'][0]['version']} beside what could be used instead")
    about = (
        f"{machine['cores']} cores, Linux {machine['kernel']}, Python {machine['python']}; "
        f"{found['rounds']} rounds in {found['seconds']:.0f} s"
    )
    add_text(body, "p", about, **{"class": "about"})
    if machine["is_busy"]:
        told = (
            f"The machine was busy: its load was {machine['load_before']} when the comparison "
            "began. Do not quote these figures."
        )
        add_text(body, "p", told, **{"class": "warning"})
    add_numbers(
        body,
        (
            ("peers measured", len(measured) - 1),
            ("tasks", machine["tasks"]),
            ("rounds", found["rounds"]),
            ("untrue verdicts of this server", measured[0]["untrue_verdicts"]),
            ("attacks that passed it", attacks(measured[0])),
        ),
    )


def _plots(body: ET.Element, found: dict[str, Any], measured: Sequence[dict[str, Any]]) -> None:
    box = ET.SubElement(body, "div", {"class": "plots"})
    widths = [f"{width} in flight" for width in found["widths"]]
    add_chart(
        box,
        "Verdicts per second: more is better",
        "verdicts per second",
        widths,
        _rows(measured, lambda one: _by_width(one, "verdicts_per_second", 1, "{:.1f}")),
    )
    add_chart(
        box,
        "CPU time of a verdict: less is better",
        "ms of user and system time",
        widths,
        _rows(measured, lambda one: _by_width(one, "cpu_seconds_per_verdict", 1000, "{:.1f}")),
    )
    add_chart(
        box,
        "Latency: the mark is the p50, the line ends at the p99",
        "ms",
        widths,
        _rows(measured, _latencies),
    )
    add_chart(
        box,
        "Attacks on graders that passed: fewer is better",
        "attacks",
        ["attacks"],
        _rows(measured, _attacks),
    )
    add_chart(
        box,
        "From start to the first verdict: less is better",
        "seconds",
        ["starts"],
        _rows(measured, _starts),
    )
    add_chart(box, "Memory: less is better", "MiB", ["idle", "loaded"], _rows(measured, _memory))


def _rows(
    measured: Sequence[dict[str, Any]], read: Callable[[dict[str, Any]], list[Mark]]
) -> list[Row]:
    own = measured[0]
    return [Row(label=one["name"], marks=read(one), is_own=one is own) for one in measured]


def _by_width(one: dict[str, Any], name: str, factor: float, form: str) -> list[Mark]:
    return [
        _mark(number, row[name], factor, form)
        for number, row in enumerate(one["widths"])
        if row[name] is not None
    ]


def _mark(series: int, values: dict[str, float], factor: float, form: str) -> Mark:
    median, least, most = (values[name] * factor for name in ("median", "min", "max"))
    return Mark(series=series, value=median, least=least, most=most, text=form.format(median))


def _latencies(one: dict[str, Any]) -> list[Mark]:
    known = [(number, row["latency_seconds"]) for number, row in enumerate(one["widths"])]
    return [
        Mark(
            series=number,
            value=times["p50"] * 1000,
            least=times["p50"] * 1000,
            most=times["p99"] * 1000,
            text=f"{times['p50'] * 1000:.0f}, {times['p99'] * 1000:.0f}",
        )
        for number, times in known
        if times is not None
    ]


def _attacks(one: dict[str, Any]) -> list[Mark]:
    if not one["attacks"]["tried"]:
        return []
    passed = one["attacks"]["passed"]
    return [Mark(series=0, value=passed, least=passed, most=passed, text=attacks(one))]


def _starts(one: dict[str, Any]) -> list[Mark]:
    values = one["start_to_first_verdict_seconds"]
    return [] if values is None else [_mark(0, values, 1, "{:.2f}")]


def _memory(one: dict[str, Any]) -> list[Mark]:
    sizes = (one["memory_bytes"]["idle"], one["memory_bytes"]["loaded"])
    known = [(number, size / (1 << 20)) for number, size in enumerate(sizes) if size is not None]
    return [
        Mark(series=number, value=size, least=size, most=size, text=f"{size:.0f}")
        for number, size in known
    ]


def _tables(body: ET.Element, found: dict[str, Any], measured: Sequence[dict[str, Any]]) -> None:
    for width in found["widths"]:
        add_text(body, "h2", f"{width} in flight")
        rows = [
            (
                one["name"],
                shown(row["verdicts_per_second"], 1, 1),
                shown(row.get("own_rate_divided_by_its"), 1, 2),
                shown(row["cpu_seconds_per_verdict"], 1000, 1),
                shown(row.get("its_cpu_divided_by_own"), 1, 2),
                percentiles(row["latency_seconds"]),
            )
            for one in measured
            for row in one["widths"]
            if row["in_flight"] == width
        ]
        heads = ("peer", "verdicts per second", "this server's, divided by it", "CPU ms a verdict")
        add_table(body, (*heads, "divided by this server's", "p50, p90, p99 in ms"), rows)
    add_text(body, "h2", "Verdicts and honesty")
    add_table(
        body,
        (
            "peer",
            "isolation",
            "right solutions",
            "wrong solutions",
            "untrue",
            "attacks that passed",
        ),
        [
            (
                one["name"],
                one["isolation"] or "none",
                _outcomes(one["solutions"]["right"]),
                _outcomes(one["solutions"]["wrong"]),
                str(one["untrue_verdicts"]),
                f"{attacks(one)}: {', '.join(one['attacks']['names'])}".rstrip(": "),
            )
            for one in measured
        ],
    )
    add_text(body, "h2", "Start and memory")
    add_table(
        body,
        ("peer", "seconds from start to the first verdict", "MiB idle", "MiB loaded"),
        [
            (
                one["name"],
                shown(one["start_to_first_verdict_seconds"], 1, 2),
                mebibytes(one["memory_bytes"]["idle"]),
                mebibytes(one["memory_bytes"]["loaded"]),
            )
            for one in measured
        ],
    )


def _outcomes(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)


def _about(body: ET.Element, found: dict[str, Any], measured: Sequence[dict[str, Any]]) -> None:
    missing = [one for one in found["peers"] if one["problem"]]
    if missing:
        add_text(body, "h2", "Not measured, or not to the end")
        add_table(body, ("peer", "reason"), [(one["name"], one["problem"]) for one in missing])
    add_text(body, "h2", "What was measured")
    add_text(body, "p", _METHOD.format(**found))
    add_text(body, "p", _WORDS.format(**found))
    add_table(
        body,
        ("peer", "version", "processes whose CPU time and memory are counted"),
        [(one["name"], one["version"], one["counted"]) for one in measured],
    )

"""The results of the measurement, as one object for programs and as tables for people."""

from __future__ import annotations

import platform
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from reward_server.cli.measure.load import Reply
from reward_server.cli.measure.phases import IN_FLIGHT_PER_SLOT, Pair, Round, Step

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


def machine(cores: int, slots: int, tasks: int) -> dict[str, Any]:
    """Describes the machine of the measurement."""
    return {
        "cores": cores,
        "slots": slots,
        "tasks": tasks,
        "python": platform.python_version(),
        "kernel": platform.release(),
    }


def throughput(done: Sequence[Round], tasks: int, slots: int) -> dict[str, Any]:
    """Describes CPU time, rate and latency of the passes over the tasks."""
    verdicts = len(done) * tasks
    bare = sum(one.bare_cpu for one in done)
    preloaded = sum(one.preloaded_cpu for one in done)
    served = sum(one.used.total for one in done)
    replies = [reply for one in done for reply in one.replies]
    return {
        "rounds": len(done),
        "in_flight": IN_FLIGHT_PER_SLOT * slots,
        "verdicts": _counted(replies),
        "executions_per_second": verdicts / sum(one.wall for one in done),
        "latency_seconds": percentiles([reply.seconds for reply in replies]),
        "cpu_seconds_per_verdict": {
            "bare": bare / verdicts,
            "preloaded": preloaded / verdicts,
            "served": served / verdicts,
            "server_process": sum(one.used.server for one in done) / verdicts,
            "sandboxes": sum(one.used.sandboxes for one in done) / verdicts,
            "client": sum(one.client_cpu for one in done) / verdicts,
        },
        "cpu_ratio": served / bare,
        "cpu_ratio_by_round": [one.used.total / one.bare_cpu for one in done],
        "cpu_ratio_to_preloaded": served / preloaded,
    }


def latency(done: Sequence[Pair]) -> dict[str, Any]:
    """Describes the time that gRPC adds to one Score on an idle server."""
    return {
        "in_process_seconds": percentiles([pair.in_process for pair in done]),
        "served_seconds": percentiles([pair.served for pair in done]),
        "added_seconds_p50": statistics.median(pair.served - pair.in_process for pair in done),
    }


def overload(done: Sequence[Step], places: int, capacity: int) -> dict[str, Any]:
    """Describes the results of crowds; a rate counts verdicts, without refusals."""
    rates = [_rate(step) for step in done]
    judged = [reply for step in done for reply in step.replies if reply.verdict]
    return {
        "places": places,
        "queue_capacity": capacity,
        "steps": [
            {
                "load": step.load,
                "in_flight": step.in_flight,
                "executions_per_second": rate,
                "share_of_peak": rate / max(rates),
                "refusals_per_second": sum(1 for one in step.replies if one.status) / step.seconds,
                "verdicts": _counted(step.replies),
            }
            for step, rate in zip(done, rates, strict=True)
        ],
        "least_share_of_peak": min(rates) / max(rates),
        "honest_solutions_timed_out": sum(
            reply.verdict == "TIME_LIMIT_EXCEEDED" for reply in judged
        ),
        "honest_solutions_not_passed": sum(reply.verdict != "PASSED" for reply in judged),
    }


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Returns values that shares of the measurements do not exceed."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return {name: ordered[round(share * last)] for name, share in _PERCENTILES.items()}


def show(console: Console, report: dict[str, Any]) -> None:
    """Prints tables."""
    place = report["machine"]
    console.print(
        f"{place['cores']} cores, {place['slots']} slots, {place['tasks']} tasks,"
        f" Python {place['python']}, Linux {place['kernel']}",
        highlight=False,
    )
    if "throughput" in report:
        console.print(_throughput_table(report["throughput"]))
    if "latency" in report:
        console.print(_latency_table(report["latency"]))
    if "overload" in report:
        console.print(_overload_table(report["overload"]))


def _throughput_table(found: dict[str, Any]) -> Table:
    cpu = found["cpu_seconds_per_verdict"]
    ratios = ", ".join(f"{ratio:.2f}" for ratio in found["cpu_ratio_by_round"])
    rows = [
        ("executions per second", f"{found['executions_per_second']:.1f}"),
        (f"latency with {found['in_flight']} in flight", _times(found["latency_seconds"])),
        ("CPU per verdict, bare fork", _ms(cpu["bare"])),
        ("CPU per verdict, fork with modules loaded", _ms(cpu["preloaded"])),
        ("CPU per verdict, served", _ms(cpu["served"])),
        ("  of it the server's process", _ms(cpu["server_process"])),
        ("  of it sandboxes", _ms(cpu["sandboxes"])),
        ("CPU per verdict, client (besides)", _ms(cpu["client"])),
        ("ratio of served to bare", f"{found['cpu_ratio']:.2f} (by round: {ratios})"),
        ("ratio of served to that with modules", f"{found['cpu_ratio_to_preloaded']:.2f}"),
        ("verdicts", _listed(found["verdicts"])),
    ]
    return _table("HumanEval, isolated judge, over gRPC", rows)


def _latency_table(found: dict[str, Any]) -> Table:
    rows = [
        ("in-process", _times(found["in_process_seconds"])),
        ("over gRPC", _times(found["served_seconds"])),
        ("added at the median", _ms(found["added_seconds_p50"])),
    ]
    return _table("One Score at a time", rows)


def _overload_table(found: dict[str, Any]) -> Table:
    table = Table(
        "load", "in flight", "executions/s", "of peak", "refusals/s", "verdicts",
        title=f"Crowds before {found['places']} places"
        f" (timed out: {found['honest_solutions_timed_out']})",
    )  # fmt: skip
    for step in found["steps"]:
        table.add_row(
            f"{step['load']}x",
            str(step["in_flight"]),
            f"{step['executions_per_second']:.1f}",
            f"{step['share_of_peak']:.0%}",
            f"{step['refusals_per_second']:.0f}",
            _listed(step["verdicts"]),
        )
    return table


def _table(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    table = Table("what", "measured", title=title)
    for row in rows:
        table.add_row(*row)
    return table


def _rate(step: Step) -> float:
    return sum(1 for reply in step.replies if reply.verdict) / step.seconds


def _counted(replies: Iterable[Reply]) -> dict[str, int]:
    return dict(Counter(reply.verdict for reply in replies if reply.verdict))


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _times(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {_ms(seconds)}" for name, seconds in found.items())

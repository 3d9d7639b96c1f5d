"""The results of the measurement, as one object for programs and as tables for people."""

from __future__ import annotations

import platform
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measure.load import Reply
from benchmarks.measure.phases import BATCH, IN_FLIGHT_PER_SLOT, Pair, Pass, Round, Step

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
    return {
        "rounds": len(done),
        "in_flight": IN_FLIGHT_PER_SLOT * slots,
        "forks": {"bare": bare / verdicts, "preloaded": preloaded / verdicts},
        "single": _served([one.single for one in done], done, verdicts),
        "batched": _served([one.batched for one in done], done, verdicts),
    }


def _served(passes: Sequence[Pass], rounds: Sequence[Round], verdicts: int) -> dict[str, Any]:
    """Describes one way of sending, beside the forks of the same rounds."""
    total = sum(one.used.total for one in passes)
    replies = [reply for one in passes for reply in one.replies]
    return {
        "verdicts": _counted(replies),
        "executions_per_second": verdicts / sum(one.wall for one in passes),
        "latency_seconds": percentiles([reply.seconds for reply in replies]),
        "cpu_seconds_per_verdict": {
            "served": total / verdicts,
            "server_process": sum(one.used.server for one in passes) / verdicts,
            "sandboxes": sum(one.used.sandboxes for one in passes) / verdicts,
            "client": sum(one.client_cpu for one in passes) / verdicts,
        },
        "cpu_ratio": total / sum(one.bare_cpu for one in rounds),
        "cpu_ratio_by_round": [
            one.used.total / round.bare_cpu for one, round in zip(passes, rounds, strict=True)
        ],
        "cpu_ratio_to_preloaded": total / sum(one.preloaded_cpu for one in rounds),
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
    peak = max(rates) or 1.0  # shares of a peak of 0 are 0
    judged = [reply for step in done for reply in step.replies if reply.verdict]
    return {
        "places": places,
        "queue_capacity": capacity,
        "steps": [
            {
                "load": step.load,
                "in_flight": step.in_flight,
                "executions_per_second": rate,
                "share_of_peak": rate / peak,
                "refusals_per_second": sum(1 for one in step.replies if one.status) / step.seconds,
                "verdicts": _counted(step.replies),
            }
            for step, rate in zip(done, rates, strict=True)
        ],
        "least_share_of_peak": min(rates) / peak,
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
    table = Table(
        "what", "a call for each", f"{BATCH} in a call",
        title="HumanEval, isolated judge, over gRPC",
    )  # fmt: skip
    for name, bare in (("bare fork", "bare"), ("fork with modules loaded", "preloaded")):
        table.add_row(f"CPU per verdict, {name}", *[_ms(found["forks"][bare])] * 2)
    columns = (_served_column(found["single"]), _served_column(found["batched"]))
    for (name, single), (_, batched) in zip(*columns, strict=True):
        table.add_row(name, single, batched)
    return table


def _served_column(found: dict[str, Any]) -> list[tuple[str, str]]:
    cpu = found["cpu_seconds_per_verdict"]
    ratios = ", ".join(f"{ratio:.2f}" for ratio in found["cpu_ratio_by_round"])
    return [
        ("CPU per verdict, served", _ms(cpu["served"])),
        ("  of it the server's process", _ms(cpu["server_process"])),
        ("  of it sandboxes", _ms(cpu["sandboxes"])),
        ("CPU per verdict, client (besides)", _ms(cpu["client"])),
        ("ratio of served to bare", f"{found['cpu_ratio']:.2f} (by round: {ratios})"),
        ("ratio of served to that with modules", f"{found['cpu_ratio_to_preloaded']:.2f}"),
        ("executions per second", f"{found['executions_per_second']:.1f}"),
        ("latency of a verdict, from its call", _times(found["latency_seconds"])),
        ("verdicts", _listed(found["verdicts"])),
    ]


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

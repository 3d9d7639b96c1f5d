"""What the status page shows and what probes are told, computed from metrics alone.

Counts and gauges of several processes, which differ in the label `process`, are added.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from prometheus_client.metrics_core import Metric

_PREFIX = "reward_server_"
_STALLED_SECONDS = 30.0
_CALLS = ("call", "queue", "execution")
_BY_LABEL = {
    "verdicts": ("verdicts_total", "verdict"),
    "hack_signals": ("hack_signals_total", "signal"),
    "refusals": ("refusals_total", "cause"),
    "executions": ("executions_total", "language"),
    "limits": ("limits_hit_total", "limit"),
    "sandboxes": ("sandboxes", "state"),
    "sandboxes_closed": ("sandboxes_closed_total", "reason"),
    "retries": ("retries_total", "cause"),
    "tenants": ("tenant_verdicts_total", "tenant"),
    "sessions": ("sessions", "state"),
    "sessions_ended": ("sessions_ended_total", "reason"),
}
_TOTALS = {
    "slots": "slots",
    "running": "running",
    "waiting": "waiting",
    "admitted": "admitted",
    "queue_capacity": "queue_capacity",
    "connections": "connections",
    "sandboxes_started": "sandboxes_started_total",
    "sandbox_start_failures": "sandbox_start_failures_total",
    "processes_up": "process_up",
    "process_starts": "process_starts_total",
    "sessions_opened": "sessions_opened_total",
    "session_commands_running": "session_commands_running",
    "session_commands": "session_commands_total",
    "session_memory": "session_memory_bytes",
    "session_memory_capacity": "session_memory_capacity_bytes",
}


def figures(families: Iterable[Metric]) -> dict[str, object]:
    """Returns the figures of the status page: totals since the start, and present values."""
    read = _Samples(families)
    walls = read.by_label("wall_standing", "wall")
    return {
        **{key: read.total(name) for key, name in _TOTALS.items()},
        **{key: read.by_label(*where) for key, where in _BY_LABEL.items()},
        **{f"{name}_seconds": read.buckets(f"{name}_duration_seconds") for name in _CALLS},
        "processes": read.count("process_up"),
        "oldest_waiting_seconds": read.greatest("oldest_waiting_seconds", 0.0),
        "obstacles": read.obstacles(),
        "missing_walls": [wall for wall, stands in walls.items() if not stands],
        "builds": read.labels("build_info"),
    }


def obstacles(families: Iterable[Metric]) -> list[str]:
    """Returns why there is no room for new work; nothing if there is room."""
    return _Samples(families).obstacles()


def stalls(families: Iterable[Metric]) -> list[str]:
    """Returns which event loops are stopped, or nothing if all of them run."""
    since = _Samples(families).greatest("event_loop_stalled_seconds", math.inf)
    return [] if since < _STALLED_SECONDS else ["the event loop stands still"]


class _Samples:
    """The samples of one scrape, by name."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._by_name: defaultdict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
        for family in families:
            for sample in family.samples:
                name = sample.name.removeprefix(_PREFIX)
                self._by_name[name].append((sample.labels, sample.value))

    def total(self, name: str) -> float:
        return math.fsum(value for _, value in self._by_name[name])

    def count(self, name: str) -> int:
        return len(self._by_name[name])

    def greatest(self, name: str, default: float) -> float:
        return max((value for _, value in self._by_name[name]), default=default)

    def by_label(self, name: str, label: str) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for labels, value in self._by_name[name]:
            found[labels[label]] += value
        return dict(found)

    def buckets(self, name: str) -> dict[str, float]:
        return self.by_label(f"{name}_bucket", "le")

    def labels(self, name: str) -> list[dict[str, str]]:
        found = [{k: v for k, v in one.items() if k != "process"} for one, _ in self._by_name[name]]
        return [one for index, one in enumerate(found) if one not in found[:index]]

    def obstacles(self) -> list[str]:
        """Returns the reasons of the process that is nearest to being ready."""
        by_process: defaultdict[str, list[str]] = defaultdict(list)
        for labels, stands in self._by_name["obstacle"]:
            by_process[labels.get("process", "")] += [labels["obstacle"]] if stands else []
        return min(by_process.values(), key=len) if by_process else ["no process answers"]

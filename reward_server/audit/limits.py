"""What a reference solution needs, and limits that leave room for slower solutions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer
from reward_server.audit.findings import Needs

_LEAST_CPU_SECONDS = 2.0
_LEAST_MEMORY_BYTES = 128 << 20
_STEP_SECONDS = 0.5
_STEP_BYTES = 16 << 20
_WALL_FACTOR = 2.0
_WALL_EXTRA_SECONDS = 1.0
_TIGHT = 0.5
_ROOM = {"CPU_TIME": "cpu_time_seconds", "WALL_TIME": "wall_time_seconds", "MEMORY": "memory_bytes"}


def needs_of(
    answers: Sequence[Answer], info: pb.GetServerInfoResponse, margin: float
) -> Needs | None:
    """Returns what the most expensive passing answer used; None if none passed.

    Args:
        answers: answers to the reference solution.
        info: the server's description, whose bounds the suggestion keeps.
        margin: factor between use and suggested limit.
    """
    used = [one.response for one in answers if one.passed]
    if not used:
        return None
    cpu = max(map(_cpu_of_one, used))
    memory = max(one.usage.peak_memory_bytes for one in used)
    seconds = _raised(max(_LEAST_CPU_SECONDS, margin * cpu), _STEP_SECONDS)
    limits = {
        "cpu_time_seconds": seconds,
        "wall_time_seconds": _WALL_FACTOR * seconds + _WALL_EXTRA_SECONDS,
        "memory_bytes": _raised(max(_LEAST_MEMORY_BYTES, margin * memory), _STEP_BYTES),
    }
    bounded = {name: _bounded(name, value, info) for name, value in limits.items()}
    return Needs(cpu_time_seconds=cpu, peak_memory_bytes=memory, limits=bounded)


def _cpu_of_one(response: pb.ScoreResponse) -> float:
    """Returns the CPU time of one execution: the answer has the sum of all.

    The executions of a program differ by their inputs, so the longest is not their mean. A test's
    wall time bounds it, and so does the sum.
    """
    usage = response.usage
    mean = usage.cpu_time_seconds / max(1, usage.executions)
    longest = max((one.wall_time_seconds for one in response.tests), default=0.0)
    return max(mean, min(usage.cpu_time_seconds, longest)) if usage.executions > 1 else mean


def _raised(value: float, step: float) -> float:
    return math.ceil(value / step) * step


def _bounded(name: str, value: float, info: pb.GetServerInfoResponse) -> float:
    most, least = _values(info.maximum_limits), _values(info.minimum_limits)
    return max(least.get(name, value), min(most.get(name, value), value))


def _values(limits: pb.Limits) -> dict[str, float]:
    return {field.name: float(value) for field, value in limits.ListFields()}


def ample(request: pb.ScoreRequest, info: pb.GetServerInfoResponse) -> pb.ScoreRequest:
    """Returns a request with the greatest limits that the server allows."""
    wide = pb.ScoreRequest()
    wide.CopyFrom(request)
    wide.limits.MergeFrom(info.maximum_limits)
    wide.time_budget_seconds = info.maximum_time_budget_seconds
    return wide


def tight(needs: Needs, template: pb.ScoreRequest, info: pb.GetServerInfoResponse) -> str:
    """Returns which limit is nearly used up, as a sentence; "" if none is."""
    limits = effective(template, info)
    used = {
        "cpu_time_seconds": needs.cpu_time_seconds,
        "memory_bytes": float(needs.peak_memory_bytes),
    }
    for name, value in used.items():
        if limits.get(name) and value > _TIGHT * limits[name]:
            return (
                f"the reference solution uses {_shown(name, value)} of {_shown(name, limits[name])}"
            )
    return ""


def effective(template: pb.ScoreRequest, info: pb.GetServerInfoResponse) -> Mapping[str, float]:
    """Returns the limits of time and memory that a task gets."""
    limits = pb.Limits()
    limits.MergeFrom(info.default_limits)
    limits.MergeFrom(template.limits)
    return {name: value for name, value in _values(limits).items() if name in _ROOM.values()}


def are_limits_hit(answer: Answer) -> bool:
    """Returns True if an answer hit a limit of time or memory."""
    verdicts = ("TIME_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED")
    return answer.verdict in verdicts or any(name in _ROOM for name in answer.limits_hit)


def _shown(name: str, value: float) -> str:
    return (
        f"{value / (1 << 20):.0f} MiB" if name == "memory_bytes" else f"{value:.2f} s of CPU time"
    )

"""The result of a comparison as one object, for programs and for the page."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.comparison.measuring import Comparison, Measured
from benchmarks.comparison.peer import Outcome
from benchmarks.comparison.turns import Reply, Turn
from benchmarks.measure import report

_BUSY = 0.5

Spread = dict[str, float]


def figures(found: Comparison) -> dict[str, Any]:
    """Returns all figures; what was not measured is absent or None."""
    cores = len(os.sched_getaffinity(0))
    plan, own = found.plan, found.peers[0]
    return {
        "machine": {
            **report.machine(cores, cores, len(plan.pairs)),
            "load_before": round(found.loads[0], 2),
            "load_after": round(found.loads[1], 2),
            "is_busy": found.loads[0] > _BUSY * cores,
        },
        "rounds": found.rounds,
        "seconds": round(found.seconds, 1),
        "widths": list(plan.widths),
        "most_in_a_turn": plan.most,
        "turn_seconds": plan.turn_seconds,
        "starts": plan.starts,
        "attacked_tasks": plan.attacked,
        "peers": [_peer(one, own) for one in found.peers],
    }


def spread(values: Iterable[float | None]) -> Spread | None:
    """Returns median, least and greatest of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return {"median": statistics.median(known), "min": min(known), "max": max(known)}


def _peer(one: Measured, own: Measured) -> dict[str, Any]:
    about = one.peer.about
    described: dict[str, Any] = {
        "name": about.name,
        "version": about.version,
        "isolation": about.isolation,
        "problem": one.problem,
    }
    if not one.is_measured:
        return described
    replies = [reply for turns in one.turns.values() for turn in turns for reply in turn.replies]
    return {
        **described,
        "counted": about.counted,
        "start_to_first_verdict_seconds": spread(one.starts),
        "memory_bytes": {"idle": one.idle_bytes, "loaded": one.loaded_bytes},
        "solutions": {
            "right": _outcomes(reply for reply in replies if reply.case.is_right),
            "wrong": _outcomes(reply for reply in replies if not reply.case.is_right),
        },
        "untrue_verdicts": sum(reply.is_verdict and not reply.is_true for reply in replies),
        "without_verdict": sum(not reply.is_verdict for reply in replies),
        "widths": [_width(width, one, own) for width in one.turns],
        "attacks": {
            "tried": len(one.cheats.cheats),
            "passed": len(one.cheats.fooled_by),
            "without_answer": one.cheats.unanswered,
            "names": one.cheats.fooled_by,
        },
    }


def _outcomes(replies: Iterable[Reply]) -> dict[str, int]:
    counts = Counter(reply.answer.outcome for reply in replies)
    return {outcome.value: counts[outcome] for outcome in Outcome}


def _width(width: int, one: Measured, own: Measured) -> dict[str, Any]:
    turns, ours = one.turns[width], own.turns[width]
    verdicts = [reply.seconds for turn in turns for reply in turn.replies if reply.is_verdict]
    found = {
        "in_flight": width,
        "verdicts_per_second": spread(turn.rate for turn in turns),
        "cpu_seconds_per_verdict": spread(turn.cpu_per_verdict for turn in turns),
        "latency_seconds": report.percentiles(verdicts) if verdicts else None,
    }
    if one is not own:
        found["own_rate_divided_by_its"] = _ratios(ours, turns, lambda turn: turn.rate)
        found["its_cpu_divided_by_own"] = _ratios(turns, ours, lambda turn: turn.cpu_per_verdict)
    return found


def _ratios(
    above: Sequence[Turn], below: Sequence[Turn], read: Callable[[Turn], float | None]
) -> Spread | None:
    """Returns the spread of the ratios of turns of the same round."""
    pairs = [(read(one), read(other)) for one, other in zip(above, below, strict=False)]
    return spread(one / other if one and other else None for one, other in pairs)

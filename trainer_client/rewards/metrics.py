"""What a training run should see of its rewards besides their mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trainer_client.score import Score, Verdict

# What stands for a verdict where there is none.
UNJUDGED = "UNJUDGED"


class Metrics:
    """Publishes the metrics of a reward function, each a finite number.

    verdict/NAME      share of completions, for each verdict
    unjudged          share of completions without a verdict
    deduplicated      share of completions that shared another one's execution
    queue_seconds     mean time waited for a slot
    grade_seconds     mean wall time of the executions
    signal/NAME       evidence of reward hacking per completion, for each kind seen so far

    Args:
        name: prefix of all of them.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._signals: set[str] = set()

    def log(
        self,
        scores: Sequence[Score],
        log_metric: Callable[[str, float], None] | None,
        log_extra: Callable[[str, list[Any]], None] | None,
    ) -> None:
        """Publishes one call's metrics, where the trainer takes any."""
        if log_metric is not None and scores:
            for key, value in self._values(scores).items():
                log_metric(f"{self._name}/{key}", value)
        if log_extra is not None:
            log_extra(f"{self._name}_verdict", [_verdict(score) for score in scores])
            log_extra(f"{self._name}_message", [_message(score) for score in scores])

    def _values(self, scores: Sequence[Score]) -> dict[str, float]:
        count = len(scores)
        judged = [score for score in scores if score.judged]
        values = {
            f"verdict/{verdict.name}": sum(score.verdict is verdict for score in scores) / count
            for verdict in Verdict
        }
        values["unjudged"] = (count - len(judged)) / count
        values["deduplicated"] = sum(score.deduplicated for score in scores) / count
        if judged:
            waits = sum(score.usage.queue_time_seconds for score in judged)
            walls = sum(score.usage.wall_time_seconds for score in judged)
            values["queue_seconds"] = waits / len(judged)
            values["grade_seconds"] = walls / len(judged)
        return values | self._signal_values(scores)

    def _signal_values(self, scores: Sequence[Score]) -> dict[str, float]:
        # A kind once seen is logged as 0 later: TRL averages over the calls that log a name.
        self._signals.update(kind for score in scores for kind in score.signals)
        return {
            f"signal/{kind}": sum(score.signals.get(kind, 0) for score in scores) / len(scores)
            for kind in sorted(self._signals)
        }


def _verdict(score: Score) -> str:
    return score.verdict.name if score.verdict is not None else UNJUDGED


def _message(score: Score) -> str:
    return score.message if score.error is None else str(score.error)

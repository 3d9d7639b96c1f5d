"""Metrics of a training run's rewards, besides their mean."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from trainer_client.score import Integrity, Score, TestOutcome, Verdict

_MOST_MODULES = 20
_NO_FAILURE = (TestOutcome.PASSED, TestOutcome.SKIPPED)

# The name in place of a verdict if there is none.
UNJUDGED = "UNJUDGED"
# Names that reveal nothing about the completion: no verdict, or one on the task itself.
NO_RESULT = frozenset((UNJUDGED, Verdict.INVALID_TASK.name))


class Metrics:
    """Publishes the metrics of a reward function, each a finite number.

    verdict/NAME      share of completions, for each verdict
    unjudged          share of completions without a verdict
    deduplicated      share of completions that shared another one's execution
    queue_seconds     mean time spent waiting for a slot
    grade_seconds     mean wall time of the executions
    wait_seconds      wall time of the whole call: how long the trainer waited for these rewards
    integrity/NAME    share of judged completions, for each integrity
    signal/NAME       evidence of reward hacking per completion, for each kind seen so far
    missing_module    share of completions that failed because the sandbox lacks a module
    missing_module/NAME  the same for each module, for a limited number of names

    Args:
        name: prefix of all metrics.
        columns: names of the columns to publish, of `EVERY_COLUMN`.

    Raises:
        ValueError: there is no such column.
    """

    def __init__(self, name: str, columns: Collection[str]) -> None:
        if unknown := [column for column in columns if column not in EVERY_COLUMN]:
            raise ValueError(f"columns: no {unknown[0]!r}; there are {', '.join(EVERY_COLUMN)}")
        self._name = name
        self._columns = columns
        self._signals: set[str] = set()
        self._modules: dict[str, None] = {}

    def log(
        self,
        scores: Sequence[Score],
        log_metric: Callable[[str, float], None] | None,
        log_extra: Callable[[str, list[Any]], None] | None,
        *,
        wait_seconds: float,
        task_ids: Sequence[str],
    ) -> None:
        """Publishes one call's metrics, if the trainer accepts any.

        Args:
            scores: one for each completion.
            log_metric: receives a number.
            log_extra: receives a column: a text for each completion.
            wait_seconds: wall time of the call.
            task_ids: one for each completion; "" if there is none.
        """
        if log_metric is not None and scores:
            log_metric(f"{self._name}/wait_seconds", wait_seconds)
            for key, value in self._values(scores).items():
                log_metric(f"{self._name}/{key}", value)
        if log_extra is not None:
            if TASK_ID in self._columns:
                log_extra(f"{self._name}_{TASK_ID}", list(task_ids))
            for key, show in _COLUMNS.items():
                if key in self._columns:
                    log_extra(f"{self._name}_{key}", [show(score) for score in scores])

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
            values |= {
                f"integrity/{kind.name}": sum(one.integrity is kind for one in judged) / len(judged)
                for kind in Integrity
            }
        return values | self._signal_values(scores) | self._module_values(scores)

    def _signal_values(self, scores: Sequence[Score]) -> dict[str, float]:
        # A kind that was seen is logged as 0, because TRL averages over the calls that log a name.
        self._signals.update(kind for score in scores for kind in score.signals)
        return {
            f"signal/{kind}": sum(score.signals.get(kind, 0) for score in scores) / len(scores)
            for kind in sorted(self._signals)
        }

    def _module_values(self, scores: Sequence[Score]) -> dict[str, float]:
        # Programs choose these names, so their number is limited.
        for score in scores:
            for name in score.missing_modules:
                if len(self._modules) < _MOST_MODULES:
                    self._modules.setdefault(name)
        lacking = [score for score in scores if score.missing_modules]
        return {"missing_module": len(lacking) / len(scores)} | {
            f"missing_module/{name}": sum(name in one.missing_modules for one in lacking)
            / len(scores)
            for name in self._modules
        }


def verdict_name(score: Score) -> str:
    """Returns the verdict's name, or UNJUDGED if there is none."""
    return score.verdict.name if score.verdict is not None else UNJUDGED


def _message(score: Score) -> str:
    return score.message if score.error is None else str(score.error)


def _integrity(score: Score) -> str:
    return score.integrity.name if score.judged else ""


def _failing_test(score: Score) -> str:
    """Returns name and message of the first test that did not pass; "" if there is none."""
    for test in score.tests:
        if test.outcome not in _NO_FAILURE:
            return f"{test.name}: {test.message}".removesuffix(": ")
    return ""


def _signals(score: Score) -> str:
    """Returns the kinds of signals of reward hacking with their counts; "" if there are none."""
    return ", ".join(f"{kind} {score.signals[kind]}" for kind in sorted(score.signals))


_COLUMNS: Mapping[str, Callable[[Score], str]] = {
    "verdict": verdict_name,
    "message": _message,
    "failing_test": _failing_test,
    "integrity": _integrity,
    "signals": _signals,
}
TASK_ID = "task_id"
EVERY_COLUMN = (TASK_ID, *_COLUMNS)

"""Records the scores of a reward function by task, while a listener is active."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from trainer_client.rewards import RewardFunction
from trainer_client.rewards.metrics import NO_RESULT
from trainer_client.run_folder import TaskTally
from trainer_client.score import Verdict
from trainer_client.text import transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A completion and its score.

    Args:
        completion: as text; of several turns, all of them.
        verdict: the verdict's name, or "UNJUDGED".
        message: the server's sentence about it.
        reward: None if it was not judged.
    """

    task_id: str
    completion: str
    verdict: str
    message: str
    reward: float | None


class Listener:
    """Receives the scores of a reward function while it is active."""

    def __init__(self) -> None:
        self._heard: list[Sample] | None = None

    @contextmanager
    def listening(self) -> Iterator[list[Sample]]:
        """Yields a list that receives every scored sample until the end of the block."""
        heard: list[Sample] = []
        self._heard = heard
        try:
            yield heard
        finally:
            self._heard = None

    def attached(self, reward: RewardFunction, id_column: str = "task_id") -> RewardFunction:
        """Returns the same reward function, except that this listener receives its scores."""

        async def heard_reward(
            prompts: Sequence[Any],
            completions: Sequence[Any],
            *,
            log_extra: Callable[[str, list[Any]], None] | None = None,
            **columns: Any,
        ) -> list[float | None]:
            said: dict[str, list[Any]] = {}

            def hear(name: str, values: list[Any]) -> None:
                said[name] = values
                if log_extra is not None:
                    log_extra(name, values)

            rewards = await reward(prompts, completions, log_extra=hear, **columns)
            if self._heard is not None:
                verdicts = said[f"{reward.__name__}_verdict"]
                messages = said[f"{reward.__name__}_message"]
                rows = zip(
                    columns[id_column], completions, verdicts, messages, rewards, strict=True
                )
                self._heard.extend(_sample(*row) for row in rows)
            return rewards

        heard_reward.__name__ = heard_reward.__qualname__ = reward.__name__
        return heard_reward


def _sample(
    task_id: object, completion: Any, verdict: str, message: str, reward: float | None
) -> Sample:
    return Sample(
        task_id=str(task_id),
        completion=transcript(completion),
        verdict=verdict,
        message=message,
        reward=reward,
    )


def tallies(samples: Iterable[Sample]) -> dict[str, TaskTally]:
    """Counts samples by task.

    Samples without a verdict are counted separately, and so are those of broken tasks.
    """
    by_task: dict[str, Counter[str]] = {}
    for sample in samples:
        by_task.setdefault(sample.task_id, Counter())[sample.verdict] += 1
    return {task_id: _tally(verdicts) for task_id, verdicts in sorted(by_task.items())}


def _tally(verdicts: Counter[str]) -> TaskTally:
    judged = {name: count for name, count in sorted(verdicts.items()) if name not in NO_RESULT}
    return TaskTally(
        samples=sum(judged.values()),
        passed=judged.get(Verdict.PASSED.name, 0),
        unjudged=verdicts.total() - sum(judged.values()),
        verdicts=judged,
    )

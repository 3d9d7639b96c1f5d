"""An episode: one task, from its beginning to its reward."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType

from trainer_client.rewards.judged import Template
from trainer_client.score import Score, Verdict


@dataclass(slots=True, kw_only=True, eq=False)
class Episode:
    """What an environment leaves for the reward.

    Args:
        template: makes the requests of the task; None if the task is not for this reward.
        refusal: the score of a row that is no task; None if it is one.
        failure: the score of an episode about which nothing can be said, through no fault of the
            model; None if there is no such reason.
        submission: the completion that counts; None if the last message counts.
        score: the server's conclusion about what counts, if there is one already.
        settle: judges what the episode leaves, at its end, frees what it holds, and returns the
            score, if there is one; None if the submission or the last message is judged.
        verdicts: conclusions about the submissions, as far as the model was told of them.
        is_over: whether `score` is final.
        submissions: number of submissions.
        tool_calls: number of calls of tools.
    """

    template: Template | None = None
    refusal: Score | None = None
    failure: Score | None = None
    submission: str | None = None
    score: Score | None = field(default=None, repr=False)
    settle: Callable[[], Score | None] | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    is_over: bool = False
    submissions: int = 0
    tool_calls: int = 0

    def told(self, found: Score) -> None:
        """Records the conclusion about a submission; a passed one ends the episode."""
        self.score = found
        if found.verdict is not None:
            self.verdicts.append(found.verdict)
        if found.verdict is Verdict.PASSED:
            self.end(found)

    def end(self, found: Score) -> None:
        """Ends the episode with a score; the model can change nothing about it."""
        self.score, self.is_over = found, True


class Environment:
    """An environment whose episodes `environment_reward` scores.

    Attributes:
        episode: the episode since the last `reset`.
    """

    def __init__(self) -> None:
        self.episode = Episode()


def tools_of(environment: type[Environment]) -> list[Callable[..., str]]:
    """Returns the tools of an environment as TRL shows them to a model."""
    members = inspect.getmembers(environment, predicate=inspect.isfunction)
    return [
        MethodType(member, environment)
        for name, member in members
        if not name.startswith("_") and name != "reset"
    ]

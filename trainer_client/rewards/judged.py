"""Rewards from the verdicts of a reward server: the call, its failures and its metrics.

TRL calls a reward function with lists: prompts, completions and each data-set column, one item for
each completion. It may call the function from several event loops in turn, and never limits its
time. Any exception ends the training. If the reward of a row is None, TRL leaves the row out of its
group's baseline.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import logging
import time
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import score, tasks
from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import RewardLostError, TaskError
from trainer_client.requests import LazyRequest
from trainer_client.rewards.columns import rows_of
from trainer_client.rewards.metrics import EVERY_COLUMN, Metrics
from trainer_client.score import Score
from trainer_client.spelling import check_options
from trainer_client.sync_client import RewardClient
from trainer_client.text import completion_text
from trainer_client.transport.channel import ConnectionOptions, Target

# One reward near 1e30 makes the gradient of its group vanish, without a warning.
_GREATEST_REWARD = 1e6
_NOT_FOR_THIS = "NOT_FOUND"
_TO_AWAIT = "await it, or make it with blocking=True; "
_logger = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_default_names: dict[str, list[Hashable]] = {}


class RewardFunction(Protocol):
    """A reward function that TRL awaits."""

    __name__: str

    async def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """Returns a reward for each completion, or None if it was not judged."""


class BlockingRewardFunction(Protocol):
    """A reward function for a trainer that does not await."""

    __name__: str

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """Returns a reward for each completion, or None if it was not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Makes the requests of a row.

    Args:
        key: equal for rows whose requests are equal for equal completions.
        fill: makes a request from a completion's text.
    """

    key: Hashable
    fill: Callable[[str], pb.ScoreRequest]


# Returns a row's template, or None if the row is not for this reward.
Templates = Callable[[tasks.Row], Template | None]


class Judged:
    """A reward from the verdicts of a server.

    Args:
        target: the servers; see `channel.Connection`, also for the other options.
        name: `__name__`, under which TRL logs.
        templates: returns a row's template. If it raises a `TaskError`, the row counts as a
            failure. If it returns None, the row is not judged, and that is no failure.
        id_column: the data-set column with the task's id, which is logged.
        defaults: fields for every request.
        failure_budget: consecutive calls without a single reward after which training stops.
        columns: the published columns of each completion besides its reward.

    Raises:
        TypeError: there is no such option.
        ValueError: an option is wrong.
    """

    def __init__(
        self,
        target: Target,
        *,
        name: str,
        templates: Templates,
        id_column: str,
        defaults: pb.ScoreRequest,
        failure_budget: int,
        columns: Collection[str] = EVERY_COLUMN,
        **connection: Unpack[ConnectionOptions],
    ) -> None:
        own = inspect.signature(type(self)).parameters.keys() - {"connection"}
        check_options(name, connection, own | ConnectionOptions.__annotations__.keys())
        self.__name__ = name
        self._client = AsyncRewardClient(target, **connection)
        self._templates = templates
        self._id_column = id_column
        self._defaults = defaults
        self._budget = _Budget(failure_budget)
        self._metrics = Metrics(name, columns)

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Returns a reward for each completion, or None if it was not judged.

        Raises:
            RewardLostError: nothing was judged for too long, or a task can never be judged.
        """
        begun = time.monotonic()
        rows = rows_of(prompts, columns)
        scores = await self._score(rows, completions)
        self._metrics.log(
            scores,
            log_metric,
            log_extra,
            wait_seconds=time.monotonic() - begun,
            task_ids=[_shown(row.get(self._id_column)) for row in rows],
        )
        self._budget.spend([found for found in scores if not _is_not_for_this(found)])
        return [_bounded(found.reward) for found in scores]

    async def _score(self, rows: Sequence[tasks.Row], completions: Sequence[Any]) -> list[Score]:
        """Judges each completion; equal completions of equal rows are judged once."""
        requests: dict[Hashable, LazyRequest] = {}
        prepared: list[Hashable | Score] = []
        for row, completion in zip(rows, completions, strict=True):
            found = self._prepare(row, completion)
            if isinstance(found, Score):
                prepared.append(found)
                continue
            template, text = found
            prepared.append((template.key, text))
            # The server shares work only between equal requests that wait at the same time.
            requests.setdefault((template.key, text), self.request(template, text))
        answers = await self._client.score(requests.values())
        return _dealt(prepared, dict(zip(requests, answers, strict=True)))

    def template(self, row: tasks.Row) -> Template | Score:
        """Returns a row's template, or a score if the row is no task of this reward."""
        try:
            found = self._templates(row)
        except (TaskError, TypeError) as error:
            return score.unjudged("", "INVALID_ARGUMENT", str(error), permanent=True)
        return self.not_for_this() if found is None else found

    def request(self, template: Template, text: str) -> LazyRequest:
        """Returns the request that judges a completion."""
        key = uuid.uuid4().hex

        def make() -> pb.ScoreRequest:
            request = template.fill(text)
            request.MergeFrom(self._defaults)
            request.id = key
            return request

        return LazyRequest(id=key, make=make)

    def blocking_client(self) -> RewardClient:
        """Returns a client with an event loop of its own, in which this reward can be called."""
        return RewardClient.around(self._client)

    def not_for_this(self) -> Score:
        """Returns the score of a row that this reward does not judge, which is no failure."""
        return score.unjudged("", _NOT_FOR_THIS, f"the row has nothing for {self.__name__}")

    def _prepare(self, row: tasks.Row, completion: object) -> tuple[Template, str] | Score:
        """Returns the parts of a request, or a score if no request can be made."""
        found = self.template(row)
        return found if isinstance(found, Score) else with_text(found, completion)


def with_text(template: Template, completion: object) -> tuple[Template, str] | Score:
    """Returns the parts of a request, or a score if the completion has no known form."""
    try:
        return template, completion_text(completion)
    except TypeError as error:
        return score.unjudged("", "INVALID_ARGUMENT", str(error), permanent=True)


def _dealt(prepared: Iterable[Hashable | Score], answers: Mapping[Hashable, Score]) -> list[Score]:
    """Returns each row's score; all but the first of equal rows share the score of the first."""
    dealt: list[Score] = []
    seen: set[Hashable] = set()
    for item in prepared:
        if isinstance(item, Score):
            dealt.append(item)
            continue
        found = answers[item]
        shares = found.judged and item in seen
        dealt.append(dataclasses.replace(found, deduplicated=True) if shares else found)
        seen.add(item)
    return dealt


def as_function(judged: Judged) -> RewardFunction:
    """Wraps a reward in an `async` function; TRL before 1.11 awaits functions and no objects."""

    async def reward(
        prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        return await judged(prompts, completions, **columns)

    return _named(reward, judged, _TO_AWAIT)


def as_blocking_function(judged: Judged) -> BlockingRewardFunction:
    """Wraps a reward in a function that returns rewards, for trainers that do not await."""
    client = judged.blocking_client()

    def reward(
        prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        return client.run(judged(prompts, completions, **columns))

    return _named(reward, judged)


def _named(reward: _Function, judged: Judged, hint: str = "") -> _Function:
    """Names a function; its qualified name is what Python shows if a caller misuses it.

    That is the warning about a coroutine that nobody awaited, and the error about a function that
    cannot be pickled.
    """
    hint += f"{type(judged).__name__} can be pickled"
    reward.__name__, reward.__qualname__ = judged.__name__, f"{judged.__name__} ({hint})"
    return reward


def default_name(base: str, identity: Hashable) -> str:
    """Returns a default name that no reward of this process with another identity has.

    A notebook's cell that runs again so makes a reward of the same name.
    """
    known = _default_names.setdefault(base, [])
    if identity not in known:
        known.append(identity)
    number = known.index(identity) + 1
    if number == 1:
        return base
    _logger.warning("another reward is called %s: this is %s_%d; name= sets it", base, base, number)
    return f"{base}_{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTemplates:
    """Finds the templates of tasks, as `remote_reward` describes them.

    Args:
        name: name of the reward function, for messages.
        task: the source of a completion's tests.
        id_column: the data-set column with the task's id.
    """

    name: str
    task: str | Mapping[str, pb.ScoreRequest] | Callable[[tasks.Row], pb.ScoreRequest]
    id_column: str

    def __call__(self, row: tasks.Row) -> Template | None:
        """Returns a row's template; None if the id is None, as in data sets of several kinds.

        Raises:
            TaskError: the row is no task.
        """
        if isinstance(self.task, str):
            return _of_request(tasks.named(self.task)(row))
        if not isinstance(self.task, Mapping):
            return _of_request(self.task(row))
        if self.id_column not in row:
            raise TaskError(self.name, self.id_column, "is absent")
        if row[self.id_column] is None:
            return None
        key = str(row[self.id_column])
        if key not in self.task:
            raise TaskError(self.name, self.id_column, f"no template for {row[self.id_column]!r}")
        return Template(key=key, fill=partial(tasks.fill, self.task[key]))


def _of_request(request: pb.ScoreRequest) -> Template:
    content = hashlib.sha256(request.SerializeToString(deterministic=True))
    return Template(key=content.digest(), fill=partial(tasks.fill, request))


class _Budget:
    """Stops a training that receives no rewards.

    A call without a single reward uses up a part of the budget, and any reward restores it. If all
    failures of a call are permanent before the first verdict, the set-up is wrong, and training
    stops at once.
    """

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._failed = 0
        self._ever_judged = False

    def spend(self, scores: Sequence[Score]) -> None:
        """Counts a call.

        Raises:
            RewardLostError: the budget is spent.
        """
        errors = [found.error for found in scores if found.error is not None]
        if errors:
            _logger.warning("%d of %d not judged: %s", len(errors), len(scores), errors[0])
        self._ever_judged = self._ever_judged or len(errors) < len(scores)
        if not scores or any(found.reward is not None for found in scores):
            self._failed = 0 if scores else self._failed
            return
        self._failed += 1
        reason = errors[0] if errors else scores[0].message
        if not self._ever_judged and all(error.permanent for error in errors):
            raise RewardLostError(f"no completion can be judged: {reason}")
        if self._failed >= self._calls:
            raise RewardLostError(f"{self._failed} calls without a reward: {reason}")
        if not errors:
            _logger.warning("no reward in a call of %d: %s", len(scores), reason)


def _is_not_for_this(found: Score) -> bool:
    return found.error is not None and found.error.status == _NOT_FOR_THIS and not found.id


def _bounded(reward: float | None) -> float | None:
    if reward is None:
        return None
    return max(-_GREATEST_REWARD, min(_GREATEST_REWARD, reward))


def _shown(key: object) -> str:
    return "" if key is None else str(key)

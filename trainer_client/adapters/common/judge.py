"""Judges completions for trainers that pass a text and a label.

A label determines the tests of a completion. It is one of

    a task id           a key of `templates`
    a request           a `ScoreRequest` in protobuf's JSON form, as text or mapping, or the message
    a row               a row of the data set `task_format`, as JSON text or mapping
    tests of verl       verl's ground truth: `inputs` and `outputs` with or without `fn_name`, or a
                        list of assertions; as JSON text, mapping or list

If `task_format` is given, a mapping is a row; otherwise it is a request, or tests of verl.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import score, tasks
from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import TaskError
from trainer_client.score import Score
from trainer_client.sync_client import RewardClient
from trainer_client.text import completion_text, kind_of
from trainer_client.transport.channel import ConnectionOptions, Target

_VERL = "verl"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Clients:
    """The clients for callers without and with an event loop."""

    blocking: RewardClient
    awaited: AsyncRewardClient


class Judge:
    """Judges completions, from any thread and from any number of event loops.

    It connects at its first use, once for each process and loop. It can be pickled, and the copy
    opens its own connections. gRPC does not survive a fork: if a process is forked after the first
    use, the child can use neither this object nor a new one. Spawn workers instead, or do not use a
    judge before you fork.

    Args:
        target: the servers; see `channel.Connection`, also for the other options.
        templates: requests without a completion, by task id (`tasks.templates`).
        task_format: the data set whose rows are labels; see `tasks.TASKS`.
        defaults: fields for every request, such as limits or the reward policy.

    Raises:
        ValueError: there is no such task format, or an option is wrong.
    """

    def __init__(
        self,
        target: Target,
        *,
        templates: Mapping[str, pb.ScoreRequest] | None = None,
        task_format: str | None = None,
        defaults: pb.ScoreRequest | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        if task_format is not None:
            tasks.named(task_format)
        AsyncRewardClient(target, **options)  # checks them, and connects to nothing
        self._target = target
        self._options = options
        self._templates = dict(templates or {})
        self._format = task_format
        self._defaults = defaults or pb.ScoreRequest()
        self._clients: _Clients | None = None
        self._lock = threading.Lock()

    async def score(self, completions: Sequence[object], labels: Sequence[object]) -> list[Score]:
        """Judges completions, each a text or messages; returns a score for each, in order.

        Every completion has a score, which holds a verdict or an `error`. The error is permanent if
        the label cannot become a request.

        Raises:
            ValueError: there are not as many labels as completions.
            RuntimeError: a client was used before this process was forked.
        """
        prepared = self._prepare_all(completions, labels)
        return _merged(prepared, await self._connected().awaited.score(_requests(prepared)))

    def score_blocking(
        self, completions: Sequence[object], labels: Sequence[object]
    ) -> list[Score]:
        """Judges completions like `score`, for callers without an event loop."""
        prepared = self._prepare_all(completions, labels)
        return _merged(prepared, self._connected().blocking.score(_requests(prepared)))

    def template(self, label: object) -> pb.ScoreRequest:
        """Returns the request without a completion to which a label refers.

        Raises:
            TaskError: the label refers to nothing that can be judged.
        """
        if isinstance(label, str | int) and str(label) in self._templates:
            return self._templates[str(label)]
        if isinstance(label, pb.ScoreRequest):
            return label
        if isinstance(label, Mapping):
            return self._read(label)
        if isinstance(label, str | bytes) and label.strip()[:1] in ("{", b"{"):
            return self._read(tasks.decoded(self._format or "ScoreRequest", label))
        if self._format in (None, _VERL) and tasks.has_assertions(label):
            return tasks.verl({"assert_case": label})
        raise TaskError("label", "task", _no_task(label, len(self._templates)))

    def close(self) -> None:
        """Closes the connection for callers without an event loop; a later call opens another."""
        with self._lock:
            clients, self._clients = self._clients, None
        if clients is not None:
            clients.blocking.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_clients": None, "_lock": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def _read(self, value: Mapping[str, Any]) -> pb.ScoreRequest:
        if self._format is not None:
            return tasks.named(self._format)(value)
        if tasks.GROUND_TRUTH.intersection(value):
            return tasks.verl(value)
        return tasks.from_json(value)

    def _prepare_all(
        self, completions: Sequence[object], labels: Sequence[object]
    ) -> list[pb.ScoreRequest | Score]:
        if len(completions) != len(labels):
            raise ValueError(f"{len(completions)} completions, but {len(labels)} labels")
        return [self._prepare(*pair) for pair in zip(completions, labels, strict=True)]

    def _prepare(self, completion: object, label: object) -> pb.ScoreRequest | Score:
        try:
            template, text = self.template(label), completion_text(completion)
        except (TaskError, TypeError) as error:
            return score.unjudged("", "INVALID_ARGUMENT", str(error), permanent=True)
        request = tasks.fill(template, text, id=uuid.uuid4().hex)
        request.MergeFrom(self._defaults)
        return request

    def _connected(self) -> _Clients:
        with self._lock:
            if self._clients is None:
                self._clients = _Clients(
                    RewardClient(self._target, **self._options),
                    AsyncRewardClient(self._target, **self._options),
                )
            return self._clients


def _requests(prepared: Sequence[pb.ScoreRequest | Score]) -> list[pb.ScoreRequest]:
    return [item for item in prepared if isinstance(item, pb.ScoreRequest)]


def _merged(prepared: Sequence[pb.ScoreRequest | Score], answers: Sequence[Score]) -> list[Score]:
    """Puts the answers in the places of their requests."""
    rest = iter(answers)
    scores = [item if isinstance(item, Score) else next(rest) for item in prepared]
    errors = [found.error for found in scores if found.error is not None]
    if errors:
        _logger.warning("%d of %d not judged: %s", len(errors), len(scores), errors[0])
    return scores


def _no_task(label: object, templates: int) -> str:
    if not isinstance(label, str | int | bytes):
        return f"must be an id, an object or its JSON, not {kind_of(label)}"
    return f"{str(label)[:80]!r} is none of {templates} task ids, and no JSON object"

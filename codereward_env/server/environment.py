"""The environment: one episode is one task, from its prompt to a reward."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openenv.core.env_server.interfaces import (
    Environment,
)
from openenv.core.env_server.types import (
    EnvironmentMetadata,
    State,
)
from starlette.exceptions import HTTPException

from codereward import build
from codereward.v1 import reward_service_pb2 as pb
from codereward_env.models import CodeAction, CodeObservation
from codereward_env.server.settings import EnvironmentSettings
from trainer_client import AsyncRewardClient, Score, tasks
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.settings import naming_variables
from trainer_client.errors import CallError, ConfigError
from trainer_client.rewards.metrics import verdict_name
from trainer_client.text import well_formed
from trainer_client.tools.sandbox import program_limits

SPLIT = "train"
_SIGNALED = 128


class NotJudgedError(HTTPException):
    """A step that was not judged, through no fault of the model."""

    def __init__(self, reason: str) -> None:
        super().__init__(503, f"not judged: {reason}")


class EpisodeError(HTTPException):
    """A call that the episode does not allow; the message says why."""

    def __init__(self, problem: str) -> None:
        super().__init__(400, problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """What all episodes of a server share.

    Args:
        settings: the server's settings.
        templates: the tasks, by id.
        client: runs programs.
        judge: judges solutions.
    """

    settings: EnvironmentSettings
    templates: Mapping[str, pb.ScoreRequest]
    client: AsyncRewardClient
    judge: Judge

    @classmethod
    def of(cls, settings: EnvironmentSettings) -> Backend:
        """Reads the tasks.

        Raises:
            ConfigError: there is no file of tasks, or it cannot be read.
        """
        if settings.tasks is None:
            raise ConfigError(
                "CODEREWARD_TASKS: name the file of the tasks, as `tasks.write_templates` writes it"
            )
        with naming_variables():
            templates = tasks.read_templates(settings.tasks)
        if not templates:
            raise ConfigError(f"CODEREWARD_TASKS: {settings.tasks} has no task")
        client = AsyncRewardClient(settings.target, **settings.options)
        return cls(settings=settings, templates=templates, client=client, judge=settings.judge())

    def task(self, index: int) -> str:
        """Returns the id of a task by its position in the file.

        Raises:
            IndexError: there are not as many tasks.
        """
        if not 0 <= index < len(self.templates):
            raise IndexError(f"index: {index} is none of the {len(self.templates)} tasks")
        return list(self.templates)[index]

    async def run(self, template: pb.ScoreRequest, action: CodeAction) -> pb.ExecuteResponse:
        """Runs a program; waits while the server is busy.

        Raises:
            CallError: it was not run.
        """
        request = pb.ExecuteRequest(
            language=template.language,
            source=well_formed(action.code),
            stdin_text=well_formed(action.stdin),
            limits=program_limits(self.settings.run_seconds),
        )
        return await self.client.execute(request, waits=True)


class CodeRewardEnvironment(Environment):  # type: ignore[misc]
    """An episode, in the form that OpenEnv asks for.

    Args:
        backend: what it shares with other episodes.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._state = State(episode_id=str(uuid.uuid4()))
        self._task_id = ""
        self._is_over = False

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Begins an episode, of the named task or of one that is drawn.

        Args:
            seed: decides which task is drawn.
            episode_id: the id of the episode.
            **kwargs: `task_id`; or `index` of the task, and `split`, which is `train`.

        Raises:
            EpisodeError: there is no such task.
        """
        self._task_id = self._chosen(seed, **kwargs)
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        self._is_over = False
        template = self._backend.templates[self._task_id]
        return CodeObservation(task_id=self._task_id, prompt=template.prompt)

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Begins an episode; see `reset`."""
        return self.reset(seed, episode_id, **kwargs)

    def step(
        self, action: CodeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Runs code, or judges a solution; for callers without an event loop."""
        return asyncio.run(self.step_async(action, timeout_s, **kwargs))

    async def step_async(
        self, action: CodeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Runs code, or judges a solution.

        The reward is None if there is none yet, and if the solution was not judged. In the latter
        case the episode is over, and `metadata["not_judged"]` has the reason.

        Args:
            action: the code.
            timeout_s: the greatest time of the step, in seconds.
            **kwargs: the arguments of `reset`, for a step without a reset.

        Raises:
            EpisodeError: the episode is over, or none has begun.
            NotJudgedError: it was not judged, and the settings ask for an error.
        """
        if kwargs and not self._task_id:
            self.reset(**kwargs)
        if not self._task_id:
            raise EpisodeError("no episode has begun: call reset, or give the step a task_id")
        if self._is_over:
            raise EpisodeError("the episode is over: call reset")
        self._state.step_count += 1
        try:
            async with asyncio.timeout(timeout_s):
                observed = await self._taken(action)
        except TimeoutError:
            observed = self._not_judged(f"TIMEOUT: the step took more than {timeout_s:g} s")
        except CallError as error:
            observed = self._not_judged(str(error))
        self._is_over = observed.done
        return observed

    @property
    def state(self) -> State:
        """The id of the episode and the number of its steps."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Returns what the environment is."""
        return EnvironmentMetadata(
            name="codereward_env",
            description="Runs programs in a sandbox, and judges solutions by hidden tests.",
            version=build.version(),
        )

    def list_splits(self) -> list[dict[str, str]]:
        """Returns the one split."""
        return [{"name": SPLIT, "type": SPLIT}]

    def num_tasks(self, split: str) -> int:
        """Returns the number of tasks."""
        _check(split)
        return len(self._backend.templates)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Returns id, position, prompt and language of a task, and nothing of its tests.

        Raises:
            IndexError: there are not as many tasks.
        """
        _check(split)
        return self._told(index, self._backend.task(index))

    def list_tasks(self, split: str) -> Sequence[dict[str, Any]]:
        """Returns all tasks; see `get_task`."""
        return self.get_task_range(split)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns tasks by their positions, as a slice does; see `get_task`."""
        _check(split)
        numbered = list(enumerate(self._backend.templates))
        return [self._told(*one) for one in numbered[start:stop]]

    def _told(self, index: int, task_id: str) -> dict[str, Any]:
        template = self._backend.templates[task_id]
        language = template.language or "python"
        return {"id": task_id, "index": index, "prompt": template.prompt, "language": language}

    def _chosen(
        self,
        seed: int | None,
        task_id: str | None = None,
        index: int | None = None,
        split: str = SPLIT,
        **others: Any,
    ) -> str:
        if others:
            raise EpisodeError(f"reset has no argument {', '.join(map(repr, others))}")
        try:
            _check(split)
            if index is not None:
                return self._backend.task(index)
        except (IndexError, ValueError) as error:
            raise EpisodeError(str(error)) from error
        if task_id is None:
            return random.Random(seed).choice(list(self._backend.templates))
        if task_id not in self._backend.templates:
            count = len(self._backend.templates)
            raise EpisodeError(f"task_id: {task_id!r} is none of the {count} tasks")
        return task_id

    async def _taken(self, action: CodeAction) -> CodeObservation:
        settings = self._backend.settings
        observed = CodeObservation(task_id=self._task_id)
        if not action.submit:
            observed = await self._ran(action)
        if action.submit or settings.judged == "step":
            (found,) = await self._backend.judge.score([action.code], [self._task_id])
            if found.error is not None or found.reward is None:
                return self._not_judged(_reason(found))
            observed.reward = found.reward
            observed.metadata = {"verdict": verdict_name(found)}
            observed.done = action.submit or verdict_name(found) == "PASSED"
        if settings.steps is not None and self._state.step_count >= settings.steps:
            observed.done = True
        return observed

    async def _ran(self, action: CodeAction) -> CodeObservation:
        answer = await self._backend.run(self._backend.templates[self._task_id], action)
        end, most = answer.termination, self._backend.settings.output_bytes
        signaled = end.kind == pb.TERMINATION_KIND_SIGNALED
        return CodeObservation(
            task_id=self._task_id,
            stdout=answer.stdout.data[:most].decode(errors="replace"),
            stderr=answer.stderr.data[:most].decode(errors="replace"),
            exit_code=_SIGNALED + end.signal if signaled else end.exit_code,
            limits_hit=[
                pb.LimitKind.Name(kind).removeprefix("LIMIT_KIND_") for kind in answer.limits_hit
            ],
        )

    def _not_judged(self, reason: str) -> CodeObservation:
        if self._backend.settings.unjudged == "raise":
            raise NotJudgedError(reason)
        return CodeObservation(task_id=self._task_id, done=True, metadata={"not_judged": reason})


def _check(split: str) -> None:
    if split != SPLIT:
        raise ValueError(f"split: {split!r} is not {SPLIT!r}")


def _reason(found: Score) -> str:
    return f"{verdict_name(found)}: {found.message}" if found.error is None else str(found.error)

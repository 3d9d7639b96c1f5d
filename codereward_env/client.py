"""The client of the environment."""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import State

from codereward_env.models import CodeAction, CodeObservation


class CodeRewardEnv(EnvClient[CodeAction, CodeObservation, State]):  # type: ignore[misc]
    """A connection to the environment's server; each connection has an episode of its own.

    Examples:
        >>> from codereward_env import CodeAction, CodeRewardEnv
        >>> with CodeRewardEnv(base_url="http://localhost:8000").sync() as env:
        ...     print(env.reset(task_id="double").observation.prompt)
        ...     print(env.step(CodeAction(code="print(6 * 7)")).observation.stdout)
        ...     solution = CodeAction(code="def double(x): return 2 * x", submit=True)
        ...     print(env.step(solution).reward)
        Write double(x).
        42
        <BLANKLINE>
        1.0
    """

    def _step_payload(self, action: CodeAction) -> dict[str, Any]:
        payload: dict[str, Any] = action.model_dump(exclude={"metadata"})
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload.get("reward"), payload.get("done", False)
        observed = payload.get("observation", {}) | {"reward": reward, "done": done}
        return StepResult(
            observation=CodeObservation.model_validate(observed),
            reward=reward,
            done=done,
            metadata=payload.get("metadata"),
        )

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State.model_validate(payload)

"""Ends rollouts of verifiers; verifiers then scores them with a reward that the config names."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from google.protobuf import json_format

from examples.adapters.common import SAMPLES, TASK, reward_server
from examples.adapters.common import Sample as Example
from trainer_client.adapters.common import settings

CONFIG = {"rewards": {"code_reward": {"fn": "trainer_client.adapters.verifiers.code_reward"}}}


def main() -> None:
    """Prints the result of verifiers for each sample."""
    with reward_server():
        found = asyncio.run(_all())
    found["outage"] = asyncio.run(_without_server())
    print(json.dumps(found))  # noqa: T201


async def _all() -> dict[str, Any]:
    return {sample.name: await _ended(sample) for sample in SAMPLES}


async def _without_server() -> Mapping[str, Any]:
    settings.forget()
    os.environ |= {"CODEREWARD_TARGET": "127.0.0.1:1", "CODEREWARD_OUTAGE_SECONDS": "0.1"}
    os.environ.pop("CODEREWARD_TASKS")
    return await _ended(replace(SAMPLES[0], label=json_format.MessageToJson(TASK)))


async def _ended(sample: Example) -> Mapping[str, Any]:
    import verifiers.v1 as vf  # type: ignore[import-not-found]  # verifiers has it
    from verifiers.v1.rollout import Rollout, RolloutLimits, RolloutTimeouts  # type: ignore[import-not-found]

    class TwiceTask(vf.Task[vf.TaskData]):  # type: ignore[misc]  # untyped here
        """A task whose id names its tests."""

    data = vf.TaskData(id=sample.label, prompt="Write twice(x).")
    rollout = Rollout(
        task=TwiceTask(data, vf.TaskConfig.model_validate(CONFIG)),
        agent_config=vf.AgentConfig(),
        harness=Harness(),
        ctx=None,
        runtime_config=vf.SubprocessConfig(),
        timeouts=RolloutTimeouts(),
        limits=RolloutLimits(),
        runtime=SimpleNamespace(stopped=False, name="none"),
    )
    # This state stands for a rollout of a model that succeeded.
    rollout._opened = True
    rollout.trace.root_reply = sample.response
    trace = await rollout.close()
    return {
        "ok": trace.ok,
        "reward": trace.rewards["code_reward"] and trace.reward,
        "errors": [[error.type, error.message] for error in trace.errors],
        "info": trace.info,
    }


class Harness:
    """The methods of a harness that a rollout calls when it ends."""

    SUPPORTS_TOOL_INTERCEPTION = False

    async def score(self, trace: object, runtime: object) -> None:
        """Adds no score."""

    async def cleanup(self, trace: object, runtime: object) -> None:
        """Has nothing to clean up."""


if __name__ == "__main__":
    main()

"""Plays an episode by verifiers' taskset for OpenEnv; a scripted player stands in for a model.

python stand_ins.py PACKAGES openenv_verifiers URL
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

from verifiers.v1.tasksets.openenv.taskset import (
    OpenEnvConfig,
    OpenEnvEnv,
    OpenEnvTaskset,
)


class Player:
    """Answers observations with the lines of a script.

    Args:
        replies: what it says, in turn.
    """

    def __init__(self, replies: list[str]) -> None:
        self._replies = iter(replies)
        self.rewards: dict[str, float] = {}
        self.seen: list[str] = []

    @asynccontextmanager
    async def interaction(self, task: object) -> AsyncIterator[SimpleNamespace]:
        """Yields the conversation about a task."""
        trace = SimpleNamespace(record_reward=self.rewards.__setitem__)
        yield SimpleNamespace(turn=self._turn, trace=trace)

    async def _turn(self, payload: str) -> SimpleNamespace:
        self.seen.append(json.loads(payload)["observation"]["stdout"])
        return SimpleNamespace(terminated=False, last_reply=next(self._replies))


async def main(url: str) -> None:
    """Plays a right and a wrong episode."""
    config = OpenEnvConfig(base_url=url, resets=[{"task_id": "double"}])
    (task,) = OpenEnvTaskset(config).load()
    found = {}
    for name, factor in (("right", 2), ("wrong", 3)):
        solution = json.dumps({"code": f"def double(x): return {factor} * x", "submit": True})
        player = Player(["print(6 * 7)", solution])
        await OpenEnvEnv.run(None, task, SimpleNamespace(player=player))
        found[name] = [player.rewards, player.seen]
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))

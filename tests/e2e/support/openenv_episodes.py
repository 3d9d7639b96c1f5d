"""Plays episodes of `codereward_env` by OpenEnv's generic client, and prints what came of them.

python openenv_episodes.py URL
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from openenv import GenericEnvClient

from codereward_env import CodeAction, CodeRewardEnv

EPISODES = 64
RIGHT, WRONG = "def double(x): return 2 * x", "def double(x): return x"


async def played(url: str, number: int) -> tuple[str, float | None, bool]:
    """Runs a program, and submits a solution that is right if the number is even."""
    async with GenericEnvClient(base_url=url) as env:
        await env.reset(task_id="double")
        ran = await env.step({"code": f"print({number})"})
        code = f"{WRONG if number % 2 else RIGHT}  # {number}"
        judged = await env.step({"code": code, "submit": True})
        return ran.observation["stdout"], judged.reward, judged.done


async def refusals(url: str) -> list[str]:
    """Returns the errors of calls that an episode does not allow."""
    told = []
    async with GenericEnvClient(base_url=url) as env:
        for reset in ({"task_id": "none"}, {"index": 99}, {"index": 0, "colour": "red"}):
            try:
                await env.reset(**reset)
            except RuntimeError as error:
                told.append(str(error))
        await env.reset(index=0)
        await env.step({"code": WRONG, "submit": True})
        try:
            await env.step({"code": RIGHT, "submit": True})
        except RuntimeError as error:
            told.append(str(error))
    return told


async def program(url: str) -> dict[str, Any]:
    """Returns what a program that fails tells, and that a broken task has no reward."""
    async with CodeRewardEnv(base_url=url) as env:
        begun = await env.reset(task_id="double", episode_id="episode-7")
        code = "import sys; print(input()); sys.exit(3)"
        failed = await env.step(CodeAction(code=code, stdin="abc"))
        looped = await env.step(CodeAction(code="while True: pass"))
        state = await env.state()
    async with CodeRewardEnv(base_url=url) as env:
        await env.reset(task_id="broken")
        broken = await env.step(CodeAction(code=RIGHT, submit=True))
    return {
        "prompt": begun.observation.prompt,
        "failed": [failed.observation.stdout, failed.observation.exit_code, failed.reward],
        "looped": looped.observation.limits_hit,
        "state": [state.episode_id, state.step_count],
        "broken": [broken.reward, broken.done, broken.metadata],
    }


async def main(url: str) -> None:
    """Plays all of it."""
    episodes = await asyncio.gather(*(played(url, number) for number in range(EPISODES)))
    found = {"episodes": episodes, "refusals": await refusals(url), **await program(url)}
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

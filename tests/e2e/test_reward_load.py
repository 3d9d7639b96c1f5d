"""A large batch of completions in one call of a reward function, with a real server."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.support.rows import times_rows
from trainer_client import remote_reward, tasks

ROWS = times_rows("t")
COMPLETIONS = 512


async def rounds(stopped: asyncio.Event) -> int:
    """Returns how often the loop came round."""
    count = 0
    while not stopped.is_set():
        await asyncio.sleep(0.001)
        count += 1
    return count


async def test_512_completions_in_one_call_leave_the_event_loop_free(lasting_server):
    reward = remote_reward(lasting_server.target, task=tasks.templates("humaneval", ROWS))
    completions = [f"    return x * {number % 2 + 2}  # {number}" for number in range(COMPLETIONS)]
    stopped = asyncio.Event()
    watch = asyncio.create_task(rounds(stopped))
    rewards = await reward([""] * COMPLETIONS, completions, task_id=["t/2"] * COMPLETIONS)
    stopped.set()
    assert rewards == [1.0, 0.0] * (COMPLETIONS // 2)
    # A fetch that blocked would have held the loop up from the first answer to the last.
    assert await watch > COMPLETIONS / 8


@pytest.mark.training
async def test_other_asynchronous_rewards_are_computed_meanwhile(lasting_server):
    """TRL awaits asynchronous rewards together; neither may keep the loop to itself."""
    reward = remote_reward(lasting_server.target, task=tasks.templates("humaneval", ROWS))
    ended: list[str] = []

    async def noted(name: str, work) -> None:
        await work
        ended.append(name)

    async def other() -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    completions = [f"    return {number}" for number in range(COMPLETIONS // 4)]
    rewards = reward([""] * len(completions), completions, task_id=["t/2"] * len(completions))
    await asyncio.gather(noted("execution", rewards), noted("other", other()))
    assert ended == ["other", "execution"]

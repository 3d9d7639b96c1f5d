"""A job runs in the image that it names, and images that nobody uses keep nothing warm."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from reward_server.domain import (
    Ending,
    Execution,
    Job,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.errors import UnsupportedError
from reward_server.sandbox.base import Sandbox
from reward_server.sandbox.language_pools import Pools
from reward_server.sandbox.pool import Pool

FINE = Execution(ending=Ending.COMPLETED, termination=Termination(kind=TerminationKind.EXITED))
FOREVER = 1000.0


@dataclass(slots=True)
class Images:
    """Starts sandboxes that remember their image."""

    ran: list[str] = field(default_factory=list)
    alive: list[str] = field(default_factory=list)

    def starter(self, image: str) -> Callable[[int], Awaitable[Sandbox]]:
        async def start(_: int) -> Sandbox:
            self.alive.append(image)
            return _OfImage(self, image)

        return start

    def pools(self, *named: str, slots: int = 1) -> Pools:
        """Returns pools of a first image, which has Python, and of others."""
        first = Pool(self.starter("first"), slots=slots, spares=0)
        others = {
            name: Pool(self.starter(name), slots=slots, idle_seconds=FOREVER) for name in named
        }
        return Pools({"python": first}, {"first": first, **others})


@dataclass(slots=True)
class _OfImage:
    images: Images
    image: str
    is_alive: bool = True

    async def run(self, job: Job) -> Execution:
        self.images.ran.append(self.image)
        await asyncio.sleep(0)
        return FINE

    async def close(self) -> None:
        self.images.alive.remove(self.image)


def job(image: str = "", language: str = "python") -> Job:
    return Job(work=Program(source=""), language=language, image=image)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_a_job_runs_in_the_image_that_it_names_or_in_the_first_with_its_language() -> None:
    images = Images()
    pools = images.pools("one", "two")
    await pools.start()
    for image in ("", "two", "first", "one"):
        await pools.run(job(image))
    assert images.ran == ["first", "two", "first", "one"]
    for wrong in (job("three"), job(language="go")):
        with pytest.raises(UnsupportedError, match="no sandbox has"):
            await pools.run(wrong)
    await pools.close()
    assert images.alive == []


@pytest.mark.asyncio
async def test_images_of_tasks_have_no_more_idle_sandboxes_than_there_are_slots() -> None:
    images = Images()
    names = [f"task-{number}" for number in range(6)]
    pools = images.pools(*names, slots=2)
    await pools.start()
    for name in names:
        await pools.run(job(name))
        await settle()
    # Those of the first image stay, and of the others the two that were used last.
    assert sorted(images.alive) == ["first", "first", *names[-2:]]
    assert pools.counts.closed["unused"] == len(names) - 2
    await pools.run(job(names[-2]))
    await settle()
    assert sorted(images.alive) == ["first", "first", *names[-2:]]
    await pools.close()

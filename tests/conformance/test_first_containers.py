"""The container that shows which walls stand is the first to run jobs, and has all of them."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import aclosing

import pytest

from reward_server.backends import running_backend
from reward_server.domain import Ending, Job, Program
from reward_server.errors import MissingWallError, SandboxError
from reward_server.sandbox.local import container
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions, start_local
from reward_server.sandbox.local.first_containers import FirstContainers
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from reward_server.settings import Settings
from tests.conformance.test_faults import Host


class Starts:
    """Really starts containers, remembers each, and may change what their runners tell of walls."""

    def __init__(self) -> None:
        self.made: list[tuple[int, LocalOptions, ContainedSandbox]] = []
        self.closed: list[ContainedSandbox] = []
        self.tells_of_seccomp = True

    async def __call__(
        self, slot: int, options: LocalOptions, parent: CgroupParent | None, name: str
    ) -> ContainedSandbox:
        made = await start_local(slot, options, parent, name)
        if not self.tells_of_seccomp:
            walls = [
                dataclasses.replace(wall, standing=wall.standing and wall.name != "seccomp")
                for wall in made.description.walls
            ]
            made.description = dataclasses.replace(made.description, walls=tuple(walls))
        self.made.append((slot, options, made))
        return made


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    made = Starts()
    monkeypatch.setattr(container, "start_local", made)
    return made


def settings(*allow_missing: str) -> Settings:
    return Settings(workers=2, languages=("python",), allow_missing=allow_missing)


async def test_no_container_starts_only_to_be_tried(starts: Starts) -> None:
    host = Host()
    async with running_backend(settings()) as backend:
        first = next(made for slot, _, made in starts.made if slot == 0)
        assert first.is_alive
        assert len(starts.made) <= 3  # two slots and a spare
        execution = await backend.executor.run(Job(work=Program(source="print(1)")))
        assert execution.ending is Ending.COMPLETED
    await host.assert_unchanged()


async def test_a_host_is_refused_by_what_its_first_container_tells(starts: Starts) -> None:
    starts.tells_of_seccomp = False
    host = Host()
    with pytest.raises(MissingWallError, match="seccomp"):
        async with running_backend(settings()):
            pass
    await host.assert_unchanged()


async def test_no_container_runs_jobs_that_was_made_for_a_host_with_other_walls(
    starts: Starts,
) -> None:
    starts.tells_of_seccomp = False
    host = Host()
    async with running_backend(settings("seccomp")) as backend:
        assert not next(wall for wall in backend.walls if wall.name == "seccomp").standing
        tried = [made for _, options, made in starts.made if options.use_seccomp]
        assert tried
        assert [made.is_alive for made in tried] == [False] * len(tried)
    await host.assert_unchanged()


@pytest.mark.parametrize("turns", [1, 30])
async def test_a_start_that_is_given_up_leaves_nothing(turns: int) -> None:
    host = Host()
    async with aclosing(FirstContainers(CgroupParent.detect(), 2)) as containers:
        attempt = asyncio.create_task(containers.attempt(LocalOptions()))
        for _ in range(turns):
            await asyncio.sleep(0)
        attempt.cancel()
        await asyncio.gather(attempt, return_exceptions=True)
    await host.assert_unchanged()


async def test_a_slot_whose_first_container_did_not_start_gets_another(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter([True])

    async def refuse(
        slot: int, options: LocalOptions, parent: CgroupParent | None, name: str
    ) -> ContainedSandbox:
        if slot == 1 and next(refusals, False):
            raise SandboxError("refused")
        return await starts(slot, options, parent, name)

    monkeypatch.setattr(container, "start_local", refuse)
    host = Host()
    async with aclosing(FirstContainers(CgroupParent.detect(), 2)) as containers:
        await containers.attempt(LocalOptions())
        with pytest.raises(SandboxError, match="refused"):
            await containers(1)
        await (await containers(1)).close()
        await (await containers(0)).close()
        again = await containers(0)  # the one that replaces it
        assert again.is_alive
        await again.close()
    await host.assert_unchanged()

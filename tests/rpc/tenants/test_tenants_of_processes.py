"""Quotas of tenants with several processes: real processes over simulated sandboxes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.errors import SettingsError
from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.conftest import function_request
from tests.support.simulated_process import COMMAND

COUNT, CALLS = 2, 5
RED = (("authorization", "Bearer red-token"),)


@asynccontextmanager
async def running(
    folder: Path, monkeypatch: pytest.MonkeyPatch, quota: str
) -> AsyncIterator[Processes]:
    """Runs processes whose executions take longer than the test."""
    monkeypatch.setenv("SIMULATED_SECONDS", "30")
    file = folder / "tokens.toml"
    table = f'[[tenants]]\nname = "red"\ntokens = ["red-token"]\n{quota}\n'
    await asyncio.to_thread(file.write_text, table)
    flags = {"port": 0, "workers": 4 * COUNT, "drain_seconds": 0, "token_file": file}
    async with running_processes(load_settings(flags), COUNT, command=COMMAND) as processes:
        yield processes


@asynccontextmanager
async def calls_to_each(processes: Processes) -> AsyncIterator[list[asyncio.Task[object]]]:
    """Sends each process as many calls, which are cancelled at the end."""
    calls = list[asyncio.Task[object]]()
    channels = []
    for one in processes.facts["processes"]:
        channels.append(grpc.aio.insecure_channel(f"127.0.0.1:{one['port']}"))
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channels[-1])
        for number in range(CALLS):
            request = function_request(CALLS * one["number"] + number)
            calls.append(asyncio.ensure_future(stub.Score(request, metadata=RED)))
    try:
        yield calls
    finally:
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*(channel.close() for channel in channels))


async def gauge(processes: Processes, name: str) -> list[int]:
    pattern = re.compile(rf"^reward_server_{name}(?:{{.*}})? (\d+)", re.M)
    return [sum(map(int, pattern.findall(text))) for text in (await processes.metrics()).values()]


async def test_all_processes_together_admit_as_many_requests_as_the_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        running(tmp_path, monkeypatch, "requests_in_flight = 4") as processes,
        calls_to_each(processes) as calls,
    ):
        refused = await first_errors(calls, COUNT * CALLS - 4)
        assert {error.code() for error in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert "requests_in_flight of 2 in each of 2 processes" in (refused[0].details() or "")
        assert await gauge(processes, "tenant_requests_in_flight") == [2, 2]


async def first_errors(calls: list[asyncio.Task[object]], count: int) -> list[grpc.aio.AioRpcError]:
    """Returns the errors of as many calls, which are the first to end."""
    found = list[grpc.aio.AioRpcError]()
    for call in asyncio.as_completed(calls):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call
        found.append(raised.value)
        if len(found) == count:
            break
    return found


async def test_all_processes_together_run_as_many_executions_as_the_quota_of_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        running(tmp_path, monkeypatch, "slots = 2") as processes,
        calls_to_each(processes),
    ):
        while await gauge(processes, "waiting") != [CALLS - 1] * COUNT:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert await gauge(processes, "running") == [1, 1]


async def test_a_quota_that_cannot_be_divided_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match=r"slots of the tenant red is 1, .* 2 processes"):
        async with running(tmp_path, monkeypatch, "slots = 1"):
            pass

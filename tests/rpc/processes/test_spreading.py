"""A client spreads its requests over the processes of a server by itself."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.conftest import function_request
from tests.rpc.processes.serving import figures, spread
from tests.support.counting_proxy import CountingProxy
from tests.support.simulated_process import COMMAND
from trainer_client import AsyncRewardClient, Verdict
from trainer_client.local_server import free_port
from trainer_client.transport import processes as transport
from trainer_client.transport.contract import ServerContract

COUNT, REQUESTS = 3, 120
OTHER_HOST = "127.0.0.2"


@asynccontextmanager
async def running(monkeypatch: pytest.MonkeyPatch, **flags: Any) -> AsyncIterator[Processes]:
    monkeypatch.setenv("SIMULATED_SECONDS", "0.02")
    settings = load_settings({"port": 0, "workers": 2 * COUNT, "drain_seconds": 5, **flags})
    async with running_processes(settings, COUNT, command=COMMAND) as processes:
        yield processes


def found(client: AsyncRewardClient) -> set[int]:
    return {number for line in client._lines.values() for number in line.processes._found}


def instances(client: AsyncRewardClient) -> set[str]:
    return {line.processes._instance for line in client._lines.values()}


async def know(client: AsyncRewardClient, numbers: set[int]) -> None:
    """Sends requests until the client is connected to exactly these processes."""
    number = 10_000
    while found(client) != numbers:
        [score] = await client.score([function_request(number)])
        assert score.verdict is Verdict.PASSED
        number += 1


async def test_requests_go_to_all_processes_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    monkeypatch.setenv("SIMULATED_HOLD", str(hold))
    async with (
        running(monkeypatch) as processes,
        AsyncRewardClient(processes.facts["address"], batch_size=1, max_in_flight=12) as client,
    ):
        await know(client, {0, 1, 2})
        assert await spread(client, processes, hold, 12) == [4, 4, 4]


async def test_processes_are_met_at_the_shared_address_if_their_ports_are_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(monkeypatch) as processes:
        proxy = CountingProxy(processes.facts["address"])
        server = await asyncio.start_server(proxy.serve, OTHER_HOST, 0)
        port = server.sockets[0].getsockname()[1]
        async with AsyncRewardClient(f"{OTHER_HOST}:{port}") as client:
            await know(client, {0, 1, 2})
        server.close()
        await proxy.close()


async def test_a_killed_process_loses_no_verdict_and_is_found_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        running(monkeypatch) as processes,
        AsyncRewardClient(processes.facts["address"], max_in_flight=12) as client,
    ):
        await know(client, {0, 1, 2})
        requests = [function_request(number) for number in range(4 * REQUESTS)]
        before = sum(await figures(processes, "verdicts_total"))
        scoring = asyncio.create_task(client.score(requests))
        while sum(await figures(processes, "verdicts_total")) == before:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        os.kill(processes.pids[1], signal.SIGKILL)
        scores = await scoring
        assert {one.verdict for one in scores} == {Verdict.PASSED}
        await know(client, {0, 1, 2})


async def test_a_restarted_server_is_looked_at_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    async with AsyncRewardClient(f"127.0.0.1:{port}") as client:
        async with running(monkeypatch, port=port):
            await know(client, {0, 1, 2})
            first = instances(client)
        async with running(monkeypatch, port=port):
            while instances(client) == first:
                await client.score([function_request(1)])
            await know(client, {0, 1, 2})


async def test_nothing_goes_on_after_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, held = asyncio.Event(), asyncio.Event()

    async def stuck(*_: Any) -> Any:
        begun.set()
        await held.wait()

    monkeypatch.setattr(transport.Processes, "_find_all", stuck)
    monkeypatch.setattr(transport, "_REST_SECONDS", 0.01)
    async with (
        running(monkeypatch) as processes,
        AsyncRewardClient(processes.facts["address"]) as client,
    ):
        [score] = await client.score([function_request()])
        assert score.verdict is Verdict.PASSED
        assert begun.is_set()
        assert all(line.processes._look.done() for line in client._lines.values())


async def test_the_client_of_one_process_asks_nothing_after_its_first_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[ServerContract]()
    ask = ServerContract.described

    async def counted(contract: ServerContract) -> Any:
        asked.append(contract)
        return await ask(contract)

    monkeypatch.setattr(ServerContract, "described", counted)
    monkeypatch.setattr(transport, "_PAUSE_SECONDS", 0.0)
    settings = load_settings({"port": 0, "workers": 2})
    async with (
        running_processes(settings, 1, command=COMMAND) as processes,
        AsyncRewardClient(processes.facts["address"]) as client,
    ):
        await client.score([function_request(0)])
        first = len(asked)
        for number in range(1, 5):
            await client.score([function_request(number)])
        assert len(asked) == first <= 2  # for its contract, and for its processes
        assert found(client) == set()

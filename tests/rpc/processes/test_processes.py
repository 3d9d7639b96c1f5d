"""Several serving processes behind one address: real processes, real channels."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import SettingsError, StartError
from reward_server.processes import parent
from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.conftest import function_request
from tests.rpc.processes.serving import Served, lives, reached, serving, until
from tests.support.simulated_process import COMMAND
from trainer_client.local_server import free_port

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING

Start = Callable[..., Awaitable[Processes]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts processes over simulated sandboxes; flags are settings."""
    async with AsyncExitStack() as stack:

        async def begin(count: int = 2, **flags: Any) -> Processes:
            settings = load_settings({"port": 0, "workers": 4, "drain_seconds": 20, **flags})
            running = running_processes(settings, count, command=COMMAND)
            return await stack.enter_async_context(running)

        yield begin


def addresses(processes: Processes) -> list[str]:
    return [f"127.0.0.1:{one['port']}" for one in processes.facts["processes"]]


async def info(address: str, token: str = "") -> pb.GetServerInfoResponse:
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    async with reached(address) as stub:
        return await stub.GetServerInfo(pb.GetServerInfoRequest(), metadata=metadata)


async def health(address: str, service: str = "") -> int:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
        return int(answer.status)


async def scored(address: str, number: int) -> pb.ScoreResponse:
    async with reached(address) as stub:
        return await stub.Score(function_request(number))


async def test_processes_share_an_address_that_no_other_server_joins_and_have_their_own(
    start: Start,
) -> None:
    processes = await start(2)
    with pytest.raises(StartError, match="Address already in use"):
        await start(2, port=processes.facts["port"])
    answers = [await info(address) for address in addresses(processes)]
    assert [one.process for one in answers] == [0, 1]
    assert {one.slots for one in answers} == {4}
    assert {one.queue_capacity for one in answers} == {256}
    shared = processes.facts["address"]
    found = set[int]()

    async def met_all() -> bool:
        answer = await info(shared)
        assert answer.instance == answers[0].instance != ""
        found.add(answer.process)
        return found == {0, 1}

    await until(met_all)
    assert (await scored(shared, 1)).verdict == pb.VERDICT_PASSED


async def test_a_killed_process_is_started_again_and_the_others_serve_on(start: Start) -> None:
    processes = await start(3)
    first = dict(processes.pids)
    own = addresses(processes)
    os.kill(first[1], signal.SIGKILL)

    async def is_back() -> bool:
        for address in (own[0], own[2]):
            assert (await scored(address, 1)).verdict == pb.VERDICT_PASSED
        try:
            return (await info(own[1])).process == 1
        except grpc.aio.AioRpcError:
            return False

    await until(is_back)
    assert processes.starts == {0: 1, 1: 2, 2: 1}
    assert {number for number in first if processes.pids[number] != first[number]} == {1}


async def test_a_process_that_does_not_start_is_tried_again_until_it_does(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    obstacle = tmp_path / "obstacle"
    monkeypatch.setenv("SIMULATED_OBSTACLE", str(obstacle))
    monkeypatch.setattr(parent, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(parent, "LONGEST_PAUSE_SECONDS", 0.02)
    processes = await start(2)
    await asyncio.to_thread(obstacle.touch)
    os.kill(processes.pids[0], signal.SIGKILL)

    async def was_tried_twice() -> bool:
        return processes.starts[0] > 2

    await until(was_tried_twice)
    assert (await scored(processes.facts["address"], 1)).verdict == pb.VERDICT_PASSED
    await asyncio.to_thread(obstacle.unlink)

    async def is_back() -> bool:
        try:
            return (await info(addresses(processes)[0])).process == 0
        except grpc.aio.AioRpcError:
            return False

    await until(is_back)
    assert processes.starts[1] == 1


async def test_a_process_that_hangs_is_killed_and_replaced(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parent, "SILENT_SECONDS", 6.0)  # the other is never so late
    processes = await start(2)
    before = processes.pids[0]
    os.kill(before, signal.SIGSTOP)

    async def is_replaced() -> bool:
        return processes.pids[0] != before

    await until(is_replaced)
    assert processes.starts[1] == 1


async def test_a_drain_lets_the_work_of_every_process_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SIMULATED_SECONDS", "2")
    settings = load_settings({"port": 0, "workers": 4, "drain_seconds": 20})
    async with running_processes(settings, 2, command=COMMAND) as processes:
        calls = [
            asyncio.create_task(scored(address, number))
            for number, address in enumerate(addresses(processes))
        ]

        async def all_run() -> bool:
            texts = await processes.metrics()
            return sum("reward_server_running 1.0" in text for text in texts.values()) == 2

        await until(all_run)
    answers = await asyncio.gather(*calls)
    assert [one.verdict for one in answers] == [pb.VERDICT_PASSED] * 2


async def test_a_rolling_restart_replaces_every_process_and_ends_no_call(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_SECONDS", "0.3")
    processes = await start(2)
    before = dict(processes.pids)
    calls = [
        asyncio.create_task(scored(address, number))
        for number, address in enumerate(addresses(processes) * 3)
    ]

    async def all_arrived() -> bool:
        texts = await processes.metrics()
        return sum("reward_server_admitted 3.0" in text for text in texts.values()) == 2

    await until(all_arrived)
    await processes.restart()
    assert [(await call).verdict for call in calls] == [pb.VERDICT_PASSED] * 6
    assert set(before.values()).isdisjoint(processes.pids.values())
    assert [(await info(address)).process for address in addresses(processes)] == [0, 1]


async def test_health_is_that_of_all_processes_and_each_tells_its_own(start: Start) -> None:
    processes = await start(2)
    first, second = addresses(processes)
    os.kill(processes.pids[0], signal.SIGUSR2)

    async def tells_its_own() -> bool:
        return await health(first, "process") == NOT_SERVING

    await until(tells_its_own)
    assert await health(first) == SERVING
    assert await health(second, "process") == SERVING
    os.kill(processes.pids[1], signal.SIGUSR2)

    async def all_tell() -> bool:
        return {await health(first), await health(second)} == {NOT_SERVING}

    await until(all_tell)


async def test_metrics_of_all_processes_are_read_at_one_port(start: Start) -> None:
    port = free_port()
    processes = await start(2, metrics_port=port)
    for number, address in enumerate(addresses(processes)):
        await scored(address, number)

    def scrape() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            return str(answer.read().decode())

    text = await asyncio.to_thread(scrape)
    for number in "01":
        assert f'reward_server_verdicts_total{{process="{number}",verdict="PASSED"}} 1.0' in text
        assert f'reward_server_process_up{{process="{number}"}} 1.0' in text
        assert f'reward_server_slots{{process="{number}"}} 2.0' in text
    assert text.count("# TYPE reward_server_verdicts_total counter") == 1
    assert text.count("# TYPE process_cpu_seconds_total counter") == 1


async def test_a_reload_reaches_every_process(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    await asyncio.to_thread(file.write_text, "first\n")
    processes = await start(2, token_file=file)
    own = addresses(processes)
    assert [(await info(address, "first")).process for address in own] == [0, 1]
    await asyncio.to_thread(file.write_text, "second\n")
    processes.reload()

    async def is_known(address: str) -> bool:
        try:
            await info(address, "second")
        except grpc.aio.AioRpcError:
            return False
        return True

    async def all_know() -> bool:
        return all([await is_known(address) for address in own])

    await until(all_know)
    for address in (*own, processes.facts["address"]):
        with pytest.raises(grpc.aio.AioRpcError):
            await info(address, "first")


async def test_a_port_in_use_is_told_in_words(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"port {port}: Address already in use"):
            await start(2, port=port)


async def test_a_process_that_cannot_start_ends_the_start_with_its_reason(tmp_path: Path) -> None:
    empty = tmp_path / "tokens"
    await asyncio.to_thread(empty.touch)
    settings = load_settings({"port": 0, "workers": 2, "token_file": empty})
    with pytest.raises(SettingsError, match="holds no token"):
        async with running_processes(settings, 2, command=COMMAND):
            pass


# ------------------------------------------------------------------------------- the command


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """`reward-server serve` with two processes over real sandboxes, and its description."""
    async with serving() as running:
        yield running


async def test_the_command_judges_in_every_process_and_ends_with_all_of_them(
    served: Served,
) -> None:
    process, facts = served
    assert facts["slots"] == 2
    for one in facts["processes"]:
        async with reached(f"127.0.0.1:{one['port']}") as stub:
            answer = await stub.Score(function_request(one["number"]))
            assert answer.verdict == pb.VERDICT_PASSED
    process.terminate()
    assert await process.wait() == 0
    assert not any(lives(one["pid"]) for one in facts["processes"])


async def test_a_signal_restarts_the_processes_of_the_command(served: Served) -> None:
    process, facts = served
    process.send_signal(signal.SIGUSR1)

    async def all_new() -> bool:
        return not any(lives(one["pid"]) for one in facts["processes"])

    await until(all_new)

    async def all_serve() -> bool:
        try:
            answers = [await info(f"127.0.0.1:{one['port']}") for one in facts["processes"]]
        except grpc.aio.AioRpcError:
            return False
        return [one.process for one in answers] == [0, 1]

    await until(all_serve)
    process.terminate()
    assert await process.wait() == 0

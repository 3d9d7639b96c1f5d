"""A proxy in front of several processes: real ones, configured as the documents say."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.conftest import function_request
from tests.support.simulated_process import COMMAND
from tests.support.tools import find, needs
from trainer_client import AsyncRewardClient, Verdict
from trainer_client.local_server import free_port

HAPROXY = ("haproxy", "-f")
ENVOY = ("envoy", "--use-dynamic-base-id", "-c")  # another Envoy of this machine may have base id 0
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "deploy.md"
COUNT, REQUESTS = 3, 360


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        pytest.param(
            "haproxy",
            HAPROXY,
            marks=needs("haproxy"),
        ),
        ("yaml", ENVOY),
    ],
)
async def test_a_proxy_spreads_the_requests_of_one_client_evenly(
    kind: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_SECONDS", "0.02")
    settings = load_settings({"port": 0, "workers": 2 * COUNT, "drain_seconds": 5})
    async with running_processes(settings, COUNT, command=COMMAND) as processes:
        own = [one["port"] for one in processes.facts["processes"]]
        async with (
            proxied(kind, command, own, tmp_path) as address,
            AsyncRewardClient(address, batch_size=1, max_in_flight=12) as client,
        ):
            await until_all_serve(address)
            scores = await client.score([function_request(number) for number in range(REQUESTS)])
            assert not any(line.processes._found for line in client._lines.values())
        assert {one.verdict for one in scores} == {Verdict.PASSED}
        judged = await judged_by_process(processes)
    assert sum(judged) == REQUESTS
    # A process that the machine holds up gets fewer, as it should.
    assert all(abs(one - REQUESTS / COUNT) <= 0.5 * REQUESTS / COUNT for one in judged), judged


async def until_all_serve(address: str) -> None:
    """Waits until the proxy sends to each of the processes."""
    asked, met = pb.GetServerInfoRequest(), set[int]()
    async with grpc.aio.insecure_channel(address) as channel:
        stub: rpc.RewardServiceAsyncStub = rpc.RewardServiceStub(channel)
        while len(met) < COUNT:
            with contextlib.suppress(grpc.aio.AioRpcError):  # the proxy has only begun
                calls = (stub.GetServerInfo(asked, timeout=60) for _ in range(2 * COUNT))
                met |= {info.process for info in await asyncio.gather(*calls)}


async def judged_by_process(processes: Processes) -> list[int]:
    texts = await processes.metrics()
    found = [
        re.findall(r"^reward_server_verdicts_total.* (\d+)", one, re.M) for one in texts.values()
    ]
    return [sum(map(int, counts)) for counts in found]


@asynccontextmanager
async def proxied(
    kind: str, command: tuple[str, ...], ports: list[int], folder: Path
) -> AsyncIterator[str]:
    """Runs a proxy with the configuration of the documents, on other ports; yields its address."""
    text = await asyncio.to_thread(documented, kind)
    port = free_port()
    for shown, real in zip((50050, 50052, 50053, 50054), (port, *ports), strict=True):
        assert str(shown) in text
        text = text.replace(str(shown), str(real))
    file = folder / f"proxy.{kind}"
    await asyncio.to_thread(file.write_text, text)
    found = find(command[0])
    assert found is not None
    process = await asyncio.create_subprocess_exec(found, *command[1:], str(file))
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def documented(kind: str) -> str:
    """Returns the configuration of the documents that listens on the server's usual port."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.S)
    [text] = [block for block in blocks if "50050" in block]
    return str(text)

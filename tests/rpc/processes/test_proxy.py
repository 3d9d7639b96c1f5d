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
from reward_server.processes.parent import running_processes
from reward_server.settings import load_settings
from tests.rpc.processes.serving import spread
from tests.support.simulated_process import COMMAND
from tests.support.tools import find, needs
from trainer_client import AsyncRewardClient
from trainer_client.local_server import free_port

HAPROXY = ("haproxy", "-f")
ENVOY = ("envoy", "--use-dynamic-base-id", "-c")  # another Envoy of this machine may have base id 0
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "deploy.md"
COUNT, COUNT_OF_EACH = 3, 24
TRIES = 5  # a proxy sends nothing to a process that stood still when it was looked at


@pytest.mark.parametrize(
    ("kind", "command", "least"),
    [
        pytest.param("haproxy", HAPROXY, COUNT_OF_EACH, marks=needs("haproxy")),
        # It picks the better of two processes that it draws, and so strays by a few.
        ("yaml", ENVOY, COUNT_OF_EACH // 2),
    ],
)
async def test_a_proxy_spreads_the_requests_of_one_client_evenly(
    kind: str,
    command: tuple[str, ...],
    least: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hold, requests = tmp_path / "hold", COUNT * COUNT_OF_EACH
    monkeypatch.setenv("SIMULATED_HOLD", str(hold))
    settings = load_settings({"port": 0, "workers": 2 * COUNT, "drain_seconds": 5})
    async with running_processes(settings, COUNT, command=COMMAND) as processes:
        own = [one["port"] for one in processes.facts["processes"]]
        async with (
            proxied(kind, command, own, tmp_path) as address,
            AsyncRewardClient(address, batch_size=1, max_in_flight=requests) as client,
        ):
            for _ in range(TRIES):
                await until_all_serve(address)
                found = await spread(client, processes, hold, requests)
                if min(found) >= least:
                    break
            assert not any(line.processes._found for line in client._lines.values())
    assert min(found) >= least, found


async def until_all_serve(address: str) -> None:
    """Waits until the proxy sends to each of the processes."""
    asked, met = pb.GetServerInfoRequest(), set[int]()
    async with grpc.aio.insecure_channel(address) as channel:
        stub: rpc.RewardServiceAsyncStub = rpc.RewardServiceStub(channel)
        while len(met) < COUNT:
            with contextlib.suppress(grpc.aio.AioRpcError):  # the proxy has only begun
                calls = (stub.GetServerInfo(asked, timeout=60) for _ in range(2 * COUNT))
                met |= {info.process for info in await asyncio.gather(*calls)}


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

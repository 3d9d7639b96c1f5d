"""A proxy in front of several processes: a real HAProxy, configured as the documents say."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.conftest import function_request
from tests.support.simulated_process import COMMAND
from trainer_client import AsyncRewardClient, Verdict
from trainer_client.local_server import free_port

HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "deploy.md"
COUNT, REQUESTS = 3, 120


@pytest.mark.skipif(HAPROXY is None, reason="needs HAProxy")
async def test_a_proxy_spreads_the_requests_of_one_client_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_SECONDS", "0.02")
    settings = load_settings({"port": 0, "workers": 2 * COUNT, "drain_seconds": 5})
    async with running_processes(settings, COUNT, command=COMMAND) as processes:
        own = [one["port"] for one in processes.facts["processes"]]
        async with (
            proxied(own, tmp_path) as address,
            AsyncRewardClient(address, batch_size=1, max_in_flight=12) as client,
        ):
            scores = await client.score([function_request(number) for number in range(REQUESTS)])
            assert not any(line.processes._found for line in client._lines.values())
        assert {one.verdict for one in scores} == {Verdict.PASSED}
        judged = await judged_by_process(processes)
    assert sum(judged) == REQUESTS
    assert all(abs(one - REQUESTS / COUNT) <= 0.2 * REQUESTS / COUNT for one in judged), judged


async def judged_by_process(processes: Processes) -> list[int]:
    texts = await processes.metrics()
    found = [
        re.findall(r"^reward_server_verdicts_total.* (\d+)", one, re.M) for one in texts.values()
    ]
    return [sum(map(int, counts)) for counts in found]


@asynccontextmanager
async def proxied(ports: list[int], folder: Path) -> AsyncIterator[str]:
    """Runs HAProxy with the configuration of the documents, on other ports; yields its address."""
    [text] = re.findall(r"```haproxy\n(.*?)```", await asyncio.to_thread(PAGE.read_text), re.S)
    address = f"127.0.0.1:{free_port()}"
    text = text.replace("127.0.0.1:50050", address)
    for number, port in enumerate(ports):
        text = text.replace(f"127.0.0.1:{50052 + number}", f"127.0.0.1:{port}")
    file = folder / "haproxy.cfg"
    await asyncio.to_thread(file.write_text, text)
    assert HAPROXY is not None
    process = await asyncio.create_subprocess_exec(HAPROXY, "-f", str(file))
    try:
        yield address
    finally:
        process.kill()
        await process.wait()

"""TLS, client certificates and tokens at the ports of the processes: real processes and channels.

The client reaches a process at the host that its target names and at the port of the process. So
the certificate has to fit that host alone, or the name that the client is told to expect.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.rpc.certificates import Authority, Pair
from tests.rpc.conftest import function_request
from tests.rpc.processes.serving import until
from tests.support.simulated_process import COMMAND
from trainer_client import AsyncRewardClient, Tls, Verdict

COUNT = 2
NAME = "rewards.example"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@asynccontextmanager
async def running(pair: Pair, **flags: Any) -> AsyncIterator[Processes]:
    tls = {"tls_certificate": pair.certificate, "tls_key": pair.key}
    settings = load_settings({"port": 0, "workers": COUNT, "drain_seconds": 0, **tls, **flags})
    async with running_processes(settings, COUNT, command=COMMAND) as processes:
        yield processes


def tls_of(authority: Authority, pair: Pair | None = None, name: str | None = None) -> Tls:
    key, chain = (None, None) if pair is None else pair.read()
    return Tls(
        root_certificates=authority.certificate.read_bytes(),
        private_key=key,
        certificate_chain=chain,
        server_name=name,
    )


def addresses(processes: Processes) -> list[str]:
    own = [f"127.0.0.1:{one['port']}" for one in processes.facts["processes"]]
    return [*own, processes.facts["address"]]


def found(client: AsyncRewardClient) -> set[int]:
    """Returns the numbers of the processes to which the client is connected."""
    return {number for line in client._lines.values() for number in line.processes._found}


async def know_all(client: AsyncRewardClient) -> None:
    """Sends requests until the client is connected to each process."""
    number = 0
    while len(found(client)) < COUNT:
        [score] = await client.score([function_request(number)])
        assert score.verdict is Verdict.PASSED, score.error
        number += 1


async def status_of(address: str, **options: Any) -> str:
    async with AsyncRewardClient(address, outage_seconds=0.3, **options) as client:
        [score] = await client.score([function_request()])
    return "judged" if score.error is None else score.error.status


async def test_a_client_with_its_certificate_and_token_reaches_each_process(
    authority: Authority, tmp_path: Path
) -> None:
    tokens, trainer = tmp_path / "tokens", authority.issue("trainer")
    await asyncio.to_thread(tokens.write_text, "right\n")
    flags = {"tls_client_ca": authority.certificate, "token_file": tokens}
    async with running(authority.issue("server"), **flags) as processes:
        known = tls_of(authority, trainer)
        async with AsyncRewardClient(addresses(processes)[-1], tls=known, token="right") as client:
            await know_all(client)
        for address in addresses(processes):
            assert await status_of(address, tls=known, token="right") == "judged"
            assert await status_of(address, tls=known, token="wrong") == "UNAUTHENTICATED"
            assert await status_of(address, tls=tls_of(authority), token="right") == "UNAVAILABLE"
            assert await status_of(address, token="right") == "UNAVAILABLE"


async def test_the_name_that_a_client_expects_holds_for_each_process(authority: Authority) -> None:
    async with running(authority.issue("server", host=NAME)) as processes:
        target = processes.facts["address"]
        async with AsyncRewardClient(target, tls=tls_of(authority, name=NAME)) as client:
            await know_all(client)
        for address in addresses(processes):
            assert await status_of(address, tls=tls_of(authority)) == "UNAVAILABLE"


async def test_every_process_shows_the_certificate_that_replaced_another(
    authority: Authority, tmp_path: Path
) -> None:
    pair, successor = authority.issue("server"), Authority(tmp_path, "successor")
    async with running(pair) as processes:
        renewed = successor.issue("renewed")
        await asyncio.to_thread(os.replace, renewed.key, pair.key)
        await asyncio.to_thread(os.replace, renewed.certificate, pair.certificate)
        wanted = await asyncio.to_thread(pair.certificate.read_text)
        processes.reload()

        async def all_show_it() -> bool:
            shown = [await asyncio.to_thread(shown_at, one) for one in addresses(processes)]
            return {one.strip() for one in shown} == {wanted.strip()}

        await until(all_show_it)


def shown_at(address: str) -> str:
    host, _, port = address.rpartition(":")
    return ssl.get_server_certificate((host, int(port)), timeout=60)

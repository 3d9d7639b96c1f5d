"""A real server with sessions and HTTP doors, for each module that asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from reward_server.app import App
from reward_server.domain import MEBIBYTE
from tests.rpc.http.conftest import app_with_sessions, client_of

RED, BLUE = f"e2b_{'a' * 40}", f"e2b_{'b' * 40}"
TENANTS = f"""
[[tenants]]
name = "red"
tokens = ["{RED}"]

[[tenants]]
name = "blue"
tokens = ["{BLUE}"]
sessions = 1
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    folder = tmp_path_factory.mktemp("server")
    async with app_with_sessions(
        folder,
        TENANTS,
        workers=1,
        languages=("python",),
        session_memory_bytes=4096 * MEBIBYTE,
    ) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tenant without quotas."""
    async with client_of(app, RED) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox(client: httpx.AsyncClient) -> AsyncIterator[dict[str, str]]:
    """The headers that name an open sandbox."""
    answer = await client.post("/v2/sandboxes", json={"templateID": "base", "timeout": 120})
    assert answer.status_code == 201
    yield {"E2b-Sandbox-Id": answer.json()["sandboxID"]}
    await client.delete(f"/sandboxes/{answer.json()['sandboxID']}")

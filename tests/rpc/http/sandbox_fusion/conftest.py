"""A real server with sessions and HTTP doors, for each module that asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from reward_server.app import App
from reward_server.domain import MEBIBYTE
from tests.rpc.http.conftest import app_with_sessions, client_of
from tests.support.tools import offered

TOKEN, NARROW = "fusion-secret", "narrow-secret"
TENANTS = f"""
[[tenants]]
name = "wide"
tokens = ["{TOKEN}"]

[[tenants]]
name = "narrow"
tokens = ["{NARROW}"]
sessions = 1
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    folder = tmp_path_factory.mktemp("server")
    async with app_with_sessions(
        folder,
        TENANTS,
        workers=2,
        languages=offered("python", "c++17"),
        session_memory_bytes=2048 * MEBIBYTE,
    ) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tenant without quotas."""
    async with client_of(app, TOKEN) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def narrow(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tenant that may have one session."""
    async with client_of(app, NARROW) as made:
        yield made


def sessions_of(app: App) -> int:
    """Returns how many sessions are open."""
    return int(
        app.telemetry.registry.get_sample_value("reward_server_sessions", {"state": "open"}) or 0
    )

"""A real server with sessions and HTTP doors, for each module that asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import MEBIBYTE
from reward_server.settings import Settings

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
    tokens = tmp_path_factory.mktemp("server") / "tokens.toml"
    tokens.write_text(TENANTS)
    settings = Settings(
        port=0,
        http_port=0,
        workers=2,
        languages=("python", "c++17"),
        token_file=tokens,
        session_memory_bytes=2048 * MEBIBYTE,
        session_warm=1,
        drain_seconds=0,
    )
    async with running_app(settings) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tenant without quotas."""
    async with httpx.AsyncClient(
        base_url=f"http://{app.http_address}", headers={"X-API-Key": TOKEN}, timeout=60
    ) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def narrow(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tenant that may have one session."""
    async with httpx.AsyncClient(
        base_url=f"http://{app.http_address}", headers={"X-API-Key": NARROW}, timeout=60
    ) as made:
        yield made


def sessions_of(app: App) -> int:
    """Returns how many sessions are open."""
    return int(
        app.telemetry.registry.get_sample_value("reward_server_sessions", {"state": "open"}) or 0
    )

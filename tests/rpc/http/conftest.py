from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from reward_server.app import App, running_app
from reward_server.settings import Settings
from tests.rpc.conftest import Serve, Served

AUTHORIZED = {"Authorization": "Bearer good"}


def score_body(number: int = 0, **fields: Any) -> dict[str, Any]:
    """A request that no other number's is identical to."""
    asserts = [f"assert f({number}) == {number}"]
    return {
        "completion": "def f(x): return x",
        "function": {"entry_point": "f", "asserts": asserts},
        **fields,
    }


def url_of(served: Served, scheme: str = "http") -> str:
    return f"{scheme}://{served.app.http_address}"


def raw(path: str, body: object, headers: Mapping[str, str] = AUTHORIZED) -> bytes:
    """A request as bytes, for clients that misbehave."""
    content = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(content)}", "", ""]
    return "\r\n".join(lines).encode() + content


@pytest.fixture
async def served(serve: Serve, tmp_path: Path) -> Served:
    """A server with HTTP doors that needs a token."""
    file = tmp_path / "tokens"
    file.write_text("good\nbetter\n")
    return await serve(token_file=file, http_port=0)


Client = Callable[[Served], httpx.AsyncClient]


@asynccontextmanager
async def app_with_sessions(folder: Path, tenants: str, **changes: Any) -> AsyncIterator[App]:
    """Runs a real server with sessions and HTTP doors for tenants that are described in TOML."""
    tokens = folder / "tokens.toml"
    tokens.write_text(tenants)
    settings = Settings(
        port=0, http_port=0, token_file=tokens, session_warm=1, drain_seconds=0, **changes
    )
    async with running_app(settings) as running:
        yield running


def client_of(app: App, token: str) -> httpx.AsyncClient:
    """Makes a client that shows a token as E2B's and SandboxFusion's clients do."""
    return httpx.AsyncClient(
        base_url=f"http://{app.http_address}", headers={"X-API-Key": token}, timeout=60
    )


@pytest.fixture
async def client(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    """A client that shows the token."""
    async with httpx.AsyncClient(
        base_url=url_of(served), headers=AUTHORIZED, timeout=60
    ) as connected:
        yield connected

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

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


@pytest.fixture
async def client(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    """A client that shows the token."""
    async with httpx.AsyncClient(
        base_url=url_of(served), headers=AUTHORIZED, timeout=60
    ) as connected:
        yield connected

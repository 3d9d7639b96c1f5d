"""The list of sandboxes: filters, order and pages, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio(loop_scope="session")


def metadata_of(**pairs: str) -> dict[str, str]:
    """The parameter as E2B's clients write it: keys and values are encoded, and so is the whole."""
    return {"metadata": urlencode({quote(name): quote(value) for name, value in pairs.items()})}


@pytest_asyncio.fixture(loop_scope="session")
async def opened(client: httpx.AsyncClient) -> AsyncIterator[list[str]]:
    """Three sandboxes, the oldest first."""
    found = []
    for number in range(3):
        metadata = {"owner": "a&b=c d", "number": str(number)}
        body = {"templateID": "python" if number == 2 else "base", "metadata": metadata}
        answer = await client.post("/v2/sandboxes", json=body)
        found.append(answer.json()["sandboxID"])
    yield found
    for name in found:
        await client.delete(f"/sandboxes/{name}")


async def listed(client: httpx.AsyncClient, **parameters: Any) -> list[str]:
    answer = await client.get("/v2/sandboxes", params=parameters)
    assert answer.status_code == 200, answer.text
    return [one["sandboxID"] for one in answer.json()]


async def test_sandboxes_are_filtered_by_metadata_template_state_and_begin(
    client: httpx.AsyncClient, opened: list[str]
) -> None:
    newest_first = opened[::-1]
    assert await listed(client, **metadata_of(owner="a&b=c d")) == newest_first
    assert await listed(client, **metadata_of(owner="a&b=c d", number="1")) == [opened[1]]
    assert await listed(client, metadata="number=2") == [opened[2]]
    assert await listed(client, **metadata_of(owner="a")) == []
    assert await listed(client, template="python", **metadata_of(owner="a&b=c d")) == [opened[2]]
    assert await listed(client, state="paused") == []
    assert set(opened) <= set(await listed(client, state="paused,running"))
    told = (await client.get(f"/sandboxes/{opened[1]}")).json()
    later = await listed(client, startedAfter=told["startedAt"], order="asc")
    assert later == opened[1:]


async def test_pages_hold_each_sandbox_once_though_some_end_meanwhile(
    client: httpx.AsyncClient, opened: list[str]
) -> None:
    query: dict[str, str | int] = {"limit": 1, **metadata_of(owner="a&b=c d")}
    first = await client.get("/v2/sandboxes", params=query)
    assert first.headers["X-Total-Running"] == "3"
    await client.delete(f"/sandboxes/{opened[2]}")
    second = await client.get(
        "/v2/sandboxes", params={**query, "nextToken": first.headers["X-Next-Token"]}
    )
    last = await client.get(
        "/v2/sandboxes", params={**query, "nextToken": second.headers["X-Next-Token"]}
    )
    pages = [one.json()[0]["sandboxID"] for one in (first, second, last)]
    assert pages == opened[::-1]
    assert "X-Next-Token" not in last.headers


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"sandboxId": "x"}, "sandboxId"),
        ({"Metadata": "a=b"}, "Metadata"),
        ({"metadata": "no pair"}, "metadata"),
        ({"state": "stopped"}, "state"),
        ({"state": ["running", "paused"]}, "query"),
        ({"order": "newest"}, "order"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1000"}, "limit"),
        ({"startedAfter": "yesterday"}, "startedAfter"),
        ({"nextToken": "no token"}, "nextToken"),
    ],
)
async def test_what_a_list_does_not_know_is_refused_by_its_name(
    client: httpx.AsyncClient, parameters: dict[str, Any], field: str
) -> None:
    for path in ("/v2/sandboxes", "/sandboxes"):
        answer = await client.get(path, params=parameters)
        assert (answer.status_code, answer.json()["field"]) == (400, field)

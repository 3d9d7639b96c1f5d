"""What E2B's contract has and this server cannot do is refused, and so is what it does not have."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.rpc.http.e2b.test_door import STREAM, Headers, command, framed, messages, started

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"autoPause": True}, "autoPause"),
        ({"autoResume": {"enabled": True}}, "autoResume"),
        ({"network": {"allowOut": ["1.1.1.1"]}}, "network.allowOut"),
        ({"network": {"maskRequestHost": "x"}}, "network.maskRequestHost"),
        ({"volumeMounts": [{"name": "v", "path": "/v"}]}, "volumeMounts"),
        ({"templateId": "base"}, "templateId"),
        ({"env_vars": {"A": "b"}}, "env_vars"),
    ],
)
async def test_a_sandbox_that_cannot_be_as_asked_is_not_opened(
    client: httpx.AsyncClient, asked: dict[str, Any], named: str
) -> None:
    answer = await client.post("/v2/sandboxes", json=asked)
    assert answer.status_code == 400
    assert named in answer.json()["message"]


async def test_what_holds_for_every_sandbox_may_be_asked_for(client: httpx.AsyncClient) -> None:
    asked = {
        "templateID": "base",
        "secure": True,
        "allow_internet_access": False,
        "autoPause": False,
        "autoPauseMemory": True,
        "network": {"denyOut": ["0.0.0.0/0"], "allowPublicTraffic": False},
        "mcp": None,
    }
    answer = await client.post("/v2/sandboxes", json=asked)
    assert answer.status_code == 201
    told = [(await client.get(f"/sandboxes/{answer.json()['sandboxID']}")).json() for _ in range(2)]
    assert told[0]["endAt"] == told[1]["endAt"]
    await client.delete(f"/sandboxes/{answer.json()['sandboxID']}")


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/execute", {"code": "1", "timeout": 5}),
        ("/contexts", {"directory": "/tmp"}),
        ("/filesystem.Filesystem/Stat", {"path": "a", "follow": True}),
        ("/filesystem.Filesystem/ListDir", {"path": ".", "recursive": True}),
        ("/process.Process/SendSignal", {"process": {"pid": 1, "tag": "t"}}),
    ],
)
async def test_a_key_that_means_nothing_here_is_refused(
    client: httpx.AsyncClient, sandbox: Headers, path: str, asked: dict[str, Any]
) -> None:
    answer = await client.post(path, json=asked, headers=sandbox)
    assert answer.status_code == 400
    assert "is not known" in answer.json()["message"]


async def test_a_key_of_a_command_that_means_nothing_here_is_refused(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    for body in (command("/bin/true", tag="t"), framed({"process": {"cmd": "a", "shell": True}})):
        (last,) = await started(client, sandbox, body)
        assert last["error"]["code"] == "invalid_argument"


async def test_a_file_with_metadata_is_refused(client: httpx.AsyncClient, sandbox: Headers) -> None:
    headers = {**sandbox, "X-Metadata-Author": "a"}
    answer = await client.post("/files", params={"path": "a"}, content=b"", headers=headers)
    assert answer.status_code == 400


async def test_a_time_limit_is_an_error_of_the_stream_and_no_exit_code(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    limited = {**sandbox, **STREAM, "Connect-Timeout-Ms": "300"}
    path = "/process.Process/Start"
    answer = await client.post(path, content=command("/bin/sleep", "600"), headers=limited)
    start, last = messages(answer.content)
    assert "start" in start["event"]
    assert last["error"]["code"] == "deadline_exceeded"
    assert (await client.post("/process.Process/List", json={}, headers=sandbox)).json() == {
        "processes": []
    }


async def test_a_time_limit_of_a_listener_ends_its_stream_alone(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    path, headers = "/process.Process/Start", {**sandbox, **STREAM}
    body = command("/bin/sleep", "600")
    async with client.stream("POST", path, content=body, headers=headers) as answer:
        (start,) = messages(await anext(answer.aiter_bytes()))
        pid = start["event"]["start"]["pid"]
        selected = framed({"process": {"pid": pid}})
        limited = {**headers, "Connect-Timeout-Ms": "300"}
        heard = await client.post("/process.Process/Connect", content=selected, headers=limited)
        assert list(messages(heard.content))[-1]["error"]["code"] == "deadline_exceeded"
        listed = await client.post("/process.Process/List", json={}, headers=sandbox)
        assert [one["pid"] for one in listed.json()["processes"]] == [pid]

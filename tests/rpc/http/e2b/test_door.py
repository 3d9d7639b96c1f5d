"""E2B's door below its client: whose a sandbox is, and requests that no client sends."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from reward_server.app import App
from reward_server.errors import InvalidRequestError
from reward_server.http.bodies import unpacked
from reward_server.http.e2b.multipart import files_of
from reward_server.http.e2b.paths import place
from reward_server.http.failures import OversizeBodyError
from tests.rpc.http.e2b.conftest import BLUE

pytestmark = pytest.mark.asyncio(loop_scope="session")
Headers = dict[str, str]
STREAM = {"Content-Type": "application/connect+json"}


def framed(value: object) -> bytes:
    text = json.dumps(value).encode()
    return struct.pack(">BI", 0, len(text)) + text


def command(*argv: str, **fields: Any) -> bytes:
    return framed({"process": {"cmd": argv[0], "args": argv[1:]}, "stdin": False, **fields})


def messages(answer: bytes) -> Iterator[dict[str, Any]]:
    while answer:
        _, size = struct.unpack_from(">BI", answer)
        yield json.loads(answer[5 : 5 + size])
        answer = answer[5 + size :]


async def started(client: httpx.AsyncClient, headers: Headers, body: bytes) -> list[dict[str, Any]]:
    path = "/process.Process/Start"
    answer = await client.post(path, content=body, headers={**headers, **STREAM})
    assert answer.status_code == 200
    return list(messages(answer.content))


async def test_a_command_is_told_from_its_start_to_its_end(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    start, data, end, last = await started(client, sandbox, command("/bin/sh", "-c", "echo a"))
    assert start["event"]["start"]["pid"] > 0
    assert base64.b64decode(data["event"]["data"]["stdout"]) == b"a\n"
    assert end == {"event": {"end": {"exitCode": 0, "exited": True, "status": "exit status 0"}}}
    assert last == {}


async def test_a_command_that_does_not_start_is_an_error(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    (last,) = await started(client, sandbox, command("/no/such/executable"))
    assert last["error"]["code"] == "invalid_argument"


async def test_a_command_outlives_the_caller_that_goes(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    body = command("/bin/sh", "-c", "until [ -e go ]; do sleep 0.05; done; echo a > made")
    path, headers = "/process.Process/Start", {**sandbox, **STREAM}
    async with client.stream("POST", path, content=body, headers=headers) as answer:
        await anext(answer.aiter_bytes())
    sent: dict[str, Any] = {"params": {"path": "go"}, "headers": sandbox}
    assert (await client.post("/files", content=b"", **sent)).status_code == 200
    read: dict[str, Any] = {"params": {"path": "made"}, "headers": sandbox}
    while (await client.get("/files", **read)).status_code != 200:
        continue


async def test_a_sandbox_belongs_to_the_credential_that_opened_it(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    name, other = sandbox["E2b-Sandbox-Id"], {"X-API-Key": BLUE}
    unknown = f"{name[:-1]}{'a' if name[-1] != 'a' else 'b'}"
    for method, path in (
        ("GET", "/sandboxes/{}"),
        ("DELETE", "/sandboxes/{}"),
        ("POST", "/sandboxes/{}/timeout"),
        ("POST", "/v2/sandboxes/{}/connect"),
    ):
        body = {"timeout": 1}
        mine, none = [
            await client.request(method, path.format(one), headers=other, json=body)
            for one in (name, unknown)
        ]
        assert (mine.status_code, mine.content) == (none.status_code, none.content)
        assert mine.status_code == 404
    for path in ("/files?path=x", "/health"):
        answer = await client.get(path, headers={**sandbox, **other})
        assert (answer.status_code, "was not found" in answer.text) == (502, True)
    assert (await client.get("/health", headers=sandbox)).status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"\x01" + framed({})[1:],
        framed({}) * 2,
        framed([]),
        framed({"process": {"cmd": 1}}),
        framed({"process": {"cmd": "a", "args": "b"}, "pty": {}}),
        command("a\0"),
    ],
)
async def test_a_wrong_stream_is_refused(
    client: httpx.AsyncClient, sandbox: Headers, body: bytes
) -> None:
    (last,) = await started(client, sandbox, body)
    assert last["error"]["code"] == "invalid_argument"


async def test_a_call_without_a_sandbox_is_refused(client: httpx.AsyncClient) -> None:
    (last,) = await started(client, {}, command("a"))
    assert last["error"]["code"] == "invalid_argument"
    assert (await client.get("/files?path=x")).status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("process.Process/SendSignal", {"process": {"pid": 1 << 20}}, 404, "not_found"),
        ("process.Process/SendSignal", {}, 400, "invalid_argument"),
        ("process.Process/Update", {}, 501, "unimplemented"),
        ("filesystem.Filesystem/Stat", {"path": "nothing"}, 404, "not_found"),
        ("filesystem.Filesystem/Stat", {"path": 1}, 400, "invalid_argument"),
        ("filesystem.Filesystem/ListDir", {"path": ".", "depth": -1}, 400, "invalid_argument"),
        ("filesystem.Filesystem/ListDir", {"path": "/etc/passwd"}, 400, "invalid_argument"),
        ("filesystem.Filesystem/MakeDir", {"path": "/tmp"}, 409, "already_exists"),
        ("filesystem.Filesystem/MakeDir", {"path": "/usr/x"}, 400, "failed_precondition"),
        ("filesystem.Filesystem/Move", {"source": "a", "destination": "b"}, 404, "not_found"),
        ("filesystem.Filesystem/WatchDir", {}, 501, "unimplemented"),
    ],
)
async def test_a_wrong_call_has_a_code(
    client: httpx.AsyncClient,
    sandbox: Headers,
    path: str,
    body: dict[str, Any],
    status: int,
    code: str,
) -> None:
    answer = await client.post(f"/{path}", json=body, headers=sandbox)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_names_of_files_are_no_options_and_no_lines(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    for path in ("-delete", "a\nb", "\u00e4 'b'"):
        sent: dict[str, Any] = {"params": {"path": path}, "headers": sandbox}
        assert (await client.post("/files", content=b"1", **sent)).status_code == 200
        stat = {"json": {"path": path}, "headers": sandbox}
        answer = await client.post("/filesystem.Filesystem/Stat", **stat)  # type: ignore[arg-type]
        assert answer.json()["entry"]["name"] == path
    listed = {"json": {"path": "."}, "headers": sandbox}
    answer = await client.post("/filesystem.Filesystem/ListDir", **listed)  # type: ignore[arg-type]
    assert {one["name"] for one in answer.json()["entries"]} == {"-delete", "a\nb", "\u00e4 'b'"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"timeout": 1e9}, "lifetime_seconds"),
        ({"timeout": -1}, "timeout"),
        ({"envVars": {"a b": ""}}, "environment"),
        ({"metadata": {"a": "b" * 20_000}}, "metadata"),
    ],
)
async def test_a_wrong_sandbox_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    answer = await client.post("/v2/sandboxes", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    volumes = await client.post("/v2/sandboxes", json={"volumeMounts": [{"name": "a"}]})
    assert volumes.status_code == 400


async def test_code_in_another_language_is_refused(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    body = {"code": "1", "language": "r"}
    assert (await client.post("/execute", json=body, headers=sandbox)).status_code == 400


async def test_commands_of_the_door_are_counted(
    client: httpx.AsyncClient, sandbox: Headers, app: App
) -> None:
    registry, name = app.telemetry.registry, "reward_server_session_commands_total"
    before = registry.get_sample_value(name)
    await started(client, sandbox, command("/bin/true"))
    after = registry.get_sample_value(name)
    assert before is not None
    assert after == before + 1


# ---------------------------------------------------------------------------------- forms


def form(*parts: bytes) -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + b"--b--\r\n"


def part(name: str, content: bytes) -> bytes:
    header = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nX: y\r\n\r\n'
    return header.encode() + content


async def test_a_form_is_split_into_its_files() -> None:
    body = form(part("a", b"1\r\n--c"), part("%22b", b""))
    kind = "multipart/form-data; boundary=b"
    assert files_of(body, kind) == [("a", b"1\r\n--c"), ('"b', b"")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (form(part("a", b"")), "multipart/form-data"),
        (form(part("a", b""))[:-6], "multipart/form-data; boundary=b"),
        (b"", "multipart/form-data; boundary=b"),
        (form(b"no headers"), "multipart/form-data; boundary=b"),
    ],
)
async def test_a_broken_form_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(InvalidRequestError):
        files_of(body, kind)


async def test_a_compressed_file_does_not_grow_without_end() -> None:
    packed = gzip.compress(b"\0" * (1 << 20))
    assert unpacked(packed, 1 << 20) == b"\0" * (1 << 20)
    with pytest.raises(OversizeBodyError):
        unpacked(packed, (1 << 20) - 1)
    for broken in (b"x", packed[:-1]):
        with pytest.raises(InvalidRequestError):
            unpacked(broken, 1 << 20)


async def test_paths_begin_in_the_home_folder_of_e2b() -> None:
    assert place("a") == place("/home/user/a") == place("~/a") == "/home/user/a"
    assert place("~") == "/home/user"
    assert place("/home/users/a") == "/home/users/a"
    with pytest.raises(InvalidRequestError):
        place(None)

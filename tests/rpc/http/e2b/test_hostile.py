"""Requests to E2B's door that no client sends, and files that are none."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from reward_server.errors import InvalidRequestError
from reward_server.http.e2b import files
from reward_server.http.e2b.multipart import MOST_FILES, files_of
from tests.rpc.http.e2b.test_door import STREAM, framed, messages

pytestmark = pytest.mark.asyncio(loop_scope="session")
Headers = dict[str, str]


@pytest.mark.parametrize(
    "process",
    [
        {"cmd": "a", "args": 5},
        {"cmd": "a", "args": None, "envs": 5},
        {"cmd": "a", "args": [[[1]]]},
        {"cmd": "a", "args": {"b": 1}},
        {"cmd": "a", "cwd": "\ud800"},
        {"cmd": "a", "cwd": 5},
        {"cmd": "\ud800"},
        {"cmd": "a", "envs": {"A": "\ud800"}},
        {"cmd": "a", "envs": {"A": "\0"}},
    ],
)
async def test_a_command_that_is_none_is_the_callers_fault(
    client: httpx.AsyncClient, sandbox: Headers, process: dict[str, Any]
) -> None:
    body = framed({"process": process})
    path, headers = "/process.Process/Start", {**sandbox, **STREAM}
    (last,) = messages((await client.post(path, content=body, headers=headers)).content)
    assert last["error"]["code"] == "invalid_argument", last


@pytest.mark.parametrize(
    ("path", "request_"),
    [
        ("filesystem.Filesystem/Stat", {"path": "\ud800"}),
        ("filesystem.Filesystem/Move", {"source": "\ud800", "destination": "a"}),
        ("filesystem.Filesystem/ListDir", {"path": ".", "depth": 1e999}),
        ("process.Process/SendInput", {"process": {"pid": 1}, "input": {"stdin": "\ud800"}}),
    ],
)
async def test_a_text_that_is_none_is_the_callers_fault(
    client: httpx.AsyncClient, sandbox: Headers, path: str, request_: dict[str, Any]
) -> None:
    headers = {**sandbox, "Content-Type": "application/json"}
    answer = await client.post(f"/{path}", content=json.dumps(request_), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_argument")


async def test_what_is_no_file_is_not_read_and_links_stay_inside(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    script = (
        "mkfifo pipe; ln -s /dev/zero zero; ln -s /etc/shadow shadow; ln -s loop loop; ln -s / up"
    )
    command = framed({"process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": False})
    path, headers = "/process.Process/Start", {**sandbox, **STREAM}
    await client.post(path, content=command, headers=headers)
    for name in ("pipe", "zero", "shadow", "loop", "/proc/1/mem", "/proc/1/environ", "/dev/stdin"):
        read: dict[str, Any] = {"params": {"path": name}, "headers": sandbox}
        assert (await client.get("/files", **read)).status_code in (400, 404), name
    for name in ("up/usr/x", "/etc/x", "/proc/sys/kernel/core_pattern", "../../../../etc/x"):
        sent: dict[str, Any] = {"params": {"path": name}, "headers": sandbox}
        assert (await client.post("/files", content=b"x", **sent)).status_code in (400, 404), name


async def test_a_folder_with_too_many_entries_is_refused(
    client: httpx.AsyncClient, sandbox: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_LIST_BYTES", 2000)
    script = "mkdir many; cd many; i=0; while [ $i -lt 100 ]; do : > $i; i=$((i + 1)); done"
    command = framed({"process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": False})
    path, headers = "/process.Process/Start", {**sandbox, **STREAM}
    await client.post(path, content=command, headers=headers)
    body, where = {"path": "many", "depth": 1}, "/filesystem.Filesystem/ListDir"
    answer = await client.post(where, json=body, headers=sandbox)
    assert (answer.status_code, "too many entries" in answer.text) == (400, True)


async def test_a_form_has_a_bounded_number_of_files() -> None:
    part = b'--b\r\ncontent-disposition: form-data; filename="a"\r\n\r\nx\r\n'
    assert len(files_of(part * MOST_FILES + b"--b--", "x; boundary=b")) == MOST_FILES
    with pytest.raises(InvalidRequestError, match="files"):
        files_of(part * (MOST_FILES + 1) + b"--b--", "x; boundary=b")

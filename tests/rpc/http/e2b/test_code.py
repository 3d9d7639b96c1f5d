"""Code in E2B's interpreters: what it may await, see, show and find."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from reward_server.domain import MEBIBYTE
from tests.rpc.http.conftest import app_with_sessions, client_of
from tests.rpc.http.e2b.conftest import RED, TENANTS
from tests.rpc.http.e2b.test_door import Headers
from tests.support.common import PACKAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")
Lines = list[dict[str, Any]]


async def ran(client: httpx.AsyncClient, headers: Headers, code: str, **fields: Any) -> Lines:
    answer = await client.post("/execute", json={"code": code, **fields}, headers=headers)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def results(lines: Lines) -> Lines:
    return [one for one in lines if one["type"] == "result"]


def text(lines: Lines) -> str | None:
    return next((one["text"] for one in results(lines) if one["is_main_result"]), None)


def error(lines: Lines) -> str | None:
    return next((one["name"] for one in lines if one["type"] == "error"), None)


VALUES = {
    "'hello'": "hello",
    '"it\'s"': "it's",
    "''": "",
    "'a' 'b'": "ab",
    "['a']": "['a']",
    "41 + 1": "42",
    "import asyncio\nawait asyncio.sleep(0, 'done')": "done",
    "async def f():\n    return 5\nx = await f()\nx": "5",
    "async with asyncio.timeout(5):\n    y = 7\ny": "7",
    "[z async for z in (await asyncio.sleep(0, i) for i in range(2))]": "[0, 1]",
    "\n    import os\n    if True:\n        q = 3\n    q": "3",
    "\t1 + 1\n\t2 + 2": "4",
}


async def test_the_value_of_the_last_expression_is_told_as_text(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    for code, expected in VALUES.items():
        assert text(await ran(client, sandbox, code)) == expected, code


async def test_an_interrupt_ends_what_is_awaited_and_keeps_the_loop(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    await ran(client, sandbox, "import asyncio, os, signal\nended = []")
    waiting = (
        "try:\n    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)\n"
        "    await asyncio.sleep(600)\nfinally:\n    ended.append(1)"
    )
    assert error(await ran(client, sandbox, waiting)) == "KeyboardInterrupt"
    assert text(await ran(client, sandbox, "await asyncio.sleep(0, ended)")) == "[1]"
    assert error(await ran(client, sandbox, "await asyncio.wait_for(asyncio.sleep(9), 0.01)")) == (
        "TimeoutError"
    )


async def test_what_is_displayed_is_told_in_its_formats(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    shown = """
class Page:
    def _repr_html_(self): return "<b>page</b>"
    def _repr_svg_(self): raise ValueError
    def _repr_png_(self): return b"no image"
    def __repr__(self): return "Page"
display(Page(), {"a": [1, float("nan")]})
display({"text/latex": "$x$", "application/x-own": "own"}, raw=True)
from IPython.display import HTML, JSON, Markdown, clear_output
display(Markdown("*m*"))
HTML("<i>last</i>")
"""
    lines = await ran(client, sandbox, shown)
    assert error(lines) is None
    page, table, raw, markdown, last = results(lines)
    assert (page["text"], page["html"], page["is_main_result"]) == ("Page", "<b>page</b>", False)
    assert not {"svg", "png"} & page.keys()
    assert table["json"] == {"a": [1, None]}
    assert raw["latex"] == "$x$"
    assert raw["extra"] == {"application/x-own": "own"}
    assert "text" not in raw
    assert markdown["markdown"] == "*m*"
    assert (last["html"], last["is_main_result"]) == ("<i>last</i>", True)


LONG = "class L:\n    def _repr_html_(self): return 'x' * (4 << 20)\ndisplay(L())"
ODD = {
    "a format that is too long": LONG,
    "too many": "for i in range(500): display(i)",
    "a class": "class C:\n    def _repr_html_(self): return 1\nC",
    "no JSON": "display({1: {2, 3}, 'self': display})",
    "a circle": "circle = []\ncircle.append(circle)\ndisplay(circle)",
    "half a character": "display('\\ud800')\n'\\ud800'",
    "a huge number": "display([10 ** 9])\n[10 ** 4000]",
    "many lists": "display([[] for _ in range(200_000)])",
    "a module that is no pandas": "import sys\nsys.modules['pandas'] = None\n1",
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_things_to_show_keep_their_interpreter(
    client: httpx.AsyncClient, sandbox: Headers, name: str
) -> None:
    await ran(client, sandbox, "kept = 1")
    assert error(await ran(client, sandbox, ODD[name])) is None
    after = await ran(client, sandbox, "kept")
    assert (text(after), after[-1]["execution_count"]) == ("1", 3)


async def test_variables_of_one_run_are_seen_by_it_alone(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    read = "import os, subprocess\nsubprocess.check_output('echo $V', shell=True).decode().strip()"
    assert text(await ran(client, sandbox, read, env_vars={"V": "one"})) == "one"
    assert text(await ran(client, sandbox, read)) == ""
    await ran(client, sandbox, "os.environ['V'] = 'kept'")
    assert error(await ran(client, sandbox, "1 / 0", env_vars={"V": "two"})) == "ZeroDivisionError"
    assert text(await ran(client, sandbox, read)) == "kept"
    answer = await client.post(
        "/execute", json={"code": "1", "env_vars": {"A=B": ""}}, headers=sandbox
    )
    assert answer.status_code == 400


async def test_home_is_one_folder_for_files_commands_and_code(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    written: dict[str, Any] = {"params": {"path": "~/a.txt"}, "content": b"file"}
    told = (await client.post("/files", headers=sandbox, **written)).json()
    assert told[0]["path"] == "/home/user/a.txt"
    code = (
        "import os\nopen('b.txt', 'w').write('code')\nos.getcwd(), open('/home/user/a.txt').read()"
    )
    assert text(await ran(client, sandbox, code)) == "('/home/user', 'file')"
    read: dict[str, Any] = {"params": {"path": "/home/user/b.txt"}, "headers": sandbox}
    assert (await client.get("/files", **read)).content == b"code"
    assert text(await ran(client, sandbox, "os.path.realpath('~'), os.environ['HOME']")) == (
        "('/home/user/~', '/home/user')"
    )
    assert text(await ran(client, sandbox, "os.path.samefile('.', '/home/sandbox/work')")) == "True"


async def test_contexts_are_made_listed_restarted_and_ended(
    client: httpx.AsyncClient, sandbox: Headers
) -> None:
    made = (await client.post("/contexts", json={"cwd": "/tmp"}, headers=sandbox)).json()
    name = made["id"]
    listed = (await client.get("/contexts", headers=sandbox)).json()
    assert [one["id"] for one in listed] == ["default", name]
    where = "import os; x = 1; os.path.samefile(os.getcwd(), '/tmp')"
    assert text(await ran(client, sandbox, where, context_id=name)) == "True"
    assert error(await ran(client, sandbox, "x")) == "NameError"
    await client.post(f"/contexts/{name}/restart", headers=sandbox)
    assert error(await ran(client, sandbox, "x", context_id=name)) == "NameError"
    await client.delete(f"/contexts/{name}", headers=sandbox)
    gone = {"code": "1", "context_id": name}
    assert (await client.post("/execute", json=gone, headers=sandbox)).status_code == 404
    both = {"code": "1", "context_id": "default", "language": "python"}
    assert (await client.post("/execute", json=both, headers=sandbox)).status_code == 400
    for language in ("javascript", "r"):
        refused = await client.post("/contexts", json={"language": language}, headers=sandbox)
        assert refused.status_code == 400
    for _ in range(7):
        assert (await client.post("/contexts", json={}, headers=sandbox)).status_code == 200
    assert (await client.post("/contexts", json={}, headers=sandbox)).status_code == 400


async def test_tables_and_figures_are_told_as_data_and_images(tmp_path: Path) -> None:
    code = """
import matplotlib.pyplot as plt, pandas as pd
plt.plot([1, 2]); plt.show()
pd.DataFrame({"a": [1, None], "t": [pd.Timestamp(0), pd.NaT]})
"""
    options: dict[str, Any] = {"sandbox_packages": PACKAGES, "workers": 1}
    async with (
        app_with_sessions(
            tmp_path,
            TENANTS,
            languages=("python",),
            session_memory_bytes=2048 * MEBIBYTE,
            **options,
        ) as app,
        client_of(app, RED) as client,
    ):
        opened = await client.post("/v2/sandboxes", json={})
        lines = await ran(client, {"E2b-Sandbox-Id": opened.json()["sandboxID"]}, code)
        figure, table = results(lines)
    assert base64.b64decode(figure["png"]).startswith(b"\x89PNG")
    assert figure["text"].startswith("<Figure")
    assert table["data"] == {"a": [1.0, None], "t": ["1970-01-01T00:00:00", "NaT"]}
    assert "<table" in table["html"]
    assert table["is_main_result"]

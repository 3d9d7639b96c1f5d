"""SandboxFusion's notebooks: cells in one interpreter, whose session ends with the request."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import httpx
import pytest

from reward_server.app import App
from reward_server.http.sandbox_fusion import notebooks
from tests.rpc.http.sandbox_fusion.conftest import sessions_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
_PNG = "iVBORw0KGgo="
DRAWING = f"""
import base64, sys, types
class Figure:
    def savefig(self, file, **_): file.write(base64.b64decode({_PNG!r}))
plots = types.ModuleType("matplotlib.pyplot")
plots.get_fignums, plots.figure, plots.close = lambda: [1], lambda _: Figure(), lambda _: None
sys.modules["matplotlib"] = types.ModuleType("matplotlib")
sys.modules["matplotlib.pyplot"] = plots
"""


async def ran(client: httpx.AsyncClient, *cells: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/run_jupyter", json={"cells": cells, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def until_no_session(app: App) -> None:
    while sessions_of(app):  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.01)


async def test_cells_share_their_state_and_go_on_after_an_exception(
    client: httpx.AsyncClient,
) -> None:
    found = await ran(
        client, *("a = 20", "a + 1", "print(a)", "1 / 0", "import sys; print('x', file=sys.stderr)")
    )
    assert (found["status"], found["driver"]["status"]) == ("Success", "Finished")
    assert [one["stdout"] for one in found["cells"]] == ["", "", "20\n", "", ""]
    assert found["cells"][1]["display"] == [{"text/plain": "21"}]
    (error,) = found["cells"][3]["error"]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert any("1 / 0" in line for line in error["traceback"])
    assert found["cells"][4]["stderr"] == "x\n"


async def test_figures_are_displayed(client: httpx.AsyncClient) -> None:
    found = await ran(client, DRAWING)
    assert [one["image/png"] for one in found["cells"][0]["display"]] == [_PNG]


async def test_files_go_in_and_out(client: httpx.AsyncClient) -> None:
    given = base64.b64encode(b"\x00\xff").decode()
    found = await ran(
        client,
        "data = open('in/a.bin', 'rb').read()",
        "open('out.bin', 'wb').write(data * 2)",
        files={"in/a.bin": given, "absent": None},
        fetch_files=["out.bin", "missing", "/dev/zero", "in"],
    )
    assert found["files"] == {"out.bin": base64.b64encode(b"\x00\xff" * 2).decode()}
    assert all(name in found["message"] for name in ("missing", "/dev/zero", "in"))


async def test_files_that_are_too_large_are_left_out_and_named(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "MOST_FETCHED_BYTES", 100)
    writing = "for name in 'ab': open(name, 'w').write(name * 60)"
    found = await ran(client, writing, fetch_files=["a", "b"])
    assert list(found["files"]) == ["a"]
    assert found["message"].startswith("b: ")


async def test_a_cell_out_of_time_is_stopped_and_the_next_one_runs(
    client: httpx.AsyncClient,
) -> None:
    found = await ran(client, "a = 1", "while True: pass", "print(a)", cell_timeout=1)
    assert found["status"] == "Success"
    assert found["cells"][1]["error"][0]["ename"] == "TimeoutError"
    assert found["cells"][2]["stdout"] == "1\n"


@pytest.mark.parametrize("others", [[], ["print(2)"]])
async def test_cells_that_take_too_long_together_have_failed(
    client: httpx.AsyncClient, others: list[str]
) -> None:
    endless = "print(1, flush=True)\nwhile True: pass"
    found = await ran(client, endless, *others, total_timeout=1)
    assert (found["status"], found["driver"]["status"]) == ("Failed", "TimeLimitExceeded")
    assert [one["stdout"] for one in found["cells"]] == ["1\n"]


async def test_an_interpreter_that_ends_is_a_failure_of_the_cells(
    client: httpx.AsyncClient,
) -> None:
    found = await ran(client, "import os; os._exit(0)", "print(2)")
    assert (found["status"], found["driver"]["status"]) == ("Failed", "Finished")
    assert [one["error"][0]["ename"] for one in found["cells"]] == ["DeadKernelError"]


@pytest.mark.parametrize("others", [[], ["print('c')"]])
async def test_output_that_grows_ends_the_cells(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    monkeypatch.setattr(notebooks, "MOST_OUTPUT_BYTES", 1000)
    found = await ran(client, "print('a' * 600)", "print('b' * 600)", *others)
    assert (found["status"], found["driver"]["status"]) == ("Failed", "Finished")
    assert len(found["cells"]) == 2
    assert found["cells"][1]["error"][0]["ename"] == "OutputLimitExceeded"


@pytest.mark.parametrize("way", ["answer", "gone"])
async def test_the_session_is_closed(app: App, client: httpx.AsyncClient, way: str) -> None:
    if way == "answer":
        await ran(client, "1")
        assert sessions_of(app) == 0
        return
    body = {"cells": ["while True: pass"], "total_timeout": 600}
    asked = asyncio.create_task(client.post("/run_jupyter", json=body))
    while not sessions_of(app):  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.01)
    asked.cancel()
    await until_no_session(app)


async def test_a_notebook_that_finds_no_session_is_504(
    narrow: httpx.AsyncClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "PATIENCE_SECONDS", 0.1)
    holding = {"cells": ["while True: pass"], "total_timeout": 600}
    holder = asyncio.create_task(narrow.post("/run_jupyter", json=holding))
    while not sessions_of(app):  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.01)
    answer = await narrow.post("/run_jupyter", json={"cells": ["1"]})
    assert (answer.status_code, answer.json()["status"]) == (504, "RESOURCE_EXHAUSTED")
    holder.cancel()
    await until_no_session(app)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"cells": 1}, "cells"),
        ({"cells": ["1"] * 1025}, "cells"),
        ({"cells": ["1", "x" * (1 << 21)]}, "cells[1].code"),
        ({"cells": [], "kernel": "ir"}, "kernel"),
        ({"cells": [], "total_timeout": 0}, "total_timeout"),
        ({"cells": [], "total_timeout": 1e9}, "total_timeout"),
        ({"cells": [], "cell_timeout": -1}, "cell_timeout"),
        ({"cells": [], "files": {"a": "no base64"}}, "files[0].content"),
        ({"cells": [], "files": {"/usr/x": ""}}, "files"),
        ({"cells": [], "fetch_files": [""]}, "fetch_files[0].path"),
    ],
)
async def test_a_wrong_request_names_its_field(
    client: httpx.AsyncClient, app: App, fields: dict[str, Any], field: str
) -> None:
    answer = await client.post("/run_jupyter", json=fields)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert sessions_of(app) == 0

"""E2B's own clients, unmodified, use sessions of a real server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from reward_server.app import App
from tests.rpc.http.e2b.conftest import BLUE, RED
from tests.support.tools import require_package

pytestmark = pytest.mark.asyncio(loop_scope="session")

SYNC = """
import json, sys
from e2b import CommandExitException, Sandbox, SandboxQuery, SandboxState

found = {}

def failure(name, call):
    try:
        call()
    except Exception as error:
        found[name] = type(error).__name__

sandbox = Sandbox.create(timeout=120, metadata={"a": "b"}, envs={"X": "y"})
done = sandbox.commands.run("echo $X; echo err >&2")
found["run"] = [done.stdout, done.stderr, done.exit_code]
try:
    sandbox.commands.run("exit 3")
except CommandExitException as error:
    found["exit"] = error.exit_code

sandbox.files.write("a/b.txt", "hällo")
found["read"] = sandbox.files.read("/home/user/a/b.txt")
found["list"] = [[one.name, one.type.value, one.size] for one in sandbox.files.list("a")]
found["exists"] = [sandbox.files.exists("a/b.txt"), sandbox.files.exists("nothing")]
found["make_dir"] = [sandbox.files.make_dir("d/e"), sandbox.files.make_dir("d/e")]
found["rename"] = sandbox.files.rename("a/b.txt", "d/c.txt").name
found["permissions"] = sandbox.files.get_info("d/c.txt").permissions
sandbox.files.remove("d")
found["removed"] = sandbox.files.exists("d")
failure("absent", lambda: sandbox.files.read("nothing"))
failure("no folder", lambda: sandbox.files.list("nothing"))

handle = sandbox.commands.run("cat; echo done", background=True, stdin=True)
found["processes"] = [one.pid == handle.pid for one in sandbox.commands.list()]
handle.send_stdin("hi\\n")
handle.close_stdin()
found["input"] = handle.wait().stdout
handle = sandbox.commands.run("sleep 100", background=True)
found["kill"] = [sandbox.commands.kill(handle.pid), sandbox.commands.kill(99999)]
failure("killed", handle.wait)
failure("time-out", lambda: sandbox.commands.run("sleep 100", timeout=1))
where = "pwd; echo $HOME; cd ~; python3 -c 'import os; print(os.getcwd(), os.listdir()[0])'"
sandbox.files.remove("/home/user/a")
sandbox.files.write("/home/user/home.txt", "")
found["home"] = sandbox.commands.run(where).stdout.split("\\n")
found["path"] = [one.path for one in sandbox.files.list(".") if one.name == "home.txt"]

info = sandbox.get_info()
found["info"] = [info.metadata, info.state.value, (info.end_at - info.started_at).seconds]
sandbox.set_timeout(600)
found["kept"] = (sandbox.get_info().end_at - info.started_at).seconds >= 600
found["listed"] = [one.sandbox_id == sandbox.sandbox_id for one in Sandbox.list().next_items()]
second = Sandbox.create(timeout=60, metadata={"a": "b", "run": "x&y = z"})
def listed(**query):
    pages = Sandbox.list(query=SandboxQuery(**query), limit=1)
    while pages.has_next:
        yield from (one.sandbox_id for one in pages.next_items())
found["filtered"] = [
    list(listed(metadata={"run": "x&y = z"})) == [second.sandbox_id],
    list(listed(metadata={"a": "b"})) == [second.sandbox_id, sandbox.sandbox_id],
    list(listed(metadata={"a": "c"})),
    list(listed(state=[SandboxState.PAUSED])),
]
second.kill()
failure("not served", lambda: Sandbox.create(lifecycle={"on_timeout": "pause"}))
found["connected"] = Sandbox.connect(sandbox.sandbox_id).commands.run("echo again").stdout

other = sys.argv[1]
failure("of another", lambda: Sandbox.connect(sandbox.sandbox_id, api_key=other, retries=0))
first = Sandbox.create(timeout=60, api_key=other)
failure("429", lambda: Sandbox.create(timeout=60, api_key=other, retries=0))
found["listed by another"] = [
    one.sandbox_id == first.sandbox_id for one in Sandbox.list(api_key=other).next_items()
]
first.kill()
failure("401", lambda: Sandbox.create(api_key="e2b_" + "c" * 40))
failure("template", lambda: Sandbox.create(template="no-such-language"))

found["end"] = [sandbox.is_running(), sandbox.kill(), sandbox.kill(), sandbox.is_running()]
failure("gone", lambda: sandbox.commands.run("echo"))
failure("gone file", lambda: sandbox.files.read("a"))
failure("404", lambda: sandbox.set_timeout(5))
print(json.dumps(found))
"""
ASYNC = """
import asyncio, io, json, os
from e2b import AsyncSandbox
from e2b_code_interpreter import AsyncSandbox as Interpreter

found = {}

async def main():
    sandbox = await AsyncSandbox.create(timeout=120)
    heard = []
    script = "for i in 1 2 3; do echo $i; done"
    handle = await sandbox.commands.run(script, background=True, on_stdout=heard.append)
    await handle.wait()
    found["streamed"] = "".join(heard)

    script = "until [ -e go ]; do sleep 0.05; done; echo late"
    handle = await sandbox.commands.run(script, background=True)
    await handle.disconnect()
    again = await sandbox.commands.connect(handle.pid)
    await sandbox.files.write("go", "")
    found["reconnected"] = (await again.wait()).stdout

    edge = b"\\x00\\r\\n--x\\r\\n\\r\\n"
    await sandbox.files.write_files(
        [{"path": 'p "q"', "data": "1"}, {"path": "/tmp/r", "data": edge}]
    )
    found["bytes"] = await sandbox.files.read("/tmp/r", format="bytes") == edge
    found["name"] = await sandbox.files.read('p "q"')
    try:
        await sandbox.commands.run("sleep 100", timeout=1)
    except Exception as error:
        found["time-out"] = type(error).__name__
    much = os.urandom(3_000_000)
    for name, data, gzip in (("a", much, False), ("b", io.BytesIO(much), False), ("c", much, True)):
        await sandbox.files.write(name, data, gzip=gzip)
        found[f"large {name}"] = await sandbox.files.read(name, format="bytes") == much
    await sandbox.kill()

    sandbox = await Interpreter.create(timeout=120)
    first = await sandbox.run_code("x = 41\\nprint('hé')")
    second = await sandbox.run_code("x + 1")
    error = (await sandbox.run_code("1 / 0")).error
    shown = await sandbox.run_code(
        "import os, asyncio\\ndisplay('a')\\nawait asyncio.sleep(0, os.environ['V'])",
        envs={"V": "v"},
    )
    found["shown"] = [shown.results[0].text, shown.text]
    context = await sandbox.create_code_context(cwd="/tmp")
    found["context"] = (await sandbox.run_code("x", context=context)).error.name
    found["code"] = [first.logs.stdout, second.text, second.execution_count, error.name]
    await sandbox.kill()

asyncio.run(main())
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of other projects' clients; skips where it is absent."""
    return require_package("adapters", "e2b")


async def run(program: str, app: App, packages: Path) -> dict[str, Any]:
    """Runs a client in a process of its own; returns what it prints."""
    url = f"http://{app.http_address}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, BLUE),
        stdout=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": str(packages),
            "E2B_API_URL": url,
            "E2B_SANDBOX_URL": url,
            "E2B_API_KEY": RED,
        },
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(output)
    return found


async def test_the_client_of_e2b_opens_uses_and_ends_sandboxes(app: App, packages: Path) -> None:
    found = await run(SYNC, app, packages)
    metadata, state, lifetime = found.pop("info")
    assert (metadata, state) == ({"a": "b"}, "running")
    assert 110 <= lifetime <= 121
    assert found == {
        "run": ["y\n", "err\n", 0],
        "exit": 3,
        "read": "hällo",
        "list": [["b.txt", "file", 6]],
        "exists": [True, False],
        "make_dir": [True, False],
        "rename": "c.txt",
        "permissions": "-rw-r--r--",
        "removed": False,
        "absent": "FileNotFoundException",
        "no folder": "FileNotFoundException",
        "processes": [True],
        "input": "hi\ndone\n",
        "kill": [True, False],
        "killed": "CommandExitException",
        "time-out": "TimeoutException",
        "home": ["/home/user", "/home/user", "/home/user home.txt", ""],
        "path": ["/home/user/home.txt"],
        "filtered": [True, True, [], []],
        "not served": "SandboxException",
        "kept": True,
        "listed": [True],
        "connected": "again\n",
        "of another": "SandboxNotFoundException",
        "429": "RateLimitException",
        "listed by another": [True],
        "401": "AuthenticationException",
        "template": "SandboxException",
        "end": [True, True, False, False],
        "gone": "SandboxNotRunningException",
        "gone file": "SandboxNotRunningException",
        "404": "SandboxNotFoundException",
    }


async def test_the_asynchronous_clients_stream_commands_files_and_code(
    app: App, packages: Path
) -> None:
    assert await run(ASYNC, app, packages) == {
        "streamed": "1\n2\n3\n",
        "reconnected": "late\n",
        "bytes": True,
        "name": "1",
        "time-out": "TimeoutException",
        "large a": True,
        "large b": True,
        "large c": True,
        "code": [["hé\n"], "42", 2, "ZeroDivisionError"],
        "shown": ["a", "v"],
        "context": "NameError",
    }

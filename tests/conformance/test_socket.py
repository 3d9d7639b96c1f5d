"""The checks that every sandbox has to pass, on a runner in a container that the tests started."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import docker
import pytest
import pytest_asyncio

from reward_server.backends import examine, running_backend
from reward_server.domain import Ending, Job, Program
from reward_server.errors import MissingWallError, SandboxError, SettingsError
from reward_server.sandbox.docker.container import DockerOptions, Plan, host_config
from reward_server.sandbox.docker.inventory import OWNER_LABEL
from reward_server.sandbox.local.cgroup import owner_id
from reward_server.sandbox.runner_command import OWN_CONTAINER, runner_command
from reward_server.sandbox.socket import SocketContainer, SocketSandboxes
from reward_server.settings import Settings
from tests.conformance.suite.checks import CHECKS, Check, output_of, run
from tests.conformance.suite.host import Host, inhabited, processes_marked
from tests.conformance.suite.reach import REACH
from tests.conformance.suite.shelf import Shelf

pytestmark = pytest.mark.asyncio(loop_scope="module")

INSIDE = "/run/codereward"
USER = "65534:65534"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with inhabited(tmp_path_factory.mktemp("host")) as made:
        yield made


@pytest.fixture(scope="module")
def listening(
    engine: docker.APIClient, python_image: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A container as an operator would harden it, whose runner listens in a shared folder."""
    folder = tmp_path_factory.mktemp("sockets")
    folder.chmod(0o777)
    settings = host_config(Plan(options=DockerOptions(image=python_image, runtime="runc")))
    identifier = engine.create_container(
        python_image,
        runner_command("python3", OWN_CONTAINER, listen=f"{INSIDE}/runner.sock"),
        user=USER,
        network_disabled=True,
        labels={OWNER_LABEL: owner_id()},
        host_config={**settings, "Binds": [f"{folder}:{INSIDE}:rw"]},
    )["Id"]
    engine.start(identifier)
    path = folder / "runner.sock"
    try:
        while not path.exists():
            time.sleep(0.02)
        yield path
    finally:
        engine.remove_container(identifier, force=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(listening: Path) -> AsyncIterator[Shelf]:
    sandboxes = SocketSandboxes([listening])
    made = Shelf(lambda: sandboxes(0))
    yield made
    await made.clear()


@pytest.mark.promise(
    "Local sandboxes, containers of runc, and runners at sockets pass the conformance suite.",
    "Confinement",
)
@pytest.mark.parametrize("check", [*CHECKS, *REACH], ids=lambda check: check.__name__)
async def test_a_runner_at_a_socket_keeps(check: Check, shelf: Shelf, host: Host) -> None:
    await shelf.pass_check(check, host)


async def test_cancelling_kills_and_leaves_the_runner_fit(shelf: Shelf) -> None:
    sandbox = await shelf.take()
    task = asyncio.create_task(run(sandbox, "import time; time.sleep(15)"))
    done, _ = await asyncio.wait([task], timeout=0.3)
    assert not done
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await output_of(sandbox, "print('alive')") == "alive\n"


async def test_a_connection_that_ends_ends_its_execution(shelf: Shelf, host: Host) -> None:
    """What it left would be seen, or in the way, of the next connection's."""
    marker = f"left-{host.secret}"
    source = f"import os; os.execv('/usr/bin/sleep', [{marker!r}, '20'])"
    sandbox = await shelf.take()
    task = asyncio.create_task(run(sandbox, source))
    while not processes_marked(marker):
        assert not task.done()
        await asyncio.sleep(0.01)
    await shelf.clear()
    with pytest.raises(SandboxError):
        await task
    assert await output_of(await shelf.take(), "print('alive')") == "alive\n"
    assert processes_marked(marker) == []


def parent_of(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


async def test_a_killed_zygote_takes_its_children_along(shelf: Shelf, host: Host) -> None:
    marker = f"orphaned-{host.secret}"
    source = f"import os; os.execv('/usr/bin/sleep', [{marker!r}, '20'])"
    task = asyncio.create_task(run(await shelf.take(), source))
    while not (running := processes_marked(marker)):
        assert not task.done()
        await asyncio.sleep(0.01)
    first_process = parent_of(running[0])
    os.kill(parent_of(first_process), signal.SIGKILL)
    with pytest.raises(SandboxError):
        await task
    await shelf.clear()
    assert await output_of(await shelf.take(), "print('alive')") == "alive\n"
    assert processes_marked(marker) == []


async def test_a_program_does_not_find_the_socket(shelf: Shelf) -> None:
    """It could ask its own runner, or its neighbours' in the same folder, as a server does."""
    source = f"""
import os, socket
try: print(os.listdir({INSIDE!r}))
except OSError as error: print(type(error).__name__)
with socket.socket(socket.AF_UNIX) as asking:
    try: asking.connect({INSIDE + "/runner.sock"!r})
    except OSError as error: print(type(error).__name__)
    else: print('connected')
"""
    said = (await output_of(await shelf.take(), source)).split()
    assert said[0] in ("[]", "PermissionError")
    assert said[1:] in (["FileNotFoundError"], ["PermissionError"])


async def test_a_big_request_passes_a_socket_whole(shelf: Shelf) -> None:
    stdin = bytes(range(256)) * (1 << 14)
    source = "import sys; print(len(sys.stdin.buffer.read()))"
    work = Job(work=Program(source=source, stdin=stdin))
    execution = await (await shelf.take()).run(work)
    assert execution.ending is Ending.COMPLETED
    assert execution.stdout.data == b"%d\n" % len(stdin)


async def test_nobody_else_is_let_in_meanwhile(shelf: Shelf, listening: Path) -> None:
    await shelf.take()
    others = SocketSandboxes([listening])
    second = asyncio.create_task(others(0))
    done, _ = await asyncio.wait([second], timeout=0.5)
    assert not done
    await shelf.clear()
    sandbox = await second
    assert await output_of(sandbox, "print('mine')") == "mine\n"
    await sandbox.close()


async def test_a_socket_where_nobody_listens_is_named(tmp_path: Path) -> None:
    free: asyncio.Queue[Path] = asyncio.Queue()
    free.put_nowait(tmp_path / "absent.sock")
    with pytest.raises(SandboxError, match=r"no runner listens at .*absent\.sock"):
        await SocketContainer.connect(free, hash_seed=1)
    assert free.qsize() == 1


async def test_the_backend_serves_with_a_slot_a_socket(shelf: Shelf, listening: Path) -> None:
    await shelf.clear()
    async with running_backend(Settings(backend="socket", sockets=(listening,))) as backend:
        assert backend.executor.slots == 1
        assert {"container", "seccomp"} <= {wall.name for wall in backend.walls if wall.standing}
        job = Job(work=Program(source="print('served')"))
        assert (await backend.executor.run(job)).stdout.data == b"served\n"


async def test_the_backend_refuses_to_start_without_its_runners(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="sockets: name"):
        async with running_backend(Settings(backend="socket")):
            pytest.fail("served")
    with pytest.raises(SettingsError, match="sockets: name"):
        await examine(Settings(backend="socket"))
    absent = Settings(backend="socket", sockets=(tmp_path / "absent.sock",))
    with pytest.raises(MissingWallError, match="absent"):
        async with running_backend(absent):
            pytest.fail("served")

"""The checks that every sandbox has to pass, on containers of a real Docker Engine.

All of them hold with runc and with gVisor. What is said of an engine's containers besides is shown
with runc; `test_runsc` has what is special in gVisor.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing

import docker
import pytest
import pytest_asyncio

from reward_server.backends import running_backend
from reward_server.errors import MissingWallError, SandboxError
from reward_server.sandbox.docker import images
from reward_server.sandbox.docker import janitor as engine_janitor
from reward_server.sandbox.docker.container import (
    DockerOptions,
    DockerSandboxes,
    connect,
    probe,
    remove_stale,
)
from reward_server.sandbox.docker.inventory import OWNER_LABEL
from reward_server.sandbox.docker.janitor import EngineJanitor
from reward_server.sandbox.local.cgroup import owner_id
from reward_server.settings import Settings
from tests.conformance.suite.checks import CHECKS, Check, output_of, run
from tests.conformance.suite.conversations import CONVERSATIONS
from tests.conformance.suite.executables import (
    EXECUTABLES,
    a_status_cannot_be_forged_by_ending_who_tells_it,
)
from tests.conformance.suite.host import Host, inhabited
from tests.conformance.suite.reach import OF_ANOTHER_KERNEL, REACH
from tests.conformance.suite.shelf import Shelf
from tests.conformance.suite.two_programs import TWO_PROGRAMS
from tests.support.sampling import sampled

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEAD_OWNER = owner_id().rpartition(".")[0] + ".1"
GONE_SECONDS = 60.0
SLEEP_SECONDS = 15
RUNTIMES = ("runc", "runsc")
# The first process of a namespace can be ended from within there; `test_runsc` shows that this
# tells no status.
KEPT_IN_GVISOR_TOO = tuple(
    check
    for check in (*CHECKS, *EXECUTABLES, *REACH)
    if check is not a_status_cannot_be_forged_by_ending_who_tells_it
    and check.__name__ not in OF_ANOTHER_KERNEL
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with inhabited(tmp_path_factory.mktemp("host")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelves(
    engine: docker.APIClient, python_image: str
) -> AsyncIterator[Mapping[str, Shelf]]:
    made = {runtime: shelf_of(engine, python_image, runtime) for runtime in RUNTIMES}
    yield made
    for shelf in made.values():
        await shelf.clear()


def shelf_of(engine: docker.APIClient, image: str, runtime: str = "runc") -> Shelf:
    options = DockerOptions(image=image, runtime=runtime)
    return Shelf(lambda: DockerSandboxes(engine, options)(0))


def containers(engine: docker.APIClient, owner: str = "") -> list[str]:
    label = f"{OWNER_LABEL}={owner}" if owner else OWNER_LABEL
    return [one["Id"] for one in engine.containers(all=True, filters={"label": label})]


def own_containers(engine: docker.APIClient) -> list[str]:
    """Returns the containers of this process: an engine may have others, which come and go."""
    return containers(engine, owner_id())


async def until_gone(engine: docker.APIClient, identifiers: list[str]) -> None:
    while set(identifiers) & set(containers(engine)):  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.05)


@pytest.mark.promise(
    "Local sandboxes, containers of runc, and runners at sockets pass the conformance suite.",
    "Confinement",
)
@pytest.mark.parametrize(
    "check",
    [*CHECKS, *EXECUTABLES, *TWO_PROGRAMS, *CONVERSATIONS, *REACH],
    ids=lambda check: check.__name__,
)
async def test_a_container_keeps(check: Check, shelves: Mapping[str, Shelf], host: Host) -> None:
    await shelves["runc"].pass_check(check, host)


@pytest.mark.parametrize("check", sampled(KEPT_IN_GVISOR_TOO, 2), ids=lambda check: check.__name__)
async def test_a_container_of_gvisor_keeps(
    check: Check, shelves: Mapping[str, Shelf], host: Host
) -> None:
    await shelves["runsc"].pass_check(check, host)


@pytest.mark.parametrize("runtime", RUNTIMES)
async def test_cancelling_kills_and_leaves_the_container_fit(
    runtime: str, shelves: Mapping[str, Shelf]
) -> None:
    sandbox = await shelves[runtime].take()
    task = asyncio.create_task(run(sandbox, f"import time; time.sleep({SLEEP_SECONDS})"))
    done, _ = await asyncio.wait([task], timeout=0.3)
    assert not done
    task.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < SLEEP_SECONDS / 2
    assert await output_of(sandbox, "print('alive')") == "alive\n"


async def test_closing_removes_the_container(engine: docker.APIClient, python_image: str) -> None:
    before = own_containers(engine)
    shelf = shelf_of(engine, python_image)
    await shelf.take()
    (made,) = set(own_containers(engine)) - set(before)
    await shelf.clear()
    await until_gone(engine, [made])


async def test_a_killed_container_is_a_failure_of_ours(
    engine: docker.APIClient, python_image: str
) -> None:
    before = own_containers(engine)
    shelf = shelf_of(engine, python_image)
    sandbox = await shelf.take()
    (made,) = set(own_containers(engine)) - set(before)
    task = asyncio.create_task(run(sandbox, "import time; time.sleep(15)"))
    await asyncio.wait([task], timeout=0.3)
    engine.kill(made)
    with pytest.raises(SandboxError, match="the sandbox failed"):
        await task
    await until_gone(engine, [made])


def silent(*_: object, **__: object) -> None:
    raise TimeoutError("no answer")


async def left_over(engine: docker.APIClient, start: DockerSandboxes) -> str:
    """Has an engine fall silent in the midst of a start; gives the container that it made."""
    before = own_containers(engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "start", silent)
        patch.setattr(engine, "remove_container", silent)
        with pytest.raises(SandboxError, match="did not start a container: it does not answer"):
            await start(0)
    (left,) = set(own_containers(engine)) - set(before)
    return left


async def test_what_a_silent_engine_left_is_removed_by_the_server_that_runs(
    engine: docker.APIClient, python_image: str
) -> None:
    async with aclosing(DockerSandboxes(engine, DockerOptions(image=python_image))) as start:
        sandbox = await start(0)
        in_use = own_containers(engine)
        await until_gone(engine, [await left_over(engine, start)])
        assert await output_of(sandbox, "print('alive')") == "alive\n"
        assert set(in_use) <= set(own_containers(engine))
        await sandbox.close()


async def test_what_a_silent_engine_left_is_removed_when_the_server_stops(
    engine: docker.APIClient, python_image: str
) -> None:
    async with aclosing(DockerSandboxes(engine, DockerOptions(image=python_image))) as start:
        left = await left_over(engine, start)
    assert left not in containers(engine)


async def test_a_start_that_is_cancelled_leaves_no_container(
    engine: docker.APIClient, python_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = own_containers(engine)
    asked, answer = threading.Event(), threading.Event()
    create = engine.create_container

    def create_slowly(*arguments: object, **options: object) -> object:
        asked.set()
        assert answer.wait(GONE_SECONDS)
        return create(*arguments, **options)

    monkeypatch.setattr(engine, "create_container", create_slowly)
    starting = asyncio.create_task(DockerSandboxes(engine, DockerOptions(image=python_image))(0))
    await asyncio.to_thread(asked.wait, GONE_SECONDS)
    starting.cancel()
    await asyncio.sleep(0)
    answer.set()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await until_gone(engine, list(set(own_containers(engine)) - set(before)))


async def test_a_container_has_the_hardening_that_is_promised(
    engine: docker.APIClient, python_image: str
) -> None:
    before = own_containers(engine)
    shelf = shelf_of(engine, python_image)
    await shelf.take()
    (made,) = set(own_containers(engine)) - set(before)
    found = engine.inspect_container(made)
    host = found["HostConfig"]
    await shelf.clear()
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert not host["Privileged"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert any(option.startswith("seccomp={") for option in host["SecurityOpt"])
    assert host["MemorySwap"] == host["Memory"] > 0
    assert host["PidsLimit"] > 0
    assert host["NanoCpus"] > 0
    assert not host["Binds"]
    assert not found["Mounts"]
    assert host["LogConfig"]["Type"] == "none"
    assert host["IpcMode"] == "private"
    assert host["AutoRemove"] is True
    assert found["Config"]["User"] == "65534:65534"


@pytest.mark.promise("After `kill -9` of the server, none of its sandboxes is left.", "Confinement")
async def test_a_killed_server_leaves_no_container(
    engine: docker.APIClient, python_image: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from reward_server.cli import main; main()", "serve"),
        *("--port=0", "--json", "--backend=docker", f"--set=images={python_image}", "--workers=2"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b'"docker"' in await process.stdout.readline()
    made = containers(engine, owner_id(process.pid))
    assert len(made) >= 2
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    await until_gone(engine, made)


async def test_a_container_that_a_killed_server_made_and_did_not_start_is_removed(
    engine: docker.APIClient, python_image: str
) -> None:
    owner = f"{DEAD_OWNER}0"
    made = [
        engine.create_container(
            python_image, ["sleep", "60"], labels={OWNER_LABEL: label}, network_disabled=True
        )["Id"]
        for label in (owner, owner, owner_id())
    ]
    try:
        janitor = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", engine_janitor.__name__, owner),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert janitor.stdin is not None
        assert janitor.stdout is not None
        assert await janitor.stdout.readline() == engine_janitor.READY
        assert set(made) <= set(containers(engine))
        janitor.stdin.close()
        await until_gone(engine, made[:2])
        assert made[2] in containers(engine)
        assert await janitor.wait() == 0
    finally:
        for identifier in made:
            with contextlib.suppress(docker.errors.NotFound):
                engine.remove_container(identifier, force=True)


async def test_a_janitor_of_containers_leaves_a_server_that_ends_by_itself_alone(
    engine: docker.APIClient, python_image: str
) -> None:
    used = engine.create_container(
        python_image, ["sleep", "60"], labels={OWNER_LABEL: DEAD_OWNER}, network_disabled=True
    )["Id"]
    try:
        janitor = await asyncio.to_thread(EngineJanitor.start, DEAD_OWNER)
        await asyncio.to_thread(janitor.close)
        assert used in containers(engine)
    finally:
        engine.remove_container(used, force=True)


async def test_what_a_dead_server_left_is_removed_and_no_other(
    engine: docker.APIClient, python_image: str
) -> None:
    left, used = (
        engine.create_container(
            python_image, ["sleep", "60"], labels={OWNER_LABEL: owner}, network_disabled=True
        )["Id"]
        for owner in (DEAD_OWNER, owner_id())
    )
    try:
        assert left in remove_stale(engine)
        assert left not in containers(engine)
        assert used in containers(engine)
    finally:
        engine.remove_container(used, force=True)


async def test_the_backend_says_what_stands_and_which_image(
    engine: docker.APIClient, python_image: str
) -> None:
    settings = Settings(backend="docker", images=(python_image,), runtime="runc", workers=1)
    async with running_backend(settings) as backend:
        standing = {wall.name for wall in backend.walls if wall.standing}
        assert backend.image_digests == {"python": python_image}
    limits = {"memory-limit", "process-limit", "cpu-limit"}
    assert {"container", "seccomp", "private-proc"} | limits <= standing


async def test_an_image_that_is_not_there_is_named(engine: docker.APIClient) -> None:
    with pytest.raises(SandboxError, match=r"no image 'absent:1'.*reward-server images build"):
        images.require(engine, "absent:1")


async def test_a_runtime_that_the_engine_does_not_know_is_a_missing_wall(
    engine: docker.APIClient, python_image: str
) -> None:
    walls = await probe(engine, DockerOptions(image=python_image, runtime="absent"))
    (container,) = [wall for wall in walls if wall.name == "container"]
    assert not container.standing
    assert "absent" in container.detail
    with pytest.raises(MissingWallError, match="container"):
        async with running_backend(
            Settings(backend="docker", images=(python_image,), runtime="absent", workers=1)
        ):
            pytest.fail("served")


# The SDK forgets the socket of a connection that fails.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_an_engine_that_does_not_answer_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(SandboxError, match="the Docker Engine does not answer"):
        connect()
    gc.collect()

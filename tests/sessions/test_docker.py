"""Sessions on the docker backend, with runc and with gVisor: the tests of local sessions, and what
is special in an engine's containers.

A run takes `ALWAYS` of the tests of local sessions, and all that apply with
`REWARD_SERVER_TEST_ALL=1`. `NOT_HERE` names those that do not apply, each with its reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import docker
import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.sandbox.docker.container import (
    SESSION_MACHINERY_MEMORY_BYTES,
    SESSION_MACHINERY_PROCESSES,
)
from reward_server.sandbox.docker.inventory import OWNER_LABEL
from reward_server.sandbox.owner import owner_id
from tests.conformance.suite.reach import OF_THE_IMAGE, PROBES_OF_ANOTHER_KERNEL
from tests.sessions import (
    test_code,
    test_commands,
    test_files,
    test_lifetimes,
    test_score,
    test_walls,
)
from tests.sessions.conftest import BLUE, SMALL, settings
from tests.support.common import on_the_servers_loop
from tests.support.engine import PYTHON_TAG, SCIENCE_TAG
from tests.support.sampling import TAKES_ALL, sampled
from trainer_client import (
    AsyncRewardClient,
    AsyncSession,
    CallError,
    RewardClient,
    SessionEndedError,
    SessionFileError,
)
from trainer_client.local_server import LocalServer

pytestmark = on_the_servers_loop

RUNTIMES = ("runc", "runsc")
host, neighbour, red = test_walls.host, test_walls.neighbour, test_lifetimes.red
ALWAYS = (
    "test_a_command_is_run_with_input_and_its_streams_are_told_apart",
    "test_a_command_is_stopped_at_its_time_limit_with_its_children",
    "test_output_above_the_limit_is_dropped_and_counted",
    "test_a_command_whose_output_is_not_read_holds_up_no_other",
    "test_files_and_processes_of_one_command_are_there_for_the_next",
    "test_a_full_disk_and_a_large_file_are_told",
    "test_files_that_fill_the_memory_end_commands_and_not_the_session",
    "test_a_session_sees_and_disturbs_nothing_of_the_host",
    "test_a_session_cannot_reach_a_service_or_a_socket_of_this_machine",
    "test_sessions_of_one_server_do_not_see_each_other",
    "test_a_command_that_takes_too_much_is_bounded_and_harms_no_neighbour[{}-a fork bomb]",
    "test_a_session_ends_with_its_lifetime_even_if_it_is_in_use",
    "test_a_file_of_a_session_is_judged_as_a_completion",
    "test_state_stays_from_call_to_call_and_the_last_value_is_told",
    "test_a_time_limit_interrupts_code_and_keeps_the_state",
    "test_the_end_of_an_interpreter_is_told_and_its_session_lives_on",
    "test_an_interpreter_that_takes_too_much_memory_is_lost",
)
_FILES_OF_THE_IMAGE = "the image has these files, and they are closed"
_SERVER = "starts a server of its own, on the local backend"
_FRAMEWORK = "needs pytest in the sandbox"
_FULL = "needs a server on which no other test has a session"
# By the beginning of a test's name, with the runtime in the place of {}.
NOT_HERE: Mapping[str, str] = {
    "test_a_link_leads_to_the_sessions_own_files_alone": _FILES_OF_THE_IMAGE,
    "test_what_cannot_be_read_is_refused_with_a_reason[{}--/etc/shadow": _FILES_OF_THE_IMAGE,
    "test_what_cannot_be_read_is_refused_with_a_reason[{}--../../": _FILES_OF_THE_IMAGE,
    "test_a_loopback_network": "the docker backend offers no network",
    "test_figures": _SERVER,
    "test_many_sessions": _SERVER,
    "test_a_drain": _SERVER,
    "test_a_server_without_sessions": _SERVER,
    "test_a_session_that_was_judged_is_in_the_audit_log": _SERVER,
    "test_a_score_of_a_session_takes_the_room_of_a_request": _SERVER,
    "test_a_repository_that_a_session_solved": _FRAMEWORK,
    "test_a_score_kills_what_runs": _FRAMEWORK,
    "test_an_attack_in_a_session": _FRAMEWORK,
    "test_what_is_no_regular_file": _FRAMEWORK,
    "test_files_that_cannot_be_judged": _FRAMEWORK,
    "test_a_wrong_request_is_refused_by_field": _FRAMEWORK,
    "test_the_quota_of_sessions": _FULL,
    "test_memory_admits_sessions": _FULL,
    **{f"test_a_session_cannot_reach[{{}}-{name}": "of the image" for name in OF_THE_IMAGE},
}
_NO_FIRST = "in gVisor, the first process of a namespace has no protection from the others"
NOT_IN_GVISOR: Mapping[str, str] = {
    "test_the_first_process_of_a_session": _NO_FIRST,
    "test_what_cannot_be_read_is_refused_with_a_reason[runsc-ln -s /proc/1": _NO_FIRST,
    "test_orphans_are_reaped": "a command takes longer to end than its orphans write",
    **{
        f"test_a_session_cannot_reach[runsc-{name}": "of gVisor's kernel"
        for name in PROBES_OF_ANOTHER_KERNEL
    },
}


def is_taken(name: str) -> bool:
    """Returns True if a run takes a test, by its name with its parameters."""
    runtime = "runsc" if "[runsc" in name else "runc"
    if any(name.startswith(one.format(runtime)) for one in NOT_HERE):
        return False
    if runtime == "runsc" and any(map(name.startswith, NOT_IN_GVISOR)):
        return False
    wanted = (*ALWAYS, *_OWN)
    return TAKES_ALL or any(name.startswith(one.format(runtime)) for one in wanted)


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=RUNTIMES)
async def app(
    request: pytest.FixtureRequest,
    engine: docker.APIClient,
    python_image: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[App]:
    """Yields a server on the docker backend, in the place of the local one."""
    chosen = {"backend": "docker", "runtime": request.param, "images": (python_image,)}
    chosen |= {"session_warm": 0}  # so that a container that is made is that of a session
    async with running_app(settings(tmp_path_factory.mktemp("server"), **chosen)) as running:
        yield running


_TAKEN_OVER = {
    name: found
    for module in (test_commands, test_files, test_walls, test_code, test_lifetimes, test_score)
    for name, found in vars(module).items()
    if name.startswith("test_") and callable(found)
}
globals().update(_TAKEN_OVER)


# ------------------------------------------------------------------- an engine's containers


def containers(engine: docker.APIClient, owner: str) -> set[str]:
    """Returns the ids of a server's containers."""
    found = engine.containers(all=True, filters={"label": f"{OWNER_LABEL}={owner}"})
    return {container["Id"] for container in found}


def of_sessions(engine: docker.APIClient) -> set[str]:
    """Returns the ids of this process's containers for sessions."""
    found = engine.containers(all=True, filters={"label": f"{OWNER_LABEL}={owner_id()}"})
    return {container["Id"] for container in found if "--session" in container["Command"]}


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.02)


async def test_a_container_of_a_session_is_hardened_and_gone_with_it(
    app: App, client: AsyncRewardClient, engine: docker.APIClient
) -> None:
    before = of_sessions(engine)
    async with client.session(**SMALL):
        [made] = of_sessions(engine) - before
        config = engine.inspect_container(made)["HostConfig"]
        assert (config["NetworkMode"], config["ReadonlyRootfs"]) == ("none", True)
        assert (config["CapDrop"], config["Binds"]) == (["ALL"], None)
        assert config["SecurityOpt"][0] == "no-new-privileges"
        assert config["NanoCpus"] == 10**9
        if config["Runtime"] == "runc":
            assert not config["CapAdd"]
            memory = SMALL["memory_bytes"] + SESSION_MACHINERY_MEMORY_BYTES
            assert (config["Memory"], config["MemorySwap"]) == (memory, memory)
            first = 1  # process of the session
            assert config["PidsLimit"] == SMALL["processes"] + first + SESSION_MACHINERY_PROCESSES
    assert of_sessions(engine) == before


async def test_a_session_whose_container_is_killed_is_lost_and_others_live_on(
    app: App, client: AsyncRewardClient, engine: docker.APIClient
) -> None:
    async with client.session(**SMALL) as other:
        before = of_sessions(engine)
        async with client.session(**SMALL) as session:
            [made] = of_sessions(engine) - before
            async with session.start(["sleep", "60"]) as command:
                await asyncio.to_thread(engine.kill, made)
                with pytest.raises(SessionEndedError, match="its processes ended") as raised:
                    await command.wait()
            assert raised.value.reason == "SESSION_LOST"
            assert (await other.exec(["true"])).success
        await asyncio.to_thread(wait_until, lambda: of_sessions(engine) <= before)


async def test_files_of_the_image_that_are_closed_cannot_be_read(session: AsyncSession) -> None:
    await session.exec(["ln", "-s", "/etc/shadow", "link"])
    for path in ("/etc/shadow", "../../../etc/shadow", "link"):
        with pytest.raises(SessionFileError) as raised:
            await session.read_file(path)
        assert raised.value.reason == "FILE_NOT_PERMITTED"


async def test_a_session_names_its_image_among_those_of_the_server(
    client: AsyncRewardClient,
) -> None:
    [name] = (await client.server_info()).sessions.images
    for one in (name, PYTHON_TAG):  # an image can have several names
        async with client.session(**SMALL, image=one) as session:
            assert (await session.exec(["python3", "-c", "1"])).success
    with pytest.raises(CallError, match=f"FAILED_PRECONDITION.*'other' is not.*{name}"):
        await client.session(**SMALL, image="other").__aenter__()


async def test_code_in_an_image_with_packages_draws_figures(
    engine: docker.APIClient, python_image: str, science_image: str, tmp_path: Path
) -> None:
    several = settings(
        tmp_path, backend="docker", images=(python_image, science_image), session_warm=0
    )
    drawing = "import matplotlib.pyplot as plt, numpy as np; plt.plot(np.arange(3)); plt.show()"
    async with (
        running_app(several) as server,
        AsyncRewardClient(server.address, token=BLUE) as asking,
        asking.session(image=SCIENCE_TAG) as session,
        asking.session() as plain,
    ):
        result = await session.run_code(drawing, time_limit_seconds=60)
        assert (result.success, len(result.images)) == (True, 1), result
        assert b"Warning" not in result.stderr
        assert (await plain.run_code("import numpy")).error_name == "ModuleNotFoundError"


@pytest.mark.parametrize("runtime", sampled(RUNTIMES, 2))
async def test_no_container_outlives_a_server_that_is_killed(
    runtime: str, tmp_path: Path, engine: docker.APIClient, python_image: str
) -> None:
    await asyncio.to_thread(_kill_a_server, runtime, tmp_path, engine, python_image)


def _kill_a_server(runtime: str, folder: Path, engine: docker.APIClient, python_image: str) -> None:
    options = {
        "backend": "docker",
        "images": python_image,
        "runtime": runtime,
        "languages": "python",
        "session_memory_bytes": 1 << 30,
        "session_warm": 1,
    }
    arguments = ["--workers", "1"]
    for name, value in options.items():
        arguments += ["--set", f"{name}={value}"]
    with LocalServer(folder / "log", arguments) as server:
        owner = owner_id(server.pid)
        with RewardClient(server.target, outage_seconds=1) as blocking:
            session = blocking.session(**SMALL).__enter__()
            assert session.exec(["bash", "-c", "(setsid sleep 600 >/dev/null 2>&1 &)"]).success
            assert len(containers(engine, owner)) >= 2
            server.kill()
            wait_until(lambda: not containers(engine, owner))
            with pytest.raises(CallError):
                session.exec(["true"])


_OWN = tuple(
    name
    for name, found in globals().items()
    if name.startswith("test_") and callable(found) and name not in _TAKEN_OVER
)

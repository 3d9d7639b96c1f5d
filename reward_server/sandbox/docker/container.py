"""Containers of a Docker Engine, with any of its runtimes (runc, crun, runsc, Kata).

What this stops, in addition to what `runner.walls.confine` stops in each execution: use of the
network, writes to the container's files, capabilities, set-uid programs, use of more memory,
processes and CPU time than a slot has, and, with a runtime such as gVisor, access to the
host's kernel.

What it does not: it does not protect from the engine, which is trusted. A client of the server
never chooses an image, a mount, a runtime or a flag.

A runtime such as runc, or Kata with its own Linux, gives the runner user namespaces: the container
has no capability, and its user is nobody. gVisor (`runtimes`) is a kernel of its own, in which the
runner is root with the few capabilities of `SANDBOX_CAPABILITIES`. They are valid only in that
kernel, and the kernel itself has no capability on the host. With gVisor the engine cannot change a
running container's limits. So the container gets the greatest limits that a request may set, and
the runner enforces the limits of an execution.

The runner's pipes are the container's standard streams, over one attached connection. When the
server ends, in any way, the runner's input ends, so the runner exits and the engine removes the
container. No folder of the host is mounted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Self

import docker
import docker.errors

from reward_server.domain import Limits, Wall
from reward_server.errors import SandboxError
from reward_server.runner import wire
from reward_server.runner.walls import policy
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.docker.inventory import (
    ENGINE_FAILURES,
    OWNER_LABEL,
    Containers,
    remove,
    told,
)
from reward_server.sandbox.docker.runtimes import describe
from reward_server.sandbox.owner import owner_lives
from reward_server.sandbox.runner_command import OWN_CONTAINER, runner_command
from reward_server.sandbox.runner_sandbox import ContainedSandbox

USER = "65534:65534"
MACHINERY_MEMORY_BYTES = 48 << 20  # for the runner; an idle container uses half of it
JUDGE_MEMORY_BYTES = 16 << 20  # for the judge, added to the memory of the warm runner
MACHINERY_PROCESSES = 3  # the zygote, the fork server and the judge
SESSION_MACHINERY_MEMORY_BYTES = 12 << 20  # the runner and the first process of a session use 11 MB
SESSION_MACHINERY_PROCESSES = 1  # the runner
API_TIMEOUT_SECONDS = 20
SHARED_MEMORY_BYTES = 1 << 20
STDERR_KEPT_BYTES = 8192
_HEADER = struct.Struct(">BxxxI")  # header of a piece of output: its stream and its size
_STDOUT = 1
# The runner, root of gVisor's kernel, builds walls with these and gives them up; see
# `runner.walls.privileges`.
SANDBOX_CAPABILITIES = (
    "SYS_ADMIN",  # clone into namespaces, mount, make a cgroup
    "SYS_CHROOT",  # give each process a file tree of its own
    "SETUID",  # become the judge's or the candidate's user
    "SETGID",
    "SETPCAP",  # forbid that any capability is regained
    "CHOWN",  # give an execution's folders to its user
    "KILL",  # end processes of other users
)
SANDBOX_USER = "0:0"
# Memory for gVisor itself, for an image's modules, and for a burst before the runner's next check.
SENTRY_MEMORY_BYTES = 1 << 30
HOST_TASKS = 64  # threads of the host for each process in gVisor, enough if many start at once
SENTRY_PROCESSES = 512  # threads of gVisor itself
_LIMIT_WALLS = {
    "memory-limit": ("MemoryLimit", "SwapLimit"),
    "process-limit": ("PidsLimit",),
    "cpu-limit": ("CpuCfsQuota",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions(WallOptions):
    """The way to make an engine's containers.

    Args:
        image: name, digest or id of an image that has a runner.
        name: the image's name for people.
        runtime: a runtime of the engine; its default runtime if empty.
        greatest: the greatest limits that an execution may have.
        cpu_cores: CPU time per wall time that a container may use.
        session: whether its runner runs one session instead of executions.
        hash_seed: of all interpreters of Python, as of PYTHONHASHSEED.
    """

    image: str
    name: str = ""
    runtime: str = ""
    greatest: Limits = field(default_factory=Limits)
    cpu_cores: float = 1.0
    session: bool = False
    hash_seed: int = 0


def connect() -> docker.APIClient:
    """Connects to the engine that the environment names.

    Raises:
        SandboxError: the engine does not answer.
    """
    try:
        environment = docker.utils.kwargs_from_env()
        return docker.APIClient(**environment, version="auto", timeout=API_TIMEOUT_SECONDS)
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(f"the Docker Engine does not answer: {error}") from error


def remove_stale(engine: docker.APIClient) -> tuple[str, ...]:
    """Removes containers of servers that are dead; returns their ids."""
    removed = []
    for container in engine.containers(all=True, filters={"label": OWNER_LABEL}):
        if not owner_lives(container["Labels"][OWNER_LABEL]):
            with contextlib.suppress(*ENGINE_FAILURES):  # another server may be removing it
                remove(engine, container["Id"])
            removed.append(container["Id"])
    return tuple(removed)


class DockerContainer:
    """A container of an engine; see `runner_sandbox.Container`."""

    def __init__(self, containers: Containers, plan: Plan, name: str, streams: _Streams) -> None:
        self.output = streams.stdout
        self.name = name
        self._containers = containers
        self._streams = streams
        self._plan = plan
        self._bounds = plan.bounds(Limits())

    @classmethod
    async def start(cls, containers: Containers, plan: Plan) -> Self:
        """Starts a container; cancelling the call leaves none.

        Raises:
            SandboxError: the engine does not start it; the message is the engine's.
        """
        name = containers.new_name()
        bringing = asyncio.ensure_future(asyncio.to_thread(_bring_up, containers, plan, name))
        try:
            streams = await _Streams.open(await asyncio.shield(bringing))
            with contextlib.suppress(OSError):  # what it says before its end tells why
                await streams.send(wire.SEED.pack(plan.options.hash_seed))
            return cls(containers, plan, name, streams)
        except BaseException as error:
            # The thread continues, and must end before its work can be undone.
            [attached] = await asyncio.gather(bringing, return_exceptions=True)
            if isinstance(attached, socket.socket):
                attached.close()
            await containers.remove(name)
            if isinstance(error, ENGINE_FAILURES):
                raise SandboxError(_told_of_start(error, plan.options)) from error
            raise

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        await self._streams.send(data)

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Limits the container, whose usage includes the runner's."""
        wanted = self._plan.bounds(limits, runner_bytes)
        if wanted == self._bounds:
            return
        try:
            await asyncio.to_thread(_update, self._containers.engine, self.name, wanted)
        except ENGINE_FAILURES as error:
            raise OSError(f"the engine set no limits: {told(error)}") from error
        self._bounds = wanted

    async def destroy(self) -> str:
        """Removes the container; see `runner_sandbox.Container.destroy`."""
        try:
            await self._containers.remove(self.name)
        finally:
            said = await self._streams.close()
        return said


class ContainerMaker:
    """Makes an engine's containers.

    Args:
        engine: the engine.
        options: the way to make them.
    """

    def __init__(self, engine: docker.APIClient, options: DockerOptions) -> None:
        self.containers = Containers(engine)
        self._options = options
        self._plan: Plan | None = None

    async def plan(self) -> Plan:
        """Returns the way to make them with the engine's runtime.

        Raises:
            SandboxError: the engine does not report it.
        """
        if self._plan is None:
            self._plan = await plan_containers(self.containers.engine, self._options)
        return self._plan

    async def aclose(self) -> None:
        """Removes the containers that the engine has not removed before."""
        await self.containers.close()


class DockerSandboxes(ContainerMaker):
    """Makes an engine's containers for a pool."""

    async def __call__(self, number: int) -> ContainedSandbox:
        """Starts the container of a slot.

        Raises:
            SandboxError: the container or its runner did not start.
        """
        container = await DockerContainer.start(self.containers, await self.plan())
        return await ContainedSandbox.start(container)


async def probe(engine: docker.APIClient, options: DockerOptions) -> tuple[Wall, ...]:
    """Asks the engine which limits it enforces, and tries a container."""
    info = await asyncio.to_thread(engine.info)
    limits = _limit_walls(info, options.runtime)
    problem = ""
    for attempt in (options, replace(options, private_proc=False)):
        async with aclosing(DockerSandboxes(engine, attempt)) as start:
            try:
                sandbox = await start(0)
            except SandboxError as error:
                problem = problem or str(error)
                continue
            await sandbox.close()
        works = Wall(name="container", standing=True, detail="a first program ran in it")
        return (works, *limits, *sandbox.description.walls)
    return (Wall(name="container", standing=False, detail=problem), *limits)


def _limit_walls(info: Mapping[str, Any], runtime: str) -> tuple[Wall, ...]:
    if describe(info, runtime).ignores_limits:
        remedy = f"the engine starts {runtime} with --ignore-cgroups; leave that out"
        return tuple(Wall(name=name, standing=False, detail=remedy) for name in _LIMIT_WALLS)
    return tuple(
        Wall(
            name=name,
            standing=all(map(info.get, fields)),
            detail=f"the engine: {', '.join(fields)}",
        )
        for name, fields in _LIMIT_WALLS.items()
    )


# ----------------------------------------------------------------------------- the engine's API


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    memory_bytes: int
    processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The way to make an engine's containers with a kind of runtime.

    Args:
        options: the requested options.
        sandbox_kernel: whether the container has a kernel of its own, gVisor's.
        user: the user as which the runner starts.
        capabilities: the runner's capabilities in its container.
    """

    options: DockerOptions
    sandbox_kernel: bool = False
    user: str = USER
    capabilities: tuple[str, ...] = ()

    def bounds(self, limits: Limits, runner_bytes: int = 0) -> _Bounds:
        """Computes what a container may use during an execution with these limits."""
        machinery = max(runner_bytes + JUDGE_MEMORY_BYTES, MACHINERY_MEMORY_BYTES)
        return _Bounds(
            memory_bytes=limits.memory_bytes + machinery,
            processes=limits.processes + MACHINERY_PROCESSES,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan(Plan):
    """The way to make containers for sessions."""

    def bounds(self, limits: Limits, runner_bytes: int = 0) -> _Bounds:
        """Computes what the container of a session with these limits may use."""
        return _Bounds(
            memory_bytes=limits.memory_bytes + SESSION_MACHINERY_MEMORY_BYTES,
            processes=limits.processes + SESSION_MACHINERY_PROCESSES,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxKernelPlan(Plan):
    """The way to make containers with gVisor."""

    sandbox_kernel: bool = True
    user: str = SANDBOX_USER
    capabilities: tuple[str, ...] = SANDBOX_CAPABILITIES

    def bounds(self, limits: Limits, runner_bytes: int = 0) -> _Bounds:
        """Computes what a container may use in its whole life."""
        most = self.options.greatest
        return _Bounds(
            memory_bytes=most.memory_bytes + MACHINERY_MEMORY_BYTES + SENTRY_MEMORY_BYTES,
            processes=HOST_TASKS * most.processes + SENTRY_PROCESSES,
        )


async def plan_containers(engine: docker.APIClient, options: DockerOptions) -> Plan:
    """Asks the engine for its kind of runtime, and plans accordingly.

    Raises:
        SandboxError: the engine does not report it.
    """
    try:
        info = await asyncio.to_thread(engine.info)
    except ENGINE_FAILURES as error:
        raise SandboxError(f"the engine tells of no runtimes: {told(error)}") from error
    if describe(info, options.runtime).is_sandbox_kernel:
        return SandboxKernelPlan(options=options)
    return SessionPlan(options=options) if options.session else Plan(options=options)


def _told_of_start(error: Exception, options: DockerOptions) -> str:
    if isinstance(error, docker.errors.ImageNotFound):
        return (
            f"the engine no longer has image {options.name or options.image} ({options.image}): "
            "load it again, or start the server with another"
        )
    return f"the engine did not start a container: {told(error)}"


def _bring_up(containers: Containers, plan: Plan, name: str) -> socket.socket:
    _create(containers, plan, name)
    # Before the start: what the runner says earlier would be lost, as no log keeps it.
    attached = _attach(containers.engine, name)
    try:
        containers.engine.start(name)
    except BaseException:
        attached.close()
        raise
    return attached


def _create(containers: Containers, plan: Plan, name: str) -> None:
    options = plan.options
    settings = {
        **OWN_CONTAINER,
        "sandbox_kernel": plan.sandbox_kernel,
        "private_proc": options.private_proc,
        "seccomp": options.use_seccomp,
        "landlock": options.use_landlock,
    }
    containers.engine.create_container(
        options.image,
        name=name,
        command=runner_command("python3", settings, session=options.session),
        user=plan.user,
        hostname=policy.HOST_NAME,
        # The way to the runner. An `exec` takes as long as a start, and both sides would have to
        # write to a folder that is mounted for a socket.
        stdin_open=True,
        stop_signal="SIGKILL",  # a namespace's first process ignores other signals
        network_disabled=True,
        labels=containers.labels,
        host_config=host_config(plan),
    )


def host_config(plan: Plan) -> dict[str, Any]:
    """Returns the `HostConfig` of the engine's API: the hardening, setting by setting."""
    bounds = plan.bounds(Limits())
    return {
        "AutoRemove": True,
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "CapAdd": list(plan.capabilities),
        "SecurityOpt": ["no-new-privileges", f"seccomp={seccomp_profile()}"],
        # A fresh /proc cannot be mounted in a namespace whose parent's /proc is partly covered.
        "MaskedPaths": [],
        "ReadonlyPaths": [],
        "Memory": bounds.memory_bytes,
        # Of memory and swap together, so there is no swap.
        "MemorySwap": bounds.memory_bytes,
        "PidsLimit": bounds.processes,
        "NanoCpus": round(plan.options.cpu_cores * 1e9),
        "ShmSize": SHARED_MEMORY_BYTES,
        "IpcMode": "private",
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        # Else the engine writes all that the runner sends to a file on its disk.
        "LogConfig": {"Type": "none", "Config": {}},
        "Runtime": plan.options.runtime,
    }


def seccomp_profile() -> str:
    """Returns the profile of the container's own processes, as the engine reads it."""
    text = files(__package__).joinpath("seccomp.json").read_text("utf-8")
    return json.dumps(json.loads(text))


def _attach(engine: docker.APIClient, name: str) -> socket.socket:
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    # The SDK returns a socket, or a file that contains it. As long as it is open, so is the whole
    # response.
    attached = engine.attach_socket(name, wanted)
    raw: socket.socket = getattr(attached, "_sock", attached)
    with closing(raw), closing(attached):
        return raw.dup()


def _update(engine: docker.APIClient, name: str, bounds: _Bounds) -> None:
    # The SDK's own method does not support a limit on processes.
    changes = {
        "Memory": bounds.memory_bytes,
        "MemorySwap": bounds.memory_bytes,
        "PidsLimit": bounds.processes,
    }
    url = f"{engine.base_url}/v{engine.api_version}/containers/{name}/update"
    response = engine.post(url, json=changes, timeout=API_TIMEOUT_SECONDS)
    if not response.ok:
        raise docker.errors.APIError(response.text, response=response)


class _Streams:
    """A container's standard streams, separated from the one connection that they share."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.stdout = asyncio.StreamReader()
        self._reader = reader
        self._writer = writer
        self._complaints = b""
        self._task = asyncio.create_task(self._take_apart())

    @classmethod
    async def open(cls, attached: socket.socket) -> _Streams:
        attached.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=attached)
        return cls(reader, writer)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> str:
        """Closes the connection; returns the end of the error output."""
        self._writer.transport.abort()  # an engine that hangs reads no further data
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await self._task
        return self._complaints.decode("utf-8", "replace").strip()

    async def _take_apart(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                header = await self._reader.readexactly(_HEADER.size)
                stream, size = _HEADER.unpack(header)
                piece = await self._reader.readexactly(size)
                if stream == _STDOUT:
                    self.stdout.feed_data(piece)
                else:
                    self._complaints = (self._complaints + piece)[-STDERR_KEPT_BYTES:]
        self.stdout.feed_eof()

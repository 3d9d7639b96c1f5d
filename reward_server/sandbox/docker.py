"""Containers of a Docker Engine, with whatever runtime it knows (runc, crun, runsc, Kata).

What this stops, around what `runner.confine` stops for each execution: the network, writes to the
container's files, capabilities, set-uid programs, more memory, processes and CPU time than a slot
has, and, with a runtime such as gVisor, the host's kernel.

What it does not: protect from the engine, which is trusted. A client of the server never names an
image, a mount, a runtime or a flag.

The runner's pipes are the container's standard streams, over one attached connection: when the
server goes, however it goes, the runner's input ends, so the runner exits and the engine removes
the container. No folder of the host is mounted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import docker
import docker.errors

from reward_server.domain import Limits, Wall
from reward_server.errors import SandboxError
from reward_server.runner import policy
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.cgroup import owner_lives
from reward_server.sandbox.command import OWN_CONTAINER, runner_command
from reward_server.sandbox.contained import ContainedSandbox
from reward_server.sandbox.containers import (
    ENGINE_FAILURES,
    OWNER_LABEL,
    Containers,
    remove,
    told,
)

USER = "65534:65534"
MACHINERY_MEMORY_BYTES = 32 << 20  # the zygote and the judge; an idle container uses half of it
JUDGE_MEMORY_BYTES = 16 << 20  # beside a zygote that has modules of the image's own loaded
MACHINERY_PROCESSES = 2  # the zygote and the judge
API_TIMEOUT_SECONDS = 20
SHARED_MEMORY_BYTES = 1 << 20
STDERR_KEPT_BYTES = 8192
_HEADER = struct.Struct(">BxxxI")  # of a piece of output: which stream, how many bytes
_STDOUT = 1
_LIMIT_WALLS = {
    "memory-limit": ("MemoryLimit", "SwapLimit"),
    "process-limit": ("PidsLimit",),
    "cpu-limit": ("CpuCfsQuota",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions(WallOptions):
    """How an engine's containers are made.

    Args:
        image: name, digest or id of an image that has a runner.
        name: what people call that image.
        runtime: a runtime that the engine knows; its default if empty.
        cpu_cores: CPU time per time that a container may use.
    """

    image: str
    name: str = ""
    runtime: str = ""
    cpu_cores: float = 1.0


def connect() -> docker.APIClient:
    """Connects to the engine that the environment names.

    Raises:
        SandboxError: it does not answer.
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
            with contextlib.suppress(*ENGINE_FAILURES):  # another server may be at it
                remove(engine, container["Id"])
            removed.append(container["Id"])
    return tuple(removed)


class DockerContainer:
    """A container of an engine; see `contained.Container`."""

    def __init__(self, containers: Containers, name: str, streams: _Streams) -> None:
        self.output = streams.stdout
        self._containers = containers
        self._name = name
        self._streams = streams
        self._bounds = _Bounds()

    @classmethod
    async def start(cls, containers: Containers, options: DockerOptions) -> DockerContainer:
        """Starts a container; cancelling the call leaves none.

        Raises:
            SandboxError: the engine does not start it; the message is the engine's.
        """
        name = containers.new_name()
        bringing = asyncio.ensure_future(asyncio.to_thread(_bring_up, containers, options, name))
        try:
            return cls(containers, name, await _Streams.open(await asyncio.shield(bringing)))
        except BaseException as error:
            # What a thread has begun goes on, and has to end before it can be undone.
            [attached] = await asyncio.gather(bringing, return_exceptions=True)
            if isinstance(attached, socket.socket):
                attached.close()
            await containers.remove(name)
            if isinstance(error, ENGINE_FAILURES):
                raise SandboxError(_told_of_start(error, options)) from error
            raise

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        await self._streams.send(data)

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Bounds the container, in which the runner is counted too."""
        machinery = max(runner_bytes + JUDGE_MEMORY_BYTES, MACHINERY_MEMORY_BYTES)
        wanted = _Bounds(
            memory_bytes=limits.memory_bytes + machinery,
            processes=limits.processes + MACHINERY_PROCESSES,
        )
        if wanted == self._bounds:
            return
        try:
            await asyncio.to_thread(_update, self._containers.engine, self._name, wanted)
        except ENGINE_FAILURES as error:
            raise OSError(f"the engine set no limits: {told(error)}") from error
        self._bounds = wanted

    async def destroy(self) -> str:
        """Ends it; see `contained.Container.destroy`."""
        try:
            await self._containers.remove(self._name)
        finally:
            said = await self._streams.close()
        return said


class DockerSandboxes:
    """Makes an engine's containers for a pool.

    Args:
        engine: where.
        options: how they are made.
    """

    def __init__(self, engine: docker.APIClient, options: DockerOptions) -> None:
        self._containers = Containers(engine)
        self._options = options

    async def __call__(self, number: int) -> ContainedSandbox:
        """Starts the container of a slot.

        Raises:
            SandboxError: it did not come up.
        """
        container = await DockerContainer.start(self._containers, self._options)
        return await ContainedSandbox.start(container)

    async def aclose(self) -> None:
        """Removes what the engine could not be asked to remove before."""
        await self._containers.close()


async def probe(engine: docker.APIClient, options: DockerOptions) -> tuple[Wall, ...]:
    """Asks the engine what it bounds, and tries a container."""
    info = await asyncio.to_thread(engine.info)
    limits = tuple(
        Wall(
            name=name,
            standing=all(map(info.get, fields)),
            detail=f"the engine: {', '.join(fields)}",
        )
        for name, fields in _LIMIT_WALLS.items()
    )
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


# ----------------------------------------------------------------------------- the engine's API


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    memory_bytes: int = Limits().memory_bytes + MACHINERY_MEMORY_BYTES
    processes: int = Limits().processes + MACHINERY_PROCESSES


def _told_of_start(error: Exception, options: DockerOptions) -> str:
    if isinstance(error, docker.errors.ImageNotFound):
        return (
            f"the engine no longer has image {options.name or options.image} ({options.image}): "
            "load it again, or start the server with another"
        )
    return f"the engine did not start a container: {told(error)}"


def _bring_up(containers: Containers, options: DockerOptions, name: str) -> socket.socket:
    _create(containers, options, name)
    attached = _attach(containers.engine, name)
    try:
        containers.engine.start(name)
    except BaseException:
        attached.close()
        raise
    return attached


def _create(containers: Containers, options: DockerOptions, name: str) -> None:
    settings = {
        **OWN_CONTAINER,
        "private_proc": options.private_proc,
        "seccomp": options.use_seccomp,
        "landlock": options.use_landlock,
    }
    containers.engine.create_container(
        options.image,
        name=name,
        command=runner_command("python3", settings),
        user=USER,
        hostname=policy.HOST_NAME,
        stdin_open=True,
        stop_signal="SIGKILL",  # a first process heeds no other, and an engine that ends waits
        network_disabled=True,
        labels=containers.labels,
        host_config=host_config(options),
    )


def host_config(options: DockerOptions) -> dict[str, Any]:
    """Returns what the engine's API calls `HostConfig`: the hardening, setting by setting."""
    bounds = _Bounds()
    return {
        "AutoRemove": True,
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={seccomp_profile()}"],
        # A fresh /proc cannot be mounted in a namespace below one whose /proc is partly covered.
        "MaskedPaths": [],
        "ReadonlyPaths": [],
        "Memory": bounds.memory_bytes,
        "MemorySwap": bounds.memory_bytes,
        "PidsLimit": bounds.processes,
        "NanoCpus": round(options.cpu_cores * 1e9),
        "ShmSize": SHARED_MEMORY_BYTES,
        "IpcMode": "private",
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        "LogConfig": {"Type": "none", "Config": {}},
        "Runtime": options.runtime,
    }


def seccomp_profile() -> str:
    """Returns the profile of the container's own processes, as the engine reads it."""
    text = files(__package__).joinpath("seccomp.json").read_text("utf-8")
    return json.dumps(json.loads(text))


def _attach(engine: docker.APIClient, name: str) -> socket.socket:
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    # The SDK gives a file around the socket, or a socket, and keeps it with the whole response.
    attached = engine.attach_socket(name, wanted)
    raw: socket.socket = getattr(attached, "_sock", attached)
    with closing(raw), closing(attached):
        return raw.dup()


def _update(engine: docker.APIClient, name: str, bounds: _Bounds) -> None:
    # The SDK's own method knows no limit on processes.
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
    """A container's standard streams, taken apart from the one connection that they share."""

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
        """Closes the connection; returns the end of what came on stderr."""
        self._writer.transport.abort()  # an engine that stands still takes nothing more
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

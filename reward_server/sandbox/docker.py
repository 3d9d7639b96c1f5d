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
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import docker
import docker.errors

from reward_server.domain import Limits, Wall
from reward_server.errors import SandboxError
from reward_server.runner import policy
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.cgroup import owner_id, owner_lives
from reward_server.sandbox.command import OWN_CONTAINER, runner_command
from reward_server.sandbox.contained import ContainedSandbox

OWNER_LABEL = "codereward.owner"
USER = "65534:65534"
MACHINERY_MEMORY_BYTES = 32 << 20  # the zygote and the judge; an idle container uses half of it
MACHINERY_PROCESSES = 2  # the zygote and the judge
API_TIMEOUT_SECONDS = 30
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
        runtime: a runtime that the engine knows; its default if empty.
        preload: modules to import once in the zygote.
        cpu_cores: CPU time per time that a container may use.
    """

    image: str
    runtime: str = ""
    preload: tuple[str, ...] = ()
    cpu_cores: float = 1.0


def connect() -> docker.APIClient:
    """Connects to the engine that the environment names.

    Raises:
        SandboxError: it does not answer.
    """
    try:
        return docker.APIClient(**docker.utils.kwargs_from_env(), version="auto")
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(f"the Docker Engine does not answer: {error}") from error


def remove_stale(engine: docker.APIClient) -> tuple[str, ...]:
    """Removes containers of servers that are dead; returns their ids."""
    removed = []
    for container in engine.containers(all=True, filters={"label": OWNER_LABEL}):
        if not owner_lives(container["Labels"][OWNER_LABEL]):
            _remove(engine, container["Id"])
            removed.append(container["Id"])
    return tuple(removed)


class DockerContainer:
    """A container of an engine; see `contained.Container`."""

    def __init__(self, engine: docker.APIClient, identifier: str, streams: _Streams) -> None:
        self.output = streams.stdout
        self._engine = engine
        self._identifier = identifier
        self._streams = streams
        self._bounds = _Bounds()

    @classmethod
    async def start(cls, engine: docker.APIClient, options: DockerOptions) -> DockerContainer:
        """Starts a container.

        Raises:
            SandboxError: the engine does not start it; the message is the engine's.
        """
        try:
            identifier = await asyncio.to_thread(_create, engine, options)
        except (docker.errors.DockerException, OSError) as error:
            raise SandboxError(f"the engine made no container: {error}") from error
        container = None
        try:
            streams = await _Streams.open(await asyncio.to_thread(_attach, engine, identifier))
            container = cls(engine, identifier, streams)
            await asyncio.to_thread(engine.start, identifier)
        except BaseException as error:
            if container is None:
                await asyncio.to_thread(_remove, engine, identifier)
            else:
                await container.destroy()
            if isinstance(error, docker.errors.DockerException | OSError):
                raise SandboxError(f"the engine did not start a container: {error}") from error
            raise
        return container

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        await self._streams.send(data)

    async def set_limits(self, limits: Limits) -> None:
        """Bounds the container, in which the runner is counted too."""
        wanted = _Bounds(
            memory_bytes=limits.memory_bytes + MACHINERY_MEMORY_BYTES,
            processes=limits.processes + MACHINERY_PROCESSES,
        )
        if wanted == self._bounds:
            return
        try:
            await asyncio.to_thread(_update, self._engine, self._identifier, wanted)
        except docker.errors.DockerException as error:
            raise OSError(f"the engine set no limits: {error}") from error
        self._bounds = wanted

    async def destroy(self) -> str:
        """Ends it; see `contained.Container.destroy`."""
        await asyncio.to_thread(_remove, self._engine, self._identifier)
        return await self._streams.close()


class DockerSandboxes:
    """Makes an engine's containers for a pool.

    Args:
        engine: where.
        options: how they are made.
    """

    def __init__(self, engine: docker.APIClient, options: DockerOptions) -> None:
        self._engine = engine
        self._options = options

    async def __call__(self, number: int) -> ContainedSandbox:
        """Starts the container of a slot.

        Raises:
            SandboxError: it did not come up.
        """
        container = await DockerContainer.start(self._engine, self._options)
        return await ContainedSandbox.start(container)


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
        try:
            sandbox = await DockerSandboxes(engine, attempt)(0)
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


def _create(engine: docker.APIClient, options: DockerOptions) -> str:
    settings = {
        **OWN_CONTAINER,
        "private_proc": options.private_proc,
        "seccomp": options.use_seccomp,
        "landlock": options.use_landlock,
        "preload": options.preload,
    }
    created: Mapping[str, str] = engine.create_container(
        options.image,
        command=runner_command("python3", settings),
        user=USER,
        hostname=policy.HOST_NAME,
        stdin_open=True,
        network_disabled=True,
        labels={OWNER_LABEL: owner_id()},
        host_config=host_config(options),
    )
    return created["Id"]


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


def _attach(engine: docker.APIClient, identifier: str) -> socket.socket:
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    # The SDK gives a file around the socket, or a socket, and keeps it with the whole response.
    attached = engine.attach_socket(identifier, wanted)
    raw: socket.socket = getattr(attached, "_sock", attached)
    with closing(raw), closing(attached):
        return raw.dup()


def _update(engine: docker.APIClient, identifier: str, bounds: _Bounds) -> None:
    # The SDK's own method knows no limit on processes.
    changes = {
        "Memory": bounds.memory_bytes,
        "MemorySwap": bounds.memory_bytes,
        "PidsLimit": bounds.processes,
    }
    url = f"{engine.base_url}/v{engine.api_version}/containers/{identifier}/update"
    response = engine.post(url, json=changes, timeout=API_TIMEOUT_SECONDS)
    if not response.ok:
        raise docker.errors.APIError(response.text, response=response)


def _remove(engine: docker.APIClient, identifier: str) -> None:
    """Kills and removes a container that may be gone, or be going, already."""
    with contextlib.suppress(docker.errors.APIError, OSError):
        engine.remove_container(identifier, force=True, v=True)


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
        self._writer.close()
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

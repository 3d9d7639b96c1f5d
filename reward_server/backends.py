"""Where executions run: each backend, from settings to a pool of warm sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from reward_server.domain import Wall
from reward_server.errors import SettingsError
from reward_server.executors.base import Executor
from reward_server.executors.local import LocalExecutor
from reward_server.runner.wire import PROTOCOL_VERSION
from reward_server.sandbox import socket
from reward_server.sandbox.cgroup import CgroupParent, remove_stale
from reward_server.sandbox.contained import ContainedSandbox
from reward_server.sandbox.janitor import Janitor
from reward_server.sandbox.local import LocalOptions, LocalSandboxes
from reward_server.sandbox.pool import Pool
from reward_server.sandbox.probe import probe, require, without_missing
from reward_server.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Where jobs run, and what there is to say of it.

    Args:
        image_digest: digest of the sandbox image, where there is one.
        language_versions: version of each language that was tried and works, by canonical name.
        outages: False each time that no job can be run any more, True when one can again.
    """

    name: str
    executor: Executor
    walls: tuple[Wall, ...]
    language_versions: Mapping[str, str]
    image_digest: str = ""
    runner_version: str = str(PROTOCOL_VERSION)
    outages: asyncio.Queue[bool] = field(default_factory=asyncio.Queue)


@asynccontextmanager
async def running_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps the backend that the settings name for the length of the block.

    Raises:
        SettingsError: a setting cannot be followed.
        MissingWallError: a protection is missing and was not waived.
        SandboxError: no sandbox can be started.
    """
    start = {"local": local_backend, "docker": docker_backend, "socket": socket_backend}
    async with start[settings.backend](settings) as backend:
        yield backend


def local_options(settings: Settings) -> LocalOptions:
    """Gives local containers' options that the settings ask for.

    Raises:
        SettingsError: a folder of packages is none.
    """
    for folder in settings.sandbox_packages:
        if not folder.is_dir():
            raise SettingsError(f"sandbox_packages: {folder} is no folder")
    packages = tuple(str(folder) for folder in settings.sandbox_packages)
    if settings.sandbox_uid is None:
        return LocalOptions(packages=packages)
    return LocalOptions(packages=packages, uid=settings.sandbox_uid)


async def examine(settings: Settings) -> tuple[Wall, ...]:
    """Tries the backend that the settings name; tells which of its walls stand.

    Raises:
        SettingsError: a setting cannot be followed.
        SandboxError: there is nothing to try: no engine, or no image.
    """
    if settings.backend == "socket":
        return await socket.probe(_sockets(settings))
    if settings.backend == "local":
        return await probe(settings.cgroup_parent, local_options(settings))
    engines = _docker_module()
    with closing(await asyncio.to_thread(engines.connect)) as engine:
        walls: tuple[Wall, ...] = await engines.probe(
            engine, await _docker_options(engine, settings)
        )
        return walls


@asynccontextmanager
async def local_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps a pool of bubblewrap containers on this machine; see `running_backend`."""
    if settings.runtime:
        raise SettingsError("runtime: the local backend has no choice of runtimes; leave it unset")
    options = local_options(settings)
    walls = await probe(settings.cgroup_parent, options)
    require(walls, settings.allow_missing)
    cgroups = CgroupParent.look(settings.cgroup_parent)
    remove_stale(cgroups)
    with closing(Janitor.start()) as janitor:
        janitor.watch_cgroups(cgroups.prefixes)
        start = LocalSandboxes(without_missing(options, walls), cgroups)
        async with _pooled(settings, "local", start, walls) as backend:
            yield backend


@asynccontextmanager
async def docker_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps a pool of a Docker Engine's containers; see `running_backend`."""
    if settings.sandbox_packages:
        raise SettingsError("sandbox_packages: packages of the docker backend are in its image")
    engines = _docker_module()
    engine = await asyncio.to_thread(engines.connect)
    with closing(engine):
        await asyncio.to_thread(engines.remove_stale, engine)
        options = await _docker_options(engine, settings)
        walls = await engines.probe(engine, options)
        require(walls, settings.allow_missing)
        start = engines.DockerSandboxes(engine, without_missing(options, walls))
        async with _pooled(settings, "docker", start, walls, options.image) as backend:
            yield backend


@asynccontextmanager
async def socket_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps connections to runners that something else started; see `running_backend`."""
    paths = _sockets(settings)
    walls = await socket.probe(paths)
    require(walls, settings.allow_missing)
    start = socket.SocketSandboxes(paths)
    one_each = settings.model_copy(update={"workers": len(paths)})
    async with _pooled(one_each, "socket", start, walls, spares=0) as backend:
        yield backend


def _sockets(settings: Settings) -> tuple[Path, ...]:
    if settings.runtime or settings.sandbox_packages:
        raise SettingsError(
            "runtime, sandbox_packages: those of the socket backend are its runners'"
        )
    if not settings.sockets:
        raise SettingsError("sockets: name the sockets on which runners listen")
    return settings.sockets


async def _docker_options(engine: Any, settings: Settings) -> Any:
    engines = _docker_module()
    from reward_server.sandbox import images

    image = await asyncio.to_thread(engines.resolve_image, engine, settings.image)
    await asyncio.to_thread(images.check_runner, engine, settings.image)
    return engines.DockerOptions(
        image=image, runtime=settings.runtime, greatest=settings.most_limits
    )


def _docker_module() -> ModuleType:
    try:
        from reward_server.sandbox import docker
    except ImportError as error:
        raise SettingsError(
            f"backend: docker needs the SDK ({error}); install codereward[docker]"
        ) from None
    return docker


@asynccontextmanager
async def _pooled(
    settings: Settings,
    name: str,
    start: Callable[[int], Awaitable[ContainedSandbox]],
    walls: tuple[Wall, ...],
    image: str = "",
    spares: int | None = None,
) -> AsyncIterator[Backend]:
    factory = _Factory(start)
    outages = asyncio.Queue[bool]()
    pool = Pool(
        factory,
        slots=settings.workers,
        recycle_after_executions=settings.recycle_after_executions,
        recycle_after_seconds=settings.recycle_after_seconds,
        tell_works=outages.put_nowait,
        spares=spares,
    )
    await pool.start()
    try:
        yield Backend(
            name=name,
            executor=LocalExecutor(pool),
            walls=walls,
            image_digest=image,
            language_versions={"python": factory.language_version},
            outages=outages,
        )
    finally:
        await pool.close()


class _Factory:
    """Starts containers, and remembers what they say of themselves."""

    def __init__(self, start: Callable[[int], Awaitable[ContainedSandbox]]) -> None:
        self._start = start
        self.language_version = ""

    async def __call__(self, number: int) -> ContainedSandbox:
        sandbox = await self._start(number)
        self.language_version = sandbox.description.language_version
        return sandbox

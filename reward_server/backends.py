"""Where executions run: each backend, from settings to a pool of warm sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from reward_server.domain import Network, Wall
from reward_server.errors import SettingsError, UnsupportedError
from reward_server.executor import Executor
from reward_server.language_versions import versions_of
from reward_server.languages import Languages, load_languages
from reward_server.runner.wire import PROTOCOL_VERSION
from reward_server.sandbox import socket
from reward_server.sandbox.docker.janitor import EngineJanitor
from reward_server.sandbox.language_pools import Pools
from reward_server.sandbox.local.cgroup import CgroupParent, remove_stale
from reward_server.sandbox.local.container import LocalOptions, LocalSandboxes
from reward_server.sandbox.local.host_files import shows_all
from reward_server.sandbox.local.janitor import Janitor
from reward_server.sandbox.local.probe import probe, require, without_missing
from reward_server.sandbox.owner import owner_id
from reward_server.sandbox.pool import Pool
from reward_server.sandbox.retries import RetryingExecutor
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from reward_server.settings import Settings

_IDLE_SECONDS = 300.0  # for which the containers of other images than the first stay warm


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Where jobs run, and what there is to say of it.

    Args:
        image_digests: digest of the sandbox image of each language, where there are images.
        language_versions: version of each language that was tried and works, by canonical name.
        frameworks: those whose test files each language's sandboxes can run.
        networks: what executions can be given.
        outages: False each time that no job can be run any more, True when one can again.
    """

    name: str
    executor: Executor
    walls: tuple[Wall, ...]
    language_versions: Mapping[str, str]
    frameworks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    image_digests: Mapping[str, str] = field(default_factory=dict)
    runner_version: str = str(PROTOCOL_VERSION)
    networks: frozenset[Network] = frozenset()
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
    """Returns local containers' options that the settings ask for.

    Raises:
        SettingsError: a folder of packages is none.
    """
    for folder in settings.sandbox_packages:
        if not folder.is_dir():
            raise SettingsError(f"sandbox_packages: {folder} is no folder")
    packages = tuple(str(folder) for folder in settings.sandbox_packages)
    chains = [one.toolchain for one in _wanted(settings).all if one.toolchain is not None]
    paths = tuple(dict.fromkeys(path for chain in chains for path in chain.paths))
    options = LocalOptions(packages=packages, paths=paths, preload=settings.sandbox_preload)
    if settings.sandbox_uid is None:
        return options
    return replace(options, uid=settings.sandbox_uid)


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
        first = (await _images(engine, settings))[0]
        options = _docker_options(settings, first)
        walls: tuple[Wall, ...] = await engines.probe(engine, options)
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
        source = _Source(start=start, languages=_installed(settings))
        async with _pooled(settings, "local", [source], walls) as backend:
            yield replace(backend, networks=frozenset({Network.LOOPBACK}))


@asynccontextmanager
async def docker_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps a pool of a Docker Engine's containers; see `running_backend`."""
    if settings.sandbox_packages or settings.sandbox_preload:
        raise SettingsError(
            "sandbox_packages, sandbox_preload: what the docker backend imports is in its image"
        )
    engines = _docker_module()
    engine = await asyncio.to_thread(engines.connect)
    with closing(engine), closing(await asyncio.to_thread(EngineJanitor.start, owner_id())):
        await asyncio.to_thread(engines.remove_stale, engine)
        found = await _images(engine, settings)
        options = _docker_options(settings, found[0])
        walls = await engines.probe(engine, options)
        require(walls, settings.allow_missing)
        options = without_missing(options, walls)
        async with AsyncExitStack() as stack:
            sources = []
            for one in found:
                own = replace(options, image=one.identifier, name=one.name)
                start = engines.DockerSandboxes(engine, own)
                await stack.enter_async_context(aclosing(start))
                source = _Source(start=start, languages=one.languages, image=one.identifier)
                sources.append(source)
            backend = _pooled(settings, "docker", sources, walls)
            yield await stack.enter_async_context(backend)


@asynccontextmanager
async def socket_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Keeps connections to runners that something else started; see `running_backend`."""
    paths = _sockets(settings)
    walls = await socket.probe(paths)
    require(walls, settings.allow_missing)
    everything = tuple(one.name for one in _wanted(settings).all)
    source = _Source(start=socket.SocketSandboxes(paths), languages=everything)
    one_each = settings.model_copy(update={"workers": len(paths)})
    async with _pooled(one_each, "socket", [source], walls, spares=0) as backend:
        yield backend


def _sockets(settings: Settings) -> tuple[Path, ...]:
    if settings.runtime or settings.sandbox_packages or settings.sandbox_preload:
        raise SettingsError(
            "runtime, sandbox_packages, sandbox_preload: those of the socket backend are its "
            "runners'"
        )
    if not settings.sockets:
        raise SettingsError("sockets: name the sockets on which runners listen")
    return settings.sockets


def _docker_options(settings: Settings, image: Any) -> Any:
    return _docker_module().DockerOptions(
        image=image.identifier,
        name=image.name,
        runtime=settings.runtime,
        greatest=settings.most_limits,
    )


async def _images(engine: Any, settings: Settings) -> tuple[Any, ...]:
    """Finds the images to use, the most wanted first.

    Raises:
        SandboxError: one that the settings name cannot be used, or there is none.
    """
    from reward_server.sandbox.docker import images

    return await asyncio.to_thread(images.choose, engine, settings.images)


def _wanted(settings: Settings) -> Languages:
    """Returns the languages to offer, where they are found.

    Raises:
        SettingsError: one is not known.
    """
    known = load_languages()
    try:
        chosen = tuple(map(known.find, settings.languages))
    except UnsupportedError as error:
        raise SettingsError(f"languages: {error}") from None
    return Languages(chosen or known.all)


def _installed(settings: Settings) -> tuple[str, ...]:
    """Names the languages of which this host has all executables."""
    return tuple(
        one.name
        for one in _wanted(settings).all
        if one.toolchain is None or shows_all(one.toolchain.executables)
    )


def _docker_module() -> ModuleType:
    try:
        from reward_server.sandbox.docker import container
    except ImportError as error:
        raise SettingsError(
            f"backend: docker needs the SDK ({error}); pip install '.[docker]' in a checkout"
        ) from None
    return container


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where containers come from, and which languages they may have."""

    start: Callable[[int], Awaitable[ContainedSandbox]]
    languages: tuple[str, ...]
    image: str = ""


@asynccontextmanager
async def _pooled(
    settings: Settings,
    name: str,
    sources: Sequence[_Source],
    walls: tuple[Wall, ...],
    spares: int | None = None,
) -> AsyncIterator[Backend]:
    """Keeps pools of containers: the first source's warm, the others' on demand."""
    outages = asyncio.Queue[bool]()
    wanted = [one.name for one in _wanted(settings).all]
    pools: dict[str, Pool] = {}
    digests: dict[str, str] = {}
    for source in sources:
        new = [one for one in source.languages if one in wanted and one not in pools]
        if not new:
            continue
        is_first = not pools
        pool = Pool(
            source.start,
            slots=settings.workers,
            recycle_after_executions=settings.recycle_after_executions,
            recycle_after_seconds=settings.recycle_after_seconds,
            tell_works=outages.put_nowait if is_first else lambda _: None,
            spares=spares,
            idle_seconds=None if is_first else _IDLE_SECONDS,
        )
        pools |= dict.fromkeys(new, pool)
        digests |= dict.fromkeys(new, source.image)
    if not pools:
        raise SettingsError("languages: no image has any of them")
    executor = RetryingExecutor(together := Pools(pools))
    await together.start()
    try:
        found = await versions_of(executor, [load_languages().find(one) for one in pools])
        _refuse_absent(settings, found)
        yield Backend(
            name=name,
            executor=executor,
            walls=walls,
            image_digests=digests,
            language_versions={name: one.version for name, one in found.items()},
            frameworks={name: one.frameworks for name, one in found.items()},
            outages=outages,
        )
    finally:
        await together.close()


def _refuse_absent(settings: Settings, found: Container[str]) -> None:
    wanted = {one.name for one in _wanted(settings).all} if settings.languages else set()
    if absent := {name for name in wanted if name not in found}:
        raise SettingsError(f"languages: not found here: {', '.join(sorted(absent))}")

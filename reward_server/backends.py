"""Builds a backend from the settings: a pool of warm sandboxes in which executions run."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reward_server.domain import ImageInfo, Network, Wall
from reward_server.errors import SettingsError, UnsupportedError
from reward_server.executor import Executor
from reward_server.grading.crossing import missing_package
from reward_server.grading.repository.tree import Tree
from reward_server.language_versions import Survey, versions_of
from reward_server.languages import Languages, load_languages
from reward_server.runner.wire import PROTOCOL_VERSION
from reward_server.sandbox.base import Offer, SandboxBackend, SessionSource
from reward_server.sandbox.host_noise import Circumstance
from reward_server.sandbox.language_pools import Pools
from reward_server.sandbox.local import compilers
from reward_server.sandbox.local.backend import LocalBackend
from reward_server.sandbox.local.container import LocalOptions
from reward_server.sandbox.local.identities import first_identity
from reward_server.sandbox.pool import Pool, SandboxCounts
from reward_server.sandbox.retries import RetryingExecutor
from reward_server.sandbox.socket import SocketBackend
from reward_server.settings import Settings

_REASON_CHARACTERS = 300
_IDLE_SECONDS = 300.0  # idle time after which containers of all images but the first are stopped

_IDENTITIES_PER_SLOT = 2  # a slot's container and its spare
# Identities below those of sessions: containers that are being closed keep theirs for a moment.
_IDENTITIES_BESIDE_SESSIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A backend that runs jobs, and the facts that the server reports about it.

    Args:
        image_digests: digest of the sandbox image of each language, if the backend uses images.
        images: the images that a job can name, the most wanted first.
        image_repositories: reads the repositories of images, by digest.
        language_versions: version of each language that was tried and works, by canonical name.
        frameworks: the test frameworks that each language's sandboxes can run.
        networks: the kinds of network that executions can have.
        counts: returns the counts of its sandboxes.
        retries: returns the number of second runs of jobs, by cause.
        outages: receives False when jobs can no longer be run, and True when they can again.
        sessions: the sources of sandboxes for sessions; empty if none are offered.
        hash_seed: of all interpreters of Python.
    """

    name: str
    executor: Executor
    walls: tuple[Wall, ...]
    language_versions: Mapping[str, str]
    frameworks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    image_digests: Mapping[str, str] = field(default_factory=dict)
    images: tuple[ImageInfo, ...] = ()
    image_repositories: Mapping[str, Callable[[], Awaitable[Tree]]] = field(default_factory=dict)
    runner_version: str = str(PROTOCOL_VERSION)
    networks: frozenset[Network] = frozenset()
    counts: Callable[[], SandboxCounts] = lambda: SandboxCounts.together(())
    retries: Callable[[], Mapping[str, int]] = dict
    outages: asyncio.Queue[bool] = field(default_factory=asyncio.Queue)
    sessions: tuple[SessionSource, ...] = ()
    hash_seed: int = 0


@asynccontextmanager
async def running_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Runs the backend that the settings name for the length of the block.

    Raises:
        SettingsError: a setting cannot be followed.
        MissingWallError: a protection is missing and was not waived.
        SandboxError: no sandbox can be started.
    """
    async with (
        _chosen(settings).open(settings.allow_missing) as offer,
        _pooled(settings, offer) as backend,
    ):
        yield backend


async def examine(settings: Settings) -> tuple[Wall, ...]:
    """Probes the backend that the settings name; returns its walls, and whether each is in effect.

    Raises:
        SettingsError: a setting cannot be followed.
        SandboxError: there is no engine or no image to probe.
    """
    return await _chosen(settings).probe()


def compiler_circumstances(settings: Settings) -> tuple[Circumstance, ...]:
    """Returns whether the compilers of the local backend are prepared; nothing for other backends.

    Raises:
        SettingsError: the folder that the settings name cannot be used.
    """
    found = _compilers(settings)[1] if settings.backend == "local" else None
    return () if found is None else (found,)


def shared_languages(settings: Settings) -> str:
    """Tells whose test programs are SHARED because a package is not installed; "" if none are."""
    programs = ((one.name, one.program) for one in _wanted(settings).all)
    splits = {name: one.split for name, one in programs if one is not None and one.split}
    missing = {name: package for name, one in splits.items() if (package := missing_package(one))}
    if not missing:
        return ""
    return (
        f"test programs in {', '.join(missing)} run beside the solution and are SHARED: the server "
        f"lacks {', '.join(sorted({*missing.values()}))}; install the extra [compiled]"
    )


def _compilers(settings: Settings) -> tuple[Path | None, Circumstance | None]:
    """Returns the folder of prepared compilers and what was found; neither if none is needed."""
    names = {language.name for language in _wanted(settings).all}
    if settings.compiler_folder is None and names.isdisjoint(compilers.LANGUAGES):
        return None, None
    return compilers.chosen(settings.compiler_folder)


def _chosen(settings: Settings) -> SandboxBackend:
    choose = {"local": _local, "docker": _docker, "socket": _socket}
    return choose[settings.backend](settings)


def _local(settings: Settings) -> SandboxBackend:
    if settings.runtime:
        raise SettingsError("runtime: the local backend has no choice of runtimes; leave it unset")
    for folder in settings.sandbox_packages:
        if not folder.is_dir():
            raise SettingsError(f"sandbox_packages: {folder} is no folder")
    prepared, _ = _compilers(settings)
    languages = _wanted(settings).all
    chains = [one.toolchain for one in languages if one.toolchain is not None]
    options = LocalOptions(
        packages=tuple(map(str, settings.sandbox_packages)),
        paths=tuple(dict.fromkeys(path for chain in chains for path in chain.paths)),
        preload=settings.sandbox_preload,
        compilers="" if prepared is None else str(prepared),
        hash_seed=settings.hash_seed,
    )
    uid = settings.sandbox_uid
    if uid is None:
        uid = first_identity(options.uid, _identities(settings))
    options = replace(options, uid=uid)
    return LocalBackend(
        options=options,
        cgroup_parent=settings.cgroup_parent,
        languages=languages,
        slots=settings.workers,
        session_options=_for_sessions(options, settings),
    )


def _identities(settings: Settings) -> int:
    """Returns how many users the containers of a local backend need."""
    if not settings.session_memory_bytes:
        return settings.workers * _IDENTITIES_PER_SLOT
    sessions = settings.session_count + settings.session_warm
    return settings.workers * _IDENTITIES_BESIDE_SESSIONS + sessions + settings.session_warm


def _for_sessions(options: LocalOptions, settings: Settings) -> LocalOptions | None:
    """Returns how containers of sessions are made; their users are none of executions."""
    if not settings.session_memory_bytes:
        return None
    first = options.uid + settings.workers * _IDENTITIES_BESIDE_SESSIONS
    return replace(options, uid=first, cpu_cores=settings.session_cpu_cores)


def _docker(settings: Settings) -> SandboxBackend:
    if settings.sandbox_packages or settings.sandbox_preload or settings.compiler_folder:
        raise SettingsError(
            "sandbox_packages, sandbox_preload, compiler_folder: what the docker backend imports "
            "is in its image"
        )
    try:
        from reward_server.sandbox.docker.backend import DockerBackend
    except ImportError as error:
        raise SettingsError(
            f"backend: docker needs the SDK ({error}); pip install '.[docker]' in a checkout"
        ) from None
    return DockerBackend(
        images=settings.images,
        runtime=settings.runtime,
        greatest=settings.most_limits,
        session_cpu_cores=settings.session_cpu_cores if settings.session_memory_bytes else None,
        hash_seed=settings.hash_seed,
    )


def _socket(settings: Settings) -> SandboxBackend:
    if (
        settings.runtime
        or settings.sandbox_packages
        or settings.sandbox_preload
        or settings.compiler_folder
    ):
        raise SettingsError(
            "runtime, sandbox_packages, sandbox_preload, compiler_folder: those of the socket "
            "backend are its runners'"
        )
    if not settings.sockets:
        raise SettingsError("sockets: name the sockets on which runners listen")
    languages = tuple(one.name for one in _wanted(settings).all)
    return SocketBackend(paths=settings.sockets, languages=languages, hash_seed=settings.hash_seed)


def _wanted(settings: Settings) -> Languages:
    """Returns the languages that the settings name, or all known ones if they name none.

    Raises:
        SettingsError: a language is not known.
    """
    known = load_languages()
    try:
        chosen = tuple(map(known.find, settings.languages))
    except UnsupportedError as error:
        raise SettingsError(f"languages: {error}") from None
    return Languages(chosen or known.all)


@asynccontextmanager
async def _pooled(settings: Settings, offer: Offer) -> AsyncIterator[Backend]:
    """Runs pools of containers: the first source's are warm, the others' start on demand."""
    outages = asyncio.Queue[bool]()
    wanted = [one.name for one in _wanted(settings).all]
    pools: dict[str, Pool] = {}
    by_image: dict[str, Pool] = {}
    digests: dict[str, str] = {}
    images: list[ImageInfo] = []
    for source in offer.sources:
        offered = [one for one in source.languages if one in wanted]
        new = [one for one in offered if one not in pools]
        image = source.image
        if not new and (image is None or not offered or image.digest in by_image):
            continue
        is_first = not pools
        pool = Pool(
            source.start,
            slots=settings.workers if offer.slots is None else offer.slots,
            recycle_after_executions=settings.recycle_after_executions,
            recycle_after_seconds=settings.recycle_after_seconds,
            tell_works=outages.put_nowait if is_first else lambda _: None,
            spares=None if offer.slots is None else 0,
            # A warm container for each image and slot would be hundreds, for languages that rest.
            idle_seconds=None if is_first else _IDLE_SECONDS,
        )
        pools |= dict.fromkeys(new, pool)
        if image is not None and image.digest not in by_image:
            by_image[image.digest] = pool
            digests |= dict.fromkeys(new, image.digest)
            images.append(replace(image, languages=tuple(offered)))
    if not pools:
        raise SettingsError("languages: no image has any of them")
    executor = RetryingExecutor(together := Pools(pools, by_image))
    await together.start()
    try:
        survey = await versions_of(executor, [load_languages().find(one) for one in pools])
        found = survey.found
        _refuse_absent(settings, survey)
        # Not earlier: a container that starts takes the cores from these questions.
        together.add_spares()
        yield Backend(
            name=settings.backend,
            executor=executor,
            walls=offer.walls,
            networks=offer.networks,
            image_digests=digests,
            images=tuple(images),
            image_repositories={
                source.image.digest: source.repository
                for source in offer.sources
                if source.image is not None and source.repository is not None
            },
            language_versions={name: one.version for name, one in found.items()},
            frameworks={name: one.frameworks for name, one in found.items()},
            counts=lambda: together.counts,
            retries=lambda: executor.retries,
            outages=outages,
            sessions=offer.sessions,
            hash_seed=settings.hash_seed,
        )
    finally:
        await together.close()


def _refuse_absent(settings: Settings, survey: Survey) -> None:
    wanted = {one.name for one in _wanted(settings).all} if settings.languages else set()
    if absent := sorted(name for name in wanted if name not in survey.found):
        why = {name: survey.absent.get(name, "no image has it") for name in absent}
        told = "; ".join(f"{name} ({_first_line(why[name])})" for name in absent)
        raise SettingsError(f"languages: not found here: {told}")


def _first_line(text: str) -> str:
    return textwrap.shorten(text.splitlines()[0], _REASON_CHARACTERS, placeholder=" ...")

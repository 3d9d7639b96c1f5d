"""The docker backend: containers of a Docker Engine, made from its images."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial

import docker

from reward_server.domain import ImageInfo, Limits, Wall
from reward_server.sandbox.base import Offer, SessionSource, Source
from reward_server.sandbox.docker.container import (
    DockerOptions,
    DockerSandboxes,
    connect,
    probe,
    remove_stale,
)
from reward_server.sandbox.docker.images import SandboxImage, choose
from reward_server.sandbox.docker.janitor import EngineJanitor
from reward_server.sandbox.docker.repositories import ImageRepositories
from reward_server.sandbox.docker.sessions import DockerSessions
from reward_server.sandbox.owner import owner_id
from reward_server.sandbox.walls import require, without_missing

_LATEST = ":latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerBackend:
    """Containers of an engine; see `base.SandboxBackend`.

    Args:
        images: the images to use, by name, digest or id; see `images.choose`.
        runtime: a runtime of the engine; its default runtime if empty.
        greatest: the greatest limits that an execution may have.
        session_cpu_cores: CPU time per wall time that a session may use; None to offer none.
        hash_seed: see `container.DockerOptions`.
    """

    images: Sequence[str]
    runtime: str
    greatest: Limits
    session_cpu_cores: float | None = None
    hash_seed: int = 0

    async def probe(self) -> tuple[Wall, ...]:
        """Asks the engine which limits it enforces, and tries a container of the most wanted
        image."""
        with closing(await asyncio.to_thread(connect)) as engine:
            first = (await self._chosen(engine))[0]
            return await probe(engine, self._options(first))

    @asynccontextmanager
    async def open(self, allow_missing: Collection[str]) -> AsyncIterator[Offer]:
        """Offers containers for the length of the block."""
        engine = await asyncio.to_thread(connect)
        with closing(engine), closing(await asyncio.to_thread(EngineJanitor.start, owner_id())):
            await asyncio.to_thread(remove_stale, engine)
            images = await self._chosen(engine)
            walls = await probe(engine, self._options(images[0]))
            require(walls, allow_missing)
            async with AsyncExitStack() as stack:
                repositories = ImageRepositories(engine)
                await stack.enter_async_context(aclosing(repositories))
                sources = []
                sessions = []
                for image in images:
                    options = without_missing(self._options(image), walls)
                    start = DockerSandboxes(engine, options)
                    await stack.enter_async_context(aclosing(start))
                    info = _info(image)
                    source = Source(start=start, languages=image.languages, image=info)
                    if image.folder:
                        read = partial(repositories.read, image.identifier)
                        source = replace(source, repository=read)
                    sources.append(source)
                    if self.session_cpu_cores is not None:
                        options = replace(options, session=True, cpu_cores=self.session_cpu_cores)
                        opening = DockerSessions(engine, options)
                        await stack.enter_async_context(aclosing(opening))
                        sessions.append(_session_source(info, opening))
                yield Offer(sources=tuple(sources), walls=walls, sessions=tuple(sessions))

    async def _chosen(self, engine: docker.APIClient) -> tuple[SandboxImage, ...]:
        return await asyncio.to_thread(choose, engine, self.images)

    def _options(self, image: SandboxImage) -> DockerOptions:
        return DockerOptions(
            image=image.identifier,
            name=image.name,
            runtime=self.runtime,
            greatest=self.greatest,
            hash_seed=self.hash_seed,
        )


def _info(image: SandboxImage) -> ImageInfo:
    short = tuple(tag.removesuffix(_LATEST) for tag in image.tags)
    return ImageInfo(
        name=image.name.removesuffix(_LATEST),
        aliases=(*short, *image.tags, image.identifier),
        digest=image.identifier,
        languages=image.languages,
        folder=image.folder,
    )


def _session_source(image: ImageInfo, start: DockerSessions) -> SessionSource:
    return SessionSource(
        start=start, languages=image.languages, image=image.name, aliases=image.aliases
    )

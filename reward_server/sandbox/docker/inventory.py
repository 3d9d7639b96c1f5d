"""The containers that a pool has on an engine: their names, and their removal.

What this stops: a container that outlives its use. This happens in two cases: the engine was
stopped, restarted or too busy when it had to remove the container, or it made the container and
then failed before it answered. After any such failure, all containers with the pool's label whose
name is not in use are removed. This is repeated until the engine has answered some time after the
last failure.

What it does not: it does not remove anything after the server has ended. The process of `janitor`
does this, and the next server does it by `container.remove_stale`.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

import docker
import docker.errors
import structlog

from reward_server.sandbox.owner import owner_id

OWNER_LABEL = "codereward.owner"
POOL_LABEL = "codereward.pool"
REMOVE_SECONDS = 5.0
FIRST_SWEEP_SECONDS = 0.5
LONGEST_SWEEP_SECONDS = 10.0
# If an engine accepts a request and is then stopped, it executes the request some time after it
# resumes.
SETTLED_SECONDS = 15.0
ENGINE_FAILURES = (docker.errors.DockerException, OSError)

_log = structlog.get_logger("docker")


def told(error: Exception) -> str:
    """Returns a description of a failure, with the engine's own message if there is one."""
    if isinstance(error, docker.errors.APIError) and error.explanation:
        return f"it says: {error.explanation}"
    return f"it does not answer ({str(error) or type(error).__name__})"


def remove(engine: docker.APIClient, container: str) -> None:
    """Kills and removes a container that may already be gone.

    Raises:
        DockerException, OSError: it is unknown whether the container is gone.
    """
    with contextlib.suppress(docker.errors.NotFound):
        engine.remove_container(container, force=True, v=True)


@contextlib.contextmanager
def trying_each() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Yields a context for each of several requests to the engine: a failed one does not stop the
    others.

    Raises:
        DockerException, OSError: the last failure, after all requests were tried.
    """
    failures: list[Exception] = []

    @contextlib.contextmanager
    def attempt() -> Iterator[None]:
        try:
            yield
        except ENGINE_FAILURES as error:
            failures.append(error)

    yield attempt
    if failures:
        raise failures[-1]


class Containers:
    """Names and removes the containers of a pool.

    Args:
        engine: the engine that has them.
    """

    def __init__(self, engine: docker.APIClient) -> None:
        self.engine = engine
        self._pool = secrets.token_hex(8)
        self._in_use: set[str] = set()
        self._made = 0
        self._doubted = 0.0
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that identify the pool's containers."""
        return {OWNER_LABEL: owner_id(), POOL_LABEL: self._pool}

    def new_name(self) -> str:
        """Returns a name for a new container; the name is in use until the container is removed."""
        self._made += 1
        name = f"codereward-{self._pool}-{self._made}"
        self._in_use.add(name)
        return name

    async def remove(self, name: str) -> None:
        """Removes a container, now or as soon as the engine answers."""
        self._in_use.discard(name)
        try:
            async with asyncio.timeout(REMOVE_SECONDS):
                await asyncio.to_thread(remove, self.engine, name)
        except ENGINE_FAILURES as error:
            _log.info("a container is removed later", name=name, error=told(error))
            self.doubt()
        except BaseException:
            self.doubt()
            raise

    def doubt(self) -> None:
        """Starts to remove leftover containers in the background."""
        self._doubted = time.monotonic()
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep_until_settled())

    async def close(self) -> None:
        """Removes all remaining containers, if the engine answers."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.wait([self._sweeper])
        self._in_use.clear()
        try:
            async with asyncio.timeout(REMOVE_SECONDS):
                await self._sweep()
        except ENGINE_FAILURES as error:
            _log.warning("containers may be left to the next start", error=told(error))

    async def _sweep_until_settled(self) -> None:
        for delay in _delays():
            await asyncio.sleep(delay)
            began = time.monotonic()
            try:
                await self._sweep()
            except ENGINE_FAILURES:
                continue
            if began - self._doubted >= SETTLED_SECONDS:
                return

    async def _sweep(self) -> None:
        mine = {"label": f"{POOL_LABEL}={self._pool}"}
        listed = await asyncio.to_thread(self.engine.containers, all=True, filters=mine)
        with trying_each() as attempt:
            for container in listed:
                # Compared after the answer, because a name is in use before its container is
                # requested.
                names = (name.removeprefix("/") for name in container["Names"])
                if not self._in_use.intersection(names):
                    with attempt():
                        await asyncio.to_thread(remove, self.engine, container["Id"])


def _delays() -> Iterator[float]:
    delay = FIRST_SWEEP_SECONDS
    while True:
        yield delay
        delay = min(2 * delay, LONGEST_SWEEP_SECONDS)

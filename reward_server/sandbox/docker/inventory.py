"""The containers that a pool has on an engine: made under names of ours, and removed in the end.

What this stops: a container that outlives its use because the engine was stopped, restarted or too
busy when it was to be removed, or made one and did not live to tell. After any doubt, whatever
bears the pool's label under a name that is not in use is swept away, again and again, until the
engine has answered some while after the last doubt.

What it does not: outlive the server; `janitor` does, and see `container.remove_stale` for what
the next server does.
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
# A request that the engine took before it was stopped is carried out some time after it goes on.
SETTLED_SECONDS = 15.0
ENGINE_FAILURES = (docker.errors.DockerException, OSError)

_log = structlog.get_logger("docker")


def told(error: Exception) -> str:
    """Puts a failure of the engine's in words: its own, if it had any."""
    if isinstance(error, docker.errors.APIError) and error.explanation:
        return f"it says: {error.explanation}"
    return f"it does not answer ({str(error) or type(error).__name__})"


def remove(engine: docker.APIClient, container: str) -> None:
    """Kills and removes a container that may be gone already.

    Raises:
        DockerException, OSError: nobody knows whether it is gone.
    """
    with contextlib.suppress(docker.errors.NotFound):
        engine.remove_container(container, force=True, v=True)


@contextlib.contextmanager
def trying_each() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Yields a context for each of several requests to the engine: one that fails stops no other.

    Raises:
        DockerException, OSError: as the last that failed, after all were tried.
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
    """Names the containers of a pool, and removes them.

    Args:
        engine: where they are.
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
        """What tells them from all others."""
        return {OWNER_LABEL: owner_id(), POOL_LABEL: self._pool}

    def new_name(self) -> str:
        """Returns a name to make a container under; it is in use until it is removed."""
        self._made += 1
        name = f"codereward-{self._pool}-{self._made}"
        self._in_use.add(name)
        return name

    async def remove(self, name: str) -> None:
        """Removes a container, now or as soon as the engine can be asked to."""
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
        """Has what is left swept away in the background."""
        self._doubted = time.monotonic()
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep_until_settled())

    async def close(self) -> None:
        """Removes all that is left, if the engine can be asked to."""
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
                # Compared after the answer: a name is in use before its container is asked for.
                names = (name.removeprefix("/") for name in container["Names"])
                if not self._in_use.intersection(names):
                    with attempt():
                        await asyncio.to_thread(remove, self.engine, container["Id"])


def _delays() -> Iterator[float]:
    delay = FIRST_SWEEP_SECONDS
    while True:
        yield delay
        delay = min(2 * delay, LONGEST_SWEEP_SECONDS)

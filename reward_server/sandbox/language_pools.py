"""Combines the pools of sandboxes, one for each image."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

from reward_server.domain import Execution, Job
from reward_server.errors import UnsupportedError
from reward_server.sandbox.pool import Pool, SandboxCounts


class Pools:
    """Runs each job in the pool of its image, or else in the pool that has its language.

    Pools that only jobs with an image use have together no more idle sandboxes than there are
    slots: a server may have many images, each with the packages of one task.

    Args:
        by_language: the pools, by the canonical name of each language; all have the same number
            of slots.
        by_image: the pools, by the digest of each image.
    """

    def __init__(
        self,
        by_language: Mapping[str, Pool],
        by_image: Mapping[str, Pool] = MappingProxyType({}),
    ) -> None:
        self._by_language = by_language
        self._by_image = by_image
        self._pools = tuple(dict.fromkeys((*by_language.values(), *by_image.values())))
        self._rare = tuple(set(by_image.values()).difference(by_language.values()))

    @property
    def slots(self) -> int:
        """How many jobs may run at once in all pools together; the caller starts no more."""
        return self._pools[0].slots

    @property
    def counts(self) -> SandboxCounts:
        """The counts of all pools together."""
        return SandboxCounts.together(pool.counts for pool in self._pools)

    async def run(self, job: Job) -> Execution:
        """Runs a job; see `pool.Pool.run`.

        Raises:
            UnsupportedError: no pool has the image or the language.
        """
        pools = self._by_image if job.image else self._by_language
        pool = pools.get(job.image or job.language)
        if pool is None:
            raise UnsupportedError(f"no sandbox has {job.image or job.language}")
        try:
            return await pool.run(job)
        finally:
            self._close_unused()

    async def start(self) -> None:
        """Starts a sandbox for each slot in pools that keep them warm; see `pool.Pool.start`."""
        await asyncio.gather(*(pool.start(with_spares=False) for pool in self._pools))

    def add_spares(self) -> None:
        """Starts the spares; see `pool.Pool.add_spares`."""
        for pool in self._pools:
            pool.add_spares()

    async def close(self) -> None:
        """Closes all pools."""
        await asyncio.gather(*(pool.close() for pool in self._pools))

    def _close_unused(self) -> None:
        """Closes the sandboxes that were idle for longest, if too many are."""
        excess = sum(pool.statistics.idle for pool in self._rare) - self.slots
        for _ in range(excess):
            min(self._rare, key=lambda pool: pool.idle_since).close_longest_idle()

"""Combines the pools of sandboxes, one for each image."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from reward_server.domain import Execution, Job
from reward_server.errors import UnsupportedError
from reward_server.sandbox.pool import Pool, SandboxCounts


class Pools:
    """Runs each job in the pool that has its language.

    Args:
        by_language: the pools, by the canonical name of each language; all have the same number
            of slots.
    """

    def __init__(self, by_language: Mapping[str, Pool]) -> None:
        self._by_language = by_language
        self._pools = tuple(dict.fromkeys(by_language.values()))

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
            UnsupportedError: no pool has the language.
        """
        pool = self._by_language.get(job.language)
        if pool is None:
            raise UnsupportedError(f"no sandbox has {job.language}")
        return await pool.run(job)

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

"""Counts what each owner has in flight, and refuses more than its quotas allow.

A refusal names the quota and the time after which to try again. Refused callers of an owner come
back one after another, at about the rate at which the owner's requests are answered.

Slots, stored tasks and sessions are not counted here. An execution above the quota of slots waits
in the scheduler. A task above the quotas of stored tasks displaces another task of the same owner.
`sessions.sessions` refuses a session above the quota `sessions`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from reward_server.errors import InvalidRequestError, QuotaError
from reward_server.tenants.tenant import Tenants

_MEAN_WEIGHT = 0.1
_UNMEASURED_SECONDS = 1.0
_SHORTEST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 0.05, 30.0


class Meter(Protocol):
    """Receives what the quotas count; the server's metrics."""

    def tenant_refused(self, tenant: str, quota: str) -> None:
        """Counts a refusal."""

    def tenant_requests_changed(self, tenant: str, change: int) -> None:
        """Counts requests that are in flight, or are no longer."""


@dataclass(slots=True)
class _InFlight:
    requests: int = 0
    size_bytes: int = 0
    mean_seconds: float = _UNMEASURED_SECONDS
    next_return: float = 0.0


class InFlight:
    """The requests and bytes of each owner that are in flight.

    Args:
        tenants: the quotas of the owners.
        meter: receives counts.
    """

    def __init__(self, tenants: Tenants, meter: Meter) -> None:
        self._tenants = tenants
        self._meter = meter
        self._owners: dict[str, _InFlight] = {}

    @contextmanager
    def request(self, owner: str) -> Iterator[None]:
        """Counts a request for the length of the block.

        Raises:
            QuotaError: the owner has as many as its quota allows.
        """
        tenant = self._tenants.of(owner)
        most, counts = tenant.quotas.requests_in_flight, self._of(owner)
        if most is not None and counts.requests >= most:
            raise self._refusal(owner, "requests_in_flight", most)
        counts.requests += 1
        self._meter.tenant_requests_changed(tenant.name, 1)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            yield
        finally:
            counts.requests -= 1
            counts.mean_seconds += _MEAN_WEIGHT * (clock() - began - counts.mean_seconds)
            self._meter.tenant_requests_changed(tenant.name, -1)
            self._forget(owner, counts)

    @contextmanager
    def body(self, owner: str, size_bytes: int) -> Iterator[None]:
        """Counts a call's body for the length of the block.

        Raises:
            QuotaError: with this body, the owner has more bytes in flight than its quota allows.
            InvalidRequestError: the body alone is larger than the quota.
        """
        tenant = self._tenants.of(owner)
        most, counts = tenant.quotas.bytes_in_flight, self._of(owner)
        if most is not None and size_bytes > most:
            raise InvalidRequestError(
                "request",
                f"has {size_bytes} bytes, more than the tenant's bytes_in_flight "
                f"{most}{tenant.scope}",
            )
        if most is not None and counts.size_bytes + size_bytes > most:
            raise self._refusal(owner, "bytes_in_flight", most)
        counts.size_bytes += size_bytes
        try:
            yield
        finally:
            counts.size_bytes -= size_bytes
            self._forget(owner, counts)

    def check_body(self, owner: str) -> None:
        """Raises an error if an owner has no room for any body, before one is read.

        Raises:
            QuotaError: the owner has as many bytes as its quota allows.
        """
        most, counts = self._tenants.of(owner).quotas.bytes_in_flight, self._owners.get(owner)
        if most is not None and counts is not None and counts.size_bytes >= most:
            raise self._refusal(owner, "bytes_in_flight", most)

    def _of(self, owner: str) -> _InFlight:
        return self._owners.setdefault(owner, _InFlight())

    def _forget(self, owner: str, counts: _InFlight) -> None:
        # An owner with quotas is in the token file, so there are only few of them.
        quotas = self._tenants.of(owner).quotas
        is_bounded = quotas.requests_in_flight is not None or quotas.bytes_in_flight is not None
        if not counts.requests and not counts.size_bytes and not is_bounded:
            self._owners.pop(owner, None)

    def _refusal(self, owner: str, quota: str, limit: int) -> QuotaError:
        tenant = self._tenants.of(owner)
        self._meter.tenant_refused(tenant.name, quota)
        pause = self._pause(owner)
        return QuotaError(tenant.name, quota, f"{limit}{tenant.scope}", retry_after_seconds=pause)

    def _pause(self, owner: str) -> float:
        """Returns the time until a place is free that no other refused caller is expected to
        take."""
        counts, now = self._of(owner), asyncio.get_running_loop().time()
        turn = counts.mean_seconds / max(counts.requests, 1)
        last = now + _LONGEST_RETRY_SECONDS
        counts.next_return = min(max(now, counts.next_return) + turn, last)
        return max(counts.next_return - now, _SHORTEST_RETRY_SECONDS)

"""Tenants: named credentials with a weight and quotas.

The rest of the server knows an owner by an opaque text: the tenant's name, the digest of a token
without a name, or the identity of a client certificate. This table gives each owner its tenant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

MOST_TENANTS = 256
_SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The most that an owner may have at once; None means that only the server's own limit holds.

    Args:
        requests_in_flight: requests that were received and not answered.
        slots: executions that run.
        bytes_in_flight: size of the bodies of calls that were received and not answered.
        stored_tasks_count: tasks that are stored.
        stored_tasks_bytes: memory of the tasks that are stored.
        sessions: sessions that are open.
    """

    requests_in_flight: int | None = None
    slots: int | None = None
    bytes_in_flight: int | None = None
    stored_tasks_count: int | None = None
    stored_tasks_bytes: int | None = None
    sessions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """The holder of a credential.

    Args:
        name: what metrics, logs and refusals call it; never a secret. Only the token file gives a
            name without parentheses.
        weight: its share of slots and queue, relative to the weights of others.
        quotas: the most that it may have at once in this process.
        processes: number of processes between which the quotas of the token file are divided.
    """

    name: str
    weight: float = 1.0
    quotas: Quotas = Quotas()
    processes: int = 1

    @property
    def scope(self) -> str:
        """Words for messages that name a quota: where it applies, if not to the whole server."""
        return f" in each of {self.processes} processes" if self.processes > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """The digest of a valid bearer token, and the tenant that holds it.

    Args:
        digest: the SHA-256 digest of the token.
        owner: the owner of the calls that show it.
        tenant: the owner's tenant.
    """

    digest: bytes
    owner: str
    tenant: Tenant


class Tenants:
    """The tenant of each owner; an owner without one has weight 1 and no quotas."""

    def __init__(self, credentials: Iterable[Credential] = ()) -> None:
        self._tenants: dict[str, Tenant] = {}
        self.replace(credentials)

    def replace(self, credentials: Iterable[Credential]) -> None:
        """Replaces all tenants; what is in flight continues."""
        self._tenants = {one.owner: one.tenant for one in credentials}

    def of(self, owner: str) -> Tenant:
        """Returns the tenant of an owner."""
        return self._tenants.get(owner) or _unlisted(owner)


@lru_cache(maxsize=MOST_TENANTS)
def _unlisted(owner: str) -> Tenant:
    """Returns the tenant of a certificate's holder, or of all callers where none is identified."""
    text = "".join(character if character.isprintable() else "?" for character in owner)
    return Tenant(name=f"({text[:_SHOWN_CHARACTERS] or 'everybody'})")

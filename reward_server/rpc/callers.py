"""Identifies callers: their credentials, their owners, and the number of calls of each owner.

An owner is the holder of one credential: a bearer token, or a client certificate if no token is
required. If a server requires neither, all callers are one owner. All tokens of one tenant count as
one credential.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

import grpc
from google.protobuf.message import Message

from reward_server.errors import OverloadedError
from reward_server.tenants.tenant import Credential

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, Message]"
_jitter = random.Random()  # not the global generator, which programs seed
_RETRY_SECONDS = (0.5, 1.5)

# Set when a call's metadata are first read, and read where the call is handled, in the same task.
_owner: ContextVar[str | None] = ContextVar("owner", default=None)


class Callers:
    """Distinguishes owners from strangers.

    The digest of a given token is compared with the digests of all valid tokens, so that the time
    reveals nothing about them.

    Args:
        credentials: the valid bearer tokens; None if none is required.
    """

    def __init__(self, credentials: Collection[Credential] | None) -> None:
        self._credentials = credentials

    @property
    def are_asked(self) -> bool:
        """Returns True if callers have to show a token."""
        return self._credentials is not None

    def replace(self, credentials: Collection[Credential] | None) -> None:
        """Replaces the valid tokens; open calls continue."""
        self._credentials = credentials

    def identify(self, details: grpc.HandlerCallDetails) -> bool:
        """Records the owner of this task's call; returns False if the caller is a stranger."""
        if self._credentials is None:
            return True
        owner = self._owner_of(details, self._credentials)
        _owner.set(owner)
        return owner is not None

    def owner(self, context: Context) -> str | None:
        """Returns the owner of this task's call, or None for a stranger."""
        if self._credentials is not None:
            return _owner.get()
        return _certified(context.peer_identities() or ())

    def owner_of(self, token: str | None, identities: Iterable[bytes]) -> str | None:
        """Returns the owner of a call that does not come over gRPC, or None for a stranger.

        Args:
            token: the bearer token that the caller shows; None if it shows none.
            identities: the names in the caller's certificate, as gRPC gives them.
        """
        if self._credentials is None:
            return _certified(identities)
        return None if token is None else _holder(token, self._credentials)

    def _owner_of(
        self, details: grpc.HandlerCallDetails, credentials: Collection[Credential]
    ) -> str | None:
        shown = [value for key, value in details.invocation_metadata if key == "authorization"]
        if len(shown) != 1 or not isinstance(shown[0], str):
            return None
        scheme, _, token = shown[0].partition(" ")
        owner = _holder(token.strip(), credentials)
        return owner if scheme.lower() == "bearer" else None


class OpenCalls:
    """Bounds the number of calls that are open at once.

    Above the bound, an owner with less than its share is still admitted, so that no owner's calls
    exclude others. Therefore at most twice as many calls are open.

    Args:
        most: the bound.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Number of open calls."""
        return self._open.total()

    @contextmanager
    def entered(self, owner: str) -> Iterator[None]:
        """Counts a call for the length of the block.

        Raises:
            OverloadedError: the owner has too many open calls.
        """
        if self.count >= self._most and self._open[owner] >= self._share(owner):
            raise OverloadedError(
                f"{self.count} calls are open; at most {self._most} may be",
                retry_after_seconds=_jitter.uniform(*_RETRY_SECONDS),
            )
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]

    def _share(self, owner: str) -> int:
        return max(self._most // len(self._open.keys() | {owner}), 1)


def _certified(identities: Iterable[bytes]) -> str:
    return b" ".join(identities).decode("utf-8", "replace")


def _holder(token: str, credentials: Collection[Credential]) -> str | None:
    digest = _digest(token)
    matches = [one for one in credentials if hmac.compare_digest(digest, one.digest)]
    return matches[0].owner if matches else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()

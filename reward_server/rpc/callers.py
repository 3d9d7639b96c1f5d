"""Who calls: the credentials that are shown, their owners, and how many calls each may have open.

An owner is who holds one credential: a bearer token, or else a client certificate. Where a server
asks for none, all callers are one owner.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

import grpc
from google.protobuf.message import Message

from reward_server.errors import OverloadedError

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, Message]"
_jitter = random.Random()  # apart from the process's own, which programs seed
_RETRY_SECONDS = (0.5, 1.5)

# Set where a call's metadata are first looked at, and read where it is worked on: in one task.
_owner: ContextVar[str | None] = ContextVar("owner", default=None)


class Callers:
    """Tells owners from strangers.

    Tokens are compared by their digests, each with each, so that time tells nothing about them.

    Args:
        tokens: the valid bearer tokens; None if none is asked for.
    """

    def __init__(self, tokens: Collection[str] | None) -> None:
        self._digests: list[bytes] | None = None
        self.replace_tokens(tokens)

    @property
    def are_asked(self) -> bool:
        """Returns True if callers have to show a token."""
        return self._digests is not None

    def replace_tokens(self, tokens: Collection[str] | None) -> None:
        """Takes other tokens from now on; calls that are open go on."""
        self._digests = None if tokens is None else [_digest(token) for token in tokens]

    def identify(self, details: grpc.HandlerCallDetails) -> bool:
        """Notes the owner of the call of this task; returns False if it is a stranger's."""
        if self._digests is None:
            return True
        owner = self._owner_of(details, self._digests)
        _owner.set(owner)
        return owner is not None

    def owner(self, context: Context) -> str | None:
        """Returns the owner of the call of this task; None for a stranger."""
        if self._digests is not None:
            return _owner.get()
        return b" ".join(context.peer_identities() or ()).decode("utf-8", "replace")

    def _owner_of(self, details: grpc.HandlerCallDetails, digests: list[bytes]) -> str | None:
        shown = [value for key, value in details.invocation_metadata if key == "authorization"]
        if len(shown) != 1 or not isinstance(shown[0], str):
            return None
        scheme, _, token = shown[0].partition(" ")
        digest = _digest(token.strip())
        matches = [hmac.compare_digest(digest, known) for known in digests]
        return digest.hex() if scheme.lower() == "bearer" and any(matches) else None


class OpenCalls:
    """Bounds the calls that are open at once.

    Above the bound, an owner with less than its share is still let in: nobody's calls shut others
    out. With overbooked shares, at most twice as many are open.

    Args:
        most: the bound.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Calls that are open."""
        return self._open.total()

    @contextmanager
    def entered(self, owner: str) -> Iterator[None]:
        """Counts a call for the length of the block.

        Raises:
            OverloadedError: the owner has too many open.
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


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()

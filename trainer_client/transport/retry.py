"""Decides when to try again and when to give up. It is free of side effects; `call` acts on it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc import (  # type: ignore[import-untyped]  # ships no types
    error_details_pb2,
    status_pb2,
)

from trainer_client.transport.hints import explained

_jitter = random.Random()  # not the global generator, which programs seed
_OUTAGE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
_RETRYABLE = _OUTAGE | {grpc.StatusCode.RESOURCE_EXHAUSTED}
_PERMANENT = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.NOT_FOUND,
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that an attempt did not judge.

    Args:
        push_back_seconds: the pause that the server requests; a negative one forbids a retry.
    """

    status: grpc.StatusCode
    message: str
    push_back_seconds: float | None = None

    @property
    def permanent(self) -> bool:
        """Returns True if the same request will certainly fail again."""
        return self.status in _PERMANENT or self._too_large

    @property
    def outage(self) -> bool:
        """Returns True if no server answered; False if a server refused."""
        return self.status in _OUTAGE

    @property
    def retryable(self) -> bool:
        """Returns True if another attempt may succeed and is allowed."""
        forbidden = self.push_back_seconds is not None and self.push_back_seconds < 0
        return self.status in _RETRYABLE and not forbidden and not self._too_large

    @property
    def _too_large(self) -> bool:
        # The transport refuses an oversize message with the status of an overload.
        return (
            self.status is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in self.message
        )


def from_rpc_error(error: grpc.aio.AioRpcError) -> Failure:
    """Converts the error of an RPC to a failure."""
    return Failure(
        status=error.code(),
        message=explained(error.details() or ""),
        push_back_seconds=_push_back(error.trailing_metadata()),
    )


def from_status(status: status_pb2.Status) -> Failure:
    """Converts the status of one request of a batch to a failure."""
    return Failure(
        status=_CODES.get(status.code, grpc.StatusCode.UNKNOWN),
        message=status.message,
        push_back_seconds=_retry_delay(status),
    )


class Patience:
    """Limits how long one call tries again; all its requests share this limit.

    Args:
        timeout_seconds: greatest time of the call.
        outage_seconds: greatest time to wait while no server answers.
        clock: a monotonic clock, in seconds.
        jitter: returns a number from 0 to 1, which spreads retries out.
    """

    def __init__(
        self,
        *,
        timeout_seconds: float,
        outage_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = _jitter.random,
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._deadline = clock() + timeout_seconds
        self._outage_seconds = outage_seconds
        self._last_answer = clock()

    def now(self) -> float:
        """Returns the time of the clock."""
        return self._clock()

    def remaining(self) -> float:
        """Returns the seconds left to the call; 0 or less when it is over."""
        return self._deadline - self._clock()

    def answered(self) -> None:
        """Records that a server is alive."""
        self._last_answer = self._clock()

    def pause(self, failure: Failure, attempt: int, begun: float | None = None) -> float | None:
        """Returns the seconds to wait before another attempt, or None to give up.

        Args:
            failure: the failure of the attempt.
            attempt: number of failed attempts before it.
            begun: when the attempt began. If it missed its deadline while the server answered other
                requests, the server was only busy, and the attempt is repeated.
        """
        if failure.status is grpc.StatusCode.DEADLINE_EXCEEDED:
            busy = begun is not None and self._last_answer > begun
            return self._affordable(self._wait(failure, attempt)) if busy else None
        if not failure.outage:
            self.answered()
        if not failure.retryable:
            return None
        seconds = self._wait(failure, attempt)
        out_for = self._clock() - self._last_answer
        if failure.outage and out_for + seconds > self._outage_seconds:
            return None
        return self._affordable(seconds)

    def _affordable(self, seconds: float) -> float | None:
        return seconds if seconds < self.remaining() else None

    def _wait(self, failure: Failure, attempt: int) -> float:
        if failure.push_back_seconds is not None:
            return failure.push_back_seconds * (1.0 + 0.2 * self._jitter())
        # 2 ** 16 exceeds the longest pause by far; larger powers would overflow a float.
        longest: float = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(attempt, 16))
        return longest * (0.5 + 0.5 * self._jitter())


def _push_back(metadata: Iterable[Any] | None) -> float | None:
    for key, value in metadata or ():
        if key == "grpc-retry-pushback-ms":
            return _milliseconds(value)
    return None


def _milliseconds(value: str | bytes) -> float:
    # gRPC's rule: a value that is not a number forbids a retry.
    try:
        return int(value) / 1000.0
    except ValueError:
        return -1.0


def _retry_delay(status: status_pb2.Status) -> float | None:
    for detail in status.details:
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
    return None

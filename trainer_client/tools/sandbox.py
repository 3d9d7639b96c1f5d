"""The reward server as tools use it, which remembers an outage."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import CallError
from trainer_client.requests import LazyRequest
from trainer_client.score import Score
from trainer_client.sessions.requests import SessionOptions
from trainer_client.sessions.sync_session import Session
from trainer_client.sync_client import RewardClient
from trainer_client.tools import words

_OUTAGES = frozenset({"UNAVAILABLE", "CANCELLED", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"})
_WALL_SECONDS_PER_CPU_SECOND = 3.0
_T = TypeVar("_T")


class Sandbox:
    """A connection that the tools of all episodes share.

    A trainer calls the tools of one episode after those of another. So that they do not all wait
    out the same outage, calls fail at once for as long as the one before them has waited.

    Args:
        client: makes the calls.
    """

    def __init__(self, client: AsyncRewardClient) -> None:
        self._client = RewardClient.around(client)
        self._outage: CallError | None = None
        self._out_until = 0.0
        self._limits: pb.Limits | None = None

    @property
    def is_out(self) -> bool:
        """Returns True if calls fail at once, because one has failed."""
        return time.monotonic() < self._out_until

    def run(self, request: pb.ExecuteRequest, most: int) -> str:
        """Runs a program, and returns what the model is told; waits while the server is busy.

        Args:
            request: the program.
            most: characters of each output stream, at most.

        Raises:
            CallError: it was not run.
        """
        answer = self._guarded(lambda: self._client.execute(request, waits=True))
        limits = self.limits(request.limits) if answer.limits_hit else request.limits
        return words.program_told(answer, limits, most)

    def score(self, request: LazyRequest) -> Score:
        """Judges a completion.

        Raises:
            CallError: it was not judged.
        """
        return self._guarded(lambda: self._judged(request))

    def open(self, options: SessionOptions) -> Session:
        """Opens a session, which the caller closes.

        Raises:
            CallError: it was not opened.
        """
        return self._guarded(lambda: self._client.session(**options).__enter__())

    def limits(self, chosen: pb.Limits) -> pb.Limits:
        """Returns the limits of an execution whose request has the chosen ones.

        Raises:
            CallError: the server did not answer.
        """
        if self._limits is None:
            self._limits = self._guarded(self._client.server_info).default_limits
        limits = pb.Limits()
        limits.CopyFrom(self._limits)
        limits.MergeFrom(chosen)
        return limits

    def _guarded(self, call: Callable[[], _T]) -> _T:
        if self._outage is not None and self.is_out:
            raise CallError(self._outage.status, self._outage.message)
        begun = time.monotonic()
        try:
            return call()
        except CallError as error:
            if error.status in _OUTAGES:
                ended = time.monotonic()
                self._outage, self._out_until = error, ended + (ended - begun)
            raise

    def _judged(self, request: LazyRequest) -> Score:
        (found,) = self._client.score(request)
        if found.error is not None:
            raise CallError(found.error.status, found.error.message)
        return found


def program_limits(cpu_time_seconds: float) -> pb.Limits:
    """Returns the limits of a program that a model runs."""
    wall = cpu_time_seconds * _WALL_SECONDS_PER_CPU_SECOND
    return pb.Limits(cpu_time_seconds=cpu_time_seconds, wall_time_seconds=wall)

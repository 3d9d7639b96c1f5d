"""Compares this client's contract with that of the server behind a connection.

A server before version 0.2.0 ignores fields that it does not know, and a later one refuses them.
The client asks once a connection which revision of the contract the server has, and does not send
what the server cannot read. Behind one address may be several servers, so an answer counts only if
the server that gave it can read the request: it states its revision too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

import grpc
from google.protobuf.message import Message

from codereward.revisions import difference, revision, unread
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.transport import retry
from trainer_client.transport.retry import Failure

# A server that was older is asked again after this time, since it may have been replaced.
_AGAIN_SECONDS = 1.0
_logger = logging.getLogger(__name__)


class ServerContract:
    """The revision of the contract that the server behind a connection states.

    Args:
        describe: asks the server for its description.
        target: its address, for messages.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        describe: Callable[[], Awaitable[pb.GetServerInfoResponse]],
        target: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._describe = describe
        self._target = target
        self._clock = clock
        self._asking = asyncio.Lock()
        self._stated: int | None = None
        self._asked = 0.0

    async def described(self) -> pb.GetServerInfoResponse:
        """Asks the server, and logs which side is older when its answer differs from the last.

        Raises:
            AioRpcError: there was no answer.
        """
        info = await self._describe()
        self._asked = self._clock()
        if info.contract_revision != self._stated:
            self._stated = info.contract_revision
            level = logging.WARNING if self._stated < revision() else logging.INFO
            if sentence := difference(self._stated):
                _logger.log(level, "%s: %s", self._target, sentence)
        return info

    async def refusal(self, request: Message) -> Failure | None:
        """Returns why a request is not sent: the server cannot read it, or does not answer."""
        async with self._asking:
            try:
                if self._stated is None or self._may_have_been_replaced(request):
                    await self.described()
            except grpc.aio.AioRpcError as error:
                failure = retry.from_rpc_error(error)
                return failure if failure.outage else None  # the request will tell the reason
        assert self._stated is not None
        return unreadable(request, self._stated)

    def _may_have_been_replaced(self, request: Message) -> bool:
        assert self._stated is not None
        is_recent = self._clock() - self._asked < _AGAIN_SECONDS
        return not is_recent and bool(unread(request, self._stated))


def unreadable(request: Message, stated: int) -> Failure | None:
    """Returns the failure of a request that a server did not read as a whole, or None if it did.

    Args:
        request: the request.
        stated: the revision that the server states, in its description or its answer.
    """
    problem = unread(request, stated)
    if not problem:
        return None
    return Failure(status=grpc.StatusCode.FAILED_PRECONDITION, message=problem)

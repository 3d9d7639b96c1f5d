"""Sends requests as fast as they are answered, or more at once than can be served."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice

import grpc
from google.rpc import code_pb2  # type: ignore[import-untyped]  # no stubs

from codereward.v1 import reward_service_pb2 as pb
from reward_server.cli.calls import pause_asked_for

_SCORE = "/codereward.v1.RewardService/Score"
_SCORE_BATCH = "/codereward.v1.RewardService/ScoreBatch"
_OPTIONS = (("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1))
_PATIENCE_SECONDS = 120.0
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a request: a verdict's name, or a status and the time to retry."""

    began: float
    ended: float
    verdict: str = ""
    status: str = ""
    pause: float = 0.0

    @property
    def seconds(self) -> float:
        """The time from the request to its answer."""
        return self.ended - self.began


class Client:
    """Sends requests that were encoded beforehand, so that sending costs as little as possible."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._score = channel.unary_unary(
            _SCORE, request_serializer=None, response_deserializer=pb.ScoreResponse.FromString
        )
        self._score_batch = channel.unary_stream(
            _SCORE_BATCH,
            request_serializer=None,
            response_deserializer=pb.ScoreBatchResponse.FromString,
        )

    async def score(self, request: bytes) -> Reply:
        """Sends a request and returns its reply."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            response = await self._score(request, timeout=_PATIENCE_SECONDS)
        except grpc.aio.AioRpcError as error:
            pause = pause_asked_for(error, _PAUSE_SECONDS)
            status = error.code().name
            return Reply(began=began, ended=clock(), status=status, pause=pause or _PAUSE_SECONDS)
        return Reply(began=began, ended=clock(), verdict=_verdict(response))

    async def score_batch(self, batch: bytes) -> list[Reply]:
        """Sends a batch and returns a reply to each of its requests, as they came.

        Raises:
            grpc.aio.AioRpcError: the call failed, and not only one of its requests.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        replies: list[Reply] = []
        async for answer in self._score_batch(batch, timeout=_PATIENCE_SECONDS):
            if answer.HasField("error"):
                status = code_pb2.Code.Name(answer.error.code)
                replies.append(Reply(began=began, ended=clock(), status=status))
            else:
                verdict = _verdict(answer.response)
                replies.append(Reply(began=began, ended=clock(), verdict=verdict))
        return replies

    async def saturate(self, requests: Iterator[bytes], count: int, width: int) -> list[Reply]:
        """Sends `count` requests with `width` in progress, each when another was answered."""
        replies: list[Reply] = []
        rest = islice(requests, count)

        async def work() -> None:
            for request in rest:
                replies.append(await self.score(request))

        await asyncio.gather(*(work() for _ in range(width)))
        return replies

    async def saturate_with_batches(self, batches: Sequence[bytes], width: int) -> list[Reply]:
        """Sends batches with `width` in progress, each when another was answered.

        Raises:
            grpc.aio.AioRpcError: a call failed, and not only one of its requests.
        """
        replies: list[Reply] = []
        rest = iter(batches)

        async def work() -> None:
            for batch in rest:
                replies.extend(await self.score_batch(batch))

        await asyncio.gather(*(work() for _ in range(width)))
        return replies

    async def crowd(
        self, requests: Iterator[bytes], width: int, *, ramp: float, seconds: float
    ) -> list[Reply]:
        """Keeps `width` requests in progress; each refused one retries at the given time.

        Returns:
            Replies after the ramp, refusals included. Requests that are in progress at the end are
            cancelled.
        """
        clock = asyncio.get_running_loop().time
        begin = clock() + ramp
        replies: list[Reply] = []

        async def work() -> None:
            while True:
                reply = await self.score(next(requests))
                replies.append(reply)
                if reply.status:
                    await asyncio.sleep(reply.pause)

        workers = [asyncio.create_task(work()) for _ in range(width)]
        await asyncio.sleep(ramp + seconds)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        return [reply for reply in replies if begin <= reply.ended < begin + seconds]


def _verdict(response: pb.ScoreResponse) -> str:
    return pb.Verdict.Name(response.verdict).removeprefix("VERDICT_")


@asynccontextmanager
async def client(address: str) -> AsyncIterator[Client]:
    """Connects to a server for the length of the block."""
    async with grpc.aio.insecure_channel(address, options=_OPTIONS) as channel:
        yield Client(channel)


def verdicts(replies: Sequence[Reply]) -> Counter[str]:
    """Counts verdicts; requests without one are left out."""
    return Counter(reply.verdict for reply in replies if reply.verdict)


def statuses(replies: Sequence[Reply]) -> Counter[str]:
    """Counts statuses of requests that were not judged."""
    return Counter(reply.status for reply in replies if reply.status)

"""One call to `score`: sends its requests, and tries again while another attempt may succeed.

Every request ends with its own score, which holds a verdict or the reason why there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from trainer_client import score
from trainer_client.requests import LazyRequest, Request
from trainer_client.score import Score
from trainer_client.transport import deadlines, oversize, retry
from trainer_client.transport.channel import Connection
from trainer_client.transport.retry import Failure, Patience

_Answer = Score | Failure


@dataclass(frozen=True, slots=True)
class Line:
    """The channel of one event loop and the objects that belong to it."""

    channel: grpc.aio.Channel
    stub: rpc.RewardServiceAsyncStub
    slots: asyncio.Semaphore

    @classmethod
    def open(cls, connection: Connection) -> Line:
        """Opens a connection for the running loop."""
        channel = connection.open()
        in_flight = max(1, connection.max_in_flight // connection.batch_size)
        return cls(channel, rpc.RewardServiceStub(channel), asyncio.Semaphore(in_flight))


class ScoreCall:
    """A call whose requests share one deadline and one limit of patience."""

    def __init__(self, connection: Connection, line: Line) -> None:
        self._connection = connection
        self._line = line
        self._patience = Patience(
            timeout_seconds=connection.timeout_seconds, outage_seconds=connection.outage_seconds
        )

    async def run(self, requests: Sequence[Request]) -> list[Score]:
        """Judges requests that share RPCs; tries again while another attempt may succeed."""
        scores: dict[int, Score] = {}
        pending = list(range(len(requests)))
        attempt = 0
        while pending:
            begun = self._patience.now()
            answers = await self._attempt([requests[index] for index in pending])
            pauses: dict[int, float] = {}
            for index, answer in zip(pending, answers, strict=True):
                outcome = self._conclude(requests[index], answer, attempt, begun)
                if isinstance(outcome, Score):
                    scores[index] = outcome
                else:
                    pauses[index] = outcome
            pending = list(pauses)
            attempt += 1
            await asyncio.sleep(max(pauses.values(), default=0.0))
        return [scores[index] for index in range(len(requests))]

    def _conclude(
        self, request: Request, answer: _Answer, attempt: int, begun: float
    ) -> Score | float:
        """Returns the score, or the seconds to wait before another attempt."""
        if isinstance(answer, Score):
            self._patience.answered()
            return answer
        pause = self._patience.pause(answer, attempt, begun)
        if pause is not None:
            return pause
        tries = "" if attempt == 0 else f" (given up after {attempt + 1} attempts)"
        return score.unjudged(
            request.id, answer.status.name, answer.message + tries, permanent=answer.permanent
        )

    async def _attempt(self, requests: Sequence[Request]) -> list[_Answer]:
        answers: list[_Answer] = []
        async with self._line.slots:
            for part in _fitting(map(_made, requests), self._connection.max_request_bytes):
                answers += await self._send(part)
        return answers

    async def _send(self, requests: Sequence[pb.ScoreRequest]) -> Sequence[_Answer]:
        problem = self._size_problem(requests)
        if problem is not None:
            return [problem] * len(requests)
        allowed = self._connection.rpc_timeout_seconds
        if allowed is None:
            allowed = max(map(deadlines.score_seconds, requests))
        seconds = min(allowed, self._patience.remaining())
        if seconds <= 0:
            return [_OVER] * len(requests)
        if self._connection.batch_size == 1:
            return [await self._single(requests[0], seconds)]
        return await self._batch(requests, seconds)

    async def _single(self, request: pb.ScoreRequest, seconds: float) -> _Answer:
        try:
            response = await self._line.stub.Score(
                request, timeout=seconds, metadata=self._connection.metadata
            )
        except grpc.aio.AioRpcError as error:
            return retry.from_rpc_error(error)
        return score.from_response(response)

    async def _batch(self, requests: Sequence[pb.ScoreRequest], seconds: float) -> list[_Answer]:
        answers: list[_Answer] = [_UNANSWERED] * len(requests)
        stream = self._line.stub.ScoreBatch(
            pb.ScoreBatchRequest(requests=requests),
            timeout=seconds,
            metadata=self._connection.metadata,
        )
        try:
            async for item in stream:
                self._patience.answered()
                if 0 <= item.index < len(answers):
                    answers[item.index] = _item_answer(item)
        except grpc.aio.AioRpcError as error:
            failure = retry.from_rpc_error(error)
            return [failure if answer is _UNANSWERED else answer for answer in answers]
        return answers

    def _size_problem(self, requests: Sequence[pb.ScoreRequest]) -> Failure | None:
        size, most = sum(request.ByteSize() for request in requests), self._connection
        if size <= most.max_request_bytes:
            return None
        return Failure(
            status=grpc.StatusCode.INVALID_ARGUMENT,
            message=f"the request has {size} bytes; max_request_bytes is {most.max_request_bytes}",
        )


_OVER = Failure(
    status=grpc.StatusCode.DEADLINE_EXCEEDED,
    message="the time of the call was up before this request could be sent",
)
_UNANSWERED = Failure(
    status=grpc.StatusCode.UNAVAILABLE, message="the server ended the batch without an answer"
)


def _item_answer(item: pb.ScoreBatchResponse) -> _Answer:
    if item.WhichOneof("result") == "error":
        return retry.from_status(item.error)
    return score.from_response(item.response)


def _made(request: Request) -> pb.ScoreRequest:
    return oversize.cut(request.make() if isinstance(request, LazyRequest) else request)


def chunks(requests: Sequence[Request], connection: Connection) -> Sequence[Sequence[Request]]:
    """Splits requests into chunks that share one RPC, if their bytes fit into it."""
    starts = range(0, len(requests), connection.batch_size)
    return [requests[start : start + connection.batch_size] for start in starts]


def _fitting(requests: Iterable[pb.ScoreRequest], most: int) -> Iterator[list[pb.ScoreRequest]]:
    """Splits requests into chunks of at most `most` bytes; a larger request is its own chunk."""
    run: list[pb.ScoreRequest] = []
    room = most
    for request in requests:
        size = request.ByteSize()
        if run and size > room:
            yield run
            run, room = [], most
        run.append(request)
        room -= size
    if run:
        yield run

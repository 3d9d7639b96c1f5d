"""One call to `score`: sends its requests, and tries again while another attempt may succeed.

Every request ends with its own score, which holds a verdict or the reason why there is none.

Requests share RPCs, since an RPC for each request costs time on both sides. With one RPC for all,
every request would wait for the slowest one, and all would go to one server. The number of requests
in progress is limited; when answers make room for a few more, these are sent in one RPC. The last
requests are sent in smaller and smaller RPCs, down to one request in each, so that they go to all
servers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import grpc

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import score
from trainer_client.requests import LazyRequest, Request
from trainer_client.score import Score
from trainer_client.transport import contract, deadlines, oversize, retry, stored_tasks
from trainer_client.transport.channel import Connection
from trainer_client.transport.permits import Held, Permits
from trainer_client.transport.processes import Process, Processes
from trainer_client.transport.ray_servers import RayServers
from trainer_client.transport.retry import Failure, Patience
from trainer_client.transport.stored_tasks import Divided, Divider, Upload

_Answer = Score | Failure

# Shares of the requests that may be in progress, and of those that wait, for one RPC.
_PARTS = 8
MOST_IN_RPC = 32


@dataclass(frozen=True, slots=True)
class Line:
    """The connections of one event loop and the objects that belong to them."""

    processes: Processes | RayServers
    permits: Permits
    divider: Divider | None

    @classmethod
    def open(cls, connection: Connection) -> Line:
        """Opens a connection for the running loop."""
        least, divider = connection.store_from_bytes, None
        if least is not None:
            divider = Divider(least, connection.max_request_bytes)
        processes = RayServers(connection) if connection.is_ray_name else Processes(connection)
        return cls(processes, Permits(connection.max_in_flight), divider)

    async def any_process(self) -> Process | Failure:
        """Returns a connection to any process of the target, or the reason why there is none."""
        failure = await self.processes.ready()
        return self.processes.shared if failure is None else failure

    async def close(self) -> None:
        """Closes the connections."""
        await self.processes.close()


@dataclass(slots=True, eq=False)
class _Item:
    """A request without a score."""

    index: int
    request: Request
    attempt: int = 0
    misses: int = 0
    is_whole: bool = False


@dataclass(slots=True, eq=False)
class _Sent:
    """An item that is being sent; `upload` is the task that its request names.

    `whole` is the request with its task.
    """

    item: _Item
    request: pb.ScoreRequest
    whole: pb.ScoreRequest
    seconds: float
    begun: float
    upload: Upload | None = None
    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class _Way:
    """The process to which an attempt sends its requests, and the permits that they hold."""

    process: Process
    held: Held


class ScoreCall:
    """A call whose requests share one deadline and one limit of patience.

    Args:
        connection: the options.
        line: the connections of the running loop.
        group: runs the RPCs.
    """

    def __init__(self, connection: Connection, line: Line, group: asyncio.TaskGroup) -> None:
        self._connection = connection
        self._line = line
        self._group = group
        self._patience = Patience(
            timeout_seconds=connection.timeout_seconds, outage_seconds=connection.outage_seconds
        )
        self._ready: deque[_Item] = deque()
        self._changed = asyncio.Event()
        self._scores: dict[int, Score] = {}

    async def run(self, requests: Sequence[Request]) -> list[Score]:
        """Judges requests; tries again while another attempt may succeed."""
        self._ready.extend(_Item(index, request) for index, request in enumerate(requests))
        while len(self._scores) < len(requests):
            if self._ready:
                await self._begin()
            else:
                self._changed.clear()
                await self._changed.wait()
        return [self._scores[index] for index in range(len(requests))]

    async def _begin(self) -> None:
        """Begins an attempt at the next requests, as soon as the limit allows so many."""
        count = self._share()
        held = await self._line.permits.take(count)
        items = [self._ready.popleft() for _ in range(count)]
        attempt = self._group.create_task(self._attempt(items, held))
        # A task that is cancelled before it begins runs none of its own code.
        attempt.add_done_callback(lambda _: held.give_rest())

    def _share(self) -> int:
        """Returns how many of the waiting requests make up the next RPC."""
        waiting, most = len(self._ready), self._connection.max_in_flight
        if self._connection.batch_size is not None:
            return min(self._connection.batch_size, waiting)
        return max(1, min(most // _PARTS, -(-waiting // _PARTS), MOST_IN_RPC))

    async def _attempt(self, items: Sequence[_Item], held: Held) -> None:
        missing = await self._line.processes.ready()
        if missing is not None:
            begun = self._patience.now()
            none = pb.ScoreRequest()
            unsent = [_Sent(item, none, none, 0.0, begun) for item in items]
            self._end(unsent, missing, held)
            return
        with self._line.processes.sending(len(items)) as process:
            to = _Way(process, held)
            found = await asyncio.gather(*(self._prepared(item, to) for item in items))
            sent = [one for one in found if one is not None]
            parts = _fitting(sent, self._connection.max_request_bytes)
            await asyncio.gather(*(self._send(part, to) for part in parts))

    async def _prepared(self, item: _Item, to: _Way) -> _Sent | None:
        """Makes the request, and stores its task if that is large; None if this failed, or if the
        server cannot read the request."""
        made = item.request.make() if isinstance(item.request, LazyRequest) else item.request
        request = oversize.cut(made)
        seconds = self._connection.rpc_timeout_seconds
        if seconds is None:
            seconds = deadlines.score_seconds(request)
        sent = _Sent(item, request, request, seconds, self._patience.now())
        refusal = await to.process.contract.refusal(request)
        if refusal is not None:
            self._settle([sent], refusal, to)
            return None
        parts = self._divided(request, item)
        remaining = self._patience.remaining()
        if parts is None or remaining <= 0:
            return sent
        upload = await to.process.tasks.stored(parts, remaining)
        if isinstance(upload, Failure):
            self._settle([sent], upload, to)
            return None
        if upload is not None:
            sent.request, sent.upload = parts.rest, upload
        return sent

    def _divided(self, request: pb.ScoreRequest, item: _Item) -> Divided | None:
        if self._line.divider is None or item.is_whole:
            return None
        return self._line.divider.divided(request)

    async def _send(self, part: Sequence[_Sent], to: _Way) -> None:
        problem = self._size_problem(part)
        seconds = min(max(one.seconds for one in part), self._patience.remaining())
        if problem is None:
            problem = await self._exchange(part, seconds, to) if seconds > 0 else _OVER
        self._settle([one for one in part if not one.is_settled], problem, to)

    async def _exchange(self, part: Sequence[_Sent], seconds: float, to: _Way) -> Failure:
        """Sends one RPC; returns the failure of the requests that got no answer."""
        try:
            if len(part) == 1 and self._connection.batch_size in (None, 1):
                await self._single(part[0], seconds, to)
            else:
                await self._batch(part, seconds, to)
        except grpc.aio.AioRpcError as error:
            return retry.from_rpc_error(error)
        return _UNANSWERED

    async def _single(self, sent: _Sent, seconds: float, to: _Way) -> None:
        response = await to.process.stub.Score(
            sent.request, timeout=seconds, metadata=to.process.metadata
        )
        self._settle([sent], _judged(sent, response), to)

    async def _batch(self, part: Sequence[_Sent], seconds: float, to: _Way) -> None:
        stream = to.process.stub.ScoreBatch(
            pb.ScoreBatchRequest(requests=[one.request for one in part]),
            timeout=seconds,
            metadata=to.process.metadata,
        )
        async for item in stream:
            self._patience.answered()
            if 0 <= item.index < len(part) and not part[item.index].is_settled:
                self._settle([part[item.index]], _item_answer(part[item.index], item), to)

    def _settle(self, part: Sequence[_Sent], answer: _Answer, to: _Way) -> None:
        """Ends an attempt at requests, after which a process that did not answer is left out."""
        if part and isinstance(answer, Failure) and answer.outage:
            self._line.processes.lose(to.process)
        self._end(part, answer, to.held)

    def _end(self, part: Sequence[_Sent], answer: _Answer, held: Held) -> None:
        """Gives requests their score, or has them sent again together."""
        pauses: dict[_Item, float] = {}
        for one in part:
            one.is_settled = True
            held.give_one()
            outcome = self._outcome(one, answer)
            if isinstance(outcome, Score):
                self._scores[one.item.index] = outcome
            else:
                pauses[one.item] = outcome
        if pauses:
            self._group.create_task(self._send_again(pauses))
        self._changed.set()

    def _outcome(self, sent: _Sent, answer: _Answer) -> Score | float:
        """Returns the score, or the seconds to wait before another attempt."""
        if isinstance(answer, Failure) and self._is_to_be_sent_otherwise(sent, answer):
            return 0.0
        outcome = self._conclude(sent.item, answer, sent.begun)
        if not isinstance(outcome, Score):
            sent.item.attempt += 1
        return outcome

    def _is_to_be_sent_otherwise(self, sent: _Sent, failure: Failure) -> bool:
        """Returns True if a request failed only because it names its task."""
        item, upload = sent.item, sent.upload
        if upload is None:
            return False
        if stored_tasks.is_missed(failure):
            upload.is_lost = True
            item.misses += 1
            item.is_whole = item.misses > stored_tasks.MOST_MISSES
            return True
        if stored_tasks.is_ignored(failure):
            item.is_whole = True
            return True
        return False

    async def _send_again(self, pauses: Mapping[_Item, float]) -> None:
        await asyncio.sleep(max(pauses.values()))
        self._ready.extend(pauses)
        self._changed.set()

    def _conclude(self, item: _Item, answer: _Answer, begun: float) -> Score | float:
        """Returns the score, or the seconds to wait before another attempt."""
        if isinstance(answer, Score):
            self._patience.answered()
            return answer
        pause = self._patience.pause(answer, item.attempt, begun)
        if pause is not None:
            return pause
        tries = "" if item.attempt == 0 else f" (given up after {item.attempt + 1} attempts)"
        return score.unjudged(
            item.request.id, answer.status.name, answer.message + tries, permanent=answer.permanent
        )

    def _size_problem(self, part: Sequence[_Sent]) -> Failure | None:
        size = sum(one.request.ByteSize() for one in part)
        most = self._connection.max_request_bytes
        if size <= most:
            return None
        return Failure(
            status=grpc.StatusCode.INVALID_ARGUMENT,
            message=f"the request has {size} bytes; max_request_bytes is {most}",
        )


_OVER = Failure(
    status=grpc.StatusCode.DEADLINE_EXCEEDED,
    message="the time of the call was up before this request could be sent",
)
_UNANSWERED = Failure(
    status=grpc.StatusCode.UNAVAILABLE, message="the server ended the batch without an answer"
)


def _item_answer(sent: _Sent, item: pb.ScoreBatchResponse) -> _Answer:
    if item.WhichOneof("result") == "error":
        return retry.from_status(item.error)
    return _judged(sent, item.response)


def _judged(sent: _Sent, response: pb.ScoreResponse) -> _Answer:
    unreadable = contract.unreadable(sent.whole, response.provenance.contract_revision)
    return score.from_response(response) if unreadable is None else unreadable


def _fitting(requests: Iterable[_Sent], most: int) -> Iterator[list[_Sent]]:
    """Splits requests into parts of at most `most` bytes; a larger request is its own part."""
    run: list[_Sent] = []
    room = most
    for one in requests:
        size = one.request.ByteSize()
        if run and size > room:
            yield run
            run, room = [], most
        run.append(one)
        room -= size
    if run:
        yield run


async def score_all(connection: Connection, line: Line, requests: Sequence[Request]) -> list[Score]:
    """Judges the requests of one call.

    Raises:
        Exception: making a `LazyRequest` raised it; no further request is sent.
    """
    try:
        async with asyncio.TaskGroup() as group:
            scores = await ScoreCall(connection, line, group).run(requests)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    await line.processes.rest()
    return scores

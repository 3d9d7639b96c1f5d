"""The methods of `codereward.v1.RewardService`.

Bodies arrive as bytes, so that their size and encoding are checked here. The transport would check
them too, but its errors name no field.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from weakref import WeakValueDictionary

import grpc
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Submission
from reward_server.evaluation import Evaluation
from reward_server.rpc import answers, convert, status
from reward_server.rpc.answers import ServerFacts
from reward_server.rpc.audit import AuditLog
from reward_server.rpc.callers import Context
from reward_server.rpc.convert import Bounds
from reward_server.rpc.interceptors import Gate, Work, handlers_of, report_failure
from reward_server.rpc.tasks import TaskStore
from reward_server.telemetry import NO_SPANS, Spans, Telemetry, tell_call, tell_request
from reward_server.tenants.tenant import Tenants

SERVICE = pb.DESCRIPTOR.services_by_name["RewardService"].full_name
_WORK = {
    "Score": Work.REQUEST,
    "ScoreBatch": Work.REQUESTS,
    "Execute": Work.REQUEST,
    "PutTask": Work.BODY,
}
# The server holds the answers of a batch that its caller does not read; this is their limit.
_WIDEST_BATCH = 64


class RewardService:
    """Answers RPCs with the results of an evaluation.

    Args:
        evaluation: judges completions and runs programs.
        bounds: bounds on requests.
        facts: the server's description of itself.
        tasks: the tasks that callers have stored.
        batch_width: number of requests of an owner's batches that are processed at once.
        telemetry: counts calls and verdicts.
        spans: gets a span for each completion that is judged.
        gate: the checks that calls must pass.
        tenants: names and quotas of the owners.
        audit: records each answer, if there is an audit log.
    """

    def __init__(
        self,
        *,
        evaluation: Evaluation,
        bounds: Bounds,
        facts: ServerFacts,
        tasks: TaskStore,
        batch_width: int,
        telemetry: Telemetry,
        spans: Spans = NO_SPANS,
        gate: Gate,
        tenants: Tenants,
        audit: AuditLog | None = None,
    ) -> None:
        self._evaluation = evaluation
        self._bounds = bounds
        self._tasks = tasks
        self._info = answers.server_info(facts, bounds)
        self._batch_width = batch_width
        self._batch_places = WeakValueDictionary[tuple[str, int], asyncio.Semaphore]()
        self._telemetry = telemetry
        self._spans = spans
        self._gate = gate
        self._tenants = tenants
        self._audit = audit

    def handlers(self) -> grpc.GenericRpcHandler[bytes, Message]:
        """Returns the methods in the form that gRPC takes."""
        unary = {
            "Score": self.score,
            "PutTask": self.put_task,
            "Execute": self.execute,
            "GetServerInfo": self.info,
        }
        streamed = {"ScoreBatch": self.score_batch}
        return handlers_of(SERVICE, unary, streamed, self._telemetry, self._gate, _work_of)

    async def score(self, body: bytes, context: Context, owner: str) -> pb.ScoreResponse:
        """Judges one completion."""
        request = convert.score_request(body, self._bounds)
        return await self.judge(request, deadline_of(context), owner)

    async def score_batch(self, body: bytes, context: Context, owner: str) -> None:
        """Judges many completions, and sends each answer as soon as it is known.

        While the caller does not read, no further completion is judged: each worker sends its
        answer before it takes the next request.
        """
        batch = convert.batch_request(body, self._bounds)
        caller = _Reader(context)
        await self.judge_batch(batch, deadline_of(context), owner, caller.send)
        if caller.has_gone:
            raise asyncio.CancelledError

    async def judge_batch(
        self,
        batch: pb.ScoreBatchRequest,
        deadline: float | None,
        owner: str,
        send: Callable[[pb.ScoreBatchResponse], Awaitable[None]],
    ) -> None:
        """Judges many completions.

        Args:
            batch: the requests.
            deadline: on the running loop's clock; None for never.
            owner: whose they are.
            send: receives each answer as soon as it is known.

        Raises:
            InvalidRequestError: there are too many requests, or two have the same id.
        """
        convert.check_batch(batch, self._bounds)
        todo = iter(_alike_together(batch.requests))
        width = self._width(owner)
        places = self._batch_places.setdefault((owner, width), asyncio.Semaphore(width))

        async def work() -> None:
            for index in todo:
                async with places:
                    answer = await self._answer(batch.requests[index], deadline, owner)
                answer.index = index
                await send(answer)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(width, _WIDEST_BATCH, len(batch.requests))):
                group.create_task(work())

    async def put_task(self, body: bytes, context: Context, owner: str) -> pb.PutTaskResponse:
        """Stores a task for requests that name it."""
        request = convert.parse(pb.PutTaskRequest, body, self._bounds)
        digest = self._tasks.put(owner, request.task, lambda task: convert.task(task, self._bounds))
        return pb.PutTaskResponse(task_digest=digest)

    def _width(self, owner: str) -> int:
        """Returns how many requests of an owner's batches are processed at once."""
        most = self._tenants.of(owner).quotas.requests_in_flight
        return self._batch_width if most is None else min(self._batch_width, most)

    async def execute(self, body: bytes, context: Context, owner: str) -> pb.ExecuteResponse:
        """Runs a program without grading it."""
        request = convert.parse(pb.ExecuteRequest, body, self._bounds)
        job = convert.job(request, self._bounds)
        execution, provenance = await self._evaluation.execute(
            job, deadline=deadline_of(context), owner=owner
        )
        return answers.execute_response(request.id, execution, provenance)

    async def info(self, body: bytes, context: Context, owner: str) -> pb.GetServerInfoResponse:
        """Returns languages, limits, walls in force and versions."""
        convert.parse(pb.GetServerInfoRequest, body, self._bounds)
        return self.described

    @property
    def described(self) -> pb.GetServerInfoResponse:
        """The server's description of itself."""
        return self._info

    async def judge(
        self, request: pb.ScoreRequest, deadline: float | None, owner: str
    ) -> pb.ScoreResponse:
        """Judges one completion.

        Args:
            request: the request.
            deadline: on the running loop's clock; None for never.
            owner: whose it is.

        Raises:
            RewardServerError: nothing was judged.
        """
        return await self.judged(request, self.submission(request, owner), deadline, owner)

    def submission(self, request: pb.ScoreRequest, owner: str) -> Submission:
        """Returns what a request asks to judge.

        Raises:
            RewardServerError: the request is refused; see `convert.submission`.
        """
        tell_call(tenant=self._tenants.of(owner).name)
        tell_request(request.id)
        stored = None
        if request.task_digest:
            convert.check_digest(request)
            stored = self._tasks.find(owner, request.task_digest)
        return convert.submission(request, self._bounds, stored)

    async def judged(
        self, request: pb.ScoreRequest, submission: Submission, deadline: float | None, owner: str
    ) -> pb.ScoreResponse:
        """Judges a submission, counts it and records the answer.

        Args:
            request: the request, for the record.
            submission: what it asks to judge.
            deadline: on the running loop's clock; None for never.
            owner: whose it is.
        """
        with self._spans.begin("grade"):
            assessment = await self._evaluation.score(submission, deadline=deadline, owner=owner)
        self._telemetry.judged(assessment)
        tenant = self._tenants.of(owner).name
        self._telemetry.tenant_judged(tenant)
        response = answers.score_response(assessment)
        if self._audit is not None:
            await self._audit.record(tenant, request, response)
        return response

    async def _answer(
        self, request: pb.ScoreRequest, deadline: float | None, owner: str
    ) -> pb.ScoreBatchResponse:
        try:
            with self._gate.in_flight.request(owner):
                convert.check_known(request, self._bounds)
                response = await self.judge(request, deadline, owner)
        except Exception as error:  # noqa: BLE001  # one request's error is not the batch's
            report_failure(self._telemetry, error)
            return pb.ScoreBatchResponse(id=request.id, error=status.from_error(error))
        return pb.ScoreBatchResponse(id=request.id, response=response)


class _Reader:
    """A caller that receives answers one by one, each after the previous one was accepted."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sending = asyncio.Lock()
        self.has_gone = False

    async def send(self, answer: Message) -> None:
        """Sends an answer; if the caller has gone, cancels the work for it."""
        async with self._sending:
            try:
                await self._context.write(answer)
            except Exception:  # noqa: BLE001  # gRPC raises several types for this
                self.has_gone = True
                raise asyncio.CancelledError from None


def _alike_together(requests: Sequence[pb.ScoreRequest]) -> list[int]:
    """Orders the requests of a batch so that equal completions are processed at once."""
    first: dict[str, int] = {}
    for index, request in enumerate(requests):
        first.setdefault(request.completion, index)
    return sorted(range(len(requests)), key=lambda index: first[requests[index].completion])


def _work_of(method: str) -> Work:
    return _WORK.get(method, Work.NONE)


def deadline_of(context: Context) -> float | None:
    """Returns the call's deadline on the running loop's clock."""
    remaining: float | None = context.time_remaining()
    return None if remaining is None else asyncio.get_running_loop().time() + remaining

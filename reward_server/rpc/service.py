"""The four methods of `codereward.v1.RewardService`.

Bodies arrive as bytes, so that their size and encoding are checked here and not by the transport,
whose refusals name no field.
"""

from __future__ import annotations

import asyncio

import grpc
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb
from reward_server.evaluation import Evaluation
from reward_server.rpc import answers, convert, status
from reward_server.rpc.answers import ServerFacts
from reward_server.rpc.convert import Bounds
from reward_server.rpc.interceptors import Context, boundary, report_failure
from reward_server.telemetry import Telemetry

SERVICE = pb.DESCRIPTOR.services_by_name["RewardService"].full_name
WORKING_METHODS = frozenset(f"/{SERVICE}/{name}" for name in ("Score", "ScoreBatch", "Execute"))


class RewardService:
    """Answers RPCs by means of an evaluation.

    Args:
        evaluation: judges and runs.
        bounds: what a request may ask for.
        facts: what the server says of itself.
        batch_width: how many requests of one batch are worked on at once.
        telemetry: counts calls and verdicts.
    """

    def __init__(
        self,
        *,
        evaluation: Evaluation,
        bounds: Bounds,
        facts: ServerFacts,
        batch_width: int,
        telemetry: Telemetry,
    ) -> None:
        self._evaluation = evaluation
        self._bounds = bounds
        self._info = answers.server_info(facts, bounds)
        self._batch_width = batch_width
        self._telemetry = telemetry

    def handlers(self) -> grpc.GenericRpcHandler[bytes, Message]:
        """Returns the methods as gRPC takes them."""
        unary = {"Score": self.score, "Execute": self.execute, "GetServerInfo": self.info}
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                boundary(name, behaviour, self._telemetry),
                response_serializer=_serialize,
            )
            for name, behaviour in unary.items()
        }
        methods["ScoreBatch"] = grpc.unary_stream_rpc_method_handler(
            boundary("ScoreBatch", self.score_batch, self._telemetry),
            response_serializer=_serialize,
        )
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def score(self, body: bytes, context: Context) -> pb.ScoreResponse:
        """Judges one completion."""
        request = convert.score_request(body, self._bounds)
        return await self._judge(request, _deadline(context))

    async def score_batch(self, body: bytes, context: Context) -> None:
        """Judges many completions, and sends each answer as soon as it is known."""
        batch = convert.batch_request(body, self._bounds)
        convert.check_batch(batch, self._bounds)
        places = asyncio.Semaphore(self._batch_width)
        ready: asyncio.Queue[pb.ScoreBatchResponse] = asyncio.Queue()
        deadline = _deadline(context)

        async def work(index: int, request: pb.ScoreRequest) -> None:
            async with places:
                answer = await self._answer(request, deadline)
            answer.index = index
            ready.put_nowait(answer)

        async with asyncio.TaskGroup() as group:
            for index, request in enumerate(batch.requests):
                group.create_task(work(index, request))
            for _ in batch.requests:
                await context.write(await ready.get())

    async def execute(self, body: bytes, context: Context) -> pb.ExecuteResponse:
        """Runs a program without grading it."""
        request = convert.parse(pb.ExecuteRequest, body, self._bounds)
        job = convert.job(request, self._bounds)
        execution, provenance = await self._evaluation.execute(job, deadline=_deadline(context))
        return answers.execute_response(request.id, execution, provenance)

    async def info(self, body: bytes, context: Context) -> pb.GetServerInfoResponse:
        """Tells languages, limits, walls in force and versions."""
        convert.parse(pb.GetServerInfoRequest, body, self._bounds)
        return self._info

    async def _judge(self, request: pb.ScoreRequest, deadline: float | None) -> pb.ScoreResponse:
        submission = convert.submission(request, self._bounds)
        assessment = await self._evaluation.score(submission, deadline=deadline)
        self._telemetry.judged(assessment)
        return answers.score_response(assessment)

    async def _answer(
        self, request: pb.ScoreRequest, deadline: float | None
    ) -> pb.ScoreBatchResponse:
        try:
            response = await self._judge(request, deadline)
        except Exception as error:  # noqa: BLE001  # one request's error is not the batch's
            report_failure("ScoreBatch", error)
            return pb.ScoreBatchResponse(id=request.id, error=status.from_error(error))
        return pb.ScoreBatchResponse(id=request.id, response=response)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


def _deadline(context: Context) -> float | None:
    """Returns the call's deadline on the running loop's clock."""
    remaining: float | None = context.time_remaining()
    return None if remaining is None else asyncio.get_running_loop().time() + remaining

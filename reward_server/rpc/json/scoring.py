"""Judges requests in protobuf's JSON form, and answers in the same form.

A request passes the same checks as one that came over gRPC: it is serialised, and converted from
its bytes. So the limits of sizes and the rule of completions that are too large hold here too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from codereward.request_json import RequestJsonError, parse_object, parse_request
from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import InvalidRequestError
from reward_server.rpc import convert, fields
from reward_server.rpc.convert import Bounds
from reward_server.rpc.service import RewardService

_M = TypeVar("_M", bound=Message)

# A longer text is parsed in a thread, one at a time: its objects take a multiple of its size.
_QUICK_BYTES = 64 * 1024


class JsonScoring:
    """Answers requests in JSON.

    Args:
        service: judges them.
        bounds: bounds on requests.
    """

    def __init__(self, service: RewardService, bounds: Bounds) -> None:
        self._service = service
        self._bounds = bounds
        self._long_text = asyncio.Lock()

    async def score(self, body: bytes, deadline: float | None, owner: str) -> bytes:
        """Judges one completion; body and answer are a ScoreRequest and a ScoreResponse.

        Args:
            body: the request.
            deadline: on the running loop's clock; None for never.
            owner: whose it is.

        Raises:
            RewardServerError: nothing was judged.
        """
        request = await self._read(body, _request)
        return _text(await self._service.judge(request, deadline, owner))

    async def batch(self, body: bytes) -> pb.ScoreBatchRequest:
        """Reads a batch.

        Raises:
            InvalidRequestError: it is wrong as a whole; its requests are judged one by one.
        """
        return await self._read(body, _batch)

    async def score_batch(
        self,
        batch: pb.ScoreBatchRequest,
        deadline: float | None,
        owner: str,
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """Judges many completions.

        Args:
            batch: the requests.
            deadline: on the running loop's clock; None for never.
            owner: whose they are.
            send: receives each answer, a line of JSON, as soon as it is known.
        """

        async def send_line(answer: pb.ScoreBatchResponse) -> None:
            await send(_text(answer) + b"\n")

        await self._service.judge_batch(batch, deadline, owner, send_line)

    def info(self) -> bytes:
        """Returns the server's description of itself, a GetServerInfoResponse."""
        return _text(self._service.described)

    async def _read(self, body: bytes, read: Callable[[bytes, Bounds], _M]) -> _M:
        if len(body) <= _QUICK_BYTES:
            return read(body, self._bounds)
        async with self._long_text:
            return await asyncio.to_thread(read, body, self._bounds)


def _request(body: bytes, bounds: Bounds) -> pb.ScoreRequest:
    try:
        request = parse_request(body)
    except RequestJsonError as error:
        raise InvalidRequestError(error.field or "request", error.problem) from None
    return convert.score_request(request.SerializeToString(), bounds)


def _batch(body: bytes, bounds: Bounds) -> pb.ScoreBatchRequest:
    try:
        found = parse_object(body)
    except RequestJsonError as error:
        raise InvalidRequestError("request", error.problem) from None
    items = found.pop("requests", [])
    if found:
        raise InvalidRequestError(next(iter(found)), "is not known")
    if not isinstance(items, list):
        raise InvalidRequestError("requests", "is not a list of requests")
    fields.at_most("requests", len(items), bounds.maximum_batch)
    batch = pb.ScoreBatchRequest(requests=fields.each("requests", items, _item))
    checked = convert.batch_request(batch.SerializeToString(), bounds)
    convert.check_batch(checked, bounds)
    return checked


def _item(value: object) -> pb.ScoreRequest:
    if not isinstance(value, dict):
        raise InvalidRequestError("", "is not a JSON object")
    try:
        return parse_request(value)
    except RequestJsonError as error:
        raise InvalidRequestError(error.field, error.problem) from None


def _text(message: Message) -> bytes:
    """Returns a message as one line."""
    return json.dumps(json_format.MessageToDict(message, preserving_proto_field_name=True)).encode()

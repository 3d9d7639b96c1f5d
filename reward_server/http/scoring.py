"""The plain door: `Score` and `ScoreBatch` in protobuf's JSON form, for `curl`."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reward_server.errors import InvalidRequestError
from reward_server.http.bodies import BATCH, check_size
from reward_server.http.boundary import Boundary, Call, Emit, Streamed
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.scoring import JsonScoring

SCORE, SCORE_BATCH, INFO = "/v1/score", "/v1/score_batch", "/v1/info"
LINES = "application/x-ndjson"
_JSON = "application/json"
_LONGEST_SECONDS = 86_400.0


def scoring_routes(scoring: JsonScoring, boundary: Boundary) -> list[Route]:
    """Returns the routes of the plain door."""

    async def score(call: Call) -> Response:
        _check_type(call.request)
        check_size(call.body)
        return _answer(await scoring.score(call.body, _deadline(call.request), call.owner))

    async def score_batch(call: Call) -> Response:
        _check_type(call.request)
        check_size(call.body, times=BATCH)
        deadline = _deadline(call.request)
        batch = await scoring.batch(call.body)

        async def judge(send: Emit) -> None:
            await scoring.score_batch(batch, deadline, call.owner, send)

        return Streamed(judge, LINES)

    async def info(call: Call) -> Response:
        return _answer(scoring.info())

    return [
        Route(SCORE, boundary.door(SCORE, score, work=Work.REQUEST), methods=["POST"]),
        Route(
            SCORE_BATCH,
            boundary.door(SCORE_BATCH, score_batch, work=Work.REQUESTS),
            methods=["POST"],
        ),
        Route(INFO, boundary.door(INFO, info, work=Work.NONE), methods=["GET"]),
    ]


def _check_type(request: Request) -> None:
    """Refuses other types: browsers send some of them for any site without a question."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        raise InvalidRequestError("Content-Type", f"must be {_JSON}")


def _deadline(request: Request) -> float | None:
    """Returns the time on the loop's clock by which the caller needs an answer.

    Raises:
        InvalidRequestError: the address has another parameter, or the time is wrong.
    """
    for name in request.query_params:
        if name != "timeout_seconds":
            raise InvalidRequestError(name, "is no parameter of this address; timeout_seconds is")
    given = request.query_params.get("timeout_seconds")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise InvalidRequestError(
            "timeout_seconds", f"must be a number above 0, and at most {_LONGEST_SECONDS:g}"
        )
    return asyncio.get_running_loop().time() + seconds


def _answer(text: bytes) -> Response:
    return Response(text, media_type=_JSON)

"""NeMo-Gym's door, a resources server: `POST /verify` judges the last message of a response.

The task is in `verifier_metadata`: `unit_tests` as NeMo-Gym's data sets have them, or
`score_request` with the fields of a `ScoreRequest`. What was not judged is masked, so that a
trainer leaves it out. Its reward of 0 means nothing then. NeMo-RL reads `mask_sample` in
`instance_config`, other readers beside the reward; NeMo-Gym's collection of rollouts keeps a row
with `_ng_failure_class` out of its results, and runs it again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.errors import (
    DeadlineError,
    DrainingError,
    InvalidRequestError,
    OverloadedError,
    SandboxError,
)
from reward_server.http.bodies import echo, read_body
from reward_server.http.boundary import Behaviour, Boundary, Call
from reward_server.http.patience import patiently
from reward_server.rpc import status
from reward_server.rpc.interceptors import Work, report_failure
from reward_server.rpc.json.scoring import JsonScoring
from reward_server.telemetry import Telemetry

VERIFY, SEED_SESSION, REVERIFY = "/verify", "/seed_session", "/reverify_mode"
AGGREGATE = "/aggregate_metrics"
PATIENCE_SECONDS = 600.0
_INVALID_TASK = "invalid_task"
_TASK = "_ng_task_index"
_NOT_JUDGED = (OverloadedError, DeadlineError, DrainingError, SandboxError)


class NemoGymTests(BaseModel):
    """Tests of LiveCodeBench's kind: of whole programs, or of a function if it is named.

    Another field could change what they test, so it is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: list[str]
    outputs: list[str]
    fn_name: str | None = None


class VerifierMetadata(BaseModel):
    """The task of a sample; NeMo-Gym's data sets have labels beside it, such as a difficulty."""

    model_config = ConfigDict(frozen=True)

    unit_tests: NemoGymTests | None = None
    score_request: dict[str, Any] | None = None


class VerifyRequest(BaseModel):
    """The body of `/verify`; further fields are returned as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    verifier_metadata: VerifierMetadata


class AggregateRequest(BaseModel):
    """The body of `/aggregate_metrics`: answers of `/verify`, without their responses."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verify_responses: list[dict[str, Any]]


def nemo_gym_routes(scoring: JsonScoring, boundary: Boundary, telemetry: Telemetry) -> list[Route]:
    """Returns the routes of a resources server."""

    async def verify(call: Call) -> Response:
        request = read_body(VerifyRequest, call.body)
        given: dict[str, Any] = json.loads(call.body)
        body = json.dumps(_score_request(request)).encode()
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        try:
            answer = await patiently(lambda: scoring.score(body, deadline, call.owner), deadline)
        except _NOT_JUDGED as error:
            report_failure(telemetry, error)
            why = status.message_of(error)
            return _verified(given, failure=status.cause_of(error), told={"message": why})
        judged = json.loads(answer)
        return _verified(given, failure=_INVALID_TASK, told=judged)

    async def seed_session(_: Call) -> Response:
        return JSONResponse({})  # each sample is judged for itself

    async def reverify_mode(_: Call) -> Response:
        return JSONResponse("stateless")

    async def aggregate(call: Call) -> Response:
        return JSONResponse(_aggregated(read_body(AggregateRequest, call.body).verify_responses))

    def route(method: str, path: str, behaviour: Behaviour) -> Route:
        work = Work.NONE if method == "GET" else Work.BODY
        return Route(path, boundary.door(path, behaviour, work=work), methods=[method])

    return [
        route("POST", VERIFY, verify),
        route("POST", SEED_SESSION, seed_session),
        route("GET", REVERIFY, reverify_mode),
        route("POST", AGGREGATE, aggregate),
    ]


def _verified(given: dict[str, Any], *, failure: str, told: Mapping[str, Any]) -> Response:
    """Returns the request with its result; without a reward the sample is masked."""
    reward, message = told.get("reward"), told.get("message", "")
    is_judged = reward is not None
    config = given.get("instance_config")
    return echo(
        {
            **given,
            "reward": reward if is_judged else 0.0,
            "mask_sample": not is_judged,
            "instance_config": {
                **(config if isinstance(config, dict) else {}),
                "mask_sample": not is_judged,
            },
            "failure_kind": None if is_judged else failure,
            "failure_reason": None if is_judged else message,
            **({} if is_judged else {"_ng_failure_class": failure}),
            "verdict": told.get("verdict"),
            "message": message,
        }
    )


def _aggregated(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the mean reward of all that was judged, and of each task."""
    by_task: dict[int, list[float]] = {}
    for answer in answers:
        reward, task = answer.get("reward"), answer.get(_TASK, 0)
        if isinstance(reward, int | float) and not answer.get("mask_sample"):
            by_task.setdefault(task if isinstance(task, int) else 0, []).append(reward)
    rewards = [one for group in by_task.values() for one in group]
    mean = {"mean/reward": sum(rewards) / len(rewards)} if rewards else {}
    return {
        "group_level_metrics": [
            {_TASK: task, "mean/reward": sum(group) / len(group)}
            for task, group in sorted(by_task.items())
        ],
        "agent_metrics": mean,
        "key_metrics": mean,
    }


def _score_request(request: VerifyRequest) -> dict[str, Any]:
    task, tests = request.verifier_metadata.score_request, request.verifier_metadata.unit_tests
    if (task is None) == (tests is None):
        raise InvalidRequestError("verifier_metadata", "needs unit_tests or score_request")
    completion = _last_text(request.response)
    if task is not None:
        return {**task, "completion": completion}
    assert tests is not None
    return {"completion": completion, **_tests(tests)}


def _tests(tests: NemoGymTests) -> dict[str, Any]:
    if len(tests.inputs) != len(tests.outputs):
        raise InvalidRequestError("verifier_metadata.unit_tests", "have an output for each input")
    pairs = zip(tests.inputs, tests.outputs, strict=True)
    if tests.fn_name is None:
        cases = [
            {"stdin_text": given, "expected_stdout_text": expected} for given, expected in pairs
        ]
        return {"stdio": {"cases": cases}}
    calls = [
        {"args_json": f"[{','.join(_lines(given))}]", "expected_json": expected}
        for given, expected in pairs
    ]
    return {"call": {"entry_point": tests.fn_name, "cases": calls}}


def _lines(text: str) -> list[str]:
    """Returns the arguments of a call, each a line of JSON."""
    return [line for line in text.split("\n") if line.strip()]


def _last_text(response: dict[str, Any]) -> str:
    """Returns the text of the last message of a response."""
    for item in reversed(_dicts(response.get("output"))):
        if item.get("type") == "message":
            parts = _dicts(item.get("content"))
            return "".join(str(one["text"]) for one in parts if one.get("type") == "output_text")
    return ""


def _dicts(items: object) -> list[dict[str, Any]]:
    found: Iterable[object] = items if isinstance(items, list) else ()
    return [one for one in found if isinstance(one, dict)]

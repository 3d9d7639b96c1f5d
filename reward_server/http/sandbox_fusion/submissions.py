"""SandboxFusion's doors of data sets: completions are submitted, and prompts are made of rows.

A request brings its row, as the server has no data sets. The row becomes a task of the contract,
which the judge decides: tests are never in the process of the solution. What was not judged is 504,
and broken tests are 400, so that neither is taken for a rejected completion.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.domain import Extraction
from reward_server.errors import InvalidRequestError
from reward_server.grading.extraction.extract import Extracted, extract
from reward_server.http.bodies import echo, read_body
from reward_server.http.boundary import Boundary, Call
from reward_server.http.patience import patiently
from reward_server.http.sandbox_fusion.answers import (
    FAILED,
    FINISHED,
    KILLED,
    SUCCESS,
    TIMED_OUT,
    command_result,
    refused,
    told,
)
from reward_server.http.sandbox_fusion.formats import (
    ALL_CASES,
    DATASETS,
    MOST_PROMPT_BYTES,
    Format,
    Task,
    format_of,
)
from reward_server.http.sandbox_fusion.programs import is_compiled, language_named, time_limits
from reward_server.http.sandbox_fusion.rows import DATA, Row, TestConfig, all_rows, one_row
from reward_server.languages import Language
from reward_server.rpc.convert import SOURCE_BYTES, Bounds
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.scoring import JsonScoring

SUBMIT, LIST_DATASETS = "/submit", "/list_datasets"
GET_PROMPTS, GET_PROMPT = "/get_prompts", "/get_prompt_by_id"
# The client waits without a limit; what has no room for this time is 504.
PATIENCE_SECONDS = 600.0
_QUICK_BYTES = 64 * 1024
_PASSED, _TEST_PASSED = "VERDICT_PASSED", "TEST_OUTCOME_PASSED"
_NOT_RUN, _WRONG, _LIMIT = "TEST_OUTCOME_NOT_RUN", "TEST_OUTCOME_FAILED", "TEST_OUTCOME_LIMIT"
_COMPILE_ERROR, _INVALID_TASK = "VERDICT_COMPILE_ERROR", "VERDICT_INVALID_TASK"
_TIMES = {"LIMIT_KIND_CPU_TIME", "LIMIT_KIND_WALL_TIME"}
_T = TypeVar("_T")

Id = int | str


class SubmitRequest(BaseModel):
    """The body of `/submit`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    id: Id
    completion: str
    config: TestConfig


class GetPromptsRequest(BaseModel):
    """The body of `/get_prompts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    config: TestConfig
    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=0)] = 1_000_000


class GetPromptByIdRequest(BaseModel):
    """The body of `/get_prompt_by_id`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    config: TestConfig
    id: Id


def submission_routes(scoring: JsonScoring, bounds: Bounds, boundary: Boundary) -> list[Route]:
    """Returns the routes of the doors."""
    long_work = asyncio.Lock()

    async def worked(call: Call, work: Callable[[], _T]) -> _T:
        """Does work whose time grows with the request; long work in a thread, one at a time."""
        if len(call.body) <= _QUICK_BYTES:
            return work()
        async with long_work:
            return await asyncio.to_thread(work)

    async def submit(call: Call) -> Response:
        def prepare() -> tuple[SubmitRequest, Task, bytes]:
            request = read_body(SubmitRequest, call.body)
            row = one_row(request.config)
            task = format_of(request.dataset, request.config).task(row, request.config)
            return request, task, json.dumps(_score_request(request, task, bounds)).encode()

        request, task, body = await worked(call, prepare)
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        answer = await patiently(lambda: scoring.score(body, deadline, call.owner), deadline)
        judged = json.loads(answer)
        if judged["verdict"] == _INVALID_TASK:
            raise InvalidRequestError(DATA, f"has broken tests: {judged.get('message', '')}")
        extracted = await worked(call, lambda: _extracted(request, task, bounds))
        language = language_named(task.language, bounds)
        return JSONResponse(_result(request, task, judged, extracted, language))

    async def get_prompts(call: Call) -> Response:
        def make() -> Response:
            request = read_body(GetPromptsRequest, call.body)
            kind = format_of(request.dataset, request.config)
            rows = all_rows(request.config)[request.offset :][: request.limit]
            return echo(_prompts(kind, rows, request.config))

        return await worked(call, make)

    async def get_prompt(call: Call) -> Response:
        def make() -> Response:
            request = read_body(GetPromptByIdRequest, call.body)
            kind, row = format_of(request.dataset, request.config), one_row(request.config)
            return echo(_prompts(kind, [row], request.config)[0])

        return await worked(call, make)

    async def list_datasets(_: Call) -> Response:
        return JSONResponse(list(DATASETS))

    def route(path: str, behaviour: Callable[[Call], Any], work: Work, method: str) -> Route:
        door = boundary.door(path, behaviour, work=work, refuse=refused)
        return Route(path, door, methods=[method])

    return [
        route(SUBMIT, submit, Work.BODY, "POST"),
        route(GET_PROMPTS, get_prompts, Work.BODY, "POST"),
        route(GET_PROMPT, get_prompt, Work.BODY, "POST"),
        route(LIST_DATASETS, list_datasets, Work.NONE, "GET"),
    ]


def _score_request(request: SubmitRequest, task: Task, bounds: Bounds) -> dict[str, Any]:
    """Returns the fields of the `ScoreRequest` that decides a submission."""
    language, config = language_named(task.language, bounds), request.config
    limits = {} if config.run_timeout is None else time_limits(config.run_timeout, bounds)
    policy = {"kind": "REWARD_POLICY_KIND_FRACTION"} if config.extra.get(ALL_CASES) else {}
    return {
        "completion": request.completion,
        "language": language.name,
        "prompt": task.prompt,
        "data_files": task.data_files,
        "limits": limits,
        "reward_policy": policy,
        **task.tests,
    }


def _extracted(request: SubmitRequest, task: Task, bounds: Bounds) -> Extracted:
    """Returns the program that the judge takes out of a completion."""
    return extract(
        request.completion if len(request.completion) <= SOURCE_BYTES else "",
        extraction=Extraction.AUTO,
        dialect=language_named(task.language, bounds),
        prompt=task.prompt,
        wanted=task.wanted,
    )


# ------------------------------------------------------------------------------------- verdicts


def _result(
    request: SubmitRequest,
    task: Task,
    judged: Mapping[str, Any],
    extracted: Extracted,
    language: Language,
) -> dict[str, Any]:
    return {
        "id": request.id,
        "accepted": judged["verdict"] == _PASSED,
        "extracted_code": extracted.source,
        "full_code": None,
        "test_code": None,
        "tests": _tests(task, judged, language),
        "extracted_type": _kind_of(extracted),
        "extra": {name: judged.get(name) for name in ("verdict", "reward", "integrity", "message")},
    }


def _kind_of(extracted: Extracted) -> str:
    if extracted.has_code_block:
        return "fenced"
    return "heuristic" if extracted.source.strip() else "empty"


def _tests(task: Task, judged: Mapping[str, Any], language: Language) -> list[dict[str, Any]]:
    """Returns the tests that ran; of a program that does not compile, one that has failed."""
    if judged["verdict"] == _COMPILE_ERROR:
        message, stderr = judged.get("message", ""), _text_of(judged, "stderr")
        result = command_result(FINISHED, return_code=1, stderr=stderr or message)
        place = "compile_result" if is_compiled(language) else "run_result"
        run = told(FAILED, message=message, **{place: result})
        return [{"passed": False, "exec_info": run, "test_info": None}]
    ran = [one for one in judged.get("tests", ()) if one["outcome"] != _NOT_RUN]
    failed = (number for number, one in enumerate(ran) if one["outcome"] != _TEST_PASSED)
    decider = next(failed, len(ran) - 1)
    told_of = [
        {
            "passed": one["outcome"] == _TEST_PASSED,
            "exec_info": _run(task, one, judged, decides=number == decider),
            "test_info": {name: one.get(name, "") for name in ("name", "outcome", "message")},
        }
        for number, one in enumerate(ran)
    ]
    if judged["verdict"] == _PASSED or not all(one["passed"] for one in told_of):
        return told_of
    # The program ended before a test, or broke a rule that is about no single test.
    run = _run(task, {"outcome": "", "message": judged.get("message", "")}, judged, decides=True)
    return [*told_of, {"passed": False, "exec_info": run, "test_info": None}]


def _run(
    task: Task, test: Mapping[str, Any], judged: Mapping[str, Any], *, decides: bool
) -> dict[str, Any]:
    """Returns a description of the run of a test; the run that decided has its output."""
    outcome, code, status = test["outcome"], 1, FINISHED
    if outcome == _TEST_PASSED or (outcome == _WRONG and task.runs_programs):
        code = 0
    elif judged.get("limits_hit") and outcome in ("", _LIMIT):
        code = KILLED
        status = TIMED_OUT if _TIMES.intersection(judged["limits_hit"]) else FINISHED
    result = command_result(
        status,
        return_code=code,
        stdout=_text_of(judged, "stdout") if decides else "",
        stderr=_text_of(judged, "stderr") if decides else "",
        wall_time_seconds=test.get("wall_time_seconds"),
    )
    is_success = status == FINISHED and code == 0
    message = test.get("message", "")
    return told(SUCCESS if is_success else FAILED, message=message, run_result=result)


def _text_of(judged: Mapping[str, Any], stream: str) -> str:
    data = judged.get(stream, {}).get("data", "")
    return base64.b64decode(data).decode("utf-8", "replace")


# -------------------------------------------------------------------------------------- prompts


def _prompts(kind: Format, rows: Sequence[Row], config: TestConfig) -> list[dict[str, Any]]:
    """Returns the prompts of rows.

    Raises:
        InvalidRequestError: a row is wrong, or the prompts are too long together.
    """
    found: list[dict[str, Any]] = []
    size = 0
    for number, row in enumerate(rows):
        identity = row.get(kind.id_field, number)
        if not isinstance(identity, int | str):
            raise InvalidRequestError(f"{DATA}.{kind.id_field}", "is neither a text nor a number")
        prompt = kind.prompt(row, config)
        size += len(prompt)
        if size > MOST_PROMPT_BYTES:
            raise InvalidRequestError(
                DATA, f"makes prompts of more than {MOST_PROMPT_BYTES} bytes; send fewer rows"
            )
        found.append({"id": identity, "prompt": prompt, "labels": kind.labels(row)})
    return found

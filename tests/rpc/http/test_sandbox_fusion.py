"""SandboxFusion's door: a program's failure is a value, and what was not run is 504."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import replace

import httpx
import pytest

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    Job,
    LimitKind,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.errors import SandboxError
from reward_server.evaluation.deduplication import SingleFlight
from reward_server.http.sandbox_fusion import programs, submissions
from tests.rpc.conftest import Serve
from tests.rpc.fakes import FakeExecutor, passing
from tests.rpc.http.conftest import url_of


def body(**fields: object) -> dict[str, object]:
    return {"code": "print(1)", "language": "python", **fields}


def ended(**changes: object) -> Execution:
    return replace(passing(Job(work=Program(source=""))), **changes)  # type: ignore[arg-type]


def exited(code: int) -> Termination:
    return Termination(kind=TerminationKind.EXITED, value=code)


KILLED = Termination(kind=TerminationKind.LIMIT)
CUT = CapturedStream(data=b"x", size_bytes=2)


@pytest.mark.parametrize(
    ("execution", "status", "part", "part_status", "code"),
    [
        (ended(), "Success", "run_result", "Finished", 0),
        (ended(termination=exited(3)), "Failed", "run_result", "Finished", 3),
        (
            ended(termination=Termination(kind=TerminationKind.SIGNALED, value=11)),
            *("Failed", "run_result", "Finished", -11),
        ),
        (
            ended(ending=Ending.LIMIT, termination=KILLED, limits_hit=(LimitKind.CPU_TIME,)),
            *("Failed", "run_result", "TimeLimitExceeded", -9),
        ),
        (
            ended(ending=Ending.LIMIT, termination=KILLED, limits_hit=(LimitKind.WALL_TIME,)),
            *("Failed", "run_result", "TimeLimitExceeded", -9),
        ),
        (
            ended(ending=Ending.LIMIT, termination=KILLED, limits_hit=(LimitKind.MEMORY,)),
            *("Failed", "run_result", "Finished", -9),
        ),
        (
            ended(ending=Ending.VIOLATION, termination=KILLED),
            *("Failed", "run_result", "Finished", -31),
        ),
        (
            ended(ending=Ending.COMPILE_ERROR, termination=exited(1)),
            *("Failed", "run_result", "Finished", 1),
        ),
        (ended(stdout=CUT), "Failed", "run_result", "Finished", -9),
        (ended(ending=Ending.VIOLATION), "Failed", "run_result", "Finished", -31),
    ],
)
async def test_what_a_program_does_is_a_value(
    serve: Serve, execution: Execution, status: str, part: str, part_status: str, code: int
) -> None:
    served = await serve(FakeExecutor(behaviour=lambda _: execution), http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = (await client.post("/run_code", json=body())).json()
    assert answer["status"] == status
    assert (answer[part]["status"], answer[part]["return_code"]) == (part_status, code)


async def test_a_program_gets_its_input_files_and_limits(serve: Serve) -> None:
    served = await serve(http_port=0)
    files = {"a/b.txt": base64.b64encode(b"\xff").decode(), "absent": None}
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        sent = body(stdin="in", files=files, run_timeout=3, memory_limit_MB=256)
        assert (await client.post("/run_code", json=sent)).status_code == 200
        sent = body(run_timeout=3600, memory_limit_MB=1 << 30)
        assert (await client.post("/run_code", json=sent)).status_code == 200
        sent = body(run_timeout=0.0001, memory_limit_MB=1)
        assert (await client.post("/run_code", json=sent)).status_code == 200
    job, most, least = served.executor.started
    assert isinstance(job.work, Program)
    assert (job.work.stdin, dict(job.work.files)) == (b"in", {"a/b.txt": b"\xff"})
    assert (job.limits.cpu_time_seconds, job.limits.wall_time_seconds) == (3, 4.5)
    assert job.limits.memory_bytes == 256 << 20
    assert (most.limits.cpu_time_seconds, most.limits.memory_bytes) == (300, 8 << 30)
    assert (least.limits.cpu_time_seconds, least.limits.memory_bytes) == (0.01, 16 << 20)


async def test_a_program_that_is_too_large_has_failed(serve: Serve) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = (await client.post("/run_code", json=body(code="#" * (2 << 20)))).json()
    assert (answer["status"], answer["run_result"]["return_code"]) == ("Failed", 1)
    assert served.executor.started == []


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"code": 1}, "code"),
        ({"language": None}, "language"),
        ({"run_timeout": -1}, "run_timeout"),
        ({"files": {"../x": ""}}, 'files["../x"]'),
        ({"fetch_files": ["x"]}, "fetch_files"),
        ({"timeout": 5}, "timeout"),
        ({"memory_limit_mb": 5}, "memory_limit_mb"),
        ({"Stdin": ""}, "Stdin"),
    ],
)
async def test_a_wrong_request_is_refused(
    serve: Serve, sent: dict[str, object], field: str
) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/run_code", json=body(**sent))
        unknown = await client.post("/run_code", json=body(language="cuda"))
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert (unknown.status_code, unknown.json()["status"]) == (400, "FAILED_PRECONDITION")


@pytest.mark.parametrize(
    ("language", "why"),
    [
        ("jest", "expect"),
        ("kotlin_script", "send a program with `main`"),
        ("junit", "not"),
        ("lean", "not offered"),
    ],
)
async def test_a_mode_that_is_not_here_is_refused_by_its_name(
    serve: Serve, language: str, why: str
) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/run_code", json=body(language=language))
    assert answer.status_code == 400
    assert why in answer.json()["message"]
    assert served.executor.started == []


class Watched(SingleFlight[Execution]):
    """Runs that tell how many callers have joined them."""

    joined = 0

    async def join(
        self, key: Hashable, start: Callable[[], Coroutine[None, None, Execution]]
    ) -> tuple[Execution, bool]:
        Watched.joined += 1
        return await super().join(key, start)


async def test_identical_requests_at_once_share_a_run(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "SingleFlight", Watched)
    monkeypatch.setattr(Watched, "joined", 0)
    executor = FakeExecutor(slots=2, held=True)
    served = await serve(executor, http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        sent = [body(stdin="1")] * 20 + [body(stdin="2")]
        calls = [asyncio.create_task(client.post("/run_code", json=one)) for one in sent]
        while Watched.joined < len(sent):  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0)
        await executor.until_running(2)
        executor.finish()
        executor.finish()
        answers = await asyncio.gather(*calls)
        assert {one.status_code for one in answers} == {200}
        again = asyncio.create_task(client.post("/run_code", json=sent[0]))
        await executor.until_running(1)
        executor.finish()
        await again
    assert len(executor.started) == 3


def lost(_: Job) -> Execution:
    raise SandboxError("lost")


@pytest.mark.promise(
    "A program that SandboxFusion's door could not run is answered by 504.", "Service"
)
async def test_a_program_that_the_server_lost_is_504(serve: Serve) -> None:
    served = await serve(FakeExecutor(behaviour=lost), http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/run_code", json=body())
    assert answer.status_code == 504
    assert "SandboxError" not in answer.text


async def test_a_full_queue_is_waited_for(serve: Serve) -> None:
    executor = FakeExecutor(slots=1, held=True)
    served = await serve(executor, http_port=0, queue_capacity=1)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        calls = [
            asyncio.create_task(client.post("/run_code", json=body(code=str(number))))
            for number in range(6)
        ]
        await served.until_admitted(2)
        for _ in calls:
            await executor.until_running(1)
            executor.finish()
        answers = await asyncio.gather(*calls)
    assert [one.status_code for one in answers] == [200] * 6


async def test_a_program_that_finds_no_room_is_504_in_time(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "SPARE_SECONDS", 0.1)
    served = await serve(FakeExecutor(slots=1, held=True), http_port=0, queue_capacity=1)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        holders = [
            asyncio.create_task(client.post("/run_code", json=body(code=str(number))))
            for number in range(2)
        ]
        await served.until_admitted(2)
        began = asyncio.get_running_loop().time()
        late = body(run_timeout=0.2, compile_timeout=0.2)
        answers = await asyncio.gather(*(client.post("/run_code", json=late) for _ in range(4)))
        assert [one.status_code for one in answers] == [504] * 4
        assert asyncio.get_running_loop().time() - began < 20
        for holder in holders:
            holder.cancel()
        await served.until_admitted(0)


async def test_a_submission_that_finds_no_room_is_504(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "PATIENCE_SECONDS", 0.2)
    served = await serve(FakeExecutor(slots=1, held=True), http_port=0)
    row = {"test_list": ["assert f(1) == 1"]}
    asked = {"dataset": "mbpp", "id": 1, "completion": "", "config": {"provided_data": row}}
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        answer = await client.post("/submit", json=asked)
    assert answer.status_code == 504

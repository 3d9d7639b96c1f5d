from __future__ import annotations

import asyncio
import io
import logging
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import (
    Assessment,
    Ending,
    Execution,
    Integrity,
    LimitKind,
    Termination,
    TerminationKind,
    Usage,
    Verdict,
)
from reward_server.errors import SandboxError, StartError
from reward_server.operation import Condition
from reward_server.telemetry import Telemetry, configure_logging, serve_metrics
from reward_server.version import commit, server_version
from tests.rpc.conftest import Serve, function_request, refused
from tests.rpc.fakes import FakeExecutor
from trainer_client import local_server


@pytest.fixture
def free_port() -> int:
    return local_server.free_port()


async def scrape(port: int) -> dict[str, float]:
    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    lines = (await asyncio.to_thread(read)).splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


async def test_calls_and_verdicts_are_counted(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port, queue_capacity=9)
    await served.stub.Score(function_request())
    await refused(served.stub.Score(pb.ScoreRequest()))
    requests = [function_request(1), function_request(2)]
    async for _ in served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests)):
        pass
    metrics = await scrape(free_port)
    assert metrics['reward_server_calls_total{code="OK",method="Score"}'] == 1
    assert metrics['reward_server_calls_total{code="INVALID_ARGUMENT",method="Score"}'] == 1
    assert metrics['reward_server_calls_total{code="OK",method="ScoreBatch"}'] == 1
    assert metrics['reward_server_verdicts_total{verdict="PASSED"}'] == 3
    assert metrics['reward_server_call_duration_seconds_count{method="Score"}'] == 2
    assert metrics["reward_server_queue_duration_seconds_count"] == 3
    assert metrics["reward_server_slots"] == 2
    assert metrics["reward_server_queue_capacity"] == 9
    assert metrics["process_resident_memory_bytes"] > 0


async def test_what_is_inside_is_shown_while_it_is(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port)
    served.executor.held = True
    call = served.stub.Score(function_request())
    await served.executor.until_running(1)
    inside = await scrape(free_port)
    assert (inside["reward_server_admitted"], inside["reward_server_running"]) == (1, 1)
    served.executor.release()
    await call
    after = await scrape(free_port)
    assert (after["reward_server_admitted"], after["reward_server_running"]) == (0, 0)


async def test_refusals_at_the_door_are_counted(
    serve: Serve, free_port: int, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("token")
    served = await serve(metrics_port=free_port, token_file=tokens)
    await refused(served.stub.Score(function_request()))
    metrics = await scrape(free_port)
    assert metrics['reward_server_calls_total{code="UNAUTHENTICATED",method="Score"}'] == 1


async def test_a_cancelled_call_is_counted_as_one(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port)
    served.executor.held = True
    call = served.stub.Score(function_request())
    await served.executor.until_running(1)
    call.cancel()
    await served.executor.until_killed(1)
    name = 'reward_server_calls_total{code="CANCELLED",method="Score"}'
    while name not in (metrics := await scrape(free_port)):
        pass
    assert metrics[name] == 1


async def test_metrics_end_with_the_server(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port)
    await scrape(free_port)
    await served.stop()
    with pytest.raises(OSError, match="refused"):
        await scrape(free_port)


async def test_a_port_in_use_for_metrics_is_told(serve: Serve) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        with pytest.raises(StartError, match="metrics_port"):
            await serve(metrics_port=holder.getsockname()[1])


async def test_methods_that_strangers_make_up_are_counted_as_one(
    serve: Serve, free_port: int, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("token")
    served = await serve(metrics_port=free_port, token_file=tokens)
    for number in range(5):
        raw = served.channel.unary_unary(f"/codereward.v1.RewardService/M{number}", None, None)
        assert (await refused(raw(b""))).code is grpc.StatusCode.UNAUTHENTICATED
    metrics = await scrape(free_port)
    assert metrics['reward_server_calls_total{code="UNAUTHENTICATED",method="other"}'] == 5
    assert not [name for name in metrics if "M1" in name]


SECRET = "a_name_that_only_this_completion_has"


@pytest.fixture(params=[False, True], ids=["people", "json"])
def logged(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[io.StringIO]:
    """What is logged at the most talkative level."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    root = logging.getLogger()
    library = logging.getLogger("grpc")
    before = (list(root.handlers), root.level, library.level)
    configure_logging("DEBUG", as_json=request.param)
    yield stream
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    library.setLevel(before[2])
    structlog.reset_defaults()


async def test_logs_tell_where_we_failed_and_nothing_of_the_completion(
    serve: Serve, logged: io.StringIO, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-secret-token")
    served = await serve(token_file=tokens, executor=FakeExecutor(held=True))
    secret = pb.ScoreRequest(completion=SECRET, function=function_request().function)
    call = served.stub.Score(secret, metadata=(("authorization", "Bearer a-secret-token"),))
    await served.executor.until_running(1)
    served.executor.fail(KeyError(SECRET))
    assert (await refused(call)).code is grpc.StatusCode.INTERNAL
    await refused(served.stub.Score(secret))
    assert "KeyError" in logged.getvalue()
    assert "service.py" in logged.getvalue()
    assert SECRET not in logged.getvalue()
    assert "a-secret-token" not in logged.getvalue()


def test_tracebacks_of_others_show_no_local_variables(logged: io.StringIO) -> None:
    completion = SECRET
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        logging.getLogger("another").exception("failed for %d characters", len(completion))
    assert "RuntimeError" in logged.getvalue()
    assert SECRET not in logged.getvalue()


def test_lines_of_grpc_that_crash_who_keeps_them_are_not_written(logged: io.StringIO) -> None:
    logging.getLogger("grpc._cython.cygrpc").debug("%s is freed", "this")
    logging.getLogger("grpc._cython.cygrpc").warning("%s is not", "that")
    assert "this" not in logged.getvalue()
    assert "that is not" in logged.getvalue()


async def test_a_batch_whose_caller_goes_is_counted_as_cancelled(
    serve: Serve, free_port: int
) -> None:
    served = await serve(metrics_port=free_port)
    for number in range(10):
        requests = [function_request(100 * number + n) for n in range(100)]
        call = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests))
        await call.read()
        await asyncio.sleep(0.002 * number)
        call.cancel()
        await served.until_admitted(0)
    await served.stub.Score(function_request())
    metrics = await scrape(free_port)
    assert not any('code="INTERNAL"' in name for name in metrics)


async def test_what_strangers_take_too_much_of_is_counted(
    serve: Serve, free_port: int, tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text("good\n")
    served = await serve(metrics_port=free_port, token_file=tmp_path / "tokens")
    health = health_pb2_grpc.HealthStub(served.channel)
    watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(40)]
    await asyncio.gather(*(watch.read() for watch in watches), return_exceptions=True)
    metrics = await scrape(free_port)
    assert metrics['reward_server_strangers_refused_total{what="streams"}'] >= 1
    for watch in watches:
        watch.cancel()


async def test_modules_that_are_missing_are_counted_under_well_known_names_only() -> None:
    telemetry = Telemetry()
    missing = (("numpy",), ("numpy", "pandas"), ("invented1",), ("invented2", "invented3"), ())
    for names in missing:
        telemetry.judged(
            Assessment(
                verdict=Verdict.RUNTIME_ERROR,
                reward=0.0,
                integrity=Integrity.ISOLATED,
                missing_modules=names,
            )
        )
    samples = {
        sample.labels["module"]: sample.value
        for metric in telemetry.registry.collect()
        for sample in metric.samples
        if sample.name == "reward_server_missing_modules_total"
    }
    assert samples == {"numpy": 2, "pandas": 1, "other": 2}


async def page(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """Returns the status and the body of a page."""

    def read() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(read)


async def test_what_waits_and_since_when_is_shown(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port)
    served.executor.held = True
    calls = [served.stub.Score(function_request(number)) for number in range(5)]
    await served.until_admitted(5)
    await served.executor.until_running(2)
    first = await scrape(free_port)
    assert first["reward_server_waiting"] == 3
    second = await scrape(free_port)
    oldest = "reward_server_oldest_waiting_seconds"
    assert second[oldest] > first[oldest] > 0
    calls[4].cancel()
    await served.until_admitted(4)
    assert (await scrape(free_port))["reward_server_waiting"] == 2
    served.executor.release()
    await asyncio.gather(*calls[:4])
    after = await scrape(free_port)
    assert (after["reward_server_waiting"], after[oldest]) == (0, 0)


async def test_executions_are_counted_by_language_and_ending(serve: Serve, free_port: int) -> None:
    hit = Execution(
        ending=Ending.LIMIT,
        termination=Termination(kind=TerminationKind.LIMIT),
        limits_hit=(LimitKind.CPU_TIME,),
        signals={"early_exit": 2, "an_invented_signal": 1},
        usage=Usage(cpu_time_seconds=2.5),
    )
    served = await serve(metrics_port=free_port, executor=FakeExecutor(behaviour=lambda _: hit))
    await served.stub.Score(function_request())
    served.executor.held = True
    call = served.stub.Score(function_request(1))
    await served.executor.until_running(1)
    served.executor.fail(SandboxError("broken"))
    await refused(call)
    metrics = await scrape(free_port)
    ended = "reward_server_executions_total"
    assert metrics[ended + '{ending="LIMIT",language="python"}'] == 1
    assert metrics[ended + '{ending="LOST",language="python"}'] == 1
    assert metrics[ended + '{ending="COMPLETED",language="python"}'] == 0
    assert metrics['reward_server_execution_cpu_seconds_total{language="python"}'] == 2.5
    assert metrics['reward_server_limits_hit_total{limit="CPU_TIME"}'] == 1
    assert metrics['reward_server_hack_signals_total{signal="early_exit"}'] == 1
    assert metrics['reward_server_other_signals_total{signal="other"}'] == 1
    assert metrics['reward_server_refusals_total{cause="sandbox"}'] == 1
    assert not [name for name in metrics if "an_invented" in name]


async def test_refusals_are_counted_by_cause_in_batches_too(serve: Serve, free_port: int) -> None:
    served = await serve(metrics_port=free_port)
    await refused(served.stub.Score(pb.ScoreRequest()))
    batch = pb.ScoreBatchRequest(requests=[pb.ScoreRequest(language="klingon")])
    async for _ in served.stub.ScoreBatch(batch):
        pass
    metrics = await scrape(free_port)
    assert metrics['reward_server_refusals_total{cause="invalid_request"}'] == 1
    assert metrics['reward_server_refusals_total{cause="unsupported"}'] == 1
    assert metrics['reward_server_refusals_total{cause="overloaded"}'] == 0


async def test_build_walls_connections_and_the_event_loop_are_shown(
    serve: Serve, free_port: int
) -> None:
    served = await serve(metrics_port=free_port)
    await served.stub.Score(function_request())
    lagged = "reward_server_event_loop_lag_seconds_count"
    while (metrics := await scrape(free_port))[lagged] == 0:
        pass
    built = commit()
    labels = f'backend="fake",commit="{built.hash}",commit_date="{built.date}"'
    assert metrics[f'reward_server_build_info{{{labels},version="{server_version()}"}}'] == 1
    assert metrics['reward_server_wall_standing{wall="kernel"}'] == 1
    assert metrics["reward_server_connections"] == 1


async def test_readiness_knows_outages_a_full_queue_and_draining(
    serve: Serve, free_port: int
) -> None:
    outages = asyncio.Queue[bool]()
    executor = FakeExecutor(held=True)
    served = await serve(
        executor=executor,
        outages=outages,
        metrics_port=free_port,
        queue_capacity=1,
        drain_seconds=20,
    )
    assert await page(free_port, "/readyz") == (200, "ok\n")
    outages.put_nowait(False)
    while (found := await page(free_port, "/readyz"))[0] == 200:
        pass
    assert found == (503, "outage\n")
    outages.put_nowait(True)
    while (await page(free_port, "/readyz"))[0] != 200:
        pass
    calls = [served.stub.Score(function_request(number)) for number in range(3)]
    await served.until_admitted(3)
    assert await page(free_port, "/readyz") == (503, "queue_full\n")
    stopping = asyncio.create_task(served.stop())
    while "draining" not in (await page(free_port, "/readyz"))[1]:
        pass
    assert await page(free_port, "/healthz") == (200, "ok\n")
    executor.release()
    await asyncio.gather(*calls)
    await stopping


async def test_a_server_whose_event_loop_stands_still_is_not_healthy() -> None:
    now = 100.0
    condition = Condition(lambda: now)
    telemetry = Telemetry()
    telemetry.watch("event_loop_stalled_seconds", "Stalled.", lambda: condition.stalled_seconds)
    port = local_server.free_port()
    close = serve_metrics(port, telemetry.registry)
    try:
        assert await page(port, "/healthz") == (200, "ok\n")
        now += 31.0
        assert await page(port, "/healthz") == (503, "the event loop stands still\n")
    finally:
        close()


async def test_no_process_that_answers_is_neither_ready_nor_healthy() -> None:
    port = local_server.free_port()
    close = serve_metrics(port, CollectorRegistry())
    try:
        assert (await page(port, "/readyz"))[0] == 503
        assert (await page(port, "/healthz"))[0] == 503
    finally:
        close()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, 200),
        ({"status_page": False}, 404),
        ({"metrics_host": "0.0.0.0"}, 404),
        ({"metrics_host": "0.0.0.0", "status_page": True}, 200),
    ],
)
async def test_the_status_page_is_off_in_public_unless_it_is_set(
    serve: Serve, free_port: int, settings: dict[str, Any], code: int
) -> None:
    await serve(metrics_port=free_port, **settings)
    for path in ("/", "/status.js", "/status.css", "/status.json"):
        assert (await page(free_port, path))[0] == code
    assert (await page(free_port, "/../../telemetry/metrics.py"))[0] == 404
    assert (await page(free_port, "/metrics"))[0] == 200


async def test_slow_callers_of_the_metrics_are_bounded(serve: Serve, free_port: int) -> None:
    await serve(metrics_port=free_port)
    idle = [socket.create_connection(("127.0.0.1", free_port)) for _ in range(16)]
    try:
        with socket.create_connection(("127.0.0.1", free_port)) as late:
            late.settimeout(60)
            assert await asyncio.to_thread(late.recv, 1) == b""
    finally:
        for connection in idle:
            connection.close()


async def test_lines_name_the_request_and_its_peer_and_cannot_be_forged(
    serve: Serve, logged: io.StringIO
) -> None:
    served = await serve(executor=FakeExecutor(held=True))
    call = served.stub.Score(function_request(id="step 7\n2026 forged"))
    await served.executor.until_running(1)
    served.executor.fail(SandboxError("broken"))
    await refused(call)
    (line,) = [one for one in logged.getvalue().splitlines() if "sandbox failed" in one]
    assert "step 7\N{REPLACEMENT CHARACTER}2026 forged" in line or "step 7\\ufffd2026" in line
    assert "127.0.0.1" in line
    assert "Score" in line


async def test_a_line_does_not_name_the_request_before_it(
    serve: Serve, logged: io.StringIO
) -> None:
    served = await serve(executor=FakeExecutor(held=True))
    for request_id in ("first", ""):
        call = served.stub.Score(function_request(id=request_id))
        await served.executor.until_running(1)
        served.executor.fail(SandboxError("broken"))
        await refused(call)
    lines = [one for one in logged.getvalue().splitlines() if "sandbox failed" in one]
    assert ["first" in line for line in lines] == [True, False]


async def test_lines_name_the_tenant_and_never_its_token(
    serve: Serve, logged: io.StringIO, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[[tenants]]\nname = "red-team"\ntokens = ["red-token"]\n')
    served = await serve(executor=FakeExecutor(held=True), token_file=tokens)
    call = served.stub.Score(function_request(), metadata=(("authorization", "Bearer red-token"),))
    await served.executor.until_running(1)
    served.executor.fail(SandboxError("broken"))
    await refused(call)
    (line,) = [one for one in logged.getvalue().splitlines() if "sandbox failed" in one]
    assert "red-team" in line
    assert "red-token" not in logged.getvalue()

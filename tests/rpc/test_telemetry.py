from __future__ import annotations

import asyncio
import io
import logging
import socket
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Assessment, Integrity, Verdict
from reward_server.errors import StartError
from reward_server.telemetry import Telemetry, configure_logging
from tests.rpc.conftest import Serve, function_request, refused
from tests.rpc.fakes import FakeExecutor
from trainer_client import local_server


@pytest.fixture
def free_port() -> int:
    return local_server.free_port()


async def scrape(port: int) -> dict[str, float]:
    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
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
    assert metrics['reward_server_call_seconds_count{method="Score"}'] == 2
    assert metrics["reward_server_queue_seconds_count"] == 3
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

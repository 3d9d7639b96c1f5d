"""Calls are spans of OpenTelemetry, below the trainer's, with queue and grade as children."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codereward.v1 import reward_service_pb2 as pb
from reward_server import app
from reward_server.errors import SettingsError
from reward_server.telemetry import spans
from tests.rpc.conftest import Serve, function_request, refused
from trainer_client import AsyncRewardClient


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What reaches the collector, which is here in memory."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(
        app, "exported_spans", lambda endpoint, version: spans.spans_to(exporter, version)
    )
    return exporter


async def all_of(answers: AsyncIterable[Any]) -> list[Any]:
    return [answer async for answer in answers]


def by_name(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name.rpartition("/")[2], []).append(span)
    return found


async def test_a_call_is_below_the_trainers_span_and_has_queue_and_grade(
    serve: Serve, exported: InMemorySpanExporter
) -> None:
    served = await serve(otlp_endpoint="http://127.0.0.1:1")
    tracer = TracerProvider().get_tracer("trainer")
    request: dict[str, Any] = {
        "completion": "def f(x): return x",
        "function": {"entry_point": "f", "asserts": ["assert f(1) == 1"]},
    }
    async with AsyncRewardClient(served.app.address) as client:
        with tracer.start_as_current_span("step") as step:
            await client.score([request])
    await served.stop()
    found = by_name(exported)
    (call,), (grade,), (queue,) = found["Score"], found["grade"], found["queue"]
    assert call.context is not None
    assert call.context.trace_id == step.get_span_context().trace_id
    assert call.parent is not None
    assert call.parent.span_id == step.get_span_context().span_id
    assert grade.parent == call.context
    assert queue.parent == grade.context


async def test_a_batch_has_one_span_and_a_grade_for_each_request(
    serve: Serve, exported: InMemorySpanExporter
) -> None:
    served = await serve(otlp_endpoint="http://127.0.0.1:1")
    batch = pb.ScoreBatchRequest(requests=[function_request(number) for number in range(3)])
    answers = [answer async for answer in served.stub.ScoreBatch(batch)]
    assert sorted(answer.index for answer in answers) == [0, 1, 2]
    await served.stop()
    found = by_name(exported)
    assert (len(found["ScoreBatch"]), len(found["grade"]), len(found["queue"])) == (1, 3, 3)


async def test_a_refusal_keeps_its_status_and_details(
    serve: Serve, exported: InMemorySpanExporter
) -> None:
    served = await serve(otlp_endpoint="http://127.0.0.1:1", max_batch=1)
    refusal = await refused(served.stub.Score(pb.ScoreRequest(completion="x")))
    assert refusal.violated_field
    batch = pb.ScoreBatchRequest(requests=[function_request(1), function_request(2)])
    assert (await refused(all_of(served.stub.ScoreBatch(batch)))).violated_field
    await served.stop()
    assert by_name(exported)["Score"][0].status.status_code is not trace.StatusCode.OK


async def test_without_a_collector_there_are_no_spans(
    serve: Serve, exported: InMemorySpanExporter
) -> None:
    served = await serve()
    await served.stub.Score(function_request())
    await served.stop()
    assert exported.get_finished_spans() == ()


async def test_a_server_without_the_extra_says_what_to_install(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)
    with pytest.raises(SettingsError, match=r"otlp_endpoint: .*\[otel\]"):
        await serve(otlp_endpoint="http://127.0.0.1:1")

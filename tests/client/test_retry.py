from __future__ import annotations

import random

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from trainer_client.transport import retry
from trainer_client.transport.retry import Failure, Patience


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def patience(clock: Clock, **changes: float) -> Patience:
    options = {"timeout_seconds": 600.0, "outage_seconds": 60.0, **changes}
    return Patience(**options, clock=clock, jitter=lambda: 1.0)


def overload(push_back_seconds: float | None = None) -> Failure:
    return Failure(
        status=grpc.StatusCode.RESOURCE_EXHAUSTED,
        message="queue is full",
        push_back_seconds=push_back_seconds,
    )


OUTAGE = Failure(status=grpc.StatusCode.UNAVAILABLE, message="connection refused")


def test_the_servers_push_back_is_waited_for_and_spread_a_little(clock):
    assert patience(clock).pause(overload(2.0), 0) == pytest.approx(2.4)


def test_a_retry_draws_nothing_from_the_generator_that_a_trainer_seeds():
    before = random.getstate()
    mine = Patience(timeout_seconds=600.0, outage_seconds=60.0)
    assert mine.pause(overload(2.0), 0) is not None
    assert random.getstate() == before


def test_a_negative_push_back_forbids_a_retry(clock):
    assert patience(clock).pause(overload(-1.0), 0) is None


def test_without_push_back_the_pause_grows_to_five_seconds_and_stays_finite(clock):
    mine = patience(clock)
    pauses = [mine.pause(overload(), attempt) for attempt in (0, 1, 2, 10, 5000)]
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 5.0, 5.0])


def test_an_overload_is_waited_out_until_the_deadline_but_not_beyond(clock):
    mine = patience(clock, timeout_seconds=600.0, outage_seconds=1.0)
    clock.now += 590.0
    assert mine.pause(overload(2.0), 300) is not None
    clock.now += 8.0
    assert mine.pause(overload(2.0), 301) is None


def test_an_outage_is_waited_out_for_its_own_time_only(clock):
    mine = patience(clock, outage_seconds=10.0)
    assert mine.pause(OUTAGE, 0) is not None
    clock.now += 9.95
    assert mine.pause(OUTAGE, 1) is None


def test_any_answer_ends_the_outage(clock):
    mine = patience(clock, outage_seconds=10.0)
    clock.now += 9.95
    mine.answered()
    assert mine.pause(OUTAGE, 1) is not None


def test_a_refusal_is_an_answer_too(clock):
    mine = patience(clock, outage_seconds=10.0)
    clock.now += 9.95
    mine.pause(overload(0.1), 0)
    assert mine.pause(OUTAGE, 1) is not None


@pytest.mark.parametrize(
    "status",
    [
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNIMPLEMENTED,
    ],
)
def test_a_fault_of_the_caller_is_permanent_and_never_retried(clock, status):
    failure = Failure(status=status, message="")
    assert failure.permanent
    assert patience(clock).pause(failure, 0) is None


def test_a_missed_deadline_is_neither_retried_nor_permanent(clock):
    failure = Failure(status=grpc.StatusCode.DEADLINE_EXCEEDED, message="")
    assert not failure.permanent
    assert patience(clock).pause(failure, 0) is None


def test_a_deadline_missed_while_others_were_answered_is_tried_again(clock):
    failure = Failure(status=grpc.StatusCode.DEADLINE_EXCEEDED, message="")
    mine = patience(clock, outage_seconds=1.0)
    begun = mine.now()
    clock.now += 250.0
    assert mine.pause(failure, 0, begun) is None
    mine.answered()
    assert mine.pause(failure, 0, begun) is not None
    clock.now += 349.99
    assert mine.pause(failure, 0, begun) is None


def test_a_message_too_large_for_the_transport_is_not_taken_for_an_overload(clock):
    failure = Failure(
        status=grpc.StatusCode.RESOURCE_EXHAUSTED,
        message="SERVER: Received message larger than max (70000000 vs. 67108864)",
    )
    assert failure.permanent
    assert patience(clock).pause(failure, 0) is None


def rpc_error(*metadata: tuple[str, str]) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(*metadata),
        details="queue is full",
    )


@pytest.mark.parametrize(
    ("metadata", "seconds"),
    [
        ([("grpc-retry-pushback-ms", "1500")], 1.5),
        ([("other", "7"), ("grpc-retry-pushback-ms", "-1")], -0.001),
        ([("grpc-retry-pushback-ms", "soon")], -1.0),
        ([], None),
    ],
)
def test_the_push_back_is_read_from_the_trailing_metadata(metadata, seconds):
    assert retry.from_rpc_error(rpc_error(*metadata)).push_back_seconds == seconds


def test_the_retry_delay_of_a_batch_item_is_its_push_back():
    detail = Any()
    detail.Pack(error_details_pb2.RetryInfo(retry_delay=Duration(seconds=1, nanos=500_000_000)))
    failure = retry.from_status(status_pb2.Status(code=8, message="full", details=[detail]))
    assert failure == Failure(
        status=grpc.StatusCode.RESOURCE_EXHAUSTED, message="full", push_back_seconds=1.5
    )


def test_an_unknown_status_code_is_unknown():
    assert retry.from_status(status_pb2.Status(code=99)).status is grpc.StatusCode.UNKNOWN

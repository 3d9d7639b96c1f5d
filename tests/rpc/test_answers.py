from __future__ import annotations

import base64
import math
from dataclasses import replace
from urllib.parse import quote

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # no stubs
from hypothesis import given
from hypothesis import strategies as st

from codereward.revisions import revision
from codereward.v1 import reward_service_pb2 as pb
from reward_server import domain
from reward_server.domain import (
    Assessment,
    CapturedStream,
    Ending,
    Execution,
    Integrity,
    LimitKind,
    Provenance,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Usage,
    Verdict,
)
from reward_server.errors import (
    DeadlineError,
    DrainingError,
    InvalidRequestError,
    OverloadedError,
    SandboxError,
    UnauthenticatedError,
    UnsupportedError,
)
from reward_server.languages import Languages
from reward_server.rpc import answers, status
from reward_server.rpc.convert import Bounds

CLIENT_DEFAULT_MESSAGE_BYTES = 4 << 20


def assessment(**changes: object) -> Assessment:
    values: dict[str, object] = {
        "id": "7",
        "verdict": Verdict.PASSED,
        "reward": 1.0,
        "integrity": Integrity.ISOLATED,
    }
    return Assessment(**{**values, **changes})  # type: ignore[arg-type]  # by name


def test_an_assessment_crosses_whole() -> None:
    response = answers.score_response(
        assessment(
            tests=(
                TestResult(
                    name="t",
                    outcome=TestOutcome.LIMIT,
                    message="slow",
                    weight=2.0,
                    wall_time_seconds=3.0,
                ),
            ),
            message="all right",
            stdout=CapturedStream(data=b"\xff", size_bytes=9),
            termination=Termination(kind=TerminationKind.SIGNALED, value=9),
            usage=Usage(
                cpu_time_seconds=1.0,
                wall_time_seconds=2.0,
                queue_time_seconds=3.0,
                peak_memory_bytes=4,
                executions=5,
            ),
            limits_hit=(LimitKind.CALLS,),
            signals={"early_exit": 1},
            provenance=Provenance(
                server_version="a",
                runner_version="b",
                language_version="c",
                backend="d",
                image_digest="e",
                commit="f",
                commit_date="2026-11-28",
                hash_seed=6,
            ),
            deduplicated=True,
        )
    )
    assert response == pb.ScoreResponse(
        id="7",
        verdict=pb.VERDICT_PASSED,
        reward=1.0,
        integrity=pb.INTEGRITY_ISOLATED,
        tests=[
            pb.TestResult(
                name="t",
                outcome=pb.TEST_OUTCOME_LIMIT,
                message="slow",
                weight=2.0,
                wall_time_seconds=3.0,
            )
        ],
        message="all right",
        stdout=pb.CapturedStream(data=b"\xff", size_bytes=9, truncated=True),
        stderr=pb.CapturedStream(),
        termination=pb.Termination(kind=pb.TERMINATION_KIND_SIGNALED, signal=9),
        usage=pb.Usage(
            cpu_time_seconds=1.0,
            wall_time_seconds=2.0,
            queue_time_seconds=3.0,
            peak_memory_bytes=4,
            executions=5,
        ),
        limits_hit=[pb.LIMIT_KIND_CALLS],
        signals={"early_exit": 1},
        provenance=pb.Provenance(
            server_version="a",
            runner_version="b",
            language_version="c",
            backend="d",
            image_digest="e",
            contract_revision=revision(),
            commit="f",
            commit_date="2026-11-28",
            hash_seed=6,
        ),
        deduplicated=True,
    )


@pytest.mark.promise("No reward, as for a broken task, differs from a reward of zero.", "Verdicts")
def test_no_reward_and_a_reward_of_zero_are_told_apart() -> None:
    assert not answers.score_response(assessment(reward=None)).HasField("reward")
    assert answers.score_response(assessment(reward=0.0)).HasField("reward")


@pytest.mark.parametrize(
    ("ours", "theirs", "prefix"),
    [
        (domain.Verdict, pb.Verdict, "VERDICT_"),
        (domain.TestOutcome, pb.TestOutcome, "TEST_OUTCOME_"),
        (domain.Integrity, pb.Integrity, "INTEGRITY_"),
        (domain.LimitKind, pb.LimitKind, "LIMIT_KIND_"),
        (domain.TerminationKind, pb.TerminationKind, "TERMINATION_KIND_"),
        (domain.RewardPolicyKind, pb.RewardPolicyKind, "REWARD_POLICY_KIND_"),
        (domain.CheckerKind, pb.CheckerKind, "CHECKER_KIND_"),
        (domain.Extraction, pb.Extraction, "EXTRACTION_"),
    ],
)
def test_enums_have_the_same_names_and_numbers_on_both_sides(
    ours: type, theirs: type, prefix: str
) -> None:
    unspecified = {"TRAILING_WHITESPACE", "AUTO", "UNSPECIFIED"}
    mine = {f"{prefix}{e.name}": e.value for e in ours if e.name not in unspecified}  # type: ignore[attr-defined]  # an enum
    sent = {name: number for name, number in theirs.items() if number != 0}  # type: ignore[attr-defined]  # a wrapper
    assert mine == sent


@pytest.mark.parametrize(
    ("termination", "expected"),
    [
        (Termination(kind=TerminationKind.EXITED, value=3), (1, 3, 0)),
        (Termination(kind=TerminationKind.SIGNALED, value=9), (2, 0, 9)),
        (Termination(kind=TerminationKind.STOPPED), (3, 0, 0)),
        (Termination(kind=TerminationKind.LIMIT), (4, 0, 0)),
    ],
)
def test_an_exit_code_and_a_signal_are_told_apart(
    termination: Termination, expected: tuple[int, int, int]
) -> None:
    sent = answers.score_response(assessment(termination=termination)).termination
    assert (sent.kind, sent.exit_code, sent.signal) == expected


def test_the_largest_answer_fits_a_client_that_was_told_nothing() -> None:
    wide = "\N{SNOWMAN}" * 10_000
    stream = CapturedStream(data=b"x" * (1 << 24), size_bytes=1 << 30)
    tests = (TestResult(name="n" * 100, outcome=TestOutcome.ERROR, message=wide),) * 1000
    largest: list[Message] = [
        answers.score_response(assessment(tests=tests, message=wide, stdout=stream, stderr=stream)),
        answers.execute_response(
            "7",
            Execution(
                ending=Ending.COMPLETED,
                termination=Termination(kind=TerminationKind.EXITED),
                stdout=stream,
                stderr=stream,
            ),
            Provenance(),
        ),
    ]
    for answer in largest:
        assert answer.ByteSize() < CLIENT_DEFAULT_MESSAGE_BYTES
        cut: pb.CapturedStream = answer.stdout  # type: ignore[attr-defined]  # both have it
        assert cut.truncated
        assert cut.size_bytes == 1 << 30


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=20))
def test_text_that_quotes_a_program_always_crosses(text: str) -> None:
    result = TestResult(name=text, outcome=TestOutcome.FAILED, message=text)
    response = answers.score_response(assessment(message=text, tests=(result,)))
    assert pb.ScoreResponse.FromString(response.SerializeToString()) == response


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidRequestError("a", "b"), grpc.StatusCode.INVALID_ARGUMENT),
        (UnsupportedError("a"), grpc.StatusCode.FAILED_PRECONDITION),
        (UnauthenticatedError("a"), grpc.StatusCode.UNAUTHENTICATED),
        (OverloadedError("a", retry_after_seconds=1.0), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (DeadlineError("a"), grpc.StatusCode.DEADLINE_EXCEEDED),
        (DrainingError("a"), grpc.StatusCode.UNAVAILABLE),
        (SandboxError("a"), grpc.StatusCode.UNAVAILABLE),
        (KeyError("secret"), grpc.StatusCode.INTERNAL),
    ],
)
def test_every_failure_has_its_status(error: Exception, code: grpc.StatusCode) -> None:
    assert status.code_of(error) is code
    assert status.from_error(error).code == code.value[0]


def test_an_unknown_failure_tells_nothing_of_itself() -> None:
    assert "secret" not in str(status.from_error(KeyError("secret")))


def test_a_wrong_field_is_a_detail_that_programs_can_read() -> None:
    sent = status.from_error(InvalidRequestError("limits.calls", "is 0"))
    detail = error_details_pb2.BadRequest()
    assert sent.details[0].Unpack(detail)
    assert detail.field_violations[0].field == "limits.calls"
    assert detail.field_violations[0].description == "is 0"


def test_when_to_retry_is_a_detail_that_programs_can_read() -> None:
    sent = status.from_error(OverloadedError("full", retry_after_seconds=1.5))
    detail = error_details_pb2.RetryInfo()
    assert sent.details[0].Unpack(detail)
    assert math.isclose(detail.retry_delay.ToTimedelta().total_seconds(), 1.5)


@given(st.text(alphabet=st.characters(codec=None, categories=None), min_size=1, max_size=5))
def test_a_status_fits_the_headers_of_any_client(text: str) -> None:
    long = text * 1000
    for error in (InvalidRequestError("limits.cpu_time_seconds", long), UnsupportedError(long)):
        sent = status.from_error(error)
        headers = quote(sent.message).encode() + base64.b64encode(sent.SerializeToString())
        assert len(headers) < 7800


def test_a_server_tells_its_networks_and_least_limits() -> None:
    facts = answers.ServerFacts(
        server_version="1", backend="local", languages=(), walls=(), slots=1, queue_capacity=1
    )
    bounds = Bounds(
        languages=Languages(()),
        default_limits=domain.Limits(),
        maximum_limits=domain.Limits(),
        networks=frozenset({domain.Network.LOOPBACK}),
    )
    info = answers.server_info(facts, bounds)
    assert list(info.networks) == [pb.NETWORK_LOOPBACK]
    assert info.minimum_limits.memory_bytes == domain.LEAST_LIMITS.memory_bytes
    assert not answers.server_info(facts, replace(bounds, networks=frozenset())).networks

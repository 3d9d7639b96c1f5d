"""Converts domain values to protobuf answers, cut to a size that any client accepts."""

from __future__ import annotations

from dataclasses import dataclass

from codereward.revisions import revision
from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import (
    LEAST_LIMITS,
    Assessment,
    CapturedStream,
    Execution,
    LanguageInfo,
    Limits,
    Provenance,
    Termination,
    TestResult,
    Usage,
    Wall,
)
from reward_server.rpc.convert import Bounds
from reward_server.sessions.bounds import LEAST_LIMITS as LEAST_SESSION_LIMITS
from reward_server.sessions.bounds import SessionBounds

# By default a client accepts answers of up to 4 MiB. A thousand tests with messages of this size
# and two streams of that size stay below it.
MESSAGE_CHARACTERS = 1000
SCORE_STREAM_BYTES = 64 * 1024
EXECUTE_STREAM_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """The server's description of itself, without the bounds on requests."""

    server_version: str
    commit: str = ""
    commit_date: str = ""
    backend: str
    languages: tuple[LanguageInfo, ...]
    walls: tuple[Wall, ...]
    slots: int
    queue_capacity: int
    membership: Membership | None = None
    sessions: SessionBounds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The place of this process among the several processes of a server.

    Args:
        instance: name of this start of the server.
        number: number of this process, from 0.
        ports: port at which each process alone answers, by number.
        slots: number of executions at once, in all processes.
        queue_capacity: number of submissions that may wait, in all processes.
    """

    instance: str
    number: int
    ports: tuple[int, ...]
    slots: int
    queue_capacity: int

    @property
    def own_port(self) -> int:
        """The port at which this process alone answers."""
        return self.ports[self.number]


def score_response(assessment: Assessment) -> pb.ScoreResponse:
    """Builds the answer to a judged request."""
    return pb.ScoreResponse(
        id=assessment.id,
        verdict=pb.Verdict.ValueType(assessment.verdict.value),
        reward=assessment.reward,
        integrity=pb.Integrity.ValueType(assessment.integrity.value),
        tests=[_test(result) for result in assessment.tests],
        message=_text(assessment.message),
        stdout=_stream(assessment.stdout, SCORE_STREAM_BYTES),
        stderr=_stream(assessment.stderr, SCORE_STREAM_BYTES),
        termination=termination_of(assessment.termination),
        usage=_usage(assessment.usage),
        limits_hit=[pb.LimitKind.ValueType(limit.value) for limit in assessment.limits_hit],
        signals=assessment.signals,
        provenance=_provenance(assessment.provenance),
        deduplicated=assessment.deduplicated,
        missing_modules=assessment.missing_modules,
    )


def execute_response(
    identifier: str, execution: Execution, provenance: Provenance
) -> pb.ExecuteResponse:
    """Builds the answer to a program that was run."""
    return pb.ExecuteResponse(
        id=identifier,
        termination=termination_of(execution.termination),
        stdout=_stream(execution.stdout, EXECUTE_STREAM_BYTES),
        stderr=_stream(execution.stderr, EXECUTE_STREAM_BYTES),
        usage=_usage(execution.usage),
        limits_hit=[pb.LimitKind.ValueType(limit.value) for limit in execution.limits_hit],
        provenance=_provenance(provenance),
    )


def server_info(facts: ServerFacts, bounds: Bounds) -> pb.GetServerInfoResponse:
    """Builds a server's description of itself."""
    member = facts.membership
    return pb.GetServerInfoResponse(
        server_version=facts.server_version,
        commit=facts.commit,
        commit_date=facts.commit_date,
        contract_revision=revision(),
        languages=[_language(language) for language in facts.languages],
        default_limits=_limits(bounds.default_limits),
        maximum_limits=_limits(bounds.maximum_limits),
        minimum_limits=_limits(LEAST_LIMITS),
        networks=[pb.Network.ValueType(network.value) for network in bounds.networks],
        walls=[pb.Wall(name=w.name, standing=w.standing, detail=w.detail) for w in facts.walls],
        maximum_request_bytes=bounds.maximum_request_bytes,
        maximum_cases=bounds.maximum_cases,
        maximum_batch=bounds.maximum_batch,
        slots=facts.slots,
        queue_capacity=facts.queue_capacity,
        backend=facts.backend,
        default_time_budget_seconds=bounds.default_time_budget_seconds,
        maximum_time_budget_seconds=bounds.maximum_time_budget_seconds,
        processes=[] if member is None else _processes(member),
        instance="" if member is None else member.instance,
        process=0 if member is None else member.number,
        sessions=None if facts.sessions is None else _sessions(facts.sessions),
        images=[image.name for image in bounds.images],
    )


def _sessions(bounds: SessionBounds) -> pb.SessionBounds:
    return pb.SessionBounds(
        total_memory_bytes=bounds.total_memory_bytes,
        sessions=bounds.sessions,
        default_lifetime_seconds=bounds.default_lifetime_seconds,
        maximum_lifetime_seconds=bounds.maximum_lifetime_seconds,
        default_idle_seconds=bounds.default_idle_seconds,
        maximum_idle_seconds=bounds.maximum_idle_seconds,
        default_memory_bytes=bounds.default_limits.memory_bytes,
        minimum_memory_bytes=LEAST_SESSION_LIMITS.memory_bytes,
        commands=bounds.commands,
        images=bounds.images,
    )


def _processes(member: Membership) -> list[pb.ServerProcess]:
    return [pb.ServerProcess(number=number, port=port) for number, port in enumerate(member.ports)]


def _test(result: TestResult) -> pb.TestResult:
    return pb.TestResult(
        name=_text(result.name),
        outcome=pb.TestOutcome.ValueType(result.outcome.value),
        message=_text(result.message),
        weight=result.weight,
        wall_time_seconds=result.wall_time_seconds,
        subtask=result.subtask,
    )


def _stream(stream: CapturedStream, kept_bytes: int) -> pb.CapturedStream:
    data = stream.data[:kept_bytes]
    return pb.CapturedStream(
        data=data, size_bytes=stream.size_bytes, truncated=len(data) < stream.size_bytes
    )


def termination_of(termination: Termination | None) -> pb.Termination | None:
    """Builds the message of how a process ended."""
    if termination is None:
        return None
    kind = pb.TerminationKind.ValueType(termination.kind.value)
    if kind == pb.TERMINATION_KIND_EXITED:
        return pb.Termination(kind=kind, exit_code=termination.value)
    if kind == pb.TERMINATION_KIND_SIGNALED:
        return pb.Termination(kind=kind, signal=termination.value)
    return pb.Termination(kind=kind)


def _usage(usage: Usage) -> pb.Usage:
    return pb.Usage(
        cpu_time_seconds=usage.cpu_time_seconds,
        wall_time_seconds=usage.wall_time_seconds,
        queue_time_seconds=usage.queue_time_seconds,
        peak_memory_bytes=usage.peak_memory_bytes,
        executions=usage.executions,
    )


def _provenance(provenance: Provenance) -> pb.Provenance:
    return pb.Provenance(
        server_version=provenance.server_version,
        runner_version=provenance.runner_version,
        language_version=provenance.language_version,
        backend=provenance.backend,
        image_digest=provenance.image_digest,
        contract_revision=revision(),
        commit=provenance.commit,
        commit_date=provenance.commit_date,
        hash_seed=provenance.hash_seed,
    )


def _limits(limits: Limits) -> pb.Limits:
    return pb.Limits(
        cpu_time_seconds=limits.cpu_time_seconds,
        wall_time_seconds=limits.wall_time_seconds,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_size_bytes=limits.file_size_bytes,
        disk_bytes=limits.disk_bytes,
        open_files=limits.open_files,
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
        calls=limits.calls,
    )


def _language(language: LanguageInfo) -> pb.LanguageInfo:
    return pb.LanguageInfo(
        name=language.name,
        aliases=language.aliases,
        version=language.version,
        test_kinds=language.test_kinds,
        frameworks=language.frameworks,
    )


def _text(text: str) -> str:
    """Cuts a text and makes it encodable, because it may quote a program's output."""
    cut = text if len(text) <= MESSAGE_CHARACTERS else text[: MESSAGE_CHARACTERS - 1] + "…"
    return cut.encode("utf-8", "replace").decode()

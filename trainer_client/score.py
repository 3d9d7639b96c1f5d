"""The server's conclusion about one completion, or the reason why there is none."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from codereward.v1 import reward_service_pb2 as pb


class Verdict(enum.Enum):
    """The conclusion of the judge."""

    PASSED = 1
    FAILED = 2
    COMPILE_ERROR = 3
    RUNTIME_ERROR = 4
    TIME_LIMIT_EXCEEDED = 5
    MEMORY_LIMIT_EXCEEDED = 6
    OUTPUT_LIMIT_EXCEEDED = 7
    SECURITY_VIOLATION = 8
    INVALID_TASK = 9


class Integrity(enum.IntEnum):
    """How well the verdict is protected from the completion, weakest first."""

    UNSPECIFIED = 0
    SHARED = 1
    SHARED_TWINS = 2
    ISOLATED = 3


class TestOutcome(enum.Enum):
    """What happened to one test."""

    __test__ = False

    PASSED = 1
    FAILED = 2
    ERROR = 3
    LIMIT = 4
    NOT_RUN = 5
    SKIPPED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result of one test.

    Examples:
        >>> from trainer_client import RewardClient
        >>> asserts = ["assert double(3) == 6", "assert double(4) == 8"]
        >>> request = {"completion": "def double(x): return 6"}
        >>> request["function"] = {"entry_point": "double", "asserts": asserts}
        >>> with RewardClient("localhost:50051") as client:
        ...     [score] = client.score(request)
        >>> [test.outcome.name for test in score.tests]
        ['PASSED', 'FAILED']
        >>> score.tests[1].message
        'assert 2, line 1: assert double(4) == 8'
    """

    __test__ = False

    name: str
    outcome: TestOutcome
    message: str = ""
    weight: float = 1.0
    wall_time_seconds: float = 0.0
    subtask: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Resources used; the queue time is the time that a request waited for a slot."""

    cpu_time_seconds: float = 0.0
    wall_time_seconds: float = 0.0
    queue_time_seconds: float = 0.0
    peak_memory_bytes: int = 0
    executions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreError:
    """Why a completion was not judged.

    Args:
        status: name of the gRPC status, such as `UNAVAILABLE`.
        message: an explanation for people.
        permanent: whether the same request will certainly fail again.
    """

    status: str
    message: str
    permanent: bool = False

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A judged completion, or one that was not judged and has no verdict and no reward.

    Args:
        reward: finite, or None if the completion was not judged or the task itself is broken.
            Never read None as 0.
        error: None exactly when there is a verdict.
        signals: counted evidence of reward hacking by kind.
        deduplicated: whether the answer was shared with an identical request.
        missing_modules: modules that the program or the tests imported and the sandbox lacks,
            according to their error messages.
        response: the server's complete answer, including the parts that have no field here.

    Examples:
        A server that cannot be reached gives no verdict, and never a reward of 0.

        >>> from trainer_client import RewardClient
        >>> with RewardClient("localhost:1", outage_seconds=0.1) as client:
        ...     [score] = client.score({"completion": "", "function": {"asserts": ["assert f()"]}})
        >>> score.judged, score.reward, score.error.status
        (False, None, 'UNAVAILABLE')
    """

    id: str
    verdict: Verdict | None = None
    reward: float | None = None
    integrity: Integrity = Integrity.UNSPECIFIED
    tests: tuple[TestResult, ...] = ()
    message: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    usage: Usage = Usage()
    limits_hit: tuple[str, ...] = ()
    signals: Mapping[str, int] = field(default_factory=dict)
    deduplicated: bool = False
    missing_modules: tuple[str, ...] = ()
    error: ScoreError | None = None
    response: pb.ScoreResponse | None = field(default=None, repr=False, compare=False)

    @property
    def judged(self) -> bool:
        """Returns True if the server reached a verdict."""
        return self.verdict is not None


def unjudged(request_id: str, status: str, message: str, *, permanent: bool = False) -> Score:
    """Returns the score of a completion that was not judged."""
    error = ScoreError(status=status, message=message, permanent=permanent)
    return Score(id=request_id, error=error)


def from_response(response: pb.ScoreResponse) -> Score:
    """Converts an answer; if this version cannot read it, the completion counts as not judged."""
    if response.verdict not in {verdict.value for verdict in Verdict}:
        return unjudged(response.id, "INTERNAL", f"unknown verdict {response.verdict}")
    reward = response.reward if response.HasField("reward") else None
    if reward is not None and not math.isfinite(reward):
        return unjudged(response.id, "INTERNAL", f"the server sent the reward {reward}")
    return Score(
        id=response.id,
        verdict=Verdict(response.verdict),
        reward=reward,
        integrity=_integrity(response.integrity),
        tests=tuple(_test_result(test) for test in response.tests),
        message=response.message,
        stdout=response.stdout.data,
        stderr=response.stderr.data,
        usage=_usage(response.usage),
        limits_hit=tuple(_bare_limit(kind) for kind in response.limits_hit),
        signals=dict(response.signals),
        deduplicated=response.deduplicated,
        missing_modules=tuple(response.missing_modules),
        response=response,
    )


def _integrity(value: int) -> Integrity:
    known = {integrity.value for integrity in Integrity}
    return Integrity(value) if value in known else Integrity.UNSPECIFIED


def _test_result(test: pb.TestResult) -> TestResult:
    known = {outcome.value for outcome in TestOutcome}
    return TestResult(
        name=test.name,
        outcome=TestOutcome(test.outcome) if test.outcome in known else TestOutcome.ERROR,
        message=test.message,
        weight=test.weight,
        wall_time_seconds=test.wall_time_seconds,
        subtask=test.subtask,
    )


def _usage(usage: pb.Usage) -> Usage:
    return Usage(
        cpu_time_seconds=usage.cpu_time_seconds,
        wall_time_seconds=usage.wall_time_seconds,
        queue_time_seconds=usage.queue_time_seconds,
        peak_memory_bytes=usage.peak_memory_bytes,
        executions=usage.executions,
    )


def _bare_limit(kind: pb.LimitKind.ValueType) -> str:
    try:
        return pb.LimitKind.Name(kind).removeprefix("LIMIT_KIND_")
    except ValueError:
        return f"UNKNOWN_{kind}"

from __future__ import annotations

import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import Integrity, TestOutcome, Verdict, score


def test_an_answer_is_read_field_by_field():
    read = score.from_response(
        pb.ScoreResponse(
            id="a",
            verdict=pb.VERDICT_TIME_LIMIT_EXCEEDED,
            reward=0.25,
            integrity=pb.INTEGRITY_ISOLATED,
            tests=[pb.TestResult(name="t", outcome=pb.TEST_OUTCOME_LIMIT, message="m", weight=2.0)],
            message="too slow",
            stdout=pb.CapturedStream(data=b"out"),
            stderr=pb.CapturedStream(data=b"err"),
            usage=pb.Usage(cpu_time_seconds=1.5, queue_time_seconds=0.5, executions=3),
            limits_hit=[pb.LIMIT_KIND_CPU_TIME],
            signals={"early_exit": 2},
            deduplicated=True,
        )
    )
    assert (read.id, read.verdict, read.reward) == ("a", Verdict.TIME_LIMIT_EXCEEDED, 0.25)
    assert (read.integrity, read.message) == (Integrity.ISOLATED, "too slow")
    assert (read.tests[0].outcome, read.tests[0].weight) == (TestOutcome.LIMIT, 2.0)
    assert (read.stdout, read.stderr, read.limits_hit) == (b"out", b"err", ("CPU_TIME",))
    assert (read.usage.cpu_time_seconds, read.usage.executions) == (1.5, 3)
    assert read.signals == {"early_exit": 2}
    assert read.deduplicated
    assert read.judged
    assert read.error is None


def test_an_absent_reward_is_none_and_a_zero_reward_is_zero():
    absent = score.from_response(pb.ScoreResponse(verdict=pb.VERDICT_INVALID_TASK))
    zero = score.from_response(pb.ScoreResponse(verdict=pb.VERDICT_FAILED, reward=0.0))
    assert absent.reward is None
    assert zero.reward == 0.0


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), float("-inf")])
def test_a_reward_that_is_not_finite_is_no_reward(reward):
    read = score.from_response(pb.ScoreResponse(id="a", verdict=pb.VERDICT_PASSED, reward=reward))
    assert (read.id, read.verdict, read.reward) == ("a", None, None)
    assert read.error is not None
    assert read.error.status == "INTERNAL"


@pytest.mark.parametrize("verdict", [0, 77])
def test_a_verdict_of_an_unknown_kind_is_none(verdict):
    read = score.from_response(pb.ScoreResponse(verdict=verdict, reward=1.0))
    assert read.verdict is None
    assert read.reward is None


def test_values_of_a_newer_server_do_not_break_an_older_client():
    read = score.from_response(
        pb.ScoreResponse(
            verdict=pb.VERDICT_PASSED,
            reward=1.0,
            integrity=9,
            limits_hit=[99],
            tests=[pb.TestResult(outcome=55)],
        )
    )
    assert read.integrity is Integrity.UNSPECIFIED
    assert read.limits_hit == ("UNKNOWN_99",)
    assert read.tests[0].outcome is TestOutcome.ERROR


def test_the_enums_are_those_of_the_contract():
    for ours, theirs, prefix in (
        (Verdict, pb.Verdict, "VERDICT_"),
        (Integrity, pb.Integrity, "INTEGRITY_"),
        (TestOutcome, pb.TestOutcome, "TEST_OUTCOME_"),
    ):
        names = {prefix + member.name: member.value for member in ours}
        assert names.items() <= dict(theirs.items()).items()
        assert set(theirs.keys()) - set(names) <= {prefix + "UNSPECIFIED"}

"""Shaping of execution, and what a run sees of each completion."""

from __future__ import annotations

import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardLostError, remote_reward, tasks
from trainer_client.rewards.metrics import EVERY_COLUMN

ROW = {
    "prompt": "def twice(x):\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "entry_point": "twice",
}
TEMPLATES = {"t/1": tasks.humaneval(ROW)}
FAILED_TESTS = [
    pb.TestResult(name="case 1", outcome=pb.TEST_OUTCOME_PASSED),
    pb.TestResult(name="case 2", outcome=pb.TEST_OUTCOME_SKIPPED),
    pb.TestResult(name="case 3", outcome=pb.TEST_OUTCOME_FAILED, message="3 is not 4"),
    pb.TestResult(name="case 4", outcome=pb.TEST_OUTCOME_NOT_RUN),
]


def judge(request, context) -> pb.ScoreResponse:
    right = request.completion == "right"
    return pb.ScoreResponse(
        id=request.id,
        verdict=pb.VERDICT_PASSED if right else pb.VERDICT_FAILED,
        reward=float(right),
        integrity=pb.INTEGRITY_ISOLATED if right else pb.INTEGRITY_SHARED,
        tests=FAILED_TESTS[:2] if right else FAILED_TESTS,
        signals={} if right else {"harness_probe": 2, "exit_hook": 1},
    )


async def call(reward, *completions: str, **more):
    count = len(completions)
    columns = {"task_id": ["t/1"] * count, **more}
    return await reward(prompts=["p"] * count, completions=list(completions), **columns)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, pb.RewardPolicy()),
        (
            {"policy": "all_or_nothing"},
            pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_ALL_OR_NOTHING),
        ),
        ({"policy": "fraction"}, pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_FRACTION)),
        (
            {"policy": "weighted", "compile_bonus": 0.2, "format_bonus": 0.1},
            pb.RewardPolicy(
                kind=pb.REWARD_POLICY_KIND_WEIGHTED, compile_bonus=0.2, format_bonus=0.1
            ),
        ),
        ({"format_bonus": 0.1}, pb.RewardPolicy(format_bonus=0.1)),
    ],
)
async def test_the_policy_goes_into_every_request(serve, options, expected):
    server = serve(judge)
    defaults = pb.ScoreRequest(limits=pb.Limits(cpu_time_seconds=2))
    await call(remote_reward(server.target, task=TEMPLATES, defaults=defaults, **options), "right")
    assert server.requests[0].reward_policy == expected
    assert server.requests[0].limits.cpu_time_seconds == 2
    assert not defaults.HasField("reward_policy")


async def test_a_bonus_alone_leaves_the_rule_to_the_task(serve):
    server = serve(judge)
    task = tasks.humaneval(ROW)
    task.reward_policy.kind = pb.REWARD_POLICY_KIND_FRACTION
    await call(remote_reward(server.target, task={"t/1": task}, compile_bonus=0.25), "right")
    assert server.requests[0].reward_policy == pb.RewardPolicy(
        kind=pb.REWARD_POLICY_KIND_FRACTION, compile_bonus=0.25
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"policy": "best"}, "no policy 'best'; there are all_or_nothing, fraction, weighted"),
        ({"compile_bonus": 1.5}, "compile_bonus must be from 0 to 1, not 1.5"),
        ({"format_bonus": float("nan")}, "format_bonus must be from 0 to 1, not nan"),
        (
            {"policy": "fraction", "defaults": pb.ScoreRequest(reward_policy=pb.RewardPolicy())},
            "defaults.reward_policy is set",
        ),
    ],
)
def test_a_wrong_policy_is_refused_when_the_function_is_made(options, problem):
    with pytest.raises(ValueError, match=problem):
        remote_reward("localhost:1", task=TEMPLATES, **options)


async def test_extra_columns_tell_task_failing_test_integrity_and_signals(serve):
    columns: dict[str, list] = {}
    target = serve(judge).target
    reward = remote_reward(target, task=TEMPLATES, name="r", columns=EVERY_COLUMN)
    ids = {"task_id": ["t/1", "t/1", "t/9", None]}
    await call(reward, "right", "wrong", "right", "right", **ids, log_extra=columns.__setitem__)
    assert columns["r_task_id"] == ["t/1", "t/1", "t/9", ""]
    assert columns["r_failing_test"] == ["", "case 3: 3 is not 4", "", ""]
    assert columns["r_integrity"] == ["ISOLATED", "SHARED", "", ""]
    assert columns["r_signals"] == ["", "exit_hook 1, harness_probe 2", "", ""]
    assert columns["r_verdict"] == ["PASSED", "FAILED", "UNJUDGED", "UNJUDGED"]


async def test_shares_of_integrity_are_of_judged_completions(serve):
    metrics: dict[str, float] = {}
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    ids = {"task_id": ["t/1", "t/1", "t/9"]}
    await call(reward, "right", "wrong", "right", **ids, log_metric=metrics.__setitem__)
    assert metrics["r/integrity/ISOLATED"] == metrics["r/integrity/SHARED"] == 0.5
    assert metrics["r/integrity/SHARED_TWINS"] == 0.0
    assert metrics["r/unjudged"] == pytest.approx(1 / 3)
    assert 0.0 < metrics["r/wait_seconds"] < 60.0


async def test_the_wait_is_told_when_nothing_was_judged_but_no_integrity(serve):
    metrics: dict[str, float] = {}
    reward = remote_reward("127.0.0.1:1", task=TEMPLATES, name="r", outage_seconds=0.2)
    await call(reward, "right", log_metric=metrics.__setitem__)
    assert metrics["r/wait_seconds"] > 0.0
    assert not [name for name in metrics if "integrity" in name]


async def test_a_row_of_another_kind_has_no_reward_and_spends_no_budget(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, failure_budget=1)
    assert await call(reward, "right", task_id=[None]) == [None]
    assert await call(reward, "right", "right", task_id=[None, "t/1"]) == [None, 1.0]
    with pytest.raises(RewardLostError):
        await reward(prompts=["p"], completions=["right"])

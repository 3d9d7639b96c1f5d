"""Environments and their reward, in front of scripted answers."""

from __future__ import annotations

import inspect
import pickle
from itertools import chain, repeat
from unittest import mock

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import CallError, RewardLostError, tasks
from trainer_client.tools import sandbox
from trainer_client.trl.environments import (
    CodeEnvironment,
    PythonEnvironment,
    SessionEnvironment,
    environment_reward,
    python_tool,
)

HIDDEN = "assert double(31) == 62"
ROWS = [{"task_id": 1, "test_list": [HIDDEN]}]
TEMPLATES = tasks.templates("mbpp", ROWS)
EPISODES = 64


def judge(request, context) -> pb.ScoreResponse:
    """Judges by the completion's last word."""
    word = request.completion.split()[-1]
    if word == "unjudged":
        context.abort(grpc.StatusCode.INTERNAL, "the sandbox failed")
    passed = word == "right"
    outcome = pb.TEST_OUTCOME_PASSED if passed else pb.TEST_OUTCOME_FAILED
    return pb.ScoreResponse(
        id=request.id,
        verdict=pb.VERDICT_PASSED if passed else pb.VERDICT_TIME_LIMIT_EXCEEDED,
        reward=float(passed),
        message=HIDDEN,
        integrity=pb.INTEGRITY_SHARED if word == "beside" else pb.INTEGRITY_ISOLATED,
        tests=[pb.TestResult(name="the name", outcome=outcome, message=HIDDEN)],
        stderr=pb.CapturedStream(data=b"the stderr"),
        limits_hit=[] if passed else [pb.LIMIT_KIND_CPU_TIME],
    )


def reward_of(target: str, **options):
    return environment_reward(target, task=TEMPLATES, **options)


def episodes(environment_class, reward, count: int, **options) -> list:
    made = [environment_class(reward, **options) for _ in range(count)]
    for environment in made:
        environment.reset(prompt="p", task_id="1")
    return made


async def rewards_of(reward, environments, completions=None) -> list[float | None]:
    count = len(environments)
    texts = completions or ["I am done."] * count
    return await reward(["p"] * count, texts, task_id=["1"] * count, environments=environments)


async def test_64_episodes_are_scored_by_one_rpc(serve):
    server = serve(judge)
    reward = reward_of(server.target, batch_size=EPISODES)
    environments = episodes(CodeEnvironment, reward, EPISODES)
    for number, environment in enumerate(environments):
        environment.submit(f"{number} {'right' if number % 4 == 0 else 'wrong'}")
    assert server.rpcs == 0, "without feedback no test runs before the end"
    expected = [float(number % 4 == 0) for number in range(EPISODES)]
    assert await rewards_of(reward, environments) == expected
    assert server.rpcs == 1
    assert server.batches == [EPISODES]


async def test_equal_submissions_are_judged_once(serve):
    server = serve(judge)
    reward = reward_of(server.target)
    environments = episodes(CodeEnvironment, reward, 4)
    for environment in environments:
        environment.submit("right")
    assert await rewards_of(reward, environments) == [1.0] * 4
    assert len(server.requests) == 1


async def test_what_was_judged_for_feedback_is_not_judged_again(serve):
    server = serve(judge)
    reward = reward_of(server.target)
    environments = episodes(CodeEnvironment, reward, 2, feedback="verdict")
    for environment, word in zip(environments, ("right", "wrong"), strict=True):
        environment.submit(word)
    assert await rewards_of(reward, environments) == [1.0, 0.0]
    assert len(server.requests) == 2


@pytest.mark.parametrize("word", ["right", "wrong", "unjudged"])
async def test_by_default_nothing_is_told_of_hidden_tests(serve, word):
    server = serve(judge)
    (environment,) = episodes(CodeEnvironment, reward_of(server.target), 1)
    assert environment.submit(word) == "Submitted. The tests run at the end."
    assert server.rpcs == 0


TOLD = {
    "verdict": ["The solution took too long.", "stopped after 4 s of CPU time"],
    "failing_test_name": ["The solution took too long.", "the name"],
    "stderr": ["The solution took too long.", "the name", "the stderr"],
}


@pytest.mark.parametrize("feedback", TOLD)
async def test_a_level_tells_what_it_names_and_no_hidden_test(serve, feedback):
    defaults = pb.ScoreRequest(limits=pb.Limits(cpu_time_seconds=4))
    reward = reward_of(serve(judge).target, defaults=defaults)
    (environment,) = episodes(CodeEnvironment, reward, 1, feedback=feedback)
    told = environment.submit("wrong")
    assert all(part in told for part in TOLD[feedback])
    further = {part for parts in TOLD.values() for part in parts} - set(TOLD[feedback])
    assert not any(part in told for part in further - set(TOLD["verdict"]))
    assert HIDDEN not in told
    assert "submissions left: 2" in told


async def test_standard_error_of_tests_in_the_solutions_process_is_not_told(serve):
    (environment,) = episodes(CodeEnvironment, reward_of(serve(judge).target), 1, feedback="stderr")
    told = environment.submit("beside")
    assert "the name" in told
    assert "the stderr" not in told


async def test_only_so_many_submissions_are_taken_and_the_last_of_them_counts(serve):
    reward = reward_of(serve(judge).target)
    (environment,) = episodes(CodeEnvironment, reward, 1, submissions=2)
    environment.submit("wrong")
    environment.submit("right")
    assert "refused" in environment.submit("wrong")
    assert await rewards_of(reward, [environment]) == [1.0]


async def test_after_a_passed_submission_the_model_can_change_nothing(serve):
    reward = reward_of(serve(judge).target)
    (environment,) = episodes(CodeEnvironment, reward, 1, feedback="verdict")
    assert environment.submit("right").startswith("All tests passed.")
    assert "over" in environment.submit("wrong")
    assert await rewards_of(reward, [environment]) == [1.0]


async def test_without_a_submission_the_last_message_is_judged(serve):
    reward = reward_of(serve(judge).target)
    chat = [
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function"}]},
        {"role": "tool", "name": "run", "content": "3"},
        {"role": "assistant", "content": "right"},
    ]
    assert await rewards_of(reward, episodes(CodeEnvironment, reward, 1), [chat]) == [1.0]


async def test_a_new_episode_knows_nothing_of_the_last(serve):
    reward = reward_of(serve(judge).target)
    (environment,) = episodes(CodeEnvironment, reward, 1, feedback="verdict", submissions=1)
    environment.submit("right")
    environment.reset(prompt="p", task_id="1")
    assert "took too long" in environment.submit("wrong")
    assert await rewards_of(reward, [environment]) == [0.0]


async def test_an_outage_of_a_tool_leaves_no_reward(serve, monkeypatch):
    server = serve(judge)
    reward = reward_of(server.target, outage_seconds=0.1, timeout_seconds=0.5)
    disturbed, calm = episodes(CodeEnvironment, reward, 2, feedback="verdict")
    calm.submit("right")
    server.stop()
    # To the sandbox the first call takes a second, and the others take no time.
    clock = mock.Mock(monotonic=mock.Mock(side_effect=chain([0.0, 1.0], repeat(1.0))))
    monkeypatch.setattr(sandbox, "time", clock)
    client = reward.sandbox._client
    monkeypatch.setattr(client, "score", scoring := mock.Mock(wraps=client.score))
    assert "not available" in disturbed.submit("right")
    others = episodes(CodeEnvironment, reward, 50, feedback="verdict")
    assert all("not available" in one.submit("right") for one in others)
    assert scoring.call_count == 1, "each waited out the outage"
    assert await rewards_of(reward, [disturbed, calm, *others]) == [None, 1.0, *[None] * 50]


async def test_an_outage_at_the_end_leaves_no_reward(serve):
    server = serve(judge)
    reward = reward_of(server.target, outage_seconds=0.1)
    environments = episodes(CodeEnvironment, reward, 2)
    for environment in environments:
        environment.submit("right")
    server.stop()
    assert await rewards_of(reward, environments) == [None, None]


async def test_a_server_that_cannot_judge_a_submission_leaves_no_reward(serve):
    reward = reward_of(serve(judge).target)
    fine, failed = episodes(CodeEnvironment, reward, 2, feedback="stderr")
    fine.submit("wrong")
    assert "not available" in failed.submit("unjudged")
    assert await rewards_of(reward, [fine, failed]) == [0.0, None]


async def test_a_row_without_a_task_and_a_foreign_environment_have_no_reward(serve):
    reward = reward_of(serve(judge).target)
    known, unknown, none = episodes(CodeEnvironment, reward, 3, feedback="verdict")
    unknown.reset(prompt="p", task_id="nowhere")
    none.reset(prompt="p", task_id=None)
    for environment in (known, unknown, none):
        environment.submit("right")
    assert await rewards_of(reward, [known, unknown, none, object()]) == [1.0, None, None, None]


async def test_a_trainer_that_passes_no_environments_is_told_so():
    reward = reward_of("127.0.0.1:1")
    with pytest.raises(RewardLostError, match="environment_factory"):
        await reward(["p"], ["c"], task_id=["1"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"feedback": "all"}, "stderr"), ({"submissions": 0}, "at least 1")],
)
def test_a_wrong_option_is_named(options, problem):
    with pytest.raises(ValueError, match=problem):
        CodeEnvironment(reward_of("127.0.0.1:1"), **options)


TOOLS = {CodeEnvironment: {"run", "submit"}}
TOOLS[SessionEnvironment] = {"bash", "run_python", "read_file", "write_file", "submit"}
TOOLS[PythonEnvironment] = {"run_python"}


@pytest.mark.parametrize("environment_class", TOOLS)
def test_trl_finds_the_tools_and_nothing_else(environment_class):
    """As `GRPOTrainer.__init__` does it."""
    members = inspect.getmembers(environment_class, predicate=inspect.isfunction)
    found = {name for name, _ in members if not name.startswith("_")}
    assert found == {"reset", *TOOLS[environment_class]}


def test_a_reward_and_its_environments_can_be_pickled():
    reward = reward_of("127.0.0.1:1", outage_seconds=0.1)
    (environment,) = episodes(CodeEnvironment, pickle.loads(pickle.dumps(reward)), 1)
    assert "not available" in environment.run("print(1)")


def test_the_tool_of_no_episode_raises_on_an_outage():
    run_python = python_tool("127.0.0.1:1", outage_seconds=0.1, timeout_seconds=0.1)
    assert run_python.__name__ == "run_python"
    with pytest.raises(CallError):
        run_python("print(1)")

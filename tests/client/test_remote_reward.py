from __future__ import annotations

import asyncio
import inspect
import logging
import math
import pickle
import re
import subprocess
import sys
import threading

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import (
    AsyncRewardClient,
    RemoteReward,
    RewardClient,
    RewardLostError,
    remote_reward,
    tasks,
)
from trainer_client.rewards import math_reward

ROW = {
    "prompt": "def twice(x):\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "entry_point": "twice",
}
# Each field of a row, and what another row has there.
OTHER_ROW = [(name, value, value.replace("twice", "thrice")) for name, value in ROW.items()]
TEMPLATES = {"t/1": tasks.humaneval(ROW), "2": tasks.humaneval(ROW)}


def judge(request, context) -> pb.ScoreResponse:
    """Judges by a word in the completion."""
    word = request.completion.split()[-1]
    if word == "unjudged":
        context.abort(grpc.StatusCode.INTERNAL, "the sandbox failed")
    if word == "refused":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "completion: refused")
    if word == "invalid":
        return pb.ScoreResponse(verdict=pb.VERDICT_INVALID_TASK, message="broken tests")
    return pb.ScoreResponse(
        id=request.id,
        verdict=pb.VERDICT_PASSED if word == "right" else pb.VERDICT_FAILED,
        reward=float(word) if word[0].isdigit() else float(word == "right"),
        deduplicated=word == "again",
        signals={"early_exit": 2} if word == "hack" else {},
        missing_modules=[word.removeprefix("lacks:")] if word.startswith("lacks:") else [],
        usage=pb.Usage(queue_time_seconds=0.25, wall_time_seconds=0.5),
    )


class Log:
    """Takes what a trainer takes."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.columns: dict[str, list] = {}

    def log_metric(self, name: str, value: float) -> None:
        assert math.isfinite(value)
        self.metrics[name] = value

    def log_extra(self, name: str, values: list) -> None:
        self.columns[name] = values


def columns(completions: list) -> dict[str, list]:
    count = len(completions)
    return {
        "prompts": ["p"] * count,
        "completions": completions,
        "completion_ids": [[1]] * count,
        "task_id": ["t/1"] * count,
    }


async def call(reward, *words: str, **more) -> list[float | None]:
    return await reward(**columns(list(words)), **more)


@pytest.mark.promise("A completion that was not judged is `None`, at its place.", "Client")
async def test_rewards_come_in_order_with_none_for_what_was_not_judged(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    assert await call(reward, "right", "unjudged", "wrong", "invalid") == [1.0, None, 0.0, None]


async def test_it_is_a_coroutine_function_with_a_name_and_two_named_parameters():
    reward = remote_reward("localhost:1", task="humaneval", name="mine")
    assert inspect.iscoroutinefunction(reward)
    assert reward.__name__ == "mine"
    assert list(inspect.signature(reward).parameters)[:2] == ["prompts", "completions"]


def test_default_names_of_rewards_with_other_options_differ(caplog):
    rules = ({}, {"policy": "fraction"}, {"id_column": "number"}, {"compile_bonus": 0.5})
    names = [remote_reward("localhost:7", task=TEMPLATES, **rule).__name__ for rule in rules]
    assert len(set(names)) == len(rules)
    assert all(name.startswith("code_reward") for name in names)
    assert f"this is {names[-1]}; name= sets it" in caplog.text


@pytest.mark.parametrize(
    "task",
    [
        lambda: "humaneval",
        lambda: {"t/1": tasks.humaneval(ROW)},
        lambda: lambda row: tasks.humaneval({**ROW, **row}),
    ],
    ids=["format", "templates", "function"],
)
def test_a_notebooks_cell_that_runs_again_makes_a_reward_of_the_same_name(task):
    first, second = (remote_reward("localhost:8", task=task()).__name__ for _ in range(2))
    assert first == second


async def test_a_blocking_reward_returns_rewards_to_a_caller_in_any_thread(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task=TEMPLATES, blocking=True)
    assert not inspect.iscoroutinefunction(reward)
    found = await asyncio.gather(
        *(asyncio.to_thread(lambda: reward(**columns(["right", "unjudged"]))) for _ in range(3))
    )
    assert found == [[1.0, None]] * 3


def test_a_blocking_reward_is_called_in_a_running_event_loop(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, blocking=True)

    async def cell() -> list[float | None]:
        return reward(**columns(["right", "wrong"]))

    assert asyncio.run(cell()) == [1.0, 0.0]


def test_a_blocking_reward_stops_a_training_that_receives_no_rewards(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, blocking=True)
    with pytest.raises(RewardLostError, match="no completion can be judged"):
        reward(**columns(["refused"]))


def test_the_warning_about_a_reward_that_nobody_awaited_says_what_to_do():
    reward = remote_reward("localhost:1", task=TEMPLATES, name="tests")
    with pytest.warns(RuntimeWarning, match=r"'tests \(await it, or make it with blocking=True"):
        reward([], [])


@pytest.mark.parametrize("blocking", [False, True])
def test_the_error_about_a_reward_that_cannot_be_pickled_names_the_class_that_can(blocking):
    reward = remote_reward("localhost:1", task=TEMPLATES, blocking=blocking)
    with pytest.raises((pickle.PicklingError, AttributeError), match="RemoteReward can be pickled"):
        pickle.dumps(reward)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: remote_reward("a:1", task="mbpp", polciy="fraction"), "did you mean policy?"),
        (lambda: remote_reward("a:1", task="mbpp", timout_seconds=3), "did you mean timeout_sec"),
        (lambda: RemoteReward("a:1", task="mbpp", colums=()), "did you mean columns?"),
        (lambda: RemoteReward("a:1", task="mbpp", connection=3), "no option 'connection'"),
        (lambda: math_reward("a:1", policy="fraction"), "no option 'policy'; there are batch_size"),
        (lambda: RewardClient("a:1", tokn="secret"), "a client has no option 'tokn'; did you mean"),
        (lambda: AsyncRewardClient("a:1", max_inflight=3), "did you mean max_in_flight?"),
    ],
)
def test_an_unknown_option_is_named_with_the_one_that_was_meant(make, problem):
    with pytest.raises(TypeError, match=re.escape(problem)):
        make()


async def test_templates_are_found_by_the_id_column(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task=TEMPLATES, id_column="number")
    arguments = {"prompts": ["p", "p"], "completions": ["right", "right"]}
    assert await reward(**arguments, number=[2, 3]) == [1.0, None]
    assert server.requests[0].function.entry_point == "twice"


async def test_the_rows_columns_can_carry_the_task(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task="humaneval")
    fields = {name: [value] for name, value in ROW.items() if name != "prompt"}
    assert await reward(prompts=[ROW["prompt"]], completions=["right"], **fields) == [1.0]
    assert server.requests[0].prompt == ROW["prompt"]


async def test_a_column_named_prompt_goes_before_the_trainers_prompt(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task=lambda row: tasks.humaneval({**ROW, **row}))
    chat = [{"role": "user", "content": "please"}]
    await reward(prompts=[chat], completions=["right"], prompt=["def f():\n"])
    assert server.requests[0].prompt == "def f():\n"


async def test_chat_completions_are_judged_by_their_last_text(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    chats = [[{"role": "assistant", "content": word}] for word in ("right", "wrong")]
    assert await reward(**columns(chats)) == [1.0, 0.0]


async def test_defaults_go_into_every_request(serve):
    server = serve(judge)
    policy = pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_FRACTION)
    defaults = pb.ScoreRequest(limits=pb.Limits(cpu_time_seconds=2), reward_policy=policy)
    await call(remote_reward(server.target, task=TEMPLATES, defaults=defaults), "right")
    assert server.requests[0].limits.cpu_time_seconds == 2
    assert server.requests[0].reward_policy == policy
    assert server.requests[0].function.entry_point == "twice"


async def test_every_request_has_an_id_of_its_own(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task=TEMPLATES)
    words = [f"{number} right" for number in range(8)]
    await call(reward, *words)
    await call(reward, *words)
    assert len({request.id for request in server.requests}) == 16


async def test_equal_completions_of_a_task_are_sent_once_and_each_has_its_reward(serve):
    server = serve(judge)
    log = Log()
    reward = remote_reward(server.target, task=TEMPLATES, name="tests")
    completions = ["right", "wrong", "right", "right", "unjudged", "unjudged"]
    rewards = await reward(
        [""] * 6,
        completions,
        task_id=["t/1", "t/1", "t/1", "2", "t/1", "t/1"],
        log_metric=log.log_metric,
    )
    assert rewards == [1.0, 0.0, 1.0, 1.0, None, None]
    assert len(server.requests) == 4
    assert log.metrics["tests/deduplicated"] == 1 / 6


async def test_equal_rows_of_a_format_are_sent_once(serve):
    server = serve(judge)
    reward = remote_reward(server.target, task="humaneval")
    rows = {name: [value] * 2 + [other] for name, value, other in OTHER_ROW}
    prompts = rows.pop("prompt")
    assert await reward(prompts, ["right"] * 3, **rows) == [1.0] * 3
    assert len(server.requests) == 2


async def test_rewards_too_large_for_a_gradient_are_bounded(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    assert await call(reward, "1e30", "0.5") == [1e6, 0.5]


async def test_512_completions_in_one_call(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    assert await call(reward, *["right", "wrong"] * 256) == [1.0, 0.0] * 256


# -------------------------------------------------------------------------------- metrics


async def test_metrics_tell_shares_times_and_signals(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    await call(reward, "right", "hack", "again", "unjudged", log_metric=log.log_metric)
    assert log.metrics["r/verdict/PASSED"] == 0.25
    assert log.metrics["r/verdict/FAILED"] == 0.5
    assert log.metrics["r/verdict/SECURITY_VIOLATION"] == 0.0
    assert log.metrics["r/unjudged"] == 0.25
    assert log.metrics["r/deduplicated"] == 0.25
    assert log.metrics["r/queue_seconds"] == 0.25
    assert log.metrics["r/grade_seconds"] == 0.5
    assert log.metrics["r/signal/early_exit"] == 0.5


async def test_shares_of_verdicts_and_of_the_unjudged_add_up_to_one(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    await call(reward, "right", "invalid", "unjudged", log_metric=log.log_metric)
    shares = [value for name, value in log.metrics.items() if "/verdict/" in name]
    assert sum(shares) + log.metrics["r/unjudged"] == pytest.approx(1.0)


async def test_a_signal_seen_once_is_logged_as_zero_later(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    await call(reward, "hack", log_metric=log.log_metric)
    await call(reward, "right", log_metric=log.log_metric)
    assert log.metrics["r/signal/early_exit"] == 0.0


async def test_modules_that_the_sandbox_lacks_are_logged_by_name_and_not_without_bound(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    await call(reward, "lacks:numpy", "right", log_metric=log.log_metric)
    assert log.metrics["r/missing_module"] == 0.5
    assert log.metrics["r/missing_module/numpy"] == 0.5
    await call(reward, "right", "wrong", log_metric=log.log_metric)
    assert log.metrics["r/missing_module"] == log.metrics["r/missing_module/numpy"] == 0.0
    await call(reward, *[f"lacks:m{n}" for n in range(64)], log_metric=log.log_metric)
    assert log.metrics["r/missing_module"] == 1.0
    assert sum(name.startswith("r/missing_module/") for name in log.metrics) == 20


async def test_a_call_without_a_verdict_logs_no_time_instead_of_none(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, name="r")
    await call(reward, "unjudged", log_metric=log.log_metric)
    assert log.metrics["r/unjudged"] == 1.0
    assert "r/queue_seconds" not in log.metrics


async def test_extra_columns_have_a_value_for_every_completion(serve):
    log, target = Log(), serve(judge).target
    reward = remote_reward(target, task=TEMPLATES, name="r", columns=("verdict", "message"))
    await call(reward, "right", "unjudged", "invalid", log_extra=log.log_extra)
    assert log.columns["r_verdict"] == ["PASSED", "UNJUDGED", "INVALID_TASK"]
    assert log.columns["r_message"] == [
        "",
        "INTERNAL: the sandbox failed",
        "broken tests",
    ]
    assert len(log.columns) == 2


async def test_a_table_of_completions_gets_the_verdict_alone_unless_told(serve):
    log = Log()
    await call(
        remote_reward(serve(judge).target, task=TEMPLATES, name="r"),
        "right",
        log_extra=log.log_extra,
    )
    assert log.columns == {"r_verdict": ["PASSED"]}


def test_a_column_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="no 'verdicts'; there are task_id, verdict, message"):
        remote_reward("localhost:1", task=TEMPLATES, columns=("verdicts",))


async def test_a_call_without_completions_is_no_failure(serve):
    log = Log()
    reward = remote_reward(serve(judge).target, task=TEMPLATES, failure_budget=1)
    assert await call(reward, log_metric=log.log_metric, log_extra=log.log_extra) == []


# ---------------------------------------------------------------------------- failure budget


async def test_training_stops_after_too_many_calls_without_a_reward(serve, caplog):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, failure_budget=3)
    for _ in range(2):
        assert await call(reward, "unjudged", "unjudged") == [None, None]
    with pytest.raises(RewardLostError, match="3 calls without a reward: INTERNAL"):
        await call(reward, "unjudged")
    assert "2 of 2 not judged: INTERNAL: the sandbox failed" in caplog.text


async def test_one_reward_restores_the_budget(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, failure_budget=2)
    for _ in range(4):
        await call(reward, "unjudged")
        await call(reward, "unjudged", "wrong")


async def test_tasks_that_are_all_broken_spend_the_budget_too(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES, failure_budget=2)
    await call(reward, "invalid")
    with pytest.raises(RewardLostError, match="2 calls without a reward: broken tests"):
        await call(reward, "invalid")


async def test_a_mistake_in_the_set_up_stops_training_at_once(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    with pytest.raises(RewardLostError, match="completion: refused"):
        await call(reward, "refused", "refused")


@pytest.mark.parametrize(
    ("row", "problem"),
    [({"task_id": ["t/9"]}, "no template for 't/9'"), ({}, "task_id: is absent")],
)
async def test_a_wrong_id_column_stops_training_at_once(serve, row, problem):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    with pytest.raises(RewardLostError, match=problem):
        await reward(prompts=["p"], completions=["right"], **row)


async def test_one_bad_row_among_good_ones_costs_its_own_reward_only(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    arguments = {"prompts": ["p"] * 2, "completions": ["right"] * 2}
    assert await reward(**arguments, task_id=["t/9", "t/1"]) == [None, 1.0]


async def test_what_is_no_text_costs_its_own_reward_only(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    completions = ["right", None, 5, ["right"], "wrong"]
    assert await reward(**columns(completions)) == [1.0, None, None, None, 0.0]


async def test_once_something_was_judged_a_refused_batch_spends_the_budget_only(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    await call(reward, "right")
    assert await call(reward, "refused", "refused") == [None, None]


async def test_a_dead_server_costs_rewards_and_no_exception(caplog):
    caplog.set_level(logging.WARNING)
    reward = remote_reward("127.0.0.1:1", task=TEMPLATES, outage_seconds=0.05)
    assert await call(reward, "right", "right") == [None, None]
    assert "2 of 2 not judged: UNAVAILABLE" in caplog.text


async def test_a_server_on_this_machine_is_not_looked_for_behind_a_proxy(serve, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    reward = remote_reward(serve(judge).target, task=TEMPLATES, outage_seconds=1.0)
    assert await call(reward, "right") == [1.0]


def test_an_unknown_task_format_is_refused_when_the_function_is_made():
    with pytest.raises(ValueError, match="no task format 'humanevl'"):
        remote_reward("localhost:1", task="humanevl")


# ---------------------------------------------------------------------------- loops, pickling


def test_it_works_in_the_loops_of_two_trainers_in_turn_and_at_once(serve):
    reward = remote_reward(serve(judge).target, task=TEMPLATES)
    found: list[list[float | None]] = []

    def train() -> None:
        found.append(asyncio.run(call(reward, "right", "wrong")))

    train()
    threads = [threading.Thread(target=train) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[1.0, 0.0]] * 4


def test_the_object_inside_survives_pickling(serve):
    remote = RemoteReward(serve(judge).target, task=TEMPLATES, name="mine")
    assert asyncio.run(call(remote, "right")) == [1.0]
    copy = pickle.loads(pickle.dumps(remote))
    assert copy.__name__ == "mine"
    assert asyncio.run(call(copy, "right", "unjudged")) == [1.0, None]


@pytest.mark.promise("The client loads neither torch nor TRL nor the server.", "Client")
def test_the_package_needs_neither_torch_nor_trl():
    program = (
        "import sys; import trainer_client; from trainer_client import tasks, remote_reward;"
        "heavy = {'torch', 'transformers', 'trl', 'datasets', 'numpy', 'yaml', 'reward_server'};"
        "print(*heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")

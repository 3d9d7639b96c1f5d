"""What the adapters do alone: AReaL, ART, axolotl, EasyR1, ms-swift, torchforge, verifiers."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from types import ModuleType, SimpleNamespace

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import ConfigError, RewardLostError, remote_reward, tasks
from trainer_client.adapters import areal, art, axolotl, easyr1, forge
from trainer_client.adapters.common.missing_rewards import with_group_means
from trainer_client.adapters.common.settings import forget

TASK = pb.ScoreRequest(function=pb.FunctionTests(entry_point="f", asserts=["assert f() == 1"]))
TASKS = {"f": TASK, "g": TASK}


def judge_word(request, context) -> pb.ScoreResponse:
    if request.completion == "lost":
        context.abort(grpc.StatusCode.INTERNAL, "the sandbox failed")
    if request.completion == "broken":
        return pb.ScoreResponse(verdict=pb.VERDICT_INVALID_TASK, message="broken tests")
    right = request.completion == "right"
    verdict = pb.VERDICT_PASSED if right else pb.VERDICT_FAILED
    return pb.ScoreResponse(id=request.id, verdict=verdict, reward=float(right))


@pytest.fixture
def describe(serve, monkeypatch, tmp_path) -> Iterator[Callable[..., None]]:
    """Yields a function that describes a scripted server by variables; None leaves one out."""
    for name in [name for name in os.environ if name.startswith("CODEREWARD_")]:
        monkeypatch.delenv(name)

    def to_adapters(**values: str | None) -> None:
        file = tmp_path / "tasks.jsonl"
        tasks.write_templates(file, TASKS)
        all_values = {"target": serve(judge_word).target, "tasks": str(file), **values}
        for name, value in all_values.items():
            if value is not None:
                monkeypatch.setenv(f"CODEREWARD_{name.upper()}", value)
        forget()

    yield to_adapters
    forget()


# ------------------------------------------------------------------------------------ group means


@pytest.mark.parametrize(
    ("rewards", "groups", "filled"),
    [
        ([1.0, None, 0.0, 0.5], "aaaa", [1.0, 0.5, 0.0, 0.5]),
        ([1.0, None, None, 0.0], "aabb", [1.0, 1.0, 0.0, 0.0]),
        ([None, None, 1.0], "aab", [None, None, 1.0]),
        ([1.0, 0.0], "ab", [1.0, 0.0]),
        ([], "", []),
    ],
)
def test_the_mean_of_its_group_stands_in_for_a_missing_reward(rewards, groups, filled):
    assert with_group_means(rewards, groups) == filled


finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, min_size=1), st.integers(1, 5))
def test_what_stands_in_leaves_the_mean_of_the_group_and_has_no_advantage(known, missing):
    filled = with_group_means([*known, *[None] * missing], ["p"] * (len(known) + missing))
    mean = sum(known) / len(known)
    assert math.isclose(sum(filled) / len(filled), mean, rel_tol=1e-9, abs_tol=1e-6)
    assert filled[-1] == mean


def test_each_reward_has_a_group():
    with pytest.raises(ValueError, match="zip"):
        with_group_means([1.0], [])


# ---------------------------------------------------------------------------------------- axolotl

ROWS = {"prompts": ["p"] * 3, "completions": ["right", "wrong", "lost"]}


async def test_axolotl_gets_none_for_what_was_not_judged(describe):
    describe()
    found = await axolotl.code_reward(**ROWS, completion_ids=[[1]] * 3, task_id=["f", "f", "g"])
    assert found == [1.0, 0.0, None]


def test_axolotls_trainers_that_await_nothing_get_the_same_call_after_call(describe):
    describe()
    for _ in range(3):
        assert axolotl.code_reward_blocking(**ROWS, task_id=["f"] * 3) == [1.0, 0.0, None]


@pytest.mark.parametrize("name", ["code_reward", "code_reward_blocking"])
def test_axolotl_finds_two_parameters_and_can_pickle_the_function(name):
    function = getattr(axolotl, name)
    assert len(inspect.signature(function).parameters) >= 2
    assert pickle.loads(pickle.dumps(function)) is function


async def test_axolotls_columns_may_be_the_rows_of_a_known_format(describe):
    describe(tasks=None, format="humaneval")
    row = {"test": "def check(candidate): ...", "entry_point": "f"}
    columns = {name: [value] * 2 for name, value in row.items()}
    found = await axolotl.code_reward(["def f():\n"] * 2, ["right", "wrong"], **columns)
    assert found == [1.0, 0.0]


async def test_without_tasks_or_a_format_the_first_call_says_so(describe):
    describe(tasks=None)
    with pytest.raises(ConfigError, match="CODEREWARD_TASKS or CODEREWARD_FORMAT must be set"):
        await axolotl.code_reward(**ROWS)


async def test_a_file_that_holds_no_tasks_is_named(describe, tmp_path):
    (tmp_path / "wrong.jsonl").write_text("[]\n")
    describe(tasks=str(tmp_path / "wrong.jsonl"))
    with pytest.raises(ConfigError, match=r"CODEREWARD_TASKS: wrong.jsonl line 1"):
        await axolotl.code_reward(**ROWS)


# --------------------------------------------------------------------------------------- ms-swift


@pytest.fixture
def swift(monkeypatch) -> Iterator[ModuleType]:
    """Yields the adapter upon the documented base class and registry of ms-swift."""

    class AsyncORM:
        def __init__(self, args=None, **kwargs):
            self.args = args

    rewards = ModuleType("swift.rewards")
    rewards.AsyncORM, rewards.orms = AsyncORM, {}
    monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    yield importlib.import_module("trainer_client.adapters.swift")
    sys.modules.pop("trainer_client.adapters.swift")


def batch(**columns) -> dict[str, list]:
    answers = ["right", "lost", "lost"]
    question = {"role": "user", "content": "q"}
    messages = [[question, {"role": "assistant", "content": text}] for text in answers]
    return {"task_id": ["f", "f", "g"], "messages": messages, **columns}


@pytest.mark.parametrize(
    ("args", "prompt_ids", "rewards"),
    [
        (SimpleNamespace(scale_rewards="group"), ["0", "0", "1"], [1.0, 1.0, None]),
        (SimpleNamespace(scale_rewards="none"), ["0", "0", "0"], [1.0, 1.0, 1.0]),
        (None, ["", "", ""], [1.0, 1.0, 1.0]),
        (SimpleNamespace(scale_rewards="gdpo"), ["0", "0", "0"], [1.0, None, None]),
    ],
)
async def test_swift_gets_the_groups_mean_unless_it_leaves_out_what_is_missing(
    describe, swift, args, prompt_ids, rewards
):
    describe()
    reward = sys.modules["swift.rewards"].orms["code_reward"](args=args)
    columns = batch(prompt_id=prompt_ids, trainer_state=None)
    assert await reward(["right", "lost", "lost"], **columns) == rewards


async def test_without_ids_swifts_groups_are_told_apart_by_prompt(describe, swift):
    describe()
    columns = batch(prompt_id=[""] * 3)
    columns["messages"][2][0] = {"role": "user", "content": "another"}
    assert await swift.CodeReward()(["right", "lost", "lost"], **columns) == [1.0, 1.0, None]


# -------------------------------------------------------------------------------------- verifiers


@pytest.fixture
def verifiers(monkeypatch) -> Iterator[ModuleType]:
    """Yields the adapter upon the documented errors of verifiers."""

    class RolloutError(Exception):
        pass

    errors = ModuleType("verifiers.v1")
    errors.RolloutError = RolloutError
    errors.SandboxError = type("SandboxError", (RolloutError,), {})
    errors.TaskError = type("TaskError", (RolloutError,), {})
    monkeypatch.setitem(sys.modules, "verifiers", ModuleType("verifiers"))
    monkeypatch.setitem(sys.modules, "verifiers.v1", errors)
    yield importlib.import_module("trainer_client.adapters.verifiers")
    sys.modules.pop("trainer_client.adapters.verifiers")


@pytest.mark.parametrize(
    "data",
    [SimpleNamespace(id="f"), SimpleNamespace(id="h", tests="f"), SimpleNamespace(tests=TASK)],
)
async def test_verifiers_tasks_have_their_tests_or_an_id_that_names_them(describe, verifiers, data):
    describe()
    trace = SimpleNamespace(last_reply="right", info={})
    assert await verifiers.code_reward(data, trace) == 1.0
    assert trace.info["code_reward"] == {"verdict": "PASSED", "message": ""}


@pytest.mark.parametrize(
    ("reply", "task", "error", "reason"),
    [
        ("lost", "f", "SandboxError", "INTERNAL: the sandbox failed"),
        ("broken", "f", "TaskError", "broken tests"),
        ("right", "h", "TaskError", "'h' is none of 2 task ids"),
    ],
)
async def test_verifiers_is_told_whether_another_attempt_may_help(
    describe, verifiers, reply, task, error, reason
):
    describe()
    trace = SimpleNamespace(last_reply=reply, info={})
    with pytest.raises(getattr(sys.modules["verifiers.v1"], error), match=reason):
        await verifiers.code_reward(SimpleNamespace(id=task), trace)
    assert reason in trace.info["code_reward"]["message"]


# -------------------------------------------------------------------------------------------- ART


@dataclass
class Trajectory:
    """What the adapter uses of ART's."""

    answer: str
    reward: float = 0.0
    metrics: dict = field(default_factory=dict)

    def messages(self) -> list:
        return [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": self.answer},
        ]


async def test_arts_trajectory_gets_reward_and_metrics(describe):
    describe()
    right = await art.judged(Trajectory("right"), "f")
    assert (right.reward, right.metrics) == (1.0, {"passed": 1.0, "queue_seconds": 0.0})
    assert (await art.judged(Trajectory("wrong"), "f")).metrics["passed"] == 0.0


async def test_arts_trajectory_that_was_not_judged_raises(describe):
    describe(unjudged="nan")
    with pytest.raises(RewardLostError, match="INTERNAL: the sandbox failed"):
        await art.judged(Trajectory("lost"), "f")


# ------------------------------------------------------------------------------------- torchforge


def test_forge_gets_a_number_for_a_response(describe):
    describe()
    assert forge.code_reward("p", "right<|im_end|>", "f") == 1.0
    assert forge.code_reward(prompt="p", response="wrong", target="f") == 0.0
    assert forge.code_reward.__name__ == "code_reward"
    with pytest.raises(RewardLostError, match="the sandbox failed"):
        forge.code_reward("p", "lost", "f")


def test_forge_gets_nan_for_a_missing_reward_where_that_was_chosen(describe):
    describe(unjudged="nan")
    assert math.isnan(forge.code_reward("p", "lost", "f"))


# ----------------------------------------------------------------------------------------- EasyR1


def scored(*pairs: tuple[str, str]) -> list[dict[str, float]]:
    rows = [
        {"response": response, "response_length": 1, "ground_truth": label}
        for response, label in pairs
    ]
    return easyr1.compute_score(rows, weight=1)


def test_easyr1_gets_a_result_for_each(describe):
    describe()
    assert easyr1.REWARD_TYPE == "batch"
    assert scored(("right</s>", "f"), ("wrong", "g")) == [
        {"overall": 1.0, "judged": 1.0},
        {"overall": 0.0, "judged": 1.0},
    ]


def test_easyr1_gets_the_mean_of_the_task_or_else_of_the_batch_for_what_is_missing(describe):
    describe()
    pairs = [("right", "f"), ("wrong", "f"), ("lost", "f"), ("lost", "g"), ("lost", "g")]
    found = scored(*pairs)
    assert [item["overall"] for item in found] == [1.0, 0.0, 0.5, 0.5, 0.5]
    assert [item["judged"] for item in found] == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_easyr1_is_told_when_nothing_was_judged(describe):
    describe()
    with pytest.raises(RewardLostError, match="the sandbox failed"):
        scored(("lost", "f"), ("lost", "g"))


# ------------------------------------------------------------------------------------------ AReaL

CALL = ("prompt", "right<|im_end|>", [1], [2])


def test_areal_gets_a_number_from_a_process_of_its_pool(describe):
    describe()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(partial(areal.reward_fn, *CALL, label="f", other=1)).result() == 1.0
        with pytest.raises(RewardLostError, match="'h' is none of 2 task ids"):
            pool.submit(partial(areal.reward_fn, *CALL, label="h")).result()


def test_areal_is_told_before_it_gives_up_and_counts_a_zero(describe, monkeypatch):
    describe(target="127.0.0.1:1")
    usual_seconds = areal._LONGEST_SECONDS
    monkeypatch.setattr(areal, "_LONGEST_SECONDS", 0.3)
    started = time.monotonic()
    # Whether an attempt or the call's time ends last is a matter of milliseconds.
    with pytest.raises(RewardLostError, match=r"UNAVAILABLE|DEADLINE_EXCEEDED"):
        areal.reward_fn(*CALL, label="f")
    assert time.monotonic() - started < usual_seconds


def test_without_its_column_areal_is_told_what_a_label_is(describe):
    describe()
    with pytest.raises(RewardLostError, match="must be an id, an object or its JSON"):
        areal.reward_fn(*CALL, answer="f")


def test_the_time_that_areal_gives_is_more_than_the_adapter_takes():
    assert areal._LONGEST_SECONDS < 15


# ---------------------------------------------------------------------------------------- Unsloth


async def test_unsloth_can_name_await_and_call_a_remote_reward_as_trl_does(serve):
    # Its patched trainer reads the name, for the table of metrics, of each function in the list.
    reward = remote_reward(serve(judge_word).target, task=TASKS, name="code_reward")
    assert reward.__name__ == "code_reward"
    assert inspect.iscoroutinefunction(reward)
    trainers = {"completion_ids": [[1]] * 3, "trainer_state": None, "task_id": ["f"] * 3}
    assert await reward(**ROWS, **trainers) == [1.0, 0.0, None]

"""Trainers' own code calls the adapters, in a process of its own, in front of a real server.

verl, OpenRLHF and SkyRL's gym are the real packages of scripts/adapter_requirements.txt. NeMo-RL
is not on a package index; its adapter meets the documented interface, written down here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples.adapters.common import TASK
from tests.e2e.support.programs import run
from tests.support.tools import require_package
from trainer_client import tasks
from trainer_client.local_server import LocalServer

pytestmark = pytest.mark.training

LOST = "no reward: INVALID_ARGUMENT: label row: task: 'no such task' is none of 1 task ids"


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of trainers' packages; skips where it is absent."""
    return require_package("adapters", "verl")


def run_example(name: str, server: LocalServer, packages: Path) -> Any:
    return run(["-m", f"examples.adapters.{name}"], server, packages)


def test_verls_reward_loop_and_batch_manager_get_rewards(packages, lasting_server):
    found = run_example("verl", lasting_server, packages)
    looped, batched = found["reward loop"], found["batch"]
    assert [looped[name]["reward_score"] for name in ("right", "wrong")] == [1.0, 0.0]
    assert looped["right"]["reward_extra_info"] == {"score": 1.0, "acc": 1.0, "verdict": "PASSED"}
    assert looped["unjudged"].startswith(f"RewardLostError: {LOST}")
    assert batched["rewards"] == batched["acc"] == [1.0, 0.0]
    assert batched["verdict"] == ["PASSED", "FAILED"]


def test_openrlhfs_executor_gets_rewards_by_file_and_over_http(packages, lasting_server):
    found = run_example("openrlhf", lasting_server, packages)
    for way in ("file", "http"):
        for name, reward in (("right", 1.0), ("wrong", 0.0)):
            assert found[way][name] == {
                "reward": [reward],
                "scores": [reward],
                "extra_logs": {"passed": [reward]},
            }
    assert found["file"]["unjudged"] == {"reward": None, "scores": None, "extra_logs": {}}


def test_skyrls_environment_gets_rewards(packages, lasting_server):
    found = run_example("skyrl", lasting_server, packages)
    for name, reward, verdict in (("right", 1.0, "PASSED"), ("wrong", 0.0, "FAILED")):
        output = found[name]
        assert (output["reward"], output["done"], output["observations"]) == (reward, True, [])
        assert output["metadata"]["verdict"] == verdict
        assert output["metrics"] == {"passed": reward}
    assert found["unjudged"].startswith(f"RewardLostError: {LOST}")


SKYRL_TOOLS = """
import json

import skyrl_gym

from trainer_client.errors import RewardLostError
from examples.adapters.common import PROMPT, SAMPLES

skyrl_gym.register("codetools", entry_point="trainer_client.adapters.skyrl:CodeToolEnv")


def begun(**extras):
    label = {"reward_spec": {"method": "rule", "ground_truth": "twice"}, **extras}
    env = skyrl_gym.make("codetools", env_config={}, extras=label)
    env.init([{"role": "user", "content": PROMPT}])
    return env


def call(code):
    return f"I try it. <tool><python>{code}</python></tool>"


env = begun()
steps = [env.step(call("print(6 * 7)")), env.step(call("x")), env.step(SAMPLES[0].response)]
last = begun(max_turns=1).step(call("print(1)"))
print(json.dumps({"steps": steps, "last": last, "metrics": env.get_metrics()}))
"""


def test_skyrls_environment_of_several_turns_runs_programs(packages, lasting_server, tmp_path):
    file = tmp_path / "tasks.jsonl"
    tasks.write_templates(file, {"twice": TASK})
    found = run(["-c", SKYRL_TOOLS], lasting_server, packages, CODEREWARD_TASKS=str(file))
    first, second, _ = found["steps"]
    assert first["observations"] == [{"role": "user", "content": "42"}]
    assert "NameError: name 'x' is not defined" in second["observations"][0]["content"]
    assert [step["done"] for step in found["steps"]] == [False, False, True]
    assert [step["reward"] for step in found["steps"]] == [0.0, 0.0, 1.0]
    assert found["metrics"] == {"passed": 1.0}
    assert (found["last"]["done"], found["last"]["reward"]) == (True, 0.0)


VERL_TOOLS = """
import asyncio
import json
import os
from importlib.util import find_spec

from verl.tools.function_tool import normalize_function_tool_return
from verl.tools.tool_registry import load_all_tools

from trainer_client.adapters.common.settings import forget
from trainer_client.errors import CallError

folder = os.path.dirname(find_spec("trainer_client.adapters").origin)
tools = load_all_tools(
    tool_config_path=None, function_tool_path=os.path.join(folder, "verl_tools.py")
)
(tool,) = tools.values() if isinstance(tools, dict) else tools


def call(**arguments):
    response, reward, _ = normalize_function_tool_return(asyncio.run(tool.call(arguments)))
    return [response.text, reward]


found = [call(code="print(6 * 7)"), call(code="x")]
os.environ.update(CODEREWARD_TARGET="127.0.0.1:1", CODEREWARD_OUTAGE_SECONDS="0.1")
forget()
try:
    lost = call(code="print(1)")
except CallError as error:
    lost = str(error)
schema = tool.tool_schema.model_dump(exclude_none=True)
print(json.dumps({"schema": schema, "found": found, "lost": lost}))
"""


@pytest.mark.exhaustive
def test_verls_registry_finds_the_tool_and_its_calls_run_programs(packages, lasting_server):
    found = run(["-c", VERL_TOOLS], lasting_server, packages)
    function = found["schema"]["function"]
    assert function["name"] == "code_interpreter"
    assert function["parameters"]["required"] == ["code"]
    (output, reward), (error, _) = found["found"]
    assert (output, reward) == ("42", 0.0)
    assert "NameError: name 'x' is not defined" in error
    assert found["lost"].startswith("UNAVAILABLE")


INTERFACES = """
from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

import torch

MetadataT = TypeVar("MetadataT")


class EnvironmentReturn(NamedTuple, Generic[MetadataT]):
    observations: list[dict[str, str]]
    metadata: list[MetadataT]
    next_stop_strings: list[list[str] | None]
    rewards: torch.Tensor
    terminateds: torch.Tensor
    answers: list[str | None] | None


class EnvironmentInterface(ABC, Generic[MetadataT]):
    @abstractmethod
    def step(self, message_log_batch, metadata): ...

    @abstractmethod
    def global_post_process_and_metrics(self, batch): ...
"""
NEMO_RL = """
import json
from trainer_client.adapters.nemo_rl import CodeRewardActor, CodeRewardEnvironment
from trainer_client.errors import RewardLostError
from examples.adapters.common import SAMPLES

assert CodeRewardActor.options(runtime_env={}) and CodeRewardActor.remote
environment = CodeRewardEnvironment({})


def log(sample):
    question = {"role": "user", "content": "Write twice(x)."}
    return [question, {"role": "assistant", "content": sample.response}]


def step(samples):
    labels = [{"ground_truth": sample.label} for sample in samples]
    return environment.step([log(sample) for sample in samples], labels)


# As NeMo-RL takes it apart.
observations, metadata, stops, rewards, terminateds, answers = step(SAMPLES[:2])
batch, metrics = environment.global_post_process_and_metrics({"rewards": rewards})
try:
    lost = str(step(SAMPLES))
except RewardLostError as error:
    lost = str(error)
environment.shutdown()
print(json.dumps({
    "observations": observations, "metadata": metadata, "stops": stops, "answers": answers,
    "rewards": rewards.tolist(), "terminateds": terminateds.tolist(), "metrics": metrics,
    "same batch": batch["rewards"] is rewards, "lost": lost,
}))
"""


def test_nemo_rls_documented_interface_is_met(packages, lasting_server, tmp_path):
    interfaces = tmp_path / "nemo_rl" / "environments" / "interfaces.py"
    interfaces.parent.mkdir(parents=True)
    interfaces.write_text(INTERFACES)
    file = tmp_path / "tasks.jsonl"
    tasks.write_templates(file, {"twice": TASK})
    found = run(["-c", NEMO_RL], lasting_server, packages, tmp_path, CODEREWARD_TASKS=str(file))
    assert found == {
        "observations": [
            {"role": "environment", "content": "PASSED"},
            {"role": "environment", "content": "FAILED"},
        ],
        "metadata": [{"ground_truth": "twice"}] * 2,
        "stops": [None, None],
        "answers": None,
        "rewards": [1.0, 0.0],
        "terminateds": [True, True],
        "metrics": {"mean_reward": 0.5},
        "same batch": True,
        "lost": found["lost"],
    }
    assert found["lost"].startswith(LOST)

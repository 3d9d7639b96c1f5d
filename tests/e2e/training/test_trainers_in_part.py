"""Parts of trainers call the adapters: what scores completions, without what models need.

Each is a real package of scripts/adapter_requirements.txt. In place of packages that its scoring
code imports and does not use there are stand-ins, which each test names; see `stand_ins`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.training.test_trainers import LOST, run
from tests.support.tools import require_package
from trainer_client.local_server import LocalServer

pytestmark = pytest.mark.training

MODELS = "openai,anthropic,httpx,renderers"
TRAINING = "datasets,peft,transformers,trl"


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of trainers' packages; skips where it is absent."""
    return require_package("adapters", "verifiers")


def run_part(name: str, stand_ins: str, server: LocalServer, packages: Path) -> Any:
    program = Path(__file__).parents[1] / "support" / "stand_ins.py"
    module = f"examples.adapters.{name}"
    return run([str(program), stand_ins, module], server, packages)


def test_verifiers_ends_rollouts_with_rewards_and_failed_ones_with_an_error(
    packages, lasting_server
):
    stand_ins = f"{MODELS},aiohttp,prime_sandboxes,tenacity,tomli_w"
    found = run_part("verifiers", stand_ins, lasting_server, packages)
    for name, reward, verdict in (("right", 1.0, "PASSED"), ("wrong", 0.0, "FAILED")):
        assert (found[name]["ok"], found[name]["reward"], found[name]["errors"]) == (
            True,
            reward,
            [],
        )
        assert found[name]["info"]["code_reward"]["verdict"] == verdict
    for name, kind, reason in (
        ("unjudged", "TaskError", LOST),
        ("outage", "SandboxError", "no reward: UNAVAILABLE"),
    ):
        assert (found[name]["ok"], found[name]["reward"]) == (False, None)
        ((error, message),) = found[name]["errors"]
        assert error == kind
        assert message.startswith(reason)


def test_ms_swift_gives_what_was_not_judged_no_advantage(packages, lasting_server):
    ours = "swift.infer_engine,swift.model,swift.template"
    stand_ins = f"{ours},{TRAINING},modelscope,json_repair,aiohttp"
    found = run_part("swift", stand_ins, lasting_server, packages)
    assert found["group"]["rewards"] == [1.0, 0.0, 0.5]
    assert found["gdpo"]["rewards"][:2] == [1.0, 0.0]
    assert math.isnan(found["gdpo"]["rewards"][2])
    for scale in ("group", "gdpo"):
        right, wrong, unjudged = found[scale]["advantages"]
        assert right == -wrong == pytest.approx(1.0, abs=1e-3)
        assert unjudged == 0.0


def test_axolotl_finds_the_rewards_by_name_and_its_worker_calls_one(packages, lasting_server):
    stand_ins = f"{TRAINING},accelerate,addict,numba,smdistributed"
    found = run_part("axolotl", stand_ins, lasting_server, packages)
    assert found["awaited"] == [1.0, 0.0, None]
    assert found["worker"][:2] == [1.0, 0.0]
    assert math.isnan(found["worker"][2])


def test_art_gathers_the_group_without_what_was_not_judged(packages, lasting_server):
    found = run_part("art", f"{MODELS},transformers,litellm,polars", lasting_server, packages)
    assert found["rewards"] == found["passed"] == [0.0, 1.0]
    (error,) = found["exceptions"]
    assert error.startswith(LOST)
    assert found["without max_exceptions"].startswith(LOST)


def test_areals_pool_gets_rewards_and_an_exception_after_its_attempts(packages, lasting_server):
    found = run_part("areal", "areal.infra,areal.utils", lasting_server, packages)
    assert (found["right"], found["wrong"]) == (1.0, 0.0)
    assert found["unjudged"].startswith(f"RewardLostError: {LOST}")

"""NeMo-Gym's door: a verdict is a reward, and what was not judged is masked."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from reward_server.app import App, running_app
from reward_server.domain import CallJudgement, Execution, Job, Program
from reward_server.errors import SandboxError
from reward_server.http import nemo_gym
from reward_server.settings import Settings
from tests.rpc.conftest import Serve
from tests.rpc.fakes import FakeExecutor
from tests.rpc.http.conftest import url_of

STDIO = {"inputs": ["1\n", "20\n"], "outputs": ["2\n", "40\n"], "fn_name": None}
CALLS = {"inputs": ["[1, 2]\n3"], "outputs": ["[1, 2, 3]"], "fn_name": "f"}
DOUBLE = "Here it is:\n```python\nprint(int(input()) * 2)\n```"


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def body(text: str, tests: Any = STDIO, **metadata: Any) -> dict[str, Any]:
    output = [{"type": "reasoning", "summary": []}, message("a draft"), message(text)]
    return {
        "responses_create_params": {"input": "Double the number."},
        "response": {"id": "r", "object": "response", "output": output},
        "verifier_metadata": metadata or {"unit_tests": tests},
        "session": "kept",
    }


async def verified(app: App, sent: dict[str, Any]) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=f"http://{app.http_address}", timeout=60) as client:
        answer = await client.post("/verify", json=sent)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    assert {name: found[name] for name in sent} == sent
    return found


async def test_real_programs_get_rewards() -> None:
    settings = Settings(port=0, http_port=0, workers=2, drain_seconds=0, languages=("python",))
    call = "```python\ndef f(a, b): return a + [b]\n```"
    broken = {"function": {"entry_point": "f", "test_code": "def check("}}
    async with running_app(settings) as app:
        right, wrong, function, nothing, invalid = await asyncio.gather(
            verified(app, body(DOUBLE)),
            verified(app, body("```python\nprint(2)\n```")),
            verified(app, body(call, CALLS)),
            verified(app, {**body(""), "response": {}}),
            verified(app, body(call, score_request=broken)),
        )
    for answer, reward in ((right, 1.0), (wrong, 0.0), (function, 1.0), (nothing, 0.0)):
        assert (answer["reward"], answer["mask_sample"]) == (reward, False)
        assert answer["failure_kind"] is answer["failure_reason"] is None
        assert answer["instance_config"] == {"mask_sample": False}
        assert "_ng_failure_class" not in answer
    assert (invalid["mask_sample"], invalid["failure_kind"]) == (True, "invalid_task")
    assert "does not compile" in invalid["failure_reason"]


def mask_of_nemo_rl(result: dict[str, Any]) -> bool:
    """Where NeMo-RL looks for the mask, in `nemo_rl/experience/rollouts.py` of its repository."""
    return bool((result.get("instance_config") or {}).get("mask_sample", False))


async def test_the_tests_of_a_data_set_are_those_of_a_request(serve: Serve) -> None:
    served = await serve(http_port=0)
    await verified(served.app, body(DOUBLE))
    await verified(served.app, body("x", CALLS))
    programs = [one.work for one in served.executor.started if isinstance(one.work, Program)]
    calls = [one.work for one in served.executor.started if isinstance(one.work, CallJudgement)]
    assert {one.stdin for one in programs} <= {b"1\n", b"20\n"}
    assert [(case.args_json, case.expected_json) for case in calls[0].tests.cases] == [
        ("[[1, 2],3]", "[1, 2, 3]")
    ]


def lost(_: Job) -> Execution:
    raise SandboxError("lost")


async def test_what_the_server_lost_is_masked(serve: Serve) -> None:
    served = await serve(FakeExecutor(behaviour=lost), http_port=0)
    answer = await verified(served.app, body(DOUBLE))
    assert (answer["mask_sample"], answer["failure_kind"]) == (True, "sandbox")
    assert "lost" in answer["failure_reason"]
    assert answer["_ng_failure_class"] == "sandbox"
    assert mask_of_nemo_rl(answer)


async def test_the_mask_is_put_beside_what_a_sample_has_of_its_own(serve: Serve) -> None:
    served = await serve(FakeExecutor(behaviour=lost), http_port=0)
    sent = {**body(DOUBLE), "instance_config": {"kept": 1, "mask_sample": False}}
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        answer = (await client.post("/verify", json=sent)).json()
    assert answer["instance_config"] == {"kept": 1, "mask_sample": True}


async def test_an_agent_of_nemo_gym_finds_a_whole_resources_server(serve: Serve) -> None:
    served = await serve(FakeExecutor(behaviour=lost), http_port=0)
    sent = body(DOUBLE)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        seeded = await client.post("/seed_session", json={**sent, "_ng_task_index": 1})
        assert (seeded.status_code, seeded.json()) == (200, {})
        assert (await client.get("/reverify_mode")).json() == "stateless"
        masked = await verified(served.app, sent)
        answers = [
            {"_ng_task_index": 1, "reward": 1.0},
            {"_ng_task_index": 1, "reward": 0.0},
            {"_ng_task_index": 2, "reward": 1.0},
            {"_ng_task_index": 2, **masked},
        ]
        told = await client.post("/aggregate_metrics", json={"verify_responses": answers})
        nothing = await client.post("/aggregate_metrics", json={"verify_responses": []})
    assert told.json()["group_level_metrics"] == [
        {"_ng_task_index": 1, "mean/reward": 0.5},
        {"_ng_task_index": 2, "mean/reward": 1.0},
    ]
    assert told.json()["key_metrics"] == {"mean/reward": pytest.approx(2 / 3)}
    assert nothing.json()["agent_metrics"] == {}


async def test_what_found_no_room_is_masked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nemo_gym, "PATIENCE_SECONDS", 0.3)
    served = await serve(FakeExecutor(slots=1, held=True), http_port=0, queue_capacity=1)
    answers = await asyncio.gather(
        *(verified(served.app, body(f"```python\n{number}\n```")) for number in range(4))
    )
    assert all(one["mask_sample"] for one in answers)
    assert {one["failure_kind"] for one in answers} <= {"overloaded", "deadline"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "responses_create_params"),
        (body("x", other=1), "verifier_metadata"),
        (body("x", {"inputs": [""], "outputs": []}), "verifier_metadata.unit_tests"),
        (body("x", score_request={"nonsense": 1}), "nonsense"),
        (
            body("x", {"inputs": [""], "outputs": [""], "exact": 1}),
            "verifier_metadata.unit_tests.exact",
        ),
    ],
)
async def test_a_wrong_request_is_refused(serve: Serve, sent: Any, field: str) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/verify", json=sent)
    assert (answer.status_code, answer.json()["field"]) == (400, field)

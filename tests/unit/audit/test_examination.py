"""What the audit concludes from answers, which a judge of the test gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer
from reward_server.audit.cheats.choice import cheats_of
from reward_server.audit.examination import Options, examine
from reward_server.audit.findings import KINDS, Finding, Severities, Severity, TaskReport
from reward_server.audit.tasks import Task, read_tasks

REFERENCE = "def f(x):\n    return 3 * x + 1\n"
INFO = pb.GetServerInfoResponse(
    default_limits=pb.Limits(cpu_time_seconds=10, wall_time_seconds=20, memory_bytes=1 << 29),
    maximum_limits=pb.Limits(cpu_time_seconds=60, wall_time_seconds=90, memory_bytes=1 << 31),
    minimum_limits=pb.Limits(cpu_time_seconds=0.1, wall_time_seconds=0.1, memory_bytes=1 << 24),
)
Rule = Callable[[pb.ScoreRequest], pb.ScoreResponse]


def task(**more: Any) -> Task:
    asserts = ["assert f(2) == 7", "assert f(5) == 16"]
    request = {"function": {"entry_point": "f", "asserts": asserts}, **more}
    line = {"task_id": "a", "prompt": "Write f.", "request": request, "reference": REFERENCE}
    (found,) = read_tasks([json.dumps(line).encode()])
    return found


def response(verdict: str, *, cpu: float = 0.1, **more: Any) -> pb.ScoreResponse:
    usage = pb.Usage(cpu_time_seconds=cpu, executions=1, peak_memory_bytes=64 << 20)
    value = pb.Verdict.Value(f"VERDICT_{verdict}")
    isolated = pb.INTEGRITY_ISOLATED
    return pb.ScoreResponse(verdict=value, usage=usage, **{"integrity": isolated, **more})


def is_reference(request: pb.ScoreRequest) -> bool:
    return request.completion.startswith(REFERENCE)


async def examined(rule: Rule, **more: Any) -> TaskReport:
    async def judge(request: pb.ScoreRequest) -> Answer:
        return Answer(response=rule(request))

    return await examine(task(**more), judge, INFO, Options())


def sound(request: pb.ScoreRequest) -> pb.ScoreResponse:
    return response("PASSED" if is_reference(request) else "FAILED")


async def test_a_sound_task_gets_a_form_and_limits_with_room() -> None:
    report = await examined(sound)
    assert report.findings == []
    assert (report.integrity, report.runs, report.passed) == ("ISOLATED", 3, 3)
    assert report.needs is not None
    assert report.needs.limits == {
        "cpu_time_seconds": 2.0,
        "wall_time_seconds": 5.0,
        "memory_bytes": 256 << 20,
    }


async def test_suggested_limits_stay_within_those_of_the_server() -> None:
    report = await examined(
        lambda one: response("PASSED", cpu=50.0) if is_reference(one) else response("FAILED")
    )
    assert report.needs is not None
    assert report.needs.limits["cpu_time_seconds"] == 60
    assert report.needs.limits["wall_time_seconds"] == 90
    assert [one.kind for one in report.findings] == ["limit_tight"]


async def test_runs_of_a_reference_are_never_equal_requests() -> None:
    seen: list[bytes] = []

    def rule(request: pb.ScoreRequest) -> pb.ScoreResponse:
        seen.append(request.SerializeToString(deterministic=True))
        return sound(request)

    await examined(rule)
    assert len(seen) == len(set(seen))


async def test_tests_that_need_the_other_placement_get_it_and_so_do_their_cheats() -> None:
    placements = []

    def rule(request: pb.ScoreRequest) -> pb.ScoreResponse:
        if request.function.placement != pb.TEST_PLACEMENT_BESIDE:
            return response("FAILED")
        placements.append(is_reference(request))
        shared = response("PASSED" if is_reference(request) else "FAILED")
        shared.integrity = pb.INTEGRITY_SHARED
        return shared

    report = await examined(rule)
    assert (report.placement, report.integrity) == ("TEST_PLACEMENT_BESIDE", "SHARED")
    assert (report.findings, report.passed) == ([], report.runs)
    assert placements.count(False) > 20


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("UNAVAILABLE", "not_judged"),
        ("INTERNAL", "not_judged"),
        ("DEADLINE_EXCEEDED", "not_judged"),
        ("INVALID_ARGUMENT", "invalid_task"),
        ("FAILED_PRECONDITION", "invalid_task"),
    ],
)
async def test_a_failure_of_the_server_says_nothing_about_the_task(status: str, kind: str) -> None:
    async def judge(request: pb.ScoreRequest) -> Answer:
        return Answer(response=pb.ScoreResponse(), status=status, problem="why")

    report = await examine(task(), judge, INFO, Options())
    assert [(one.kind, one.reason) for one in report.findings] == [(kind, f"{status}: why")]


async def test_a_cheat_that_is_not_judged_is_told() -> None:
    async def judge(request: pb.ScoreRequest) -> Answer:
        if "os._exit" in request.completion:
            return Answer(response=pb.ScoreResponse(), status="UNAVAILABLE", problem="gone")
        return Answer(response=sound(request))

    report = await examine(task(), judge, INFO, Options())
    assert [one.kind for one in report.findings] == ["not_judged"]


async def test_a_bonus_that_the_task_pays_for_compiling_is_no_finding() -> None:
    def rule(request: pb.ScoreRequest) -> pb.ScoreResponse:
        return (
            response("PASSED", reward=1.0)
            if is_reference(request)
            else (response("FAILED", reward=0.1))
        )

    assert (await examined(rule, reward_policy={"compile_bonus": 0.1})).findings == []
    report = await examined(rule)
    assert [one.kind for one in report.findings] == ["partial_reward"]


def test_every_cheat_has_a_name_of_its_own_and_is_python() -> None:
    cheats = list(cheats_of(task(), with_hacks=True))
    assert len({one.name for one in cheats}) == len(cheats) > 25
    for one in cheats:
        compile(one.code, one.name, "exec")
        assert one.kind in KINDS


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return " + "+".join(["x"] * 3000),
        "table = " + "+".join(["1"] * 3000) + "\ndef f(x):\n    return table",
        "def f(x):\n    return x" + "[0]" * 3000,
        "def f(x: " + "(" * 150 + "int" + ")" * 150 + "):\n    return x",
        "\x00",
        "def f(x):\n    return '\ud800'",
    ],
)
async def test_text_that_is_hard_to_read_ends_no_audit(code: str) -> None:
    hard = task()
    request = hard.template
    request.function.asserts.append("assert f(0x" + "f" * 6000 + ") == 0x" + "f" * 6000)
    request.function.asserts.append("assert f(1) == " + "[" * 90 + "]" * 90)

    async def judge(request: pb.ScoreRequest) -> Answer:
        return Answer(response=response("FAILED"))

    question = f"Write f.\n>>> f(2)\n{'9' * 5000}"
    row = {"request": MessageToDict(request), "prompt": question, "reference": code}
    (changed,) = read_tasks([json.dumps(row).encode()])
    report = await examine(changed, judge, INFO, Options())
    assert report.has("reference_fails")


def test_severities_can_be_changed_for_each_kind() -> None:
    report = TaskReport(id="a", digest="", language="python", tests="function")
    report.found("leak", "shown")
    assert Severities().drops(report)
    assert not Severities(kept=frozenset({"leak"})).drops(report)
    tight = Finding(kind="limit_tight", reason="")
    assert Severities().of(tight) is Severity.WARN
    assert Severities(dropped=frozenset({"limit_tight"})).of(tight) is Severity.DROP

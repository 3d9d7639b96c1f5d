"""`reward-server audit`, as people run it, over real sandboxes."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reward_server.cli import main
from tests.e2e.audit.broken import BROKEN, LINEAR, Broken
from tests.e2e.audit.naive_grader import naive_grader
from tests.e2e.audit.sound import SOUND
from tests.support.sampling import TAKES_ALL, sampled
from tests.support.tools import needs
from trainer_client.local_server import LocalServer
from trainer_client.trl.command import _app as reward_train

Audit = Callable[..., "Ended"]
HACKED = [one for one in BROKEN if "hack_passes" in one.kinds]
# Three tasks of HumanEval have examples that contradict their solutions, and one has one test.
KNOWN = {
    "HumanEval/34": {"constant_passes", "examples_pass"},
    "HumanEval/47": {"example_contradicts"},
    "HumanEval/116": {"example_contradicts"},
    "HumanEval/148": {"example_contradicts"},
}


@dataclass(frozen=True)
class Ended:
    status: int
    stdout: str
    stderr: str


@pytest.fixture
def audit(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Returns the command in this process, whose log lines stay as the tests set them."""
    module = importlib.import_module("reward_server.cli.reach")
    monkeypatch.setattr(module, "configure_logging", lambda *_, **__: None)

    def run(*arguments: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["reward-server", "audit", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return run


def write(file: Path, lines: Iterable[dict[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def found(done: Ended) -> dict[str, set[str]]:
    assert done.stdout, done.stderr
    tasks = json.loads(done.stdout)["tasks"]
    return {task["id"]: {one["kind"] for one in task["findings"]} for task in tasks}


def test_every_planted_fault_is_found_and_nothing_in_sound_tasks(
    audit: Audit, lasting_server: LocalServer, tmp_path: Path
) -> None:
    planted = [one for one in BROKEN if one not in HACKED]
    assert len(planted) >= 40
    if not TAKES_ALL:
        planted = list({one.kinds: one for one in planted}.values())
    tasks = write(tmp_path / "tasks.jsonl", [one.line() for one in (*SOUND, *planted)])
    out = tmp_path / "out"
    target = ("--target", lasting_server.target)
    done = audit(tasks, *target, "--no-hacks", "--json", "--out", out)
    assert done.status == 1, done.stderr
    kinds = found(done)
    missed = [one.name for one in planted if not kinds[one.name] & set(one.kinds)]
    assert missed == []
    assert {one.name: kinds[one.name] for one in SOUND if kinds[one.name]} == {}

    told = json.loads((out / "audit.json").read_text())
    kept = [json.loads(line)["task_id"] for line in (out / "tasks.jsonl").read_text().splitlines()]
    dropped = [json.loads(line) for line in (out / "dropped.jsonl").read_text().splitlines()]
    assert kept == [task["id"] for task in told["tasks"] if task["kept"]]
    assert [task["id"] for task in told["tasks"] if not task["kept"]] == [
        line["id"] for line in dropped
    ]
    assert all(line["findings"] for line in dropped)
    assert {one.name for one in SOUND} <= set(kept)


def test_the_tasks_that_are_kept_pass_a_second_audit_with_their_new_limits(
    audit: Audit, lasting_server: LocalServer, tmp_path: Path
) -> None:
    request = {"id": "linear", "completion": SOUND[0].reference, **LINEAR}
    repaired = {**request, "id": "small", "limits": {"cpuTimeSeconds": 0.05}}
    heavy = next(one for one in BROKEN if one.name == "a time limit that is too small")
    slow = asserts_of_two(heavy)
    tasks = write(tmp_path / "tasks.jsonl", [request, repaired, slow])
    first, second = tmp_path / "first", tmp_path / "second"
    target = ("--target", lasting_server.target, "--no-hacks", "--keep", "limit_too_small")
    done = audit(tasks, *target, "--keep", "duplicate", "--json", "--out", first)
    assert found(done) == {"linear": set(), "small": {"duplicate"}, "slow": {"limit_too_small"}}
    assert done.status == 0
    lines = [json.loads(line) for line in (first / "tasks.jsonl").read_text().splitlines()]
    assert [line["limits"].keys() for line in lines] == [
        {"cpu_time_seconds", "wall_time_seconds", "memory_bytes"}
    ] * 3
    assert {line["tags"]["audit_form"] for line in lines} == {"ISOLATED"}
    done = audit(first / "tasks.jsonl", *target, "--json", "--out", second)
    assert found(done) == {"linear": set(), "small": {"duplicate"}, "slow": set()}
    assert done.status == 1


def asserts_of_two(heavy: Broken) -> dict[str, Any]:
    tests = {"entry_point": "f", "asserts": ["assert f(2) == 7", "assert f(5) == 16"]}
    limits = {"cpu_time_seconds": 0.1}
    return {"id": "slow", "completion": heavy.reference, "function": tests, "limits": limits}


def test_hacks_pass_only_where_they_are_what_is_tested(
    audit: Audit, lasting_server: LocalServer, tmp_path: Path
) -> None:
    lines = [one.line() for one in (SOUND[0], *HACKED)]
    tasks = write(tmp_path / "tasks.jsonl", lines)
    done = audit(tasks, "--target", lasting_server.target, "--json")
    kinds = found(done)
    assert kinds.pop(SOUND[0].name) == set()
    assert all("hack_passes" in one for one in kinds.values()), done.stdout


def exported(kind: str, file: Path, out: Path, *settings: str) -> list[dict[str, Any]]:
    given = [part for setting in settings for part in ("--set", setting)]
    done = CliRunner().invoke(
        reward_train, ["tasks", "--data", f"{kind}={file}", "--out", str(out), *given]
    )
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_published_sets_have_no_faults_but_the_known_ones(
    audit: Audit, data_folder: Path, lasting_server: LocalServer, tmp_path: Path
) -> None:
    humaneval = exported("humaneval", data_folder / "HumanEval.jsonl", tmp_path / "h.jsonl")
    mbpp = exported(
        "mbpp", data_folder / "mbpp_full.jsonl", tmp_path / "m.jsonl", "data.question={text}"
    )
    chosen = [row for row in humaneval if row["task_id"] in KNOWN]
    others = [row for row in humaneval if row["task_id"] not in KNOWN]
    rows = [*chosen, *sampled(others, 20), *sampled(mbpp[4:], 100)]
    tasks = write(tmp_path / "tasks.jsonl", rows)
    done = audit(tasks, "--target", lasting_server.target, "--no-hacks", "--json")
    kinds = found(done)
    assert {name: kinds.pop(name) for name in KNOWN} == KNOWN
    assert {name: seen for name, seen in kinds.items() if seen} == {}
    assert done.status == 1


@needs("g++", "node")
def test_programs_in_other_languages_are_audited(
    audit: Audit, data_folder: Path, tmp_path: Path
) -> None:
    rows = [
        row
        for name in ("cpp", "js")
        for row in exported(
            "humaneval_x", data_folder / f"humaneval_x_{name}.jsonl", tmp_path / f"{name}.jsonl"
        )[:1]
    ]
    broken = [
        {**row, "task_id": f"wrong {row['task_id']}", "prompt": "", "reference": wrong}
        for row, wrong in zip(rows, ("    return true;\n}\n", "  return true\n}\n"), strict=True)
    ]
    tasks = write(tmp_path / "tasks.jsonl", [*rows, *broken])
    # The wrong ones have the tests of the right ones, and so no text of their own.
    done = audit(tasks, "--set", "languages=c++,javascript", "--json", "--workers", "2")
    kinds = found(done)
    names = [row["task_id"] for row in rows]
    assert {name: kinds[name] for name in names} == {name: set() for name in names}, done.stdout
    assert all("reference_fails" in kinds[row["task_id"]] for row in broken)


@pytest.mark.parametrize(
    ("lines", "arguments", "message", "status"),
    [
        (["{"], (), "line 1: is not JSON", 1),
        ([], (), "holds no tasks", 1),
        (['{"id": "a"}', '{"id": "a"}'], (), "line 2: id: 'a' is also the id of line 1", 1),
        (['{"id": "a"}'], ("--keep", "leaks"), "--keep leaks: must be one of no_tests", 2),
        (['{"id": "a"}'], ("--keep", "not_judged"), "nothing is known about a task", 2),
        (['{"id": "a"}'], ("--keep", "leak", "--drop", "leak"), "both name leak", 2),
        (['{"id": "a"}'], ("--grader", "file:///etc"), "must be an address that begins", 2),
        (['{"id": "a"}'], ("--target", "127.0.0.1:1", "--timeout", "0.2"), "no answer from", 1),
    ],
)
def test_what_cannot_be_audited_is_said_in_a_line_and_a_status(
    audit: Audit,
    tmp_path: Path,
    lines: list[str],
    arguments: tuple[str, ...],
    message: str,
    status: int,
) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("\n".join(lines))
    done = audit(tasks, *arguments)
    assert message in " ".join(done.stderr.split())
    assert done.status == status


@pytest.mark.parametrize(
    ("path", "field"), [("/run_code", ()), ("/grade", ("--grader-field", "result.score"))]
)
def test_a_naive_grader_by_its_address_is_shown_to_be_fooled(
    audit: Audit, lasting_server: LocalServer, tmp_path: Path, path: str, field: tuple[str, ...]
) -> None:
    tasks = write(tmp_path / "tasks.jsonl", [SOUND[0].line()])
    with naive_grader() as address:
        done = audit(
            *(tasks, "--target", lasting_server.target, "--no-hacks", "--json"),
            *("--grader", f"{address}{path}", *field),
        )
    assert done.status == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["tasks"][0]["findings"] == []
    (grader,) = report["graders"]
    assert (grader["tasks"], grader["references_rewarded"], grader["unanswered"]) == (1, 1, 0)
    assert {"os._exit(0) in a call", "a result that equals everything"} <= set(grader["fooled_by"])
    assert not {"empty answer", "a constant", "first argument"} & set(grader["fooled_by"])


def test_a_grader_that_rewards_nothing_or_cannot_be_read_proves_nothing(
    audit: Audit, lasting_server: LocalServer, tmp_path: Path
) -> None:
    tasks = write(tmp_path / "tasks.jsonl", [SOUND[0].line()])
    with naive_grader() as address:
        done = audit(
            *(tasks, "--target", lasting_server.target, "--no-hacks", "--json"),
            *("--grader", f"{address}/refuses", "--grader", f"{address}/silent"),
            *("--grader-field", "result.score"),
        )
    refusing, silent = json.loads(done.stdout)["graders"]
    assert done.status == 0
    assert (refusing["references_rewarded"], refusing["cheats"]) == (0, {})
    assert (silent["unanswered"], silent["problem"]) == (1, "the answer has no field result.score")

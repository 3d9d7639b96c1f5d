"""`reward-train` takes what an audit says about its tasks, and writes tasks for one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from codereward.task_digest import task_digest
from trainer_client.errors import ConfigError
from trainer_client.tasks import from_json
from trainer_client.trl.command import _app
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.tasks.audits import dropped_by_audit
from trainer_client.trl.tasks.data import TaskSource, read_tasks

ROWS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        "entry_point": f"f{number}",
        "canonical_solution": "    return 1\n",
    }
    for number in range(3)
]
LEAK = {"kind": "leak", "severity": "drop", "reason": "shown"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS))
    return file


@pytest.fixture
def source(data: Path) -> TaskSource:
    flags = {"model.path": "m", "data.kind": "humaneval", "data.path": str(data)}
    return read_tasks(load_config(None, flags).data)


def audit_of(source: TaskSource, *dropped: str) -> dict[str, Any]:
    tasks = [
        {
            "id": key,
            "digest": task_digest(template),
            "kept": key not in dropped,
            "findings": [LEAK] if key in dropped else [],
        }
        for key, template in source.templates.items()
    ]
    return {"format": 1, "tasks": tasks}


def dropped(source: TaskSource, file: Path, audit: object) -> tuple[frozenset[str], list[str]]:
    file.write_text(audit if isinstance(audit, str) else json.dumps(audit))
    told = io.StringIO()
    found = dropped_by_audit(file, source, Console(file=told, width=200))
    return found, told.getvalue().splitlines()


def test_tasks_that_an_audit_drops_are_named_with_the_reason(
    source: TaskSource, tmp_path: Path
) -> None:
    audit = audit_of(source, "HumanEval/1")
    assert dropped(source, tmp_path / "audit.json", audit) == (
        frozenset({"HumanEval/1"}),
        ["HumanEval/1: the audit drops it: leak (shown); left out"],
    )


def test_a_task_that_was_changed_since_or_is_unknown_stops_the_run(
    source: TaskSource, tmp_path: Path
) -> None:
    audit = audit_of(source)
    audit["tasks"][2]["digest"] = "0"
    with pytest.raises(ConfigError, match=r"task HumanEval/2 is not the one of .*audit the tasks"):
        dropped(source, tmp_path / "audit.json", audit)
    del audit["tasks"][2]
    with pytest.raises(ConfigError, match="does not know the task HumanEval/2; audit the tasks"):
        dropped(source, tmp_path / "audit.json", audit)


@pytest.mark.parametrize(
    ("audit", "problem"),
    [
        ("{", "cannot be read"),
        ([], r"is no audit.json of format 1"),
        ({"format": 2, "tasks": []}, r"is no audit.json of format 1"),
        ({"format": 1}, "lacks a field of a task: 'tasks'"),
        ({"format": 1, "tasks": [{"id": "a", "kept": True}]}, "lacks a field of a task: 'digest'"),
        (
            {"format": 1, "tasks": [{"id": "a", "kept": "no", "digest": "", "findings": []}]},
            "another type",
        ),
    ],
)
def test_a_file_that_is_no_audit_stops_the_run(
    source: TaskSource, tmp_path: Path, audit: object, problem: str
) -> None:
    with pytest.raises(ConfigError, match=f"data.audit: .*{problem}"):
        dropped(source, tmp_path / "audit.json", audit)


def test_tasks_are_written_as_rows_with_prompt_request_and_reference(
    data: Path, source: TaskSource, tmp_path: Path
) -> None:
    out = tmp_path / "tasks.jsonl"
    done = CliRunner().invoke(_app, ["tasks", "--data", f"humaneval={data}", "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["task_id"] for row in rows] == list(source.templates)
    assert rows[0]["reference"] == "    return 1\n"
    assert "Complete this Python function." in rows[0]["prompt"][0]["content"]
    for row in rows:
        written = task_digest(from_json(row["request"]))
        assert written == task_digest(source.templates[row["task_id"]])


def test_rows_that_were_written_are_tasks_of_their_own_kind(data: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "tasks.jsonl", tmp_path / "again.jsonl"
    runner = CliRunner()
    runner.invoke(_app, ["tasks", "--data", f"humaneval={data}", "--out", str(out)])
    done = runner.invoke(_app, ["tasks", "--data", f"requests={out}", "--out", str(again)])
    assert done.exit_code == 0, done.output
    assert again.read_text() == out.read_text()

"""The command, in front of a server whose executions are the test's."""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import typer
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from reward_server.app import serving
from reward_server.backends import Backend
from reward_server.cli.calls import Address
from reward_server.domain import (
    CallJudgement,
    Ending,
    Execution,
    FunctionJudgement,
    Job,
    Program,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.errors import SandboxError, StartError
from reward_server.settings import Settings

# The package gives the command this name, too.
calls_module = importlib.import_module("reward_server.cli.calls")
grade_module = importlib.import_module("reward_server.cli.grade")
reach_module = importlib.import_module("reward_server.cli.reach")
Grade = Callable[..., Result]


@dataclass
class Executor:
    """Passes what says `right`, breaks on what says `broken`, and fails everything else."""

    slots: int = 2
    started: list[Job] = field(default_factory=list)

    async def run(self, job: Job) -> Execution:
        self.started.append(job)
        assert isinstance(job.work, FunctionJudgement | CallJudgement | Program)
        if "broken" in job.work.source:
            raise SandboxError("broken")
        right = "right" in job.work.source
        outcome = TestOutcome.PASSED if right else TestOutcome.FAILED
        return Execution(
            ending=Ending.COMPLETED,
            termination=Termination(kind=TerminationKind.EXITED),
            tests=(TestResult(name="check", outcome=outcome),),
        )


@pytest.fixture
def executor() -> Executor:
    return Executor()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, executor: Executor) -> Iterator[Grade]:
    monkeypatch.setattr(reach_module, "configure_logging", lambda *_, **__: None)

    @asynccontextmanager
    async def embedded(settings: Settings, timeout: float) -> AsyncIterator[Address]:
        backend = Backend(
            name="fake", executor=executor, walls=(), language_versions={"python": "3"}
        )
        async with serving(settings.model_copy(update={"port": 0}), backend) as app:
            yield Address(target=app.address, timeout_seconds=timeout, patience_seconds=0.1)

    monkeypatch.setattr(reach_module, "embedded", embedded)
    app = typer.Typer()
    app.command()(grade_module.grade)

    def runner(*arguments: str | Path) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    with capture_logs():
        yield runner


def task(identifier: str, completion: str, **rest: object) -> dict[str, object]:
    tests = {"entry_point": "f", "test_code": "def check(candidate): assert candidate()"}
    return {"id": identifier, "completion": completion, "function": tests, **rest}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "tasks.jsonl", tmp_path / "results.jsonl"


def write(path: Path, *tasks: dict[str, object] | str) -> None:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in tasks]
    path.write_text("\n".join(lines) + "\n")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_results_come_in_the_order_of_the_tasks(run: Grade, files: tuple[Path, Path]) -> None:
    tasks, out = files
    write(tasks, *[task(str(n), "right" if n % 3 else "wrong") for n in range(300)])
    result = run(tasks, "--out", out)
    assert result.exit_code == 0, result.output
    rows = read(out)
    assert [row["id"] for row in rows] == [str(n) for n in range(300)]
    assert {row["verdict"] for row in rows[::3]} == {"FAILED"}
    assert {row["reward"] for row in rows[1::3]} == {1.0}
    assert "300 of 300 judged" in result.output


def test_lines_that_cannot_be_judged_say_why_and_stop_nobody(
    run: Grade, files: tuple[Path, Path]
) -> None:
    tasks, out = files
    write(
        tasks,
        task("a", "right"),
        "not JSON",
        "",
        task("b", "right", limits={"calls": 0}),
        task("c", "broken"),
        task("d", "right"),
    )
    result = run(tasks, "--out", out, "--json")
    assert result.exit_code == 1
    rows = read(out)
    assert [row["verdict"] for row in rows] == ["PASSED", None, None, None, "PASSED"]
    errors = [row["error"] for row in rows if row["error"]]
    assert [(error["line"], error["status"], error["field"]) for error in errors] == [
        (2, "INVALID_ARGUMENT", ""),
        (4, "INVALID_ARGUMENT", "limits.calls"),
        (5, "UNAVAILABLE", ""),
    ]
    summary = json.loads(result.stdout)
    assert summary["judged"] == 2
    assert summary["unjudged"] == 3
    assert summary["verdicts"] == {"PASSED": 2}
    assert summary["errors"] == {"INVALID_ARGUMENT": 2, "UNAVAILABLE": 1}
    assert summary["mean_reward"] == 1.0


def test_many_completions_of_a_task_may_have_its_id(run: Grade, files: tuple[Path, Path]) -> None:
    tasks, out = files
    write(tasks, task("a", "right"), task("a", "wrong"))
    assert run(tasks, "--out", out).exit_code == 0
    assert [(row["id"], row["verdict"]) for row in read(out)] == [("a", "PASSED"), ("a", "FAILED")]


def test_a_file_without_tasks_is_refused(run: Grade, files: tuple[Path, Path]) -> None:
    tasks, out = files
    tasks.write_text("\n \n")
    result = run(tasks, "--out", out)
    assert isinstance(result.exception, StartError)
    assert "holds no tasks" in str(result.exception)
    assert not out.exists()


def test_the_tasks_are_not_overwritten(run: Grade, files: tuple[Path, Path]) -> None:
    tasks, _ = files
    write(tasks, task("a", "right"))
    before = tasks.read_text()
    result = run(tasks, "--out", tasks)
    assert isinstance(result.exception, StartError)
    assert tasks.read_text() == before


def test_an_absent_file_is_wrong_usage(run: Grade, files: tuple[Path, Path]) -> None:
    tasks, out = files
    assert run(tasks, "--out", out).exit_code == 2


def test_a_target_that_does_not_answer_is_named(
    run: Grade, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, out = files
    write(tasks, task("a", "right"))

    def impatient(**options: Any) -> Address:
        return replace(Address(**options), patience_seconds=0.0)

    monkeypatch.setattr(calls_module, "Address", impatient)
    result = run(tasks, "--out", out, "--target", "127.0.0.1:1")
    assert isinstance(result.exception, StartError)
    assert "127.0.0.1:1" in str(result.exception)

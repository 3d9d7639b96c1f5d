"""`grade` and the benchmark, as people run them, over real sandboxes."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-c", "from reward_server.cli import main; main()")
TASKS = 8


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module")
def rows(data_folder: Path) -> list[dict[str, str]]:
    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:TASKS]]


def task(row: dict[str, str], completion: str, suffix: str = "") -> dict[str, Any]:
    return {
        "id": row["task_id"] + suffix,
        "prompt": row["prompt"],
        "completion": completion,
        "function": {"entry_point": row["entry_point"], "test_code": row["test"]},
    }


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


DOUBLE = "for line in open(0):\n    print(2 * int(line))\n"
CASE = {"stdin": encoded(b"1\n2\n"), "expected_stdout": encoded(b"2\n4\n")}
CHECKER = (
    "import sys\n"
    "given, output, expected = (open(name).read() for name in sys.argv[1:])\n"
    "sys.exit(sorted(output.split()) != sorted(expected.split()))\n"
)


def test_a_file_is_graded_in_order_by_an_embedded_server(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    program = {"kind": "CHECKER_KIND_PROGRAM", "program": CHECKER}
    tasks = [
        *[task(row, row["canonical_solution"]) for row in rows],
        *[task(row, "    return None\n", "/wrong") for row in rows],
        task(rows[0], "<think>```no```</think>\n```python\nimport os\nos._exit(0)\n```", "/exit"),
        {"id": "stdio", "completion": DOUBLE, "stdio": {"cases": [CASE, CASE]}},
        {
            "id": "checker",
            "completion": DOUBLE.replace("open(0)", "[2, 1]"),
            "stdio": {"cases": [CASE], "checker": program},
        },
        {
            "id": "partial",
            "completion": "```python\ndef f(x):\n    if x == 2: exit()\n    return x\n```",
            "call": {
                "entry_point": "f",
                "cases": [{"args_json": f"[{n}]", "expected_json": f"{n}"} for n in range(4)],
            },
            "reward_policy": {"kind": "REWARD_POLICY_KIND_FRACTION"},
        },
    ]
    source, out = tmp_path / "tasks.jsonl", tmp_path / "results.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in tasks))
    ended = run("grade", source, "--out", out, "--json")
    assert ended.returncode == 0, ended.stderr
    results = [json.loads(line) for line in out.read_text().splitlines()]
    assert [result["id"] for result in results] == [one["id"] for one in tasks]
    verdicts = [result["verdict"] for result in results]
    assert verdicts[:TASKS] == ["PASSED"] * TASKS
    assert not {"PASSED", "INVALID_TASK"} & {*verdicts[TASKS : 2 * TASKS]}
    assert verdicts[2 * TASKS :] == ["RUNTIME_ERROR", "PASSED", "PASSED", "RUNTIME_ERROR"]
    assert results[-1]["reward"] == 0.75
    assert {result["integrity"] for result in results} == {"ISOLATED"}
    assert all(result["error"] is None for result in results)
    assert json.loads(ended.stdout)["judged"] == len(tasks)


def test_broken_tasks_and_checkers_are_told_from_wrong_answers(tmp_path: Path) -> None:
    def checked(name: str, completion: str, checker: str) -> dict[str, Any]:
        program = {"kind": "CHECKER_KIND_PROGRAM", "program": checker}
        stdio = {"cases": [CASE], "checker": program}
        return {"id": name, "completion": completion, "stdio": stdio}

    picky = "import sys, os\nos._exit(3 if 'boom' in open('output').read() else 0)\n"
    tasks = [
        checked("accepts", DOUBLE, picky),
        checked("upset", "print('boom')", picky),
        checked("broken", DOUBLE, "import os\nos._exit(3)\n"),
        {"id": "bad tests", "completion": "x = 1", "function": {"asserts": ["assert f(1 =="]}},
    ]
    source, out = tmp_path / "tasks.jsonl", tmp_path / "results.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in tasks))
    assert run("grade", source, "--out", out).returncode == 0
    results = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(result["id"], result["verdict"], result["reward"]) for result in results] == [
        ("accepts", "PASSED", 1.0),
        ("upset", "FAILED", 0.0),
        ("broken", "INVALID_TASK", None),
        ("bad tests", "INVALID_TASK", None),
    ]


def test_the_benchmark_measures_every_phase(rows: list[dict[str, str]], tmp_path: Path) -> None:
    data = tmp_path / "HumanEval.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--data", str(data), "--rounds", "1", "--seconds", "0.2", "--json")
    command = (sys.executable, "-m", "benchmarks.measure", *options)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert min(found["throughput"]["forks"].values()) > 0
    for way in ("single", "batched"):
        cpu = found["throughput"][way]["cpu_seconds_per_verdict"]
        assert found["throughput"][way]["verdicts"] == {"PASSED": TASKS}
        assert cpu["served"] == pytest.approx(cpu["server_process"] + cpu["sandboxes"]) != 0
    assert found["latency"]["in_process_seconds"]["p50"] > 0
    assert [step["load"] for step in found["overload"]["steps"]] == [1, 2, 5, 10, 20]
    assert found["overload"]["honest_solutions_not_passed"] == 0


_KILLED = """
import asyncio, os, signal
from benchmarks.measure.served import served

async def main() -> None:
    async with served(("--workers", "1")) as server:
        print(server.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_the_server_of_a_benchmark_ends_with_it_even_after_kill_9() -> None:
    ended = subprocess.run(
        (sys.executable, "-c", _KILLED), stdout=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    server = Path(f"/proc/{ended.stdout.strip()}")
    while server.exists():
        time.sleep(0.05)

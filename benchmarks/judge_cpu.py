"""CPU time of judge and candidate over HumanEval, without sandbox and server.

Forks the pair from a warm interpreter as the zygote does, and then one process that runs solution
and tests together. Prints the means in milliseconds.

    python benchmarks/judge_cpu.py HumanEval.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.unit.runner.harness import PRELOADED, REPOSITORY, Zygote

_BARE = """
import gc, json, os, sys
sys.path.append(sys.argv[1])
for name in sys.argv[3:]:
    __import__(name)
import reward_server.runner.candidate.process, reward_server.runner.judge.process
gc.collect()
gc.freeze()
rows = [json.loads(line) for line in open(sys.argv[2])]
total = 0
for row in rows:
    pid = os.fork()
    if not pid:
        program = row["prompt"] + row["canonical_solution"] + "\\n" + row["test"]
        exec(compile(f"{program}\\ncheck({row['entry_point']})", "program", "exec"), {})
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    total += usage.ru_utime + usage.ru_stime
print(total / len(rows))
"""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.data.read_text().splitlines()]
    zygote = Zygote()
    for _ in range(arguments.rounds):
        judge, candidate = _measure(zygote, rows)
        bare = _measure_bare(arguments.data)
        ratio = (judge + candidate) / bare
        print(f"judge {judge:.2f}  candidate {candidate:.2f}  bare {bare:.2f}  ratio {ratio:.2f}")
    zygote.close()


def _measure(zygote: Zygote, rows: list[dict[str, str]]) -> tuple[float, float]:
    judge = candidate = 0
    for row in rows:
        result = zygote.function(
            row["prompt"] + row["canonical_solution"],
            entry_point=row["entry_point"],
            test_code=row["test"],
            prompt=row["prompt"],
        )
        assert result.passed, row["task_id"]
        judge += result.reply.judge_cpu_ns
        candidate += result.reply.candidate_cpu_ns
    return judge / len(rows) / 1e6, candidate / len(rows) / 1e6


def _measure_bare(data: Path) -> float:
    command = [sys.executable, "-I", "-S", "-c", _BARE, str(REPOSITORY), str(data), *PRELOADED]
    printed = subprocess.run(command, check=True, capture_output=True, env=dict(os.environ))
    return float(printed.stdout) * 1000


if __name__ == "__main__":
    main()

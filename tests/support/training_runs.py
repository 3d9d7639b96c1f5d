"""Folders of training runs as `reward-train` leaves them, made without a training."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trainer_client.run_folder import Evaluation, Event, RunFolder, RunInfo, TaskTally

REWARD = "mbpp_reward"
VERDICTS = ("FAILED", "RUNTIME_ERROR", "COMPILE_ERROR", "TIME_LIMIT_EXCEEDED", "SECURITY_VIOLATION")
WEIGHTS = (50, 24, 14, 10, 2)
SIGNAL = "harness_probe"

CODE = '''Here is a function that does it:

```python
def solve_{task}(numbers: list[int]) -> int:
    """Adds what is even."""
    total = 0  # attempt {attempt}
    for number in numbers:
        if number % {divisor} == 0:
            total += number
    return total
```
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a made run is to be like.

    Args:
        outage: steps at which nothing was judged.
        groups: prompts a step.
        text: gives a completion's text of its task and verdict.
    """

    steps: int = 12
    seed: int = 0
    size: int = 4
    groups: int = 2
    tasks: int = 6
    outage: range = range(0)
    chat: bool = True
    evaluate_every: int = 4
    extra_columns: bool = True
    text: Callable[[int, str, int], str] = field(
        default=lambda task, verdict, attempt: CODE.format(
            task=task, attempt=attempt, divisor=2 if verdict == "PASSED" else attempt + 3
        )
    )


def write_run(path: Path, plan: Plan | None = None) -> RunFolder:
    """Writes a run's folder."""
    plan = plan or Plan()
    folder = RunFolder(path)
    folder.write_info(info_of(plan))
    generator = random.Random(plan.seed)
    _evaluate(folder, plan, 0, generator)
    for step in range(1, plan.steps + 1):
        rows = made_rows(plan, step, generator)
        write_table(path, step, rows)
        folder.add_metrics(step, 9.0 * step, metrics_of(plan, step, rows, generator))
        if step % plan.evaluate_every == 0:
            _evaluate(folder, plan, step, generator)
    if plan.outage:
        message = f"UNAVAILABLE: no server, {len(plan.outage)} steps without a reward"
        folder.add_event(
            Event(step=plan.outage[0], seconds=9.0 * plan.outage[0], kind="outage", message=message)
        )
    return folder


def info_of(plan: Plan) -> RunInfo:
    """Tells what was started."""
    return RunInfo(
        started="2026-03-01T10:00:00+00:00",
        reward=REWARD,
        num_generations=plan.size,
        max_steps=plan.steps,
        model="HuggingFaceTB/SmolLM2-135M-Instruct",
        data="mbpp=mbpp.jsonl",
        seed=plan.seed,
        settings={"training": {"learning_rate": 1e-5, "seed": plan.seed}},
        versions={"trl": "1.16.0", "torch": "2.13.0"},
    )


def skill(plan: Plan, step: int) -> float:
    """Returns the chance that a completion of a step passes."""
    return 0.15 + 0.45 / (1 + math.exp(4 - 8 * step / max(plan.steps, 1)))


def made_rows(plan: Plan, step: int, generator: random.Random) -> list[dict[str, Any]]:
    """Makes a step's table of completions."""
    rows: list[dict[str, Any]] = []
    for _ in range(plan.groups):
        task = generator.randrange(plan.tasks)
        ease = min(max(skill(plan, step) + 0.5 * (task / plan.tasks - 0.5), 0.0), 1.0)
        group = [_row(plan, step, task, ease, attempt, generator) for attempt in range(plan.size)]
        _advantages(group)
        rows += group
    return rows


def _row(
    plan: Plan, step: int, task: int, ease: float, attempt: int, generator: random.Random
) -> dict[str, Any]:
    (failure,) = generator.choices(VERDICTS, WEIGHTS)
    verdict = "PASSED" if generator.random() < ease else failure
    if step in plan.outage:
        verdict = "UNJUDGED"
    is_judged, passed = verdict != "UNJUDGED", verdict == "PASSED"
    prompt = f"Write a function solve_{task} that adds the even numbers of a list."
    completion = plan.text(task, verdict, attempt)
    row = {
        "step": step,
        "prompt": [{"content": prompt, "role": "user"}] if plan.chat else prompt,
        "completion": [{"content": completion, "role": "assistant"}] if plan.chat else completion,
        REWARD: float(passed) if is_judged else math.nan,
        f"{REWARD}_message": "" if is_judged else "UNAVAILABLE: no server",
        f"{REWARD}_verdict": verdict,
        "advantage": 0.0,
    }
    if plan.extra_columns:
        row |= {
            f"{REWARD}_task_id": f"mbpp/{task}",
            f"{REWARD}_failing_test": "" if passed or not is_judged else "test_of_seven: 6 != 12",
            f"{REWARD}_integrity": "ISOLATED" if is_judged else "UNSPECIFIED",
            f"{REWARD}_signals": f"{SIGNAL} 1" if verdict == "SECURITY_VIOLATION" else "",
        }
    return row


def _advantages(group: Sequence[dict[str, Any]]) -> None:
    known = [row[REWARD] for row in group if not math.isnan(row[REWARD])]
    if len(known) < 2:
        return
    mean = sum(known) / len(known)
    std = math.sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))
    for row in group:
        row["advantage"] = 0.0 if math.isnan(row[REWARD]) else (row[REWARD] - mean) / (std + 1e-4)


def write_table(path: Path, step: int, rows: Sequence[dict[str, Any]]) -> Path:
    """Writes a table as TRL does."""
    file = path / "completions" / f"completions_{step:05d}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file


def metrics_of(
    plan: Plan, step: int, rows: Sequence[dict[str, Any]], generator: random.Random
) -> dict[str, Any]:
    """Makes what TRL and the reward function log of a step."""
    count = len(rows)
    verdicts = Counter(row[f"{REWARD}_verdict"] for row in rows)
    rewards = [row[REWARD] for row in rows if not math.isnan(row[REWARD])]
    mean = sum(rewards) / len(rewards) if rewards else None
    std = None
    if mean is not None:
        std = math.sqrt(sum((value - mean) ** 2 for value in rewards) / max(len(rewards) - 1, 1))
    groups = [rows[start : start + plan.size] for start in range(0, count, plan.size)]
    flat = sum(len({row[REWARD] for row in group}) == 1 for group in groups) / len(groups)
    wait = 30.0 if step in plan.outage else 0.4 + 0.3 * generator.random()
    metrics: dict[str, Any] = {
        "reward": mean,
        "reward_std": std,
        "frac_reward_zero_std": flat,
        f"rewards/{REWARD}/mean": mean,
        "kl": 0.02 * step / plan.steps + 0.004 * generator.random(),
        "kl_coefficient": 0.04 if step < plan.steps / 2 else 0.06,
        "entropy": 1.1 - 0.6 * step / plan.steps + 0.1 * generator.random(),
        "grad_norm": 0.0 if mean is None else 0.5 + generator.random(),
        "learning_rate": 1e-5 * (1 - step / (plan.steps + 1)),
        "loss": 0.01 * generator.random(),
        "step_time": 8.0 + generator.random() + wait,
        "completions/mean_length": 80 - 20 * step / plan.steps + 8 * generator.random(),
        "completions/clipped_ratio": 0.1 * generator.random(),
        f"{REWARD}/unjudged": verdicts["UNJUDGED"] / count,
        f"{REWARD}/deduplicated": 0.1,
        f"{REWARD}/wait_seconds": wait,
    }
    for verdict in ("PASSED", *VERDICTS, "MEMORY_LIMIT_EXCEEDED", "INVALID_TASK"):
        metrics[f"{REWARD}/verdict/{verdict}"] = verdicts[verdict] / count
    metrics[f"{REWARD}/integrity/ISOLATED"] = 1.0 - verdicts["UNJUDGED"] / count
    if rewards:
        metrics[f"{REWARD}/queue_seconds"] = 0.05 + 0.1 * generator.random()
        metrics[f"{REWARD}/grade_seconds"] = 0.2 + 0.1 * generator.random()
    if step > plan.steps / 3:
        metrics[f"{REWARD}/signal/{SIGNAL}"] = verdicts["SECURITY_VIOLATION"] / count
    return metrics


def _evaluate(folder: RunFolder, plan: Plan, step: int, generator: random.Random) -> None:
    for split, tasks in (("held_out", 40), ("train", 12)):
        tallies = {}
        for task in range(tasks):
            ease = min(max(skill(plan, step) - 0.05 + 0.8 * (task / tasks - 0.5), 0.0), 1.0)
            passed = sum(generator.random() < ease for _ in range(8))
            tallies[f"{split}/{task}"] = TaskTally(
                samples=8, passed=passed, verdicts={"PASSED": passed, "FAILED": 8 - passed}
            )
        folder.add_evaluation(
            Evaluation(
                step=step, seconds=9.0 * step + 1, split=split, temperature=0.8, tasks=tallies
            )
        )

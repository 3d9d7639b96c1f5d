"""Tells a person at a terminal how training goes, a line a step."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trainer_client.score import Verdict


class StepLines(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Prints reward, its spread and the verdicts' shares.

    Args:
        reward_name: name of the reward function, which prefixes its metrics.
        console: where to print.
    """

    def __init__(self, reward_name: str, console: Console) -> None:
        self._prefix = f"{reward_name}/"
        self._console = console

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Prints the line of a step; logs of other kinds pass by."""
        if logs is None or "reward" not in logs or not state.is_world_process_zero:
            return
        head = f"step {state.global_step:>{len(str(state.max_steps))}}/{state.max_steps}"
        numbers = f"reward {_number(logs['reward'])}  reward_std {_number(logs['reward_std'])}"
        line = f"{head}  {numbers}  {self._shares(logs)}"
        self._console.print(line, highlight=False, soft_wrap=True)

    def _shares(self, logs: dict[str, Any]) -> str:
        names = {f"verdict/{verdict.name}": verdict.name for verdict in Verdict}
        names["unjudged"] = "not judged"
        found = {label: logs.get(self._prefix + key) or 0.0 for key, label in names.items()}
        return ", ".join(f"{label} {share:.0%}" for label, share in found.items() if share)


def _number(value: float | None) -> str:
    return "none" if value is None or value != value else f"{value:.3f}"

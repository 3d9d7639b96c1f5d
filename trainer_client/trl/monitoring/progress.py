"""Prints the progress of a training on a terminal, one line for each step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trainer_client.score import Verdict


class StepLines(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Prints reward, its spread, the verdicts' shares, turns of agents, and times.

    Args:
        reward_name: name of the reward function, which prefixes its metrics.
        console: where to print.
        clock: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        reward_name: str,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prefix = f"{reward_name}/"
        self._console = console
        self._clock = clock
        self._began = self._last = (0, clock())

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any
    ) -> None:
        """Records the time at which training begins."""
        self._began = self._last = (state.global_step, self._clock())

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any
    ) -> None:
        """Records the time of the first step, so that a first evaluation does not count."""
        if state.global_step == self._began[0]:
            self._began = self._last = (state.global_step, self._clock())

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Prints the line of a step; ignores logs of other kinds."""
        if logs is None or "reward" not in logs or not state.is_world_process_zero:
            return
        head = f"step {state.global_step:>{len(str(state.max_steps))}}/{state.max_steps}"
        numbers = f"reward {_number(logs['reward'])}  reward_std {_number(logs['reward_std'])}"
        line = f"{head}  {numbers}  {self._shares(logs)}  {self._turns(logs)}{self._times(state)}"
        self._console.print(line, highlight=False, soft_wrap=True)

    def _times(self, state: TrainerState) -> str:
        """Returns the mean time of a step since the last line, and the time left for the others."""
        now = (state.global_step, self._clock())
        step_seconds = _seconds_a_step(self._last, now)
        left = (state.max_steps - state.global_step) * _seconds_a_step(self._began, now)
        self._last = now
        return f"{step_seconds:.1f} s a step, {_duration(left)} left"

    def _turns(self, logs: dict[str, Any]) -> str:
        turns = logs.get(f"{self._prefix}turns")
        return "" if turns is None else f"{turns:.1f} turns  "

    def _shares(self, logs: dict[str, Any]) -> str:
        names = {f"verdict/{verdict.name}": verdict.name for verdict in Verdict}
        names["unjudged"] = "not judged"
        found = {label: logs.get(self._prefix + key) or 0.0 for key, label in names.items()}
        return ", ".join(f"{label} {share:.0%}" for label, share in found.items() if share)


def _seconds_a_step(before: tuple[int, float], now: tuple[int, float]) -> float:
    steps, seconds = now[0] - before[0], now[1] - before[1]
    return seconds / max(1, steps)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _number(value: float | None) -> str:
    return "none" if value is None or value != value else f"{value:.3f}"

"""Writes a run's folder while TRL trains."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trainer_client.run_folder import Evaluation, Event, RunFolder, RunInfo, TaskTally
from trainer_client.trl.checkpoints.resuming import changed_settings

_logger = logging.getLogger(__name__)


class Recorder(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Writes metrics, evaluations and events, but only in the main process.

    Args:
        folder: the run's folder.
        info: the description of the run.
        writes: whether this process writes.
    """

    def __init__(self, folder: RunFolder, info: RunInfo, *, writes: bool) -> None:
        self._folder = folder
        self._info = info
        self._writes = writes
        self.last_evaluated: int | None = None
        self._unjudged_since: int | None = None
        self._changed: list[str] = []
        earlier = folder.metrics()
        self._started = time.monotonic() - (earlier[-1]["seconds"] if earlier else 0.0)

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **more: Any,
    ) -> None:
        """Records the step at which a resumed training continues."""
        if state.global_step:
            # Otherwise a checkpoint's intervals would override the settings of the resumed run.
            state.compute_steps(args, state.max_steps)
            changes = f", with other settings: {', '.join(self._changed)}" if self._changed else ""
            message = f"from the checkpoint of {state.global_step}{changes}"
            self.event(state.global_step, "resumed", message)

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **more: Any,
    ) -> None:
        """Requests a log of the last step, independent of the interval."""
        if state.global_step >= state.max_steps:
            control.should_log = True

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Writes the logs of a step; ignores logs of other kinds."""
        # A step that trains on older completions has a loss, but no reward.
        if logs is None or "loss" not in logs or not self._writes:
            return
        with _kept_going():
            self._folder.add_metrics(state.global_step, self._seconds, logs)
        unjudged = logs.get(f"{self._info.reward}/unjudged")
        if unjudged is not None:
            self._watch_outage(state.global_step, unjudged)

    def start(self, *, resumed: bool = False) -> None:
        """Writes the description of the run.

        Raises:
            ConfigError: the folder cannot be written to, or the run cannot be resumed with these
                settings.
        """
        if not self._writes:
            return
        if resumed:
            before = self._folder.info().settings
            self._changed = changed_settings(before, self._info.settings)
        self._folder.write_info(self._info)

    def evaluated(
        self, step: int, found: dict[str, TaskTally], *, split: str, temperature: float
    ) -> None:
        """Writes an evaluation."""
        self.last_evaluated = step
        if not self._writes:
            return
        evaluation = Evaluation(
            step=step, seconds=self._seconds, split=split, temperature=temperature, tasks=found
        )
        with _kept_going():
            self._folder.add_evaluation(evaluation)

    def event(self, step: int, kind: str, message: str) -> None:
        """Writes an event."""
        if self._writes:
            event = Event(step=step, seconds=self._seconds, kind=kind, message=message)
            with _kept_going():
                self._folder.add_event(event)

    @property
    def _seconds(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def _watch_outage(self, step: int, unjudged: float) -> None:
        """Reports the beginning and the end of steps in which nothing was judged."""
        is_out = unjudged >= 1.0
        if is_out and self._unjudged_since is None:
            self._unjudged_since = step
            self.event(step, "outage", "no completion was judged; nothing is learned from it")
        elif not is_out and self._unjudged_since is not None:
            steps = step - self._unjudged_since
            self.event(step, "recovered", f"completions are judged again, after {steps} steps")
            self._unjudged_since = None


@contextmanager
def _kept_going() -> Iterator[None]:
    """Logs failed writes, since a disk that is full for a while should not end a training."""
    try:
        yield
    except OSError as error:
        _logger.warning("not written: %s", error)

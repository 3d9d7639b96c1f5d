"""How far a run is, how fast, when it will end, and where its time goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trainer_client.report.runs import Run, number
from trainer_client.report.timing import calls_a_step, step_seconds, wait_seconds

# Steps over which speed is averaged. Evaluations and checkpoints between them count.
_WINDOW = 20
# A run is silent if it wrote nothing for this time, and for as long as several steps take.
_SILENT_SECONDS, _SILENT_STEPS = 120.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a run at one moment.

    Args:
        state: "running", "silent" (it wrote nothing for long) or "finished".
        step: the last step.
        max_steps: the steps of the whole run; 0 if it is limited by epochs.
        share: the share of the run that is done, from 0 to 1; None if it is not known.
        silent_seconds: time since the run last wrote.
        step_seconds: mean time of a step, with evaluations and checkpoints between steps.
        completions_a_second: completions that were generated; None if there is no table of them.
        tokens_a_second: tokens that were read and generated; None if they are not logged.
        left_seconds: time until the end at this speed.
        parts: seconds by what they were spent on, since the start.
    """

    state: str
    step: int
    max_steps: int
    share: float | None
    silent_seconds: float
    step_seconds: float | None
    completions_a_second: float | None
    tokens_a_second: float | None
    left_seconds: float | None
    parts: Mapping[str, float]


def progress_of(run: Run, silent_seconds: float, batch: int = 0) -> Progress:
    """Returns the progress of a run.

    Args:
        run: the run.
        silent_seconds: time since it last wrote.
        batch: number of completions that it generates at once; 0 if that is not known.
    """
    share = _share(run)
    speed = _rate(run, "step")
    each = 1 / speed if speed else None
    is_silent = silent_seconds > max(_SILENT_SECONDS, _SILENT_STEPS * (each or 0.0))
    is_finished = share is not None and share >= 1.0
    return Progress(
        state="finished" if is_finished else "silent" if is_silent else "running",
        step=run.last_step,
        max_steps=max(run.info.max_steps, 0),
        share=share,
        silent_seconds=silent_seconds,
        step_seconds=each,
        completions_a_second=batch * calls_a_step(run) * speed if batch and speed else None,
        tokens_a_second=_rate(run, "num_tokens"),
        left_seconds=_left(run, share, each),
        parts=_parts(run),
    )


def _share(run: Run) -> float | None:
    if run.info.max_steps > 0:
        return min(run.last_step / run.info.max_steps, 1.0)
    epoch = number(run.metrics[-1].get("epoch")) if run.metrics else None
    training = run.info.settings.get("training")
    told = training.get("num_train_epochs") if isinstance(training, Mapping) else None
    epochs = number(told) or 3.0
    return None if epoch is None else min(epoch / epochs, 1.0)


def _left(run: Run, share: float | None, each: float | None) -> float | None:
    if not share or each is None:
        return None
    return (run.last_step / share - run.last_step) * each


def _rate(run: Run, key: str) -> float | None:
    """Returns by how much a count grew in a second, over the last steps."""
    lines = [line for line in run.metrics if number(line.get(key)) is not None][-_WINDOW - 1 :]
    if not lines:
        return None
    first, last = lines[0], lines[-1]
    if len(lines) == 1:
        first = {key: 0.0, "seconds": 0.0}
    seconds = (number(last.get("seconds")) or 0.0) - (number(first.get("seconds")) or 0.0)
    grown = float(last[key]) - float(first[key])
    return grown / seconds if seconds > 0 and grown > 0 else None


def _parts(run: Run) -> dict[str, float]:
    """Returns the time that waiting, the rest of the steps, and everything else took."""
    series = step_seconds(run)
    waits = wait_seconds(run).values
    # A line stands for all steps since the line before it.
    counts = np.diff(series.steps, prepend=0.0)
    steps = float(np.nansum(series.values * counts))
    waited = min(float(np.nansum(waits * counts)), steps)
    found = {
        "waiting for rewards": waited,
        "generation and training": steps - waited,
        "evaluations, checkpoints and the start": max(run.seconds - steps, 0.0),
    }
    return found if steps else {}

"""The numbers at the top of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trainer_client.report.passing import (
    Estimate,
    difference,
    estimate,
    evaluations_of,
    main_split,
    mean_rate,
    seed_means,
)
from trainer_client.report.runs import Run
from trainer_client.report.series import logged
from trainer_client.report.timing import wait_share
from trainer_client.run_folder import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number with its name and an explanation."""

    name: str
    value: str
    note: str


def headline(runs: Sequence[Run]) -> list[Number]:
    """Returns the numbers for which the runs have values."""
    found = [_passing(runs), _steps(runs), _reward(runs), _unjudged(runs), _waiting(runs)]
    return [number for number in found if number is not None]


def _passing(runs: Sequence[Run]) -> Number | None:
    split = main_split(runs)
    if split is None:
        return None
    ends = [(found[0], found[-1]) for run in runs if (found := evaluations_of(run, split))]
    first, last = ([pair[index] for pair in ends] for index in (0, 1))
    rates = seed_means(first), seed_means(last)
    before, after = (estimate(list(by_task.values())) for by_task in rates)
    name = f"pass@1, {split}"
    if before is None or after is None:
        return Number(name=name, value="none", note="no task was judged by every run")
    if all(one.step == other.step for one, other in ends):
        note = f"95 % interval {_interval(before)}, over {len(rates[0])} tasks; one evaluation"
        return Number(name=name, value=f"{before.value:.1%}", note=note)
    gain = difference(*rates)
    notes = [
        f"before {_interval(before)}, after {_interval(after)}",
        f"gain {_points(gain)}" if gain is not None else "no task in common",
        f"95 % intervals over {len(rates[1])} tasks",
        *_seeds(first, last),
    ]
    return Number(name=name, value=f"{before.value:.1%} → {after.value:.1%}", note="; ".join(notes))


def _seeds(first: Sequence[Evaluation], last: Sequence[Evaluation]) -> list[str]:
    """Returns the spread over runs, if there are several."""
    if len(first) < 2:
        return []
    told = []
    for name, evaluations in (("before", first), ("after", last)):
        rates = [mean_rate(one) for one in evaluations]
        known = [rate for rate in rates if rate is not None]
        spread = f" (std {np.std(known, ddof=1):.1%})" if len(known) > 1 else ""
        each = ", ".join("none" if rate is None else f"{rate:.1%}" for rate in rates)
        told.append(f"{name} by run {each}{spread}")
    return told


def _steps(runs: Sequence[Run]) -> Number:
    made = [run.last_step for run in runs]
    asked = runs[0].info.max_steps
    hours = sum(run.seconds for run in runs) / 3600
    value = f"{made[0]}" if len(set(made)) == 1 else f"{min(made)}-{max(made)}"
    several = f" in {len(runs)} runs" if len(runs) > 1 else ""
    wanted = f"of {asked} asked for; " if asked > 0 else ""
    return Number(name="steps", value=value, note=f"{wanted}{hours:.2g} h{several}")


def _reward(runs: Sequence[Run]) -> Number | None:
    """Compares the first and the last tenth of the steps that have a reward."""
    series = [logged(run, "reward") for run in runs]
    values = [one.values[np.isfinite(one.values)] for one in series]
    if not all(len(known) for known in values):
        return None
    tenths = [(known, max(len(known) // 10, 1)) for known in values]
    first = np.mean([known[:count].mean() for known, count in tenths])
    last = np.mean([known[-count:].mean() for known, count in tenths])
    gaps = sum(len(one.values) - len(known) for one, known in zip(series, values, strict=True))
    steps = sum(len(one.values) for one in series)
    note = "mean of the first and of the last tenth of the steps"
    missing = f"; {gaps} of {steps} steps have none" if gaps else ""
    return Number(name="reward", value=f"{first:.3f} → {last:.3f}", note=note + missing)


def _unjudged(runs: Sequence[Run]) -> Number | None:
    found = [logged(run, f"{run.info.reward}/unjudged").values for run in runs]
    shares = np.concatenate(found)
    shares = shares[np.isfinite(shares)]
    if not len(shares):
        return None
    whole = int((shares == 1.0).sum())
    note = f"of the completions; at {whole} of {len(shares)} steps nothing was judged"
    return Number(name="not judged", value=f"{shares.mean():.2%}", note=note)


def _waiting(runs: Sequence[Run]) -> Number | None:
    share = wait_share(runs)
    if share is None:
        return None
    return Number(name="waiting for rewards", value=f"{share:.1%}", note="of the time of all steps")


def _interval(found: Estimate) -> str:
    return f"{found.low:.1%} to {found.high:.1%}"


def _points(found: Estimate) -> str:
    low, high = 100 * found.low, 100 * found.high
    return f"{100 * found.value:+.1f} points ({low:+.1f} to {high:+.1f})"

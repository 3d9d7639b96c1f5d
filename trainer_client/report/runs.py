"""Reads the folders of runs, and refuses combinations that would make a misleading report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_client.errors import ConfigError
from trainer_client.run_folder import Evaluation, Event, RunFolder, RunInfo, flat_settings

_SAME = ("model", "data", "reward", "num_generations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run, read from its folder.

    Args:
        label: its seed, or its folder's name if seeds do not identify the runs.
        metrics: the logged steps in order.
    """

    label: str
    folder: RunFolder
    info: RunInfo
    metrics: Sequence[Mapping[str, Any]]
    evaluations: Sequence[Evaluation]
    events: Sequence[Event]

    @property
    def last_step(self) -> int:
        """The last step that was logged or evaluated; 0 if there is none."""
        logged = (line["step"] for line in self.metrics)
        return max((*logged, *(found.step for found in self.evaluations)), default=0)

    @property
    def seconds(self) -> float:
        """The time from the start of the run to the last line that it wrote."""
        logged = (number(line.get("seconds")) or 0.0 for line in self.metrics)
        return max((*logged, *(found.seconds for found in self.evaluations)), default=0.0)


def number(value: object) -> float | None:
    """Returns a number of the metrics, or None for any other value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]  # narrowed above


def read_runs(paths: Sequence[Path]) -> list[Run]:
    """Reads the runs of one experiment.

    Raises:
        ConfigError: a folder is no run's or is still empty, or the runs do not belong together.
    """
    if not paths:
        raise ConfigError("runs: name at least one run's folder")
    resolved = [path.resolve() for path in paths]
    for path in paths:
        if resolved.count(path.resolve()) > 1:
            raise ConfigError(f"runs: {path} is named twice")
    infos = [RunFolder(path).info() for path in paths]
    _check_same(paths, infos)
    labels = _labels(paths, infos)
    return [_read(*parts) for parts in zip(paths, infos, labels, strict=True)]


def differing_settings(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Returns settings besides the seed in which the runs differ: each run's value, in order."""
    flat = [dict(flat_settings(run.info.settings)) for run in runs]
    names = sorted({name for settings in flat for name in settings})
    values = {name: [settings.get(name, "not set") for settings in flat] for name in names}
    unlike = ("training.seed", "training.data_seed", "training.output_dir")
    return {
        name: found for name, found in values.items() if len(set(found)) > 1 and name not in unlike
    }


def one_experiment(infos: Sequence[RunInfo]) -> bool:
    """Returns True if runs have the same model, tasks, reward and size of groups."""
    return len({tuple(getattr(info, name) for name in _SAME) for info in infos}) <= 1


def _check_same(paths: Sequence[Path], infos: Sequence[RunInfo]) -> None:
    for name in _SAME:
        first, *others = [getattr(info, name) for info in infos]
        for path, value in zip(paths[1:], others, strict=True):
            if value != first:
                raise ConfigError(
                    f"runs: {paths[0]} and {path} are not seeds of one experiment: "
                    f"{name} is {first!r} and {value!r}"
                )


def _labels(paths: Sequence[Path], infos: Sequence[RunInfo]) -> list[str]:
    seeds = {info.seed for info in infos}
    if len(seeds) == len(infos):
        return [f"seed {info.seed}" for info in infos]
    names = {path.resolve().name for path in paths}
    return [path.resolve().name if len(names) == len(paths) else str(path) for path in paths]


def _read(path: Path, info: RunInfo, label: str) -> Run:
    folder = RunFolder(path)
    try:
        metrics, evaluations, events = folder.metrics(), folder.evaluations(), folder.events()
    except (AttributeError, KeyError, TypeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path} holds lines that are not a run's: {problem}") from error
    if not metrics and not evaluations:
        raise ConfigError(f"{path} has no logged step and no evaluation yet: nothing to report")
    return Run(
        label=label,
        folder=folder,
        info=info,
        metrics=metrics,
        evaluations=evaluations,
        events=events,
    )


def all_events(runs: Sequence[Run]) -> list[Event]:
    """Returns the events of all runs by step."""
    return sorted((event for run in runs for event in run.events), key=lambda event: event.step)

"""The files of a training run, for people and for `reward-train report`.

run.json            settings, names and versions at the start
metrics.jsonl       one line for each logged step: `step`, `seconds` since the start, TRL's metrics
evaluations.jsonl   one line for each evaluation of tasks, most of them held out
events.jsonl        one line for each notable event, such as an outage or a collapse
completions/        TRL's tables, one Parquet file for each step

Lines are appended, so that a killed run loses at most the line that it was writing. A run that is
resumed from a checkpoint writes some steps again: the last line of a step counts.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from trainer_client.errors import ConfigError

# The split of the tasks that are never trained on.
HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The description of a run at its start.

    Args:
        started: date and time of the start, as ISO 8601 with an offset.
        reward: name of the reward function that executes, which prefixes its metrics and columns.
        num_generations: completions in a group.
        max_steps: number of optimizer steps; 0 or less if the run is limited by epochs.
        model: path or name of the model.
        data: kind and path of the tasks.
        seed: seed of the training.
        steps_per_generation: batches that are trained on between two generations; 0 if not known.
        settings: the whole configuration, by section.
        versions: versions of the packages, by name.
    """

    started: str
    reward: str
    num_generations: int
    max_steps: int
    model: str
    data: str
    seed: int = 0
    steps_per_generation: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTally:
    """The results of the completions of one task.

    Args:
        samples: number of completions that were judged.
        passed: number of those that passed every test.
        unjudged: number of completions without a verdict, which `samples` does not include.
        verdicts: number of judged completions by verdict.
    """

    samples: int
    passed: int
    unjudged: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Judged samples of a split at one step of the training.

    Args:
        step: number of optimizer steps before it; 0 for the original model.
        seconds: time from the start of the run to the end of the evaluation.
        split: name of a set of tasks, such as `HELD_OUT`.
        temperature: temperature of the sampling; 0 is greedy.
        tasks: tallies by task id.
    """

    step: int
    seconds: float
    split: str
    temperature: float
    tasks: Mapping[str, TaskTally]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A notable event of a run.

    Args:
        step: number of optimizer steps before it.
        seconds: time since the start of the run.
        kind: such as "outage", "collapse", "hacking", "kl" or "resumed".
        message: a sentence for people.
    """

    step: int
    seconds: float
    kind: str
    message: str


class RunFolder:
    """Writes and reads a run's files; an absent file counts as empty.

    Args:
        path: the run's output folder, which is created at the first write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def completions(self) -> list[Path]:
        """The tables of completions, in the order of their steps."""
        tables = (self.path / "completions").glob("completions_*.parquet")
        # Sorts by number: TRL's names have five digits, and more for large numbers.
        return sorted(tables, key=lambda table: (len(table.name), table.name))

    def make(self) -> None:
        """Creates the folder if it does not exist.

        Raises:
            ConfigError: it cannot be created, or cannot be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.path).close()
        except OSError as error:
            raise ConfigError(f"training.output_dir: {error}") from error

    def write_info(self, info: RunInfo) -> None:
        """Writes the description of the run.

        Raises:
            ConfigError: the folder cannot be written to.
        """
        self.make()
        text = json.dumps(_plain(asdict(info)), indent=2)
        draft = self.path / ".run.json"
        draft.write_text(text + "\n", "utf-8")
        draft.replace(self.path / "run.json")

    def add_metrics(self, step: int, seconds: float, metrics: Mapping[str, Any]) -> None:
        """Appends the metrics of a step; a metric that is no finite number is written as null."""
        self._append("metrics", {**metrics, "step": step, "seconds": round(seconds, 3)})

    def add_evaluation(self, evaluation: Evaluation) -> None:
        """Appends an evaluation."""
        self._append("evaluations", asdict(evaluation))

    def add_event(self, event: Event) -> None:
        """Appends an event."""
        self._append("events", asdict(event))

    def info(self) -> RunInfo:
        """Reads the description of the run.

        Raises:
            ConfigError: the folder is no run's folder.
        """
        file = self.path / "run.json"
        try:
            return RunInfo(**json.loads(file.read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(f"{self.path} is not the folder of a run: {error}") from error

    def metrics(self) -> list[dict[str, Any]]:
        """Returns the logged steps in order; for each step, its last line."""
        return steps_of(self._lines("metrics"))

    def evaluations(self) -> list[Evaluation]:
        """Returns the last version of each evaluation, ordered by split and step."""
        return last_evaluations(evaluation_of(line) for line in self._lines("evaluations"))

    def events(self) -> list[Event]:
        """Returns the events in the order in which they happened."""
        return [Event(**line) for line in self._lines("events")]

    def _append(self, name: str, line: Mapping[str, Any]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / f"{name}.jsonl").open("a+b") as file:
            torn = _is_torn(file)
            file.write(b"\n" * torn + json.dumps(_plain(line)).encode() + b"\n")

    def _lines(self, name: str) -> list[dict[str, Any]]:
        file = self.path / f"{name}.jsonl"
        if not file.is_file():
            return []
        return parsed_lines(file.read_bytes())


def parsed_lines(content: bytes) -> list[dict[str, Any]]:
    """Parses lines of JSON, without those that a killed run left incomplete."""
    found: list[dict[str, Any]] = []
    for line in content.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def steps_of(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the lines of the logged steps in order; for each step, its last line."""
    by_step = {line["step"]: line for line in lines if "step" in line}
    return [by_step[step] for step in sorted(by_step)]


def evaluation_of(line: Mapping[str, Any]) -> Evaluation:
    """Makes an evaluation from its line.

    Raises:
        AttributeError, KeyError, TypeError: the line has another form.
    """
    tallies = {key: TaskTally(**tally) for key, tally in line["tasks"].items()}
    return Evaluation(**{**line, "tasks": tallies})


def last_evaluations(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Returns the last version of each evaluation, ordered by split and step."""
    found = {(one.split, one.step): one for one in evaluations}
    return [found[key] for key in sorted(found)]


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields the settings of all sections by `section.key`, as text."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat_settings(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


def _is_torn(file: BinaryIO) -> bool:
    """Returns True if the last line is incomplete; leaves the position at the end."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _plain(value: Any) -> Any:
    """Converts a value for JSON: NaN and infinity become null, unknown types become text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)

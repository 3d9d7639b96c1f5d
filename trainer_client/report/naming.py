"""The title of a report, made from paths, settings and seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainer_client.report.runs import Run

# Parts of a path that do not identify a model: checkpoints, and a hub's folders.
_NAMELESS = re.compile(r"checkpoint-\d+|snapshots|[0-9a-f]{40}|\.|\.\.|")
_HUB_FOLDER = re.compile(r"models--(?:.*--)?(.+)")
_LONGEST = 80


def heading(runs: Sequence[Run]) -> str:
    """Returns models, data and seeds of the runs in words; each name once."""
    models = _joined([model_name(run.info.model) for run in runs])
    data = _joined([data_name(run.info.data) for run in runs])
    return f"{models} on {data}, {_seeds(runs)}"


def model_name(model: str) -> str:
    """Returns the name in a model's path: the last part that is not only a checkpoint's number."""
    parts = [part for part in re.split(r"[/\\]", model) if not _NAMELESS.fullmatch(part)]
    name = parts[-1] if parts else model
    found = _HUB_FOLDER.fullmatch(name)
    return (found[1] if found else name).removesuffix(".gguf")[:_LONGEST]


def data_name(data: str) -> str:
    """Returns the kind of the tasks of KIND=PATH; for requests, the name of the file."""
    kind, _, path = data.partition("=")
    file = re.split(r"[/\\]", path)[-1]
    return (file if kind == "requests" and file else kind)[:_LONGEST]


def _joined(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _seeds(runs: Sequence[Run]) -> str:
    seeds = [str(run.info.seed) for run in runs]
    if len(set(seeds)) == 1:
        return f"seed {seeds[0]}"
    return f"seeds {', '.join(seeds[:-1])} and {seeds[-1]}"

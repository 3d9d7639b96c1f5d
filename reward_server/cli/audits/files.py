"""Writes the files of an audit into a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from reward_server.audit.output.cleaned import dropped_lines, kept_lines
from reward_server.audit.output.document import Audit, document
from reward_server.audit.output.page import page
from reward_server.audit.tasks import Task
from reward_server.errors import StartError


def make_folder(out: Path, source: Path) -> None:
    """Makes the folder before anything is judged.

    Raises:
        StartError: it cannot be made, or its file of tasks would overwrite the source.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"--out: {error}") from None
    if (out / "tasks.jsonl").resolve() == source.resolve():
        raise StartError(f"--out {out}: its tasks.jsonl would overwrite {source}")


def write_files(out: Path, audit: Audit, tasks: Sequence[Task]) -> None:
    """Writes `audit.json`, `audit.html`, `tasks.jsonl` (kept) and `dropped.jsonl`.

    Raises:
        StartError: a file cannot be written.
    """
    contents = {
        "audit.json": f"{json.dumps(document(audit), indent=1)}\n".encode(),
        "audit.html": page(audit, tasks),
        "tasks.jsonl": _joined(kept_lines(tasks, audit.reports, audit.severities)),
        "dropped.jsonl": _joined(dropped_lines(audit.reports, audit.severities)),
    }
    try:
        for name, content in contents.items():
            (out / name).write_bytes(content)
    except OSError as error:
        raise StartError(f"--out: {error}") from None


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()

"""Writes tasks as rows of the kind "requests", which `reward-server audit` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from trainer_client.errors import ConfigError
from trainer_client.trl.settings.sections import DataSection
from trainer_client.trl.tasks.data import TaskSource
from trainer_client.trl.tasks.prompts import prompt_of


def write_rows(section: DataSection, source: TaskSource, out: Path) -> int:
    """Writes a line for each task, with the prompt as the model gets it; returns their number.

    Raises:
        ConfigError: a row has no prompt, or the file cannot be written.
    """
    rows = [_row(section, source, key) for key in source.rows]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    try:
        out.write_text(text, "utf-8")
    except (OSError, UnicodeEncodeError) as error:
        raise ConfigError(f"--out {out}: {error}") from None
    return len(rows)


def _row(section: DataSection, source: TaskSource, key: str) -> dict[str, Any]:
    request = json_format.MessageToDict(source.templates[key], preserving_proto_field_name=True)
    row = {
        "task_id": key,
        "prompt": prompt_of(section, source.rows[key], chat=section.chat is not False),
        "request": request,
    }
    reference = source.references[key]
    return {**row, "reference": reference} if reference else row

"""Has rows judged as a user would: by `reward-server grade`, with a server of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from codereward.v1 import reward_service_pb2 as pb

_PACKAGES = Path(pytest.__file__).parents[1]  # what test files import
_SETTINGS = ("backend=local", f"sandbox_packages={_PACKAGES}", "sandbox_preload=pytest")
_PYTHON = "languages=python"  # a start tries each language that a server offers


@dataclass(frozen=True, slots=True, order=True)
class Result:
    """What a row got: names as the contract has them, and which signals it had.

    `verdict` of a row that was not judged is the status of the call, and `reward` is None.
    """

    verdict: str
    reward: float | None
    integrity: str
    signals: tuple[str, ...]

    @property
    def told(self) -> tuple[str, float | None, str]:
        """What a trainer goes by."""
        return self.verdict, self.reward, self.integrity


def judged(command: Path, requests: Sequence[pb.ScoreRequest]) -> list[Result]:
    """Judges requests on a new server.

    Args:
        command: the executable `reward-server` of a build.
        requests: what is judged.

    Raises:
        RuntimeError: not every request has a result.
    """
    if not requests:
        return []
    is_python = all(one.language in ("", "python") for one in requests)
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "tasks.jsonl"), Path(folder, "results.jsonl")
        given.write_text("".join(f"{json.dumps(MessageToDict(one))}\n" for one in requests))
        chosen = (*_SETTINGS, _PYTHON) if is_python else _SETTINGS
        settings = [part for one in chosen for part in ("--set", one)]
        parts: list[str | Path] = [command, "grade", given, "--out", out, *settings]
        ended = subprocess.run(parts, capture_output=True, text=True)
        if not out.exists():
            raise RuntimeError(f"{command} judged nothing: {ended.stderr}")
        found = [_result(json.loads(line)) for line in out.read_text().splitlines()]
    if len(found) != len(requests):
        raise RuntimeError(f"{command} gave {len(found)} results for {len(requests)} tasks")
    return found


def _result(line: dict[str, Any]) -> Result:
    if line["error"] is not None:
        return Result(line["error"]["status"], None, "", ())
    signals = tuple(sorted(line["signals"]))
    return Result(line["verdict"], line["reward"], line["integrity"], signals)

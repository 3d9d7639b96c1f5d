"""Rows of published sets with their solutions, and requests that tests of this repository made.

A row's request requires no label, so that its answer has the one that it gets.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.frozen import wrong
from codereward.request_json import parse_request
from codereward.v1 import reward_service_pb2 as pb
from tests.e2e.test_humaneval_x import without_body
from trainer_client import tasks

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
REFERENCE = "reference"
_STEP = 8  # of rows whose programs are compiled, and of predictions


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What identifies a row: its set, its name there, and which solution of it is judged."""

    set: str
    row: str
    solution: str


Rows = Iterator[tuple[Key, pb.ScoreRequest]]


def published(name: str, *, every: bool = False) -> Rows:
    """Yields the rows of a published set with their right and wrong solutions.

    Args:
        name: one of `PUBLISHED`.
        every: whether all rows are taken of a set that is costly to judge.
    """
    file, step, solved = PUBLISHED[name]
    for row in _read(DATA / file)[:: 1 if every else step]:
        for key, kind, request in solved(row):
            yield Key(name, key, kind), request


def recorded(path: Path) -> Rows:
    """Yields the rows of a file of requests."""
    for line in _read(path):
        request = parse_request(json.dumps(line["request"]).encode())
        request.ClearField("require_integrity")
        yield Key(line["set"], line["row"], line["solution"]), request


def _read(path: Path) -> list[dict[str, Any]]:
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        text = file.read()
    if path.name.removesuffix(".xz").endswith(".json"):
        found: list[dict[str, Any]] = json.loads(text)
        return found
    return [json.loads(line) for line in text.splitlines()]


_Row = Mapping[str, Any]
_Solved = Iterable[tuple[str, str, pb.ScoreRequest]]


def _filled(row: str, template: pb.ScoreRequest, solutions: Mapping[str, str]) -> _Solved:
    for kind, completion in solutions.items():
        yield row, kind, tasks.fill(template, completion)


def _humaneval(row: _Row) -> _Solved:
    right, template = row["canonical_solution"], tasks.humaneval(row)
    found = {REFERENCE: right, "none": "    return None\n"}
    return _filled(row["task_id"], template, found | wrong.functions(right, row["entry_point"]))


def _mbpp(row: _Row) -> _Solved:
    template = tasks.mbpp(row)
    name = template.function.entry_point
    found = {REFERENCE: row["code"], "none": f"def {name}(*args, **kwargs):\n    return None\n"}
    return _filled(str(row["task_id"]), template, found | wrong.functions(row["code"], name))


def _classeval(row: _Row) -> _Solved:
    right = row["solution_code"]
    found = {REFERENCE: right, "none": row["skeleton"]}
    wrongs = wrong.methods(right, row["class_name"])
    return _filled(row["task_id"], tasks.classeval(row), found | wrongs)


def _cruxeval(row: _Row) -> _Solved:
    found = {REFERENCE: row["output"], "none": "object()"}
    return _filled(row["id"], tasks.cruxeval_output(row), found)


def _humaneval_x(row: _Row) -> _Solved:
    found = {REFERENCE: row["canonical_solution"], "none": without_body(dict(row))}
    for key, kind, request in _filled(row["task_id"], tasks.humaneval_x(row), found):
        request.extraction = pb.EXTRACTION_NONE
        yield key, kind, request


_LANGUAGES = ("cpp", "java", "js", "go", "rust", "python")

# By name: the file, the step between the rows that are taken, and what makes requests of a row.
PUBLISHED: Mapping[str, tuple[str, int, Callable[[_Row], _Solved]]] = MappingProxyType(
    {
        "humaneval": ("HumanEval.jsonl.xz", 1, _humaneval),
        "mbpp": ("mbpp_full.jsonl.xz", 1, _mbpp),
        "mbpp_sanitized": ("mbpp_sanitized.json.xz", 1, _mbpp),
        "classeval": ("classeval.json.xz", 1, _classeval),
        "cruxeval": ("cruxeval.jsonl.xz", _STEP, _cruxeval),
        **{
            f"humaneval_x_{name}": (f"humaneval_x_{name}.jsonl.xz", _STEP, _humaneval_x)
            for name in _LANGUAGES
        },
    }
)

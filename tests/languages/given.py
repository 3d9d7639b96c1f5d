"""Requests whose programs read four files, one of each form in which a request gives files."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict

from codereward.v1 import reward_service_pb2 as pb
from reward_server.languages import Language, load_languages

READERS = Path(__file__).parent / "readers"
OUTPUT = "1\n2\n3\n4\n"
# The first variant of each language.
READ = {load_languages().find(path.stem): path.read_text("utf-8") for path in READERS.iterdir()}


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FILES: dict[str, Any] = {
    "files": {"given/a": _packed("1\n")},
    "text_files": {"given/b": "2\n"},
    "data_files": {"given/c": _packed("3\n")},
    "text_data_files": {"given/d": "4\n"},
}
CASE = {"expected_stdout_text": OUTPUT}


def score(language: Language, **fields: Any) -> pb.ScoreRequest:
    """Returns a request to judge a completion that is given the files."""
    plain = {"language": language.name, "extraction": "EXTRACTION_NONE"}
    return ParseDict({**plain, **FILES, **fields}, pb.ScoreRequest())


def as_stdio(language: Language, source: str) -> pb.ScoreRequest:
    """Returns a request to judge a program by its output, twice."""
    return score(language, completion=source, stdio={"cases": [CASE, CASE]})


def as_tests(language: Language, source: str) -> pb.ScoreRequest:
    """Returns a request in which a program is the test of a solution without content."""
    nothing = f"{language.comment} nothing *)\n"  # as a comment of OCaml ends
    head = "#lang racket\n" if source.startswith("#lang racket\n") else ""  # of a solution
    tests = source.removeprefix("<?php\n").removeprefix(head)
    return score(language, completion=head + nothing, program={"test_code": tests})


def execute(language: Language, source: str) -> pb.ExecuteRequest:
    """Returns a request to run a program."""
    return ParseDict({"language": language.name, "source": source, **FILES}, pb.ExecuteRequest())


def run_code(language: Language, source: str) -> dict[str, Any]:
    """Returns a body for `/run_code`, which has one form."""
    names = {f"given/{name}": _packed(f"{number}\n") for number, name in enumerate("abcd", 1)}
    patience = {"compile_timeout": 120, "run_timeout": 120}  # a container may have to start
    return {"language": language.name, "code": source, "files": names, **patience}

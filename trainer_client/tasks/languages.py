"""Rows in many languages, whose tests are programs: HumanEval-X and MultiPL-E."""

from __future__ import annotations

import re

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.functions import humaneval
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

# The prefixes of a HumanEval-X row's `task_id`.
_HUMANEVAL_X = {
    "CPP": "c++",
    "Java": "java",
    "JavaScript": "javascript",
    "Go": "go",
    "Rust": "rust",
    "Python": "python",
}
# The same of McEval, for languages in which a test program decides.
_MCEVAL = {
    "C": "c",
    "CPP": "c++",
    "C#": "c#",
    "Common Lisp": "common-lisp",
    "Elixir": "elixir",
    "Go": "go",
    "Haskell": "haskell",
    "Java": "java",
    "JavaScript": "javascript",
    "Kotlin": "kotlin",
    "Lua": "lua",
    "Pascal": "pascal",
    "Perl": "perl",
    "PHP": "php",
    "R": "r",
    "Racket": "racket",
    "Ruby": "ruby",
    "Rust": "rust",
    "Scala": "scala",
    "Shell": "bash",
    "TypeScript": "typescript",
}
# What HumanEval-X puts in front of a prompt in Python, without numpy, which no row uses, and of one
# in C++ that lacks it.
_PYTHON_IMPORTS = """import math
import re
import sys
import copy
import datetime
import itertools
import collections
import heapq
import statistics
import functools
import hashlib
import string
from typing import *
from collections import *
"""
_CPP_HEADERS = (
    *("stdlib.h", "algorithm", "math.h", "stdio.h", "vector", "string", "climits", "cstring"),
    "iostream",
)
_CHECKED = re.compile(r"(?m)^check\((\w+)\)\s*\Z")
# MultiPL-E's names that are no names of languages. Servers know most of the other short names.
_MULTIPL_E = {"go_test.go": "go", "adb": "ada"}


@bounded("humaneval_x")
def humaneval_x(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a HumanEval-X row: `task_id`, `prompt`, `test`.

    Rows in Go also have a `test_setup`, and rows in Rust a `declaration`, which begins their
    program.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("humaneval_x", row)
    prefix = reader.text("task_id").split("/")[0]
    if prefix not in _HUMANEVAL_X:
        raise reader.error("task_id", f"must begin with one of {', '.join(_HUMANEVAL_X)}")
    prompt, test_code = humaneval_x_prompt(row), reader.text("test")
    if prefix == "Python":
        return _python(reader, prompt, test_code, completion, id)
    if prefix == "CPP":
        headers = (f"#include<{name}>" for name in _CPP_HEADERS)
        prompt = "\n".join((*(one for one in headers if one not in prompt), prompt))
    if reader.has("test_setup"):
        test_code = f"{reader.text('test_setup')}\n{test_code}"
    return _request(_HUMANEVAL_X[prefix], prompt, test_code, completion, id)


def humaneval_x_prompt(row: Row) -> str:
    """Returns what a solution of a HumanEval-X row continues.

    In Rust the prompt is a comment, which stands behind the declaration.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("humaneval_x", row)
    prompt = reader.text("prompt")
    if reader.text("task_id").startswith("Rust/"):
        return reader.text("declaration") + prompt
    return prompt


def _python(
    reader: Reader, prompt: str, test_code: str, completion: str, id: str
) -> pb.ScoreRequest:
    """Makes a row of HumanEval, which calls `check` by itself."""
    called = _CHECKED.search(test_code)
    if called is None:
        raise reader.error("test", "must end in check(NAME)")
    tests = {"test": test_code[: called.start()], "entry_point": called[1]}
    return humaneval({**tests, "prompt": _PYTHON_IMPORTS + prompt}, completion, id=id)


@bounded("multipl_e")
def multipl_e(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a MultiPL-E row: `language`, `prompt`, `tests`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("multipl_e", row)
    name = reader.text("language")
    language = _MULTIPL_E.get(name, name)
    return _request(language, reader.text("prompt"), reader.text("tests"), completion, id)


@bounded("mceval")
def mceval(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of McEval: `task_id`, `prompt`, `test`, for Python `entry_point`.

    Raises:
        TaskError: a field is absent or wrong, or the language is not one of `_MCEVAL`.
    """
    reader = Reader("mceval", row)
    prefix = reader.text("task_id").split("/")[0]
    if prefix == "Python":
        return humaneval(row, completion, id=id)
    if prefix not in _MCEVAL:
        problem = f"is of {prefix[:80]!r}, whose rows are not judged here; leave them out"
        raise reader.error("task_id", problem)
    return _request(
        _MCEVAL[prefix], reader.text("prompt") + "\n", reader.text("test"), completion, id
    )


def _request(
    language: str, prompt: str, test_code: str, completion: str, id: str
) -> pb.ScoreRequest:
    return pb.ScoreRequest(
        id=id,
        language=language,
        prompt=prompt,
        completion=well_formed(completion),
        program=pb.ProgramTests(test_code=test_code),
    )

"""Rows whose tests are inputs and outputs as data: APPS and CodeContests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.rows import Reader, Row, pairs
from trainer_client.text import well_formed

# The graders of APPS and LiveCodeBench put this before each solution, so that solutions to these
# tasks rely on it. `builtins` comes late, so that `math.pow` does not hide `pow`.
PRELUDE = """\
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics
import itertools, functools, operator, io, sys, json, fractions, time
"""


def apps(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from an APPS or TACO row: `input_output`, `starter_code`.

    With `fn_name` the tests are calls of a function, or of a method if the starter code has `class
    Solution`. Otherwise they are runs of a whole program. In rows for plain functions, each result
    is in a list of one element; if this is so for all results, these lists are removed. If a
    dictionary is the only argument or the result, and each of its keys reads as an integer, its
    keys become integers, as in the grader of APPS. JSON has no such keys, so the tests are then
    assertions.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("apps", row)
    tests = reader.mapping("input_output")
    cases = pairs(tests, "inputs", "outputs")
    if not cases:
        raise reader.error("input_output", "has no tests")
    starter = reader.optional_text("starter_code")
    request = pb.ScoreRequest(id=id, prompt=PRELUDE + starter, completion=well_formed(completion))
    if not tests.has("fn_name"):
        request.stdio.CopyFrom(_stdio(tests, cases))
        return request
    is_method = "class Solution" in starter
    name = tests.text("fn_name")
    calls = _calls(tests, cases if is_method else _unwrapped(cases))
    numbered = [(_numbered(given), _numbered([wanted])[0]) for given, wanted in calls]
    if numbered != calls:
        request.function.entry_point = "Solution" if is_method else name
        called = f"Solution().{name}" if is_method else name
        request.function.asserts.extend(_assertion(called, *case) for case in numbered)
        return request
    request.call.entry_point = f"Solution().{name}" if is_method else name
    request.call.cases.extend(
        pb.CallCase(args_json=json.dumps(given), expected_json=json.dumps(wanted))
        for given, wanted in calls
    )
    return request


def code_contests(
    row: Row, completion: str = "", *, id: str = "", generated: bool = True
) -> pb.ScoreRequest:
    """Makes a request from a CodeContests row: `public_tests`, `private_tests`, `generated_tests`.

    Without `generated` the generated tests are left out. The row's time limit is always left out,
    because it is meant for compiled programs.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("code_contests", row)
    for field in ("input_file", "output_file"):
        if reader.has(field):
            raise reader.error(field, "the program would read or write a file; this is not served")
    names = ["public_tests", "private_tests", *(["generated_tests"] if generated else [])]
    request = pb.ScoreRequest(id=id, completion=well_formed(completion))
    for name in names:
        tests = reader.mapping(name)
        request.stdio.cases.extend(_stdio(tests, pairs(tests, "input", "output")).cases)
    if not request.stdio.cases:
        raise reader.error("public_tests", "there are no tests (public, private or generated)")
    return request


def _stdio(reader: Reader, cases: Sequence[tuple[Any, Any]]) -> pb.StdioTests:
    return pb.StdioTests(
        cases=[
            stdio_case(
                _joined(reader, "inputs", index, given), _joined(reader, "outputs", index, wanted)
            )
            for index, (given, wanted) in enumerate(cases)
        ]
    )


def stdio_case(given: str, wanted: str) -> pb.StdioCase:
    """Returns a test of a program; both texts are encoded as UTF-8."""
    return pb.StdioCase(
        stdin=well_formed(given).encode(), expected_stdout=well_formed(wanted).encode()
    )


def _joined(reader: Reader, field: str, index: int, value: object) -> str:
    """Returns text; joins it if it is a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        kind = type(value).__name__
        raise reader.error(f"{field}[{index}]", f"must be text or a list of lines, not {kind}")
    return value


def _unwrapped(cases: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    if all(isinstance(wanted, list) and len(wanted) == 1 for _, wanted in cases):
        return [(given, wanted[0]) for given, wanted in cases]
    return list(cases)


def _calls(reader: Reader, cases: Sequence[tuple[Any, Any]]) -> list[tuple[list[Any], Any]]:
    calls = []
    for index, (given, wanted) in enumerate(cases):
        if isinstance(given, str):
            given = arguments(reader, f"inputs[{index}]", given)
        if not isinstance(given, list):
            kind = type(given).__name__
            raise reader.error(f"inputs[{index}]", f"must be a list of arguments, not {kind}")
        calls.append((given, wanted))
    return calls


def _numbered(values: list[Any]) -> list[Any]:
    """Converts the keys of a dictionary, the only value, to integers if all can be converted."""
    match values:
        case [dict(table)]:
            try:
                return [{int(key): value for key, value in table.items()}]
            except ValueError:
                pass
    return values


def _assertion(called: str, given: list[Any], wanted: Any) -> str:
    call = f"{called}({', '.join(map(repr, given))})"
    if isinstance(wanted, list):
        return f"assert {call} in ({wanted!r}, {tuple(wanted)!r})"
    return f"assert {call} == {wanted!r}"


def arguments(reader: Reader, field: str, text: str) -> list[Any]:
    """Reads arguments written as JSON, one on each line."""
    try:
        return [json.loads(line) for line in text.split("\n")]
    except ValueError as error:
        raise reader.error(field, f"must have one JSON value on a line: {error}") from error

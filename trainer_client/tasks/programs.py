"""Rows whose tests are inputs and outputs as data: APPS and CodeContests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row, pairs
from trainer_client.text import kind_of, well_formed

# The graders of APPS, LiveCodeBench and PRIME put this before each solution, so that solutions to
# these tasks rely on it, also on the depth of recursion. `builtins` comes late, so that `math.pow`
# does not hide `pow`.
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
sys.setrecursionlimit(600_000)
"""


@bounded("apps")
def apps(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from an APPS or TACO row: `input_output`, `starter_code`.

    With `fn_name` the tests are calls of a function, or of a method if the starter code has `class
    Solution`. If it shows neither, a solution may define either. Without `fn_name` the tests are
    runs of a whole program, and the starter code counts for nothing, as in the grader of APPS.
    Arguments may be a list, or text with one JSON value on each line; then a result is JSON too.
    In rows for plain functions, each result is in a list of one element; if this is so for all
    results, these lists are removed. If a dictionary is the only argument or the result, and each
    of its keys reads as an integer, its keys become integers, as in the grader of APPS. JSON has no
    such keys, so the tests are then assertions.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("apps", row)
    tests = reader.mapping("input_output")
    return tested(tests, reader.optional_text("starter_code"), completion, id)


def tested(tests: Reader, starter: str, completion: str, id: str) -> pb.ScoreRequest:
    """Makes a request from `inputs` and `outputs`, with or without `fn_name`; see `apps`."""
    cases = pairs(tests, "inputs", "outputs")
    if not cases:
        raise tests.error("inputs", "there are no tests")
    request = pb.ScoreRequest(id=id, prompt=PRELUDE, completion=well_formed(completion))
    if not tests.has("fn_name"):
        request.stdio.CopyFrom(_stdio(tests, cases))
        return request
    name = tests.name("fn_name")
    is_method = "class Solution" in starter
    request.prompt += starter if is_method or f"def {name}" in starter else _either(name)
    calls = _calls(tests, cases)
    _add_calls(request, tests, name, is_method, calls if is_method else _unwrapped(calls))
    return request


def _add_calls(
    request: pb.ScoreRequest,
    reader: Reader,
    name: str,
    is_method: bool,
    calls: list[tuple[list[Any], Any]],
) -> None:
    called = f"Solution().{name}" if is_method else name
    numbered = [(_numbered(given), _numbered([wanted])[0]) for given, wanted in calls]
    if numbered != calls:
        request.function.entry_point = "Solution" if is_method else name
        request.function.setup_code = "from math import inf, nan"
        request.function.asserts.extend(_assertion(reader, called, *case) for case in numbered)
        return
    request.call.entry_point = called
    for index, (given, wanted) in enumerate(calls):
        request.call.cases.add(
            args_json=reader.json(f"inputs[{index}]", given),
            expected_json=reader.json(f"outputs[{index}]", wanted),
        )


def _either(name: str) -> str:
    """Returns a function that a solution may replace, or else calls the method of its class."""
    return f"def {name}(*values):\n    return Solution().{name}(*values)\n\n\n"


@bounded("code_contests")
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
                lines(reader, f"inputs[{index}]", given), lines(reader, f"outputs[{index}]", wanted)
            )
            for index, (given, wanted) in enumerate(cases)
        ]
    )


def stdio_case(given: str, wanted: str) -> pb.StdioCase:
    """Returns a test of a program; both texts are encoded as UTF-8."""
    return pb.StdioCase(
        stdin=well_formed(given).encode(), expected_stdout=well_formed(wanted).encode()
    )


def lines(reader: Reader, field: str, value: object) -> str:
    """Returns the text of an input or output; joins it if it is a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise reader.error(field, f"must be text or a list of lines, not {kind_of(value)}")
    return value


def _calls(reader: Reader, cases: Sequence[tuple[Any, Any]]) -> list[tuple[list[Any], Any]]:
    calls = []
    for index, (given, wanted) in enumerate(cases):
        if isinstance(given, str):
            given = arguments(reader, f"inputs[{index}]", given)
            if isinstance(wanted, str):
                wanted = reader.from_json(f"outputs[{index}]", wanted)
        if not isinstance(given, list):
            problem = f"must be a list of arguments, not {kind_of(given)}"
            raise reader.error(f"inputs[{index}]", problem)
        calls.append((given, wanted))
    return calls


def _unwrapped(calls: list[tuple[list[Any], Any]]) -> list[tuple[list[Any], Any]]:
    if all(isinstance(wanted, list) and len(wanted) == 1 for _, wanted in calls):
        return [(given, wanted[0]) for given, wanted in calls]
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


def _assertion(reader: Reader, called: str, given: list[Any], wanted: Any) -> str:
    call = f"{called}({', '.join(reader.literal('inputs', one) for one in given)})"
    result = reader.literal("outputs", wanted)
    if isinstance(wanted, list):
        return f"assert {call} in ({result}, {reader.literal('outputs', tuple(wanted))})"
    return f"assert {call} == {result}"


def arguments(reader: Reader, field: str, text: str) -> list[Any]:
    """Reads arguments written as JSON, one on each line; blank lines hold none."""
    return [
        reader.from_json(f"{field} line {number}", line)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]

"""Makes function tests of a row of EvalPlus's own files."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks import source
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.references.inputs import restored
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import kind_of, well_formed

# It compares the solution with the reference on each input, as EvalPlus's checker does: floats
# within a tolerance, everything else by equality.
_COMPARISON = """
import copy, math
from math import inf, nan

def _close(actual, expected, tolerance):
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return len(actual) == len(expected) and all(
            _close(a, e, tolerance) for a, e in zip(actual, expected))
    return math.isclose(actual, expected, rel_tol=1e-07, abs_tol=tolerance)

def _has_floats(value):
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_has_floats(item) for item in value)
    return isinstance(value, float)

_inputs = {inputs}

def check(candidate):
    for given in _inputs:
        expected = {reference}(*copy.deepcopy(given))
        actual = candidate(*copy.deepcopy(given))
        tolerance = {tolerance}
        if tolerance == 0 and _has_floats(expected):
            tolerance = 1e-06
        {assertion}
"""
_REFERENCE = "reference_solution"
_EQUAL = "assert actual == expected or (tolerance and _close(actual, expected, tolerance))"
_SETS = "assert set(actual) == set(expected)"
_PRESENT = "assert (actual if isinstance(actual, bool) else actual is not None) == bool(expected)"
_ROOT = "assert abs(sum(c * actual ** i for i, c in enumerate(given[0]))) <= tolerance"
# Functions whose results EvalPlus compares otherwise: in any order, as found or not, as any root.
_ASSERTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("similar_elements", "find_char_long", "common_in_nested_lists"),
                *("extract_singly", "larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
            ),
            _SETS,
        ),
        **dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), _PRESENT),
        "find_zero": _ROOT,
    }
)


@bounded("evalplus")
def evalplus(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of EvalPlus's own files, HumanEvalPlus and MbppPlus.

    Reads `prompt`, `canonical_solution`, `entry_point`, `base_input`, `plus_input` and `atol`. The
    expected results are those of the canonical solution. For rows with a field `test`, such as
    those of the Hub, use `humaneval` or `mbpp`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("evalplus", row)
    prompt, solution = reader.text("prompt"), reader.text("canonical_solution")
    task_id = reader.value("task_id")
    is_mbpp = isinstance(task_id, str) and task_id.startswith("Mbpp/")
    number = task_id.removeprefix("Mbpp/") if is_mbpp else ""
    inputs = [
        *_inputs(reader, "base_input", number),
        *_inputs(reader, "plus_input", number),
    ]
    if not inputs:
        raise reader.error("base_input", "has no inputs, nor has plus_input")
    tolerance = reader.value("atol") or 0
    if not isinstance(tolerance, int | float):
        raise reader.error("atol", f"must be a number, not {kind_of(tolerance)}")
    entry_point = reader.name("entry_point")
    test_code = _reference(reader, prompt + solution, entry_point) + _COMPARISON.format(
        reference=_REFERENCE,
        inputs=reader.literal("base_input", inputs),
        tolerance=reader.literal("atol", tolerance),
        assertion=_ASSERTIONS.get(entry_point, _EQUAL),
    )
    tests = pb.FunctionTests(entry_point=entry_point, test_code=test_code)
    return pb.ScoreRequest(
        id=id,
        prompt="" if is_mbpp else prompt,
        completion=well_formed(completion),
        function=tests,
    )


def _reference(reader: Reader, code: str, entry_point: str) -> str:
    """Returns the reference solution with its function under another name than the solution's."""
    try:
        tree = source.parsed(code)
    except ValueError as error:
        raise reader.error("canonical_solution", f"with the prompt {error}") from error
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if entry_point not in defined:
        raise reader.error("canonical_solution", f"does not define {entry_point}")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == entry_point:
            node.name = _REFERENCE
        elif isinstance(node, ast.Name) and node.id == entry_point:
            node.id = _REFERENCE
    return ast.unparse(tree) + "\n"


def _inputs(reader: Reader, field: str, number: str) -> list[list[Any]]:
    """Reads the arguments of calls; those of a row of MBPP+ get the types of its number."""
    values = reader.decoded(field) or []
    if not isinstance(values, list) or not all(isinstance(value, list) for value in values):
        raise reader.error(field, "must be a list of lists of arguments")
    if not number.isdecimal():
        return values
    try:
        return [restored(int(number), value) for value in values]
    except ValueError as error:
        raise reader.error(field, str(error)) from error

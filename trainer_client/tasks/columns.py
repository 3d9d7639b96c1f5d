"""Rows of one's own, by the kind of their tests, and rows whose columns have other names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.functions import mbpp
from trainer_client.tasks.programs import stdio_case
from trainer_client.tasks.rows import Reader, Row, pairs
from trainer_client.tasks.suites import unit_tests
from trainer_client.text import well_formed


def renamed(row: Row, columns: Mapping[str, str]) -> Row:
    """Returns a row with further fields, taken from its columns.

    Args:
        row: the row.
        columns: for each field the column that it is taken from. A dot leads into an object, which
            may be written as JSON text: "reward_model.ground_truth".

    Raises:
        TaskError: a column is absent.
    """
    return {**row, **{field: _value(row, path) for field, path in columns.items()}}


def _value(row: Row, path: str) -> Any:
    value: Any = row
    if path in row:
        return row[path]
    for name in path.split("."):
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise TaskError("columns", path, f"is not JSON: {error}") from error
        if not isinstance(value, Mapping) or name not in value:
            raise TaskError("columns", path, f"the row has no {name}")
        value = value[name]
    return value


def stdio(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with tests of a program: `inputs`, `outputs`, `language`.

    The two are lists of texts, or one text each.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("stdio", row)
    request = pb.ScoreRequest(
        id=id,
        language=reader.optional_text("language"),
        completion=well_formed(completion),
    )
    for index, (given, wanted) in enumerate(_cases(reader)):
        if not isinstance(given, str) or not isinstance(wanted, str):
            raise reader.error(f"inputs[{index}]", "must be text, and its output too")
        request.stdio.cases.append(stdio_case(given, wanted))
    return request


def calls(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with calls of a function: `entry_point`, `inputs`, `outputs`.

    Each input is a list of arguments. `starter` is code that the completion continues.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("calls", row)
    request = pb.ScoreRequest(
        id=id, prompt=reader.optional_text("starter"), completion=well_formed(completion)
    )
    request.call.entry_point = reader.text("entry_point")
    for index, (given, wanted) in enumerate(_cases(reader)):
        if not isinstance(given, list):
            raise reader.error(f"inputs[{index}]", "must be a list of arguments")
        case = pb.CallCase(args_json=json.dumps(given), expected_json=json.dumps(wanted))
        request.call.cases.append(case)
    return request


def asserts(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with assertions: `asserts`, `entry_point`, `setup`.

    `asserts` is a list, which may be written as JSON, or text with one assertion on each line. If
    `entry_point` is absent, it is the first function that they call.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("asserts", row)
    lines = _assertions(reader)
    if not lines:
        raise reader.error("asserts", "has no asserts")
    request = mbpp(
        {"test_list": lines, "test_setup_code": reader.optional_text("setup")}, completion, id=id
    )
    if name := reader.optional_text("entry_point"):
        request.function.entry_point = name
    return request


def _assertions(reader: Reader) -> list[str]:
    value = reader.value("asserts")
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [line for line in value.splitlines() if line.strip()]
    found = reader.decoded("asserts")
    return Reader("asserts", {"asserts": found}).texts("asserts")


def pytest(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with a file of pytest: `test`, `solution_path`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("pytest", row)
    reader.python("test")
    return unit_tests(
        {"test_solution.py": reader.text("test")},
        completion,
        solution_path=reader.optional_text("solution_path"),
        id=id,
    )


def _cases(reader: Reader) -> list[tuple[Any, Any]]:
    """Reads inputs and outputs: lists, JSON text of lists, or one text each."""
    values = {}
    for field in ("inputs", "outputs"):
        value = reader.value(field)
        is_json = isinstance(value, str) and value.lstrip().startswith("[")
        values[field] = reader.decoded(field) if is_json else value
        if isinstance(values[field], str):
            values[field] = [values[field]]
    found = pairs(reader.within("", values), "inputs", "outputs")
    if not found:
        raise reader.error("inputs", "there are no tests")
    return found

"""Rows of one's own, by the kind of their tests, and rows whose columns have other names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.functions import asserted
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.programs import lines, stdio_case
from trainer_client.tasks.rows import Reader, Row, pairs, plain
from trainer_client.tasks.suites import unit_tests
from trainer_client.text import kind_of, well_formed


def renamed(row: Row, columns: Mapping[str, str]) -> Row:
    """Returns a row with further fields, taken from its columns.

    Args:
        row: the row.
        columns: for each field the column that it is taken from. A dot leads into an object, which
            may be written as JSON text: "reward_model.ground_truth". In a list it leads into each
            item: "tests.input" is the list of the inputs of all tests.

    Raises:
        TaskError: a column is absent.
    """
    if not isinstance(row, Mapping):
        raise TaskError("columns", "row", f"must be a mapping, not {kind_of(row)}")
    found = {field: _value(row, path) for field, path in columns.items()}
    beside, dot, _ = columns.get("inputs", "").rpartition(".")
    tests = _value(row, beside) if dot else None
    if isinstance(tests, Mapping) and tests.get("fn_name"):
        # Without this name, calls would be judged as runs of a program.
        found.setdefault("fn_name", tests["fn_name"])
    return {**row, **found}


def _value(row: Row, path: str) -> Any:
    if path in row:
        return row[path]
    value: Any = row
    for name in path.split("."):
        value = _within(plain(value), name, path)
    return value


def _within(value: Any, name: str, path: str) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise TaskError("columns", path, f"is not JSON: {error}") from error
    if isinstance(value, list) and value:
        return [_within(item, name, path) for item in value]
    if not isinstance(value, Mapping) or name not in value:
        raise TaskError("columns", path, f"the row has no {name}")
    return value[name]


@bounded("stdio")
def stdio(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with tests of a program: `inputs`, `outputs`, `language`.

    The two are lists of texts, or one text each; a test may also be a list of lines.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("stdio", row)
    for field in ("fn_name", "entry_point"):
        if reader.has(field):
            problem = 'names a function, and these are tests of a program: kind = "verl" reads both'
            raise reader.error(field, problem)
    request = pb.ScoreRequest(
        id=id,
        language=reader.optional_text("language"),
        completion=well_formed(completion),
    )
    for index, (given, wanted) in enumerate(_cases(reader)):
        texts = lines(reader, f"inputs[{index}]", given), lines(reader, f"outputs[{index}]", wanted)
        request.stdio.cases.append(stdio_case(*texts))
    return request


@bounded("calls")
def calls(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with calls of a function: `entry_point`, `inputs`, `outputs`.

    Each input is a list of arguments. `starter` is code that the completion continues. `fn_name` is
    another name of `entry_point`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("calls", row)
    request = pb.ScoreRequest(
        id=id, prompt=reader.optional_text("starter"), completion=well_formed(completion)
    )
    request.call.entry_point = reader.name("fn_name" if reader.has("fn_name") else "entry_point")
    for index, (given, wanted) in enumerate(_cases(reader)):
        if not isinstance(given, list):
            problem = f"must be a list of arguments, not {kind_of(given)}"
            raise reader.error(f"inputs[{index}]", problem)
        arguments = reader.json(f"inputs[{index}]", given)
        expected = reader.json(f"outputs[{index}]", wanted)
        request.call.cases.append(pb.CallCase(args_json=arguments, expected_json=expected))
    return request


@bounded("asserts")
def asserts(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row with assertions: `asserts`, `entry_point`, `setup`.

    `asserts` is a list, which may be written as JSON, or text with one assertion on each line. If
    `entry_point` is absent, it is the first function that they call.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("asserts", row)
    setup = reader.optional_text("setup")
    request = asserted(reader, "asserts", _assertions(reader), completion, id, setup=setup)
    if reader.has("entry_point"):
        request.function.entry_point = reader.name("entry_point")
    return request


def _assertions(reader: Reader) -> list[str]:
    value = reader.value("asserts")
    if not isinstance(value, str):
        return reader.texts("asserts")
    if value.lstrip().startswith("["):
        return reader.within("", {"asserts": reader.decoded("asserts")}).texts("asserts")
    return [line for line in well_formed(value).splitlines() if line.strip()]


@bounded("pytest")
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

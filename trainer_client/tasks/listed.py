"""Rows with inputs and outputs under one of many names: what training sets for RL are made of.

    verl               `reward_model.ground_truth`, in the format of PRIME; also Eurus-2-RL-Data
    synthetic          SYNTHETIC-1's `verification_info`
    deepcoder          DeepCoder's `tests`
    rstar_coder        rStar-Coder's `inputs` and `outputs`

All of them hold tests of whole programs or calls of functions, and mix both in one file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.programs import apps
from trainer_client.tasks.rows import Reader, Row

_PROGRAM_TYPES = {"stdin_stdout", "stdin", "stdio", ""}
_CALL_TYPES = {"function_call", "functional"}


def verl(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of verl, whose ground truth holds tests: Eurus-2-RL-Data, PRIME.

    Reads `reward_model.ground_truth`: `inputs` and `outputs` with or without `fn_name`, or a list
    of tests with `input` and `output`, as JSON text or as an object.

    Raises:
        TaskError: a field is absent or wrong, such as the ground truth of a row about mathematics.
    """
    reader = Reader("verl", row).mapping("reward_model")
    truth = reader.decoded("ground_truth")
    return _request(reader, "ground_truth", truth, _starter(row), completion, id)


def synthetic(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of SYNTHETIC-1 or of its verifiable coding problems.

    Reads `verification_info`: `test_cases`, each with `type`, `input`, `output` and `fn_name`.

    Raises:
        TaskError: a field is absent or wrong, or the tests are for another language than Python.
    """
    reader = Reader("synthetic", row).mapping("verification_info")
    if reader.optional_text("language") not in ("", "python"):
        raise reader.error("language", f"is {reader.optional_text('language')}, not python")
    truth = reader.decoded("test_cases")
    return _request(reader, "test_cases", truth, _starter(row), completion, id)


def deepcoder(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of DeepCoder-Preview-Dataset, of any of its parts.

    Reads `tests`, which has the form of SYNTHETIC-1, of TACO or of LiveCodeBench, and
    `starter_code` and `metadata`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("deepcoder", row)
    return _request(reader, "tests", reader.decoded("tests"), _starter(row), completion, id)


def rstar_coder(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of rStar-Coder's test cases, seeds and synthetic ones.

    Reads `inputs`, `outputs`, `starter_code`, `func_name` and `class_name`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("rstar_coder", row)
    truth = {name: reader.decoded(name) for name in ("inputs", "outputs")}
    starter = reader.optional_text("starter_code")
    if name := reader.optional_text("func_name"):
        truth["fn_name"] = name
    if owner := reader.optional_text("class_name"):
        starter = starter or f"class {owner}:\n"
    return _request(reader, "inputs", truth, starter, completion, id)


def _request(
    reader: Reader, field: str, truth: Any, starter: str, completion: str, id: str
) -> pb.ScoreRequest:
    """Makes a request from tests in one object, or in a list with one object for each."""
    if isinstance(truth, list):
        truth = _joined(reader, field, truth)
    if not isinstance(truth, dict):
        raise reader.error(field, f"holds no tests, but {type(truth).__name__}")
    return apps({"input_output": truth, "starter_code": starter}, completion, id=id)


def _joined(reader: Reader, field: str, tests: Sequence[Any]) -> dict[str, Any]:
    """Joins tests into lists of inputs and outputs, with the name of the one function, if any."""
    cases = [reader.within(f"{field}[{index}]", test) for index, test in enumerate(tests)]
    names = {_function_of(case) for case in cases}
    if len(names) != 1:
        raise reader.error(field, "has tests of a program, or of one function, but not of several")
    (name,) = names
    values = [(case.value("input"), case.value("output")) for case in cases]
    if name is None:
        return {"inputs": [given for given, _ in values], "outputs": [told for _, told in values]}
    return {
        "fn_name": name,
        "inputs": [_arguments(case, given) for case, (given, _) in zip(cases, values, strict=True)],
        "outputs": [_result(case, told) for case, (_, told) in zip(cases, values, strict=True)],
    }


def _function_of(case: Reader) -> str | None:
    """Returns the name of the function that a test calls, or None if it runs a program."""
    kind = case.optional_text("type") or case.optional_text("testtype")
    if kind in _CALL_TYPES:
        name = case.optional_text("fn_name") or case.mapping("metadata").optional_text("func_name")
        if not name:
            raise case.error("fn_name", "is absent")
        return name
    if kind not in _PROGRAM_TYPES:
        raise case.error("type", f"is {kind!r}, which no reader knows")
    return None


def _arguments(case: Reader, given: Any) -> list[Any]:
    """Returns the arguments of a call: a list, or JSON with one value on each line."""
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        raise case.error("input", f"must be arguments, not {type(given).__name__}")
    try:
        return [json.loads(line) for line in given.split("\n") if line.strip()]
    except ValueError as error:
        raise case.error("input", f"must have one JSON value on a line: {error}") from error


def _result(case: Reader, told: Any) -> Any:
    return case.decoded("output") if isinstance(told, str) and not case.has("type") else told


def _starter(row: Row) -> str:
    return str(row.get("starter_code") or "")

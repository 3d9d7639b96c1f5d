"""Rows with inputs and outputs under one of many names: what training sets for RL are made of.

    verl               `reward_model.ground_truth`, in the format of PRIME; also Eurus-2-RL-Data
    synthetic          SYNTHETIC-1's `verification_info`
    deepcoder          DeepCoder's `tests`
    rstar_coder        rStar-Coder's `inputs` and `outputs`

All of them hold tests of whole programs or calls of functions, and mix both in one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.functions import asserted
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.programs import arguments, tested
from trainer_client.tasks.rows import Reader, Row, plain
from trainer_client.text import kind_of, well_formed

# Any of these fields makes a mapping the ground truth of a row of verl.
GROUND_TRUTH = frozenset({"inputs", "outputs", "assert_case"})
_PYTHON = "python"
_REMEDY = "rows that are not about code can be left out"
_PROGRAM_TYPES = {"stdin_stdout", "stdin", "stdio", ""}
_CALL_TYPES = {"function_call", "functional"}


@bounded("verl")
def verl(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of verl, whose ground truth holds tests: Eurus-2-RL-Data, PRIME.

    Reads `reward_model.ground_truth`: `inputs` and `outputs` with or without `fn_name`, a list of
    tests with `input` and `output`, or a list of assertions, also as `assert_case`; as JSON text or
    as an object. A label of verl, which is the ground truth alone, is read too.

    Raises:
        TaskError: a field is absent or wrong, such as the ground truth of a row about mathematics.
    """
    reader = Reader("verl", row)
    if GROUND_TRUTH.intersection(row):
        truth = {**row, "assert_case": _truth(reader, "assert_case")}
        return _request(reader, "ground_truth", truth, _starter(reader), completion, id)
    inner = reader.mapping("reward_model")
    truth = _truth(inner, "ground_truth")
    return _request(inner, "ground_truth", truth, _starter(reader), completion, id)


@bounded("synthetic")
def synthetic(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of SYNTHETIC-1 or of its verifiable coding problems.

    Reads `verification_info`: `language` and `test_cases`, each with `type`, `input`, `output` and
    `fn_name`. Programs are in any language; functions are in Python.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("synthetic", row)
    inner = reader.mapping("verification_info")
    truth = inner.decoded("test_cases")
    request = _request(inner, "test_cases", truth, _starter(reader), completion, id)
    language = inner.optional_text("language") or _PYTHON
    if language != _PYTHON and request.WhichOneof("tests") != "stdio":
        raise inner.error("language", f"is {language!r}, in which functions have no tests here")
    if language != _PYTHON:
        request.language, request.prompt = language, ""
    return request


@bounded("deepcoder")
def deepcoder(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of DeepCoder-Preview-Dataset, of any of its parts.

    Reads `tests`, which has the form of SYNTHETIC-1, of TACO or of LiveCodeBench, and
    `starter_code` and `metadata`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("deepcoder", row)
    truth = reader.decoded("tests")
    return _request(reader, "tests", truth, _starter(reader), completion, id)


@bounded("rstar_coder")
def rstar_coder(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of rStar-Coder's test cases, seeds and synthetic ones.

    Reads `inputs`, `outputs`, `starter_code`, `func_name` and `class_name`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("rstar_coder", row)
    truth = {name: reader.decoded(name) for name in ("inputs", "outputs")}
    starter = _starter(reader)
    if name := reader.optional_text("func_name"):
        truth["fn_name"] = name
    if owner := reader.optional_text("class_name"):
        starter = starter or f"class {owner}:\n"
    return _request(reader, "inputs", truth, starter, completion, id)


def has_assertions(label: object) -> bool:
    """Returns True for a list of texts, its JSON, or text with one assertion on each line."""
    if isinstance(label, str):
        return label.lstrip().startswith(("assert ", '["'))
    return isinstance(label, list) and bool(label) and all(isinstance(one, str) for one in label)


def _truth(reader: Reader, field: str) -> Any:
    """Reads a ground truth: a value, its JSON, or text with one assertion on each line."""
    value = reader.value(field)
    if isinstance(value, str) and value.lstrip().startswith("assert "):
        return [line for line in value.splitlines() if line.strip()]
    return reader.decoded(field)


def _request(
    reader: Reader, field: str, truth: Any, starter: str, completion: str, id: str
) -> pb.ScoreRequest:
    """Makes a request from tests in one object, or in a list with one object for each."""
    if isinstance(truth, Mapping) and truth.get("assert_case") is not None:
        truth = truth["assert_case"]
    if isinstance(truth, list) and truth and all(isinstance(one, str) for one in truth):
        return asserted(reader, field, [well_formed(one) for one in truth], completion, id)
    if isinstance(truth, list):
        truth = _joined(reader, field, truth)
    if not isinstance(truth, Mapping):
        raise reader.error(field, f"holds no tests, but {kind_of(truth)}; {_REMEDY}")
    return tested(reader.within(field, truth), starter, completion, id)


def _joined(reader: Reader, field: str, tests: Sequence[Any]) -> dict[str, Any]:
    """Joins tests into lists of inputs and outputs, with the name of the one function, if any."""
    cases = [reader.within(f"{field}[{index}]", plain(test)) for index, test in enumerate(tests)]
    if not cases:
        raise reader.error(field, "there are no tests")
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
        raise case.error("type", f"is {kind[:80]!r}, which no reader knows")
    return None


def _arguments(case: Reader, given: Any) -> list[Any]:
    """Returns the arguments of a call: a list, or JSON with one value on each line."""
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        raise case.error("input", f"must be arguments, not {kind_of(given)}")
    return arguments(case, "input", given)


def _result(case: Reader, told: Any) -> Any:
    return case.decoded("output") if isinstance(told, str) and not case.has("type") else told


def _starter(reader: Reader) -> str:
    return reader.optional_text("starter_code")

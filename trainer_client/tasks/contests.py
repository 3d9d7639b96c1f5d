"""Rows of LiveCodeBench's code generation, whose private tests come as a compressed pickle."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.pickled import inflated, pickled_text
from trainer_client.tasks.programs import PRELUDE, arguments, stdio_case
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import kind_of, well_formed


@bounded("livecodebench")
def livecodebench(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a LiveCodeBench row of either kind, with public and private tests.

    Reads `public_test_cases`, `private_test_cases`, `starter_code` and `func_name` in `metadata`.
    Numbers in a program's output are compared by value, as in LiveCodeBench.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("livecodebench", row)
    cases = _cases(reader, "public_test_cases") + _cases(reader, "private_test_cases")
    if not cases:
        raise reader.error("public_test_cases", "there are no tests (public or private)")
    kinds = {case.optional_text("testtype") for case in cases}
    request = pb.ScoreRequest(id=id, prompt=PRELUDE, completion=well_formed(completion))
    if kinds == {"stdin"}:
        request.stdio.checker.kind = pb.CHECKER_KIND_FLOAT
        request.stdio.cases.extend(
            stdio_case(case.optional_text("input"), case.optional_text("output")) for case in cases
        )
    elif kinds == {"functional"}:
        request.prompt += reader.optional_text("starter_code")
        request.call.entry_point = _entry_point(reader)
        request.call.cases.extend(_call(case) for case in cases)
    else:
        told = ", ".join(sorted(kinds)) or "nothing"
        raise reader.error("testtype", f"must be stdin or functional throughout, not {told}")
    return request


def _entry_point(reader: Reader) -> str:
    name = reader.mapping("metadata").name("func_name")
    return f"Solution().{name}" if "class Solution" in reader.text("starter_code") else name


def _call(case: Reader) -> pb.CallCase:
    given = arguments(case, "input", case.optional_text("input"))
    wanted = case.decoded("output")
    return pb.CallCase(
        args_json=case.json("input", given), expected_json=case.json("output", wanted)
    )


def _cases(reader: Reader, field: str) -> list[Reader]:
    tests = _decoded(reader, field)
    if not isinstance(tests, list):
        raise reader.error(field, f"must be a list of tests, not {kind_of(tests)}")
    return [reader.within(f"{field}[{index}]", case) for index, case in enumerate(tests)]


def _decoded(reader: Reader, field: str) -> Any:
    value = reader.value(field)
    if not isinstance(value, str):
        return value or []
    if value.lstrip()[:1] in {"[", ""}:
        return reader.decoded(field) if value.strip() else []
    try:
        text = pickled_text(inflated(base64.b64decode(value, validate=True)))
    except (binascii.Error, zlib.error, ValueError) as error:
        raise reader.error(field, f"cannot be decoded: {error}") from error
    return reader.from_json(field, text)

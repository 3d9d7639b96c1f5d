"""Rows whose tests are a list of assertions or a file of pytest: AceCode and KodCode."""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.functions import mbpp
from trainer_client.tasks.rows import Reader, Row
from trainer_client.tasks.suites import unit_tests

_TEST_FILE = "test_solution.py"


def acecode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of AceCode: `test_cases`, a list of assertions.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("acecode", row)
    if not reader.has("test_cases"):
        raise reader.error("test_cases", "has no asserts")
    return mbpp({"test_list": reader.texts("test_cases")}, completion, id=id)


def kodcode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of KodCode: `test`, a file of pytest that imports `solution`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("kodcode", row)
    reader.python("test")
    return unit_tests({_TEST_FILE: reader.text("test")}, completion, id=id)

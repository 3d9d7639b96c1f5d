"""The judge's part of the warm-up; `candidate.warm_up` is the candidate's part."""

from __future__ import annotations

import os
import socket
import sys

from ..channel.files import MODULE_NAME
from ..requests import FunctionRequest, PlanFields
from ..wire import Outcome
from . import process
from .link import Link
from .outputs import Outputs
from .report import Report

_LIMIT_BYTES = 1 << 20
_TESTS = """
def check(candidate):
    for value in (1, True, 1.5, "text", [1, 2], ["a", 1], [[1], [2]], (1, "a")):
        assert candidate(value) == value
        assert candidate(value, y=2) == value, "message"
    assert candidate({"a": 1}) == {"a": 1} and candidate({1, 2}) == {1, 2}
    assert all(abs(candidate(number) - number) < 1e-6 for number in range(10))
    values = [1]
    change(values)
    assert values == [1, 1]
    try:
        candidate(None)
    except ValueError as error:
        assert error.args == ("none", 1)
"""


def run(channel: int) -> None:
    """Judges the sample.

    Args:
        channel: descriptor of the channel to the candidate; it is closed.

    Raises:
        RuntimeError: the sample did not pass, so the runner is broken.
    """
    kept = sys.stdout, sys.stderr
    descriptor = os.memfd_create("warm-up")
    try:
        report = Report(descriptor=descriptor, announce=_nothing)
        outputs = Outputs(None, None, kept_bytes=0, limit_bytes=0)
        with socket.socket(fileno=channel) as candidate:
            link = Link(candidate, outputs)
            process.run_suite(_request(), {"source": b""}, link, report, _nothing)
        report.write(outputs)
    finally:
        os.close(descriptor)
    sys.stdout, sys.stderr = kept
    sys.modules.pop(MODULE_NAME, None)
    if [test.outcome for test in report.tests] != [Outcome.PASSED]:
        raise RuntimeError(f"the warm-up failed: {report}")


def _nothing() -> None:
    pass


def _request() -> FunctionRequest:
    plan = PlanFields(
        names=["f", "change"],
        classes=[],
        raised=[],
        values=[],
        modules=["math"],
        free={},
        helpers="",
        records=[],
        form="check",
        is_allowed=True,
        ahead=[("f", [value]) for value in (1, True, 1.5)],
    )
    return FunctionRequest(
        entry_point="f",
        test_code=_TESTS,
        asserts=[],
        setup_code="",
        output_bytes=_LIMIT_BYTES,
        result_bytes=_LIMIT_BYTES,
        calls=1000,
        plan=plan,
    )

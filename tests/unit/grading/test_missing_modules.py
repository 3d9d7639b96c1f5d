"""Names of modules that a sandbox lacks, as interpreters say them."""

from __future__ import annotations

import pytest

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.grading.missing_modules import MOST_MODULES, missing_modules
from reward_server.grading.verdict import Run


def run(message: str = "", test: str = "", stderr: bytes = b"") -> Run:
    execution = Execution(
        ending=Ending.COMPLETED,
        termination=Termination(kind=TerminationKind.EXITED, value=1),
        message=message,
        stderr=CapturedStream(data=stderr, size_bytes=len(stderr)),
    )
    tests = (TestResult(name="t", outcome=TestOutcome.ERROR, message=test),)
    return Run.of(execution, tests)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", ("numpy",)),
        ("ModuleNotFoundError: No module named 'sklearn.svm' at line 2", ("sklearn",)),
        ("check: ModuleNotFoundError: No module named '_private'", ("_private",)),
        ("Error: Cannot find module 'lodash'\nRequire stack:", ("lodash",)),
        ("Error: Cannot find module 'lodash/fp'", ("lodash",)),
        ("Error [ERR]: Cannot find package 'chai' imported from /x.mjs", ()),
        ("Error: Cannot find module '@scope/part'", ("@scope/part",)),
        ("Error: Cannot find module './helper'", ()),
        ("ImportError: cannot import name 'x' from 'y'", ()),
        ("ModuleNotFoundError: No module named 'a b'", ()),
        ("ModuleNotFoundError: No module named '" + "x" * 65 + "'", ()),
        ("ModuleNotFoundError: No module named 'é'", ()),
        ("ModuleNotFoundError: No module named '1'", ()),
        ("", ()),
    ],
)
def test_what_interpreters_say_wherever_it_is_kept(said: str, names: tuple[str, ...]) -> None:
    for one in (run(message=said), run(test=said), run(stderr=said.encode())):
        assert missing_modules([one]) == names


def test_names_are_few_and_each_is_told_once() -> None:
    said = [f"ModuleNotFoundError: No module named 'm{number}'" for number in (1, 1, *range(50))]
    found = missing_modules([run(test=text) for text in said])
    assert found == ("m1", "m0", "m2", "m3")
    assert len(found) == MOST_MODULES
    assert missing_modules([run(stderr=b"\xff" * 9000 + said[0].encode())]) == ("m1",)

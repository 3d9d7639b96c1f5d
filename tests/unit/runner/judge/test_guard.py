"""The guard tells an event that an answer names from one that only holds a short answer."""

from __future__ import annotations

import sys

import pytest

from reward_server.runner.judge.contract.guard import Guard

LIBRARY = "/usr/lib/python3/site-packages/numpy/core/fromnumeric.py"


def _watched(answers: list[str], event: str, argument: object) -> Guard:
    guard = Guard()
    guard.arm()
    guard.hear(answers)
    guard.watch()
    sys.audit(event, argument)
    guard.rest()
    return guard


@pytest.mark.parametrize(
    ("answer", "event", "argument"),
    [
        ("/tmp/x", "open", "/tmp/x"),
        ("secrets", "import", "secrets"),
        ("exit()", "compile", b"exit()"),
        ("__import__('os')", "compile", b"print(__import__('os'))"),
    ],
)
def test_an_event_that_an_answer_names_betrays_it(
    answer: str, event: str, argument: object
) -> None:
    assert _watched([answer], event, argument).is_betrayed


@pytest.mark.parametrize("answer", ["lib", "numpy", "core", "python3", "site"])
def test_a_path_that_holds_a_short_answer_is_an_event_alone(answer: str) -> None:
    guard = _watched([answer], "open", LIBRARY)
    assert (guard.events, guard.is_betrayed) == (["open"], False)

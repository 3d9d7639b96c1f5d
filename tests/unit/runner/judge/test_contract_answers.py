"""What the judge of the contract makes of answers that no unmodified runner sends."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reward_server.runner.channel.data import BadDataError
from reward_server.runner.judge.contract.answers import Answers, Told
from reward_server.runner.judge.contract.objects import Handle, Like


class _Silent:
    """A solution that says nothing."""

    def ask(self, operation: str, *operands: object, is_statement: bool = False) -> Any:
        raise AssertionError(operation)

    def lower(self, rule: str) -> None:
        raise AssertionError(rule)


def _read(value: object, rows: object = ()) -> Told:
    answers = Answers(lambda ref, is_member: Handle(_Silent(), ref, is_member=is_member), math.nan)
    return answers.read(["return", value, [*rows], [], False], [])  # type: ignore[misc]  # a list


ORIGINAL = {"h": ["object", 0]}


def test_a_number_of_a_subclass_is_what_its_base_is() -> None:
    found = _read({"s": [3, ORIGINAL]}).result
    assert isinstance(found, Like)
    assert (found, found + 1, hash(found)) == (3, 4, hash(3))


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ({"s": [{"r": 0}, ORIGINAL]}, [["a", "<i8", [1], "\x02" + "\0" * 7]]),
        ({"s": [{"r": 0}, ORIGINAL]}, [["l", 1]]),
        ({"s": [{"np": ["<f8", "\0" * 8]}, ORIGINAL]}, []),
        ({"s": [None, ORIGINAL]}, []),
        ({"s": [ORIGINAL, ORIGINAL]}, []),
        ({"s": [3, {"h": ["name", "f"]}]}, []),
        ({"s": [3]}, []),
        ({"h": ["type", "object"]}, []),
        ({"view": [3]}, []),
        ({"r": 0}, [["D", "eval"]]),
        ({"r": 0}, [["B", 256]]),
    ],
)
def test_nothing_is_made_of_a_value_that_is_not_listed(value: object, rows: object) -> None:
    with pytest.raises(BadDataError):
        _read(value, rows)


def test_an_object_in_an_argument_is_told_even_if_the_answer_is_dropped() -> None:
    answers = Answers(lambda ref, is_member: Handle(_Silent(), ref, is_member=is_member), math.nan)
    known: list[Any] = [[1]]
    told = answers.read(["return", None, [], [[0, ["l", ORIGINAL]]], False], known)
    assert told.holds_object
    assert type(known[0][0]) is Handle

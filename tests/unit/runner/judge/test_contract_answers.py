"""What the judge of the contract makes of answers that no unmodified runner sends."""

from __future__ import annotations

import contextlib
import math
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.runner.channel.data import BadDataError
from reward_server.runner.channel.reading import _EMPTY, _MAKE
from reward_server.runner.judge.contract.answers import Answers, Told
from reward_server.runner.judge.contract.objects import Handle, Like


class _Silent:
    """A solution that says nothing."""

    def ask(self, operation: str, *operands: object, caller: FrameType | None = None) -> Any:
        raise AssertionError(operation)

    def lower(self, rule: str) -> None:
        raise AssertionError(rule)


def _answers() -> Answers:
    return Answers(lambda ref, is_member: Handle(_Silent(), ref, is_member=is_member), math.nan)


def _read(value: object, rows: object = ()) -> Told:
    return _answers().read(["return", value, [*rows], [], False], [])  # type: ignore[misc]  # a list


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
        ({"r": 0}, [["q", 10**30]]),
        ({"r": 0}, [["f", 1]]),
        ({"b": [3]}, []),
        ({"uuid": [{"t": []}]}, []),
        ({"time": [1]}, []),
        ({"f": [{"r": 0}]}, [["l"]]),
        ({"i": [[1], None]}, []),
        ({"np": ["<f8", ""]}, []),
    ],
)
def test_nothing_is_made_of_a_value_that_is_not_listed(value: object, rows: object) -> None:
    with pytest.raises(BadDataError):
        _read(value, rows)


ATOMS = st.sampled_from(
    (None, True, 0, -1, 10**30, 1.5, math.inf, "", "a", "0x1", "<f8", "<U4", "O", "object", "x\0")
)
TAGS = st.sampled_from(("r", "n", "h", "np", "s", "i", *_MAKE))
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: ATOMS | st.lists(JSON, max_size=3) | st.dictionaries(TAGS, JSON, max_size=1)
)
ROWS = st.lists(
    st.tuples(st.sampled_from((*_EMPTY, "a", "v", "q", "R")), JSON, JSON).map(list), max_size=2
)
CHANGES = st.lists(st.tuples(st.integers(-1, 3), st.lists(JSON)).map(list), max_size=2) | JSON
CHAIN = st.lists(
    st.sampled_from(("E", "x\0", "", "builtins.SyntaxError", "builtins.UnicodeDecodeError"))
)


@given(
    st.tuples(st.just("return"), JSON, ROWS, CHANGES, st.booleans())
    | st.tuples(
        *(st.just("raise"), CHAIN, st.lists(JSON, max_size=5), st.sampled_from(("", "t", 3))),
        *(st.dictionaries(st.sampled_from(("args", "x")), JSON), ROWS, CHANGES, st.booleans()),
    )
)
def test_any_answer_is_read_or_refused(answer: tuple[object, ...]) -> None:
    known = [[1], {1: 2}, {3}]
    with contextlib.suppress(BadDataError):
        _answers().read([*answer], known)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        ["return", 3],
        ["behind"],
        ["return", 3, [], [], 0],
        ["return", 3, [], {}, False],
        ["return", 3, [], [[1, ["l"]]], False],
        ["return", 3, [], [[-1, ["l"]]], False],
        ["return", 3, [], [[0, ["s"]]], False],
        ["return", 3, [], [[0]], False],
        ["raise", [], [], "", {}, [], [], False],
        ["raise", "E", [], "", {}, [], [], False],
        ["raise", ["E"], {}, "", {}, [], [], False],
        ["raise", ["E"], [], "", [], [], [], False],
        ["raise", ["x\0", "builtins.KeyError"], [], "", {}, [], [], False],
    ],
    ids=repr,
)
def test_no_other_form_is_an_answer(answer: list[Any]) -> None:
    with pytest.raises(BadDataError):
        _answers().read(answer, [[1]])


@pytest.mark.parametrize(
    ("chain", "base"),
    [
        (["builtins.SystemExit"], Exception),
        (["Stop", ["builtins.StopIteration"]], Exception),
        (["os.error"], Exception),
        (["builtins.exec"], Exception),
        (["Bad", ["builtins.UnicodeDecodeError"]], UnicodeDecodeError),
        (["Bad", ["builtins.SyntaxError"]], SyntaxError),
    ],
)
def test_an_exception_is_of_a_listed_class_whatever_it_takes(
    chain: list[str], base: type[Exception]
) -> None:
    told = _answers().read(["raise", chain, [1, 2], "text", {"__class__": 3}, [], [], False], [])
    assert str(told.error) == "text"
    assert isinstance(told.error, base)
    assert not isinstance(told.error, (OSError, StopIteration))


def test_an_object_in_an_argument_is_told_even_if_the_answer_is_dropped() -> None:
    known: list[Any] = [[1]]
    told = _answers().read(["return", None, [], [[0, ["l", ORIGINAL]]], False], known)
    assert told.holds_object
    assert type(known[0][0]) is Handle

"""What stands for an object of a lying solution shows it nothing, and tells that it was asked."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from reward_server.runner.judge.contract.objects import Handle, like, original_of

SECRET = 7919


class _Liar:
    """A solution that says yes to everything.

    Attributes:
        asked: the operations that it heard.
        shown: the operands that were no stand-ins.
        lowered: whether the label was lowered.
    """

    def __init__(self, answer: object = True) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.shown: list[object] = []
        self.lowered = False

    def ask(self, operation: str, *operands: object, caller: FrameType | None = None) -> Any:
        self.asked.append(operation)
        self.shown += [one for one in operands if type(one) is not Handle]
        return self.made() if operation == "data" else self.answer

    def lower(self, rule: str) -> None:
        self.lowered = True

    def made(self, *, is_member: bool = False) -> Handle:
        return Handle(self, ["object", 0], is_member=is_member)


COMPARED: dict[str, Callable[[Any], object]] = {
    "==": lambda one: one == SECRET,
    "== from the right": lambda one: one == SECRET,
    "in a list": lambda one: one in [SECRET],
    "isinstance": lambda one: isinstance(SECRET, one),
}


@pytest.mark.parametrize("name", COMPARED)
def test_no_object_equals_data_and_none_is_shown_any(name: str) -> None:
    liar = _Liar()
    assert COMPARED[name](liar.made()) is False
    assert liar.shown == []


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "mod", "and_", "lt", "ge"])
def test_no_operator_takes_an_object_and_data(name: str) -> None:
    for swapped in (False, True):
        liar = _Liar()
        operands = [liar.made(), SECRET]
        with pytest.raises(TypeError):
            getattr(operator, name)(*operands[:: -1 if swapped else 1])
        assert (liar.shown, liar.lowered) == ([], True)


def test_what_an_object_holds_is_looked_for_among_its_items() -> None:
    liar = _Liar(answer=[1, 2])
    held = liar.made(is_member=True)
    assert (SECRET in held, 2 in held) == (False, True)
    assert liar.shown == []


@pytest.mark.parametrize(
    ("function", "lie"),
    [(len, "3"), (len, True), (hash, 2.5), (int, "7"), (float, 7), (str, 3), (repr, None)],
)
def test_an_answer_of_another_type_is_an_error(function: Callable[[Any], object], lie: Any) -> None:
    with pytest.raises(TypeError):
        function(_Liar(answer=lie).made())


@pytest.mark.parametrize("function", [hash, int, float, abs, round, operator.neg, format])
def test_what_is_not_called_or_read_lowers_the_label(function: Callable[[Any], object]) -> None:
    answer: object = {float: 1.0, format: "x"}.get(function, 1)
    liar = _Liar(answer=answer)
    function(liar.made())
    assert liar.lowered


@pytest.mark.parametrize("truth", [True, False, 1, "yes", None])
def test_only_true_is_true(truth: object) -> None:
    liar = _Liar(answer=truth)
    assert (bool(liar.made()), liar.lowered) == (truth is True, truth is not True)


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_object_cannot_be_copied(function: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        function(_Liar().made())


@pytest.mark.parametrize("name", ["__code__", "__globals__", "__array__", "_pytestfixture"])
def test_names_that_only_libraries_ask_for_are_not_asked(name: str) -> None:
    liar = _Liar()
    assert not hasattr(liar.made(), name)
    assert liar.asked == []


@pytest.mark.parametrize("answer", [[], (), (1, 2), "a", None, [3]])
def test_an_iteration_ends_at_what_is_no_item(answer: object) -> None:
    with pytest.raises(StopIteration):
        next(_Liar(answer=answer).made())


@pytest.mark.parametrize("base", [3, 2.5, "a", b"a", (1,), frozenset((1,))])
def test_data_of_a_subclass_is_data_and_stands_for_its_original(base: Any) -> None:
    liar = _Liar()
    made = like(base, liar.made())
    assert (made, hash(made), isinstance(made, type(base))) == (base, hash(base), True)
    assert (made == SECRET, made in [SECRET], liar.asked) == (False, False, [])
    assert copy.deepcopy(made) is made
    assert type(original_of(made)) is Handle

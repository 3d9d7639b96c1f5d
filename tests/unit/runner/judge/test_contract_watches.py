"""What the judge watches while tests run: dropped answers, changes, and events of its process."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from reward_server.runner.judge.contract.changes import BEFORE, Crossed, DiffersError, Recording
from reward_server.runner.judge.contract.guard import Guard
from reward_server.runner.judge.contract.statements import is_statement_of

# --------------------------------------------------------------------------------- statements


class _Asked:
    """Says whether its caller drops the answer."""

    _asks_solution = True

    def __init__(self) -> None:
        self.dropped: list[bool] = []

    def __call__(self, *_: object, **__: object) -> list[object]:
        self.dropped.append(is_statement_of(sys._getframe(1)))
        return []

    def __getattr__(self, name: str) -> object:
        return self if name == "method" else super().__getattribute__(name)


def _tells(text: str) -> bool:
    asked = _Asked()
    module = types.SimpleNamespace(f=asked)
    exec(text, {"f": asked, "xs": [], "solution": module, "call": lambda g: g()})
    [found] = asked.dropped
    return found


@pytest.mark.parametrize(
    "text",
    [
        "f()",
        "f(1, x=2)",
        "f.method(1)",
        "solution.f(1)",
        "def g(h):\n    h()\ng(f)",
        "for _ in range(1):\n    f()",
    ],
)
def test_a_call_that_is_a_statement_drops_its_answer(text: str) -> None:
    assert _tells(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = f()",
        "assert not f()",
        "xs.extend(f())",
        "xs.extend(map(f, [1]))",
        "list(map(f, [1]))",
        "[f()]",
        "f() or 3",
        "sorted([1], key=f)",
        "call(f)",
        "call(lambda: f())",
        "f()[:]",
    ],
)
def test_any_other_call_keeps_its_answer(text: str) -> None:
    assert not _tells(text)


# ------------------------------------------------------------------------------------ changes


def _recorded() -> tuple[Recording, list[int]]:
    """Returns the record of a test in which a change was answered."""
    recording, xs = Recording(), [1]
    recording.begin(0)
    recording.keep("a", [1])
    recording.doubt([xs], is_answered=True)
    recording.keep("b", [2])
    recording.finish()
    return recording, xs


@pytest.mark.parametrize(
    ("asked", "differs"), [("ab", False), ("a", True), ("", True), ("abc", True), ("ba", True)]
)
def test_a_doubted_test_has_to_ask_the_same(asked: str, differs: bool) -> None:
    recording, _ = _recorded()
    recording.replay()
    recording.begin(0)
    assert recording.strips
    for question in asked:
        try:
            recording.replayed(question)
        except DiffersError:
            break
    recording.finish()
    assert recording.differs is differs


def test_a_change_before_all_tests_cannot_be_cleared() -> None:
    recording = Recording()
    recording.begin(BEFORE)
    recording.doubt([[1]], is_answered=True)
    recording.replay()
    assert recording.differs


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_change_counts_in_later_tests_that_can_reach_it(is_kept: bool) -> None:
    recording, xs = _recorded()
    kept = [xs] if is_kept else []
    del xs
    recording.begin(1)
    assert (1 in recording.changed) is is_kept is bool(kept)


CHANGES: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "an item": ([1], lambda xs: xs.append(2)),
    "an item that is equal": ([1], lambda xs: xs.__setitem__(0, True)),
    "a key": ({1: 2}, lambda xs: xs.pop(1)),
    "a value": ({1: 2}, lambda xs: xs.__setitem__(1, 3)),
    "a set's": ({1}, lambda xs: xs.add(2)),
    "an attribute": (types.SimpleNamespace(x=1), lambda one: setattr(one, "x", 2)),
    "an array's": (pytest.importorskip("numpy").zeros(2), lambda xs: xs.__setitem__(0, 1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_later_change_of_what_crossed_is_seen_once(name: str) -> None:
    one, change = CHANGES[name]
    crossed = Crossed()
    crossed.see([one])
    assert not crossed.has_changed()
    change(one)
    assert (crossed.has_changed(), crossed.has_changed()) == (True, False)


# -------------------------------------------------------------------------------------- guard

Event = Callable[..., None]


def _guarded(monkeypatch: pytest.MonkeyPatch, own: Any = ()) -> tuple[Guard, Event]:
    """Returns a guard that heard an answer, and what stands for the interpreter's reports."""
    hooks: list[Any] = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    guard = Guard()
    guard.arm(own)
    guard.hear(["secret", "x"])
    guard.watch()
    return guard, lambda name, *arguments: hooks[0](name, arguments)


@pytest.mark.parametrize(
    ("event", "is_betrayed"),
    [
        (("import", "secret"), True),
        (("open", "/tmp/secret", "r"), False),
        (("open", "/tmp/other"), False),
        (("exec", compile("1", "x", "exec")), False),
    ],
)
def test_an_event_lowers_the_label_and_one_of_an_answer_betrays(
    event: tuple[Any, ...], is_betrayed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard, tell = _guarded(monkeypatch)
    tell(*event)
    assert (guard.events, guard.is_betrayed) == ([event[0]], is_betrayed)


def test_the_tests_own_code_and_the_judges_work_are_no_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = compile("1", "<tests>", "exec")
    guard, tell = _guarded(monkeypatch, [own])
    tell("exec", own)
    tell("builtins.id", 3)
    guard.rest()
    tell("open", "/tmp/secret")
    assert (guard.events, guard.is_betrayed) == ([], False)
    guard.watch()
    tell("open", "/tmp/secret")
    guard.arm()
    assert (guard.events, guard.is_betrayed) == ([], False)

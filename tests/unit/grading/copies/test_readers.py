"""Readers of their own process, who answer with what the tests there expect, are found out.

`python -m benchmarks.readers.copies` measures more of them, over published tasks.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.readers.copies import Seen, near, rewarded, simple, task
from reward_server.domain import Framework
from reward_server.grading.copies.copies import WHOLE, Copies
from reward_server.grading.copies.words import Told, Words
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.syntax import parse_files
from tests.support.in_process import PATH

TRIES = 20
HIDDEN = {
    "a number": ("'a, b; c.d'", "4"),
    "a fraction": ("2", "12.75"),
    "a text": ("'wo hello rld'", "'hello'"),
    "a text of several words": ("7", "'No solution found'"),
}


def _once(seen: Seen) -> bool:
    """Takes for wrong what stands twice in the file."""
    return seen.file.count(repr(seen.value)) == 1


def _short(seen: Seen) -> bool:
    """Takes for wrong what is as long as values that were far away."""
    return len(repr(seen.value)) <= 20


@pytest.mark.parametrize("row", HIDDEN.values(), ids=HIDDEN)
def test_a_reader_of_one_hidden_value_is_rewarded_at_most_once_in_twenty(
    row: tuple[str, str],
) -> None:
    draw = random.Random(7)
    tasks = [task([row], draw) for _ in range(TRIES)]
    for reader in (simple, near, _once, _short):
        assert sum(rewarded(one, reader) for one in tasks) <= 1


def _changed(text: str, told: str = "") -> list[str]:
    files, trees = [(PATH, text)], parse_files([(PATH, text)])
    copies = Copies(trees, files, told, Inventory(trees, files, Framework.PYTEST).rows)
    change = dict.fromkeys(copies.units, WHOLE)
    return [dict(copies.perturbed_files(change, random.Random(n)))[PATH] for n in range(TRIES)]


def test_a_value_that_the_solution_can_read_elsewhere_becomes_another_one_of_there() -> None:
    text = "from solution import f\ndef test_f():\n    assert f(1) == 4127\n"
    found = _changed(text, "def test_old():\n    assert f(2) == 4127 and f(3) == 9355\n")
    assert all("f(1) == 9355" in one for one in found)


def test_a_hidden_value_does_not_become_that_of_an_end() -> None:
    text = "def test_f():\n    assert f(1) == 4127\n    assert int('5555') == 5555\n"
    assert not any("f(1) == 5555" in one for one in _changed(text))


def test_a_part_of_an_argument_becomes_another_part() -> None:
    words = Words(Told(""), ["the quick fox"])
    found = {words.cut("quick", random.Random(n)) for n in range(TRIES)} - {""}
    assert found
    assert all(len(one) == 5 and one in "the quick fox" for one in found)


@pytest.mark.parametrize("use", ["", "print(CASES)", "print(f.__globals__['CASES'])", "vars()"])
def test_a_table_that_nobody_uses_is_not_there_to_be_read(use: str) -> None:
    text = f"CASES = [(1, 4127)]\ndef test_f():\n    assert f(1) == 4127\n    {use or 'pass'}\n"
    assert all(("CASES =" in one) is bool(use) for one in _changed(text))

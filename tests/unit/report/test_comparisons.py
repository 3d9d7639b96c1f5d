from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.report.comparisons import comparison

PLACE = " at test_it.py, line 4: def test_a(self): self.assertEqual(f(3), 4)"
EXPECTED, ACTUAL, SIDES = ("expected", "actual"), ("actual", "expected"), ("left", "right")


@pytest.mark.parametrize(
    ("message", "names", "values"),
    [
        ("case 1: expected 4, got 3", EXPECTED, ("4", "3")),
        ("case 2: line 1: expected '1', got 'no'", EXPECTED, ("'1'", "'no'")),
        ("token 2: expected '2', got the end", EXPECTED, ("'2'", "the end")),
        ("expected 'a, got b', got 'c'", EXPECTED, ("'a, got b'", "'c'")),
        ("expected ['it\\'s', 1], got {'a': 2}", EXPECTED, ("['it\\'s', 1]", "{'a': 2}")),
        ("test_it.py::T::test_a: 3 != 4" + PLACE, SIDES, ("3", "4")),
        ("T::test_a[1: 2]: {'a': 3} != {'a': 4}\n- {'a': 3}", SIDES, None),
        ("t.py::test_b: Lists differ: [1] != [2]\n\nFirst 1", SIDES, ("[1]", "[2]")),
        ("test_e: {'a': 3} != {'a': 4}\n- {'a': 3}\n+ {'a': 4}", SIDES, ("{'a': 3}", "{'a': 4}")),
        ("test_c: assert 3 == 4", SIDES, ("3", "4")),
        ("sums(): expected: <3> but was: <4>", EXPECTED, ("3", "4")),
        ("sums(): sum ==> expected: <a > b> but was: <c>", EXPECTED, ("a > b", "c")),
        ("adds: Expected values to be strictly equal: 3 !== 4", ACTUAL, ("3", "4")),
        ("adds: Expected values to be strictly equal:\n\n3 !== 4\n", ACTUAL, ("3", "4")),
        ("TestAdd: add_test.go:9: got 3, want 4", ACTUAL, ("3", "4")),
    ],
)
def test_two_values_are_found_in_the_forms_of_frameworks(message, names, values):
    found = comparison(message)
    assert found is not None
    assert found.names == names
    assert values is None or found.values == values


@pytest.mark.parametrize(
    "message",
    [
        "",
        "it does not hold",
        "assert 1, line 1: assert f(3) == 4",
        "assert 1: assert 1, line 1: assert f(3) != 4",
        "bad list at assert 2, line 1: assert f('q') == [1], 'bad list'",
        "KeyError: 'a != b'",
        "1 != 2 != 3",
        "expected an indented block",
        "TypeError: f() got an unexpected keyword argument",
    ],
)
def test_a_message_of_no_known_form_is_left_alone(message):
    assert comparison(message) is None


@given(st.text(), st.text(), st.text())
def test_any_text_can_be_looked_at(name, left, right):
    found = comparison(f"{name}: {left} != {right}")
    assert found is None or all(isinstance(value, str) for value in found.values)


@pytest.mark.parametrize("text", ["'" * 5000, "'\\" * 5000, "\"'" * 5000, "a: " * 5000])
def test_no_text_is_slow_to_look_at(text):
    assert comparison(f"{text} != {text}") is None

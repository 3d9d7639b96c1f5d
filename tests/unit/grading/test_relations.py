"""Expected values that the text around them tells keep the label away."""

from __future__ import annotations

import pytest

from reward_server.domain import Framework, Integrity, UnitTests
from reward_server.evaluation.units import plan

HEAD = "import inspect, pytest\nimport solution\nf = solution.f\n"
TOLD = {
    "an element": "assert f([3, 41, 5]) == 41",
    "a choice": "assert f([1, 22, 3, 44]) == [22, 44]",
    "another order": "assert f([3, 1, 2]) == [1, 2, 3]",
    "nesting": "assert f([1, [2, [3]]]) == [1, 2, 3]",
    "the length": "assert f([9, 8, 7]) == 3",
    "the length of a text": "assert f('hello') == 5",
    "letters in another order": "assert f('hello') == 'olleh'",
    "letters in another case": "assert f('Hello') == 'hELLO'",
    "a word": "assert f('one two') == 'two'",
    "digits": "assert f([1, 2, 3]) == 321",
    "a part of several": "assert f([1, 2], (9, 10)) == [1, 2, 9, 10]",
    "a key": "assert f({'a': 3, 'b': 1}) == 'a'",
    "a variable": "x = [3, 41, 5]\n    assert f(x) == 41",
    "a variable of a variable": "x = [3, 41, 5]\n    y = tuple(x)\n    assert f(y) == 41",
    "a variable that is expected": "want = 41\n    assert f([3, 41, 5]) == want",
    "a loop": "for x, want in [([3, 4], 4), ([5, 6], 5)]:\n        assert f(x) == want",
    "a loop over arguments": "for x in [7, 8]:\n        assert f(x) == 8",
    "what was done before": "s = solution.S()\n    s.push(41)\n    assert s.pop() == 41",
    "what others built": "s = solution.S(4)\n    t = s.copy()\n    assert t.size() == 4",
    "a tolerance": "assert f([1.5, 2.5]) == pytest.approx(2.5)",
    "nothing": "assert f([7]) == []\n    assert f('a') == ''",
    "two assertions": "assert f([3, 41]) == 41\n    assert f([7, 9]) == 9",
}
UNTOLD = {
    "a computed number": "assert f(5) == 120",
    "a computed text": "assert f(3) == 'fizz'",
    "one of two assertions": "assert f([3, 41]) == 41\n    assert f([7, 9]) == 16",
    "a truth": "assert f([7, 9]) == True",
    "an element that nobody shows": "assert f([1, 2]) == [1, 2, 4]",
    "another assertion's value": "assert f(1) == 77\n    assert f(2) == 77",
    "the row of a loop": "for x, want in [(5, 120), (3, 60), (9, 7)]:\n        assert f(x) == want",
    "another variable": "x = 5\n    y = 120\n    assert f(x) == 120\n    assert f(y) == 7",
    "truth values": "assert f([7]) == [True, None]",
}


async def label_of(body: str, head: str = HEAD) -> Integrity:
    text = f"{head}def test_f():\n    inspect.getmodule(solution)\n    {body}\n"
    tests = UnitTests(framework=Framework.PYTEST, files=(("test_solution.py", text),))
    return (await plan(tests, "")).integrity


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD)
async def test_a_value_that_is_made_of_its_arguments_is_told(body: str) -> None:
    assert await label_of(body) is Integrity.SHARED


@pytest.mark.parametrize("body", UNTOLD.values(), ids=UNTOLD)
async def test_a_value_that_has_to_be_computed_is_not_told(body: str) -> None:
    assert await label_of(body) is Integrity.SHARED_TWINS


@pytest.mark.parametrize("expected", ["x + 1", "x * x", "[x]", "max(x, 3)", "-x", "str(x)"])
async def test_a_value_that_is_computed_from_an_argument_has_no_twin(expected: str) -> None:
    assert await label_of(f"x = 4\n    assert f(x) == {expected}") is Integrity.SHARED


@pytest.mark.parametrize(
    ("rows", "integrity"),
    [
        ("(5, 120), (6, 720)", Integrity.SHARED_TWINS),
        ("(5, 120), ([6, 7], 7)", Integrity.SHARED),
        ("pytest.param([6, 7], 7, id='a'), (5, 120)", Integrity.SHARED),
    ],
)
async def test_each_row_of_parameters_needs_a_value_that_is_not_told(
    rows: str, integrity: Integrity
) -> None:
    text = (
        f"{HEAD}@pytest.mark.parametrize('x, want', [{rows}])\n"
        "def test_f(x, want):\n    inspect.getmodule(solution)\n    assert f(x) == want\n"
    )
    tests = UnitTests(framework=Framework.PYTEST, files=(("test_solution.py", text),))
    assert (await plan(tests, "")).integrity is integrity

"""Which calls are sent with the solution: the first that tests make in any case, and no other."""

from __future__ import annotations

import textwrap

import pytest

from reward_server.domain import FunctionTests
from reward_server.grading.crossing.python import texts
from reward_server.grading.crossing.python.refusals import crossing_of


def ahead(*, check: str = "", asserts: tuple[str, ...] = (), setup: str = "") -> list[str]:
    """Returns the calls, as texts."""
    body = textwrap.indent(check.replace("; ", "\n"), "    ")
    code = f"def check(candidate):\n{body}\n" if check else ""
    tests = FunctionTests(entry_point="f", test_code=code, asserts=asserts, setup_code=setup)
    found = crossing_of(texts.read_functions(tests, ""))
    return [f"{name}({', '.join(map(repr, given))})" for name, given in found.ahead]


SENT = {
    "assert candidate(1) == 2; assert candidate('a', [[None]]) == 3": ["f(1)", "f('a', [[None]])"],
    "assert candidate(-1.5) == 2, str(candidate(7))": ["f(-1.5)"],
    "assert not candidate(1)": ["f(1)"],
    "assert abs(candidate(1) - 2) < 1e-6": ["f(1)"],
    "assert candidate(1) == f(2)": ["f(1)", "f(2)"],
    "assert (candidate(1), candidate(2)) == (3, 4)": ["f(1)", "f(2)"],
    "assert candidate(1) == 2; x = 3; assert candidate(x) == 4; assert candidate(5) == 6": ["f(1)"],
    "assert candidate(1) == 2; assert True and candidate(3)": ["f(1)"],
    "assert candidate(1) < candidate(2) < candidate(3)": [],
    "assert all(candidate(x) for x in (1, 2))": [],
    "assert candidate(1) if candidate(2) else candidate(3)": [],
    "assert candidate((1, 2)) == 3": [],
    f"assert candidate({2**63 - 1}) == 1": [f"f({2**63 - 1})"],
    f"assert candidate({2**63}) == 1": [],
    f"assert candidate([[-{2**63}]]) == 1": [],
    "assert candidate(x=1) == 3": [],
    "assert candidate(candidate(1)) == 3": [],
    "assert candidate(1 + 1) == 3": [],
    "for x in (1, 2):\n    assert candidate(x) == 3": [],
    "candidate(1); assert candidate(2) == 3": [],
    "assert (candidate('ab'), candidate('ba')) == ('ba', 'ab')": [],
    "assert candidate('ab') == 'ba'; assert candidate('ba') == 'ab'": ["f('ab')"],
    "assert candidate([3, 1]) == (1, 3); assert candidate(5) == 5; assert candidate([[1]]) == 1": [
        "f([3, 1])",
        "f(5)",
    ],
    "assert candidate(1) - 2.0 < 0.5; assert candidate(2) == 3": ["f(1)"],
    "assert candidate('a') in {'b': 1}; assert candidate(['c', 'b']) == 3": ["f('a')"],
}  # fmt: skip


@pytest.mark.parametrize(("check", "calls"), SENT.items(), ids=SENT)
def test_the_first_calls_that_are_made_in_any_case_are_sent(check: str, calls: list[str]) -> None:
    assert ahead(check=check) == calls


def test_an_integer_that_no_text_may_hold_is_not_sent() -> None:
    assert ahead(check=f"assert candidate(1) == 2; assert candidate(0x{'f' * 6000}) == 1") == [
        "f(1)"
    ]


def test_an_assert_list_is_sent_as_far_as_it_is_certain() -> None:
    assert ahead(asserts=("assert f(1) == 2", "assert f(3) == 4")) == ["f(1)", "f(3)"]
    assert ahead(asserts=("assert f(1) == 2", "assert f((3,)) == 4")) == ["f(1)"]


@pytest.mark.parametrize("setup", ["x = f(1)", "def g():\n    return f(1)", "x = [f]"])
def test_nothing_is_sent_if_something_else_may_be_asked_before(setup: str) -> None:
    assert ahead(asserts=("assert f(1) == 2",), setup=setup) == []
    assert ahead(asserts=("assert f(1) == 2",), setup="import math\nX = [1]") == ["f(1)"]


def test_a_name_that_a_solution_could_shadow_is_its_own() -> None:
    assert ahead(check="assert abs(candidate(1)) == 2", setup="from solution import abs") == []


def test_what_is_sent_fits_into_the_buffer_of_a_socket() -> None:
    long = "a" * 1000
    many = "; ".join(f"assert candidate('{long}', {number}) == -1" for number in range(40))
    assert len(ahead(check=many)) == 16
    few = "; ".join(f"assert candidate({number}) == -1" for number in range(400))
    assert len(ahead(check=few)) == 256

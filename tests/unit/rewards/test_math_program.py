"""The program that parses and compares, apart from the sandboxes that it runs in."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sampling import times
from trainer_client.rewards import math_program as program
from trainer_client.rewards.math_text import reference_text

EXPRESSIONS = [
    *("42", "-1", "1,234", r"\frac{1}{2}", "0.25", r"50\%", r"2\frac12", r"10^{20}", "5!"),
    *(r"\sqrt{2}", r"e^{i\pi}", r"\log_2 8", r"\sin x", r"|x-1|", r"\lfloor 2.5\rfloor", "f(x)"),
    *("x=5", "y = 2x+3", "x>3", "1<x<2", r"x \ne 1", r"\{1,2\}", "(1,2,3)", r"\emptyset"),
    *("(1,2)", r"[1,2)\cup(3,4)", r"x\in\mathbb{R}", r"-\infty", r"1\pm\sqrt{5}", "a_{n+1}"),
    *(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\text{Tuesday}", r"\int_0^1 x dx"),
    *(r"\sum_{n=1}^{10} n", r"\binom{5}{2}", r"\gcd(4,6)"),
]
# A tree's words and numbers, and what is none of them.
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.sampled_from([*sorted(program._UNEVALUATED | program._PLAIN), *program._CONSTANTS]),
    st.sampled_from(["Integer", "Rational", "Float", "Symbol", "Apply", "Matrix", "FiniteSet"]),
    st.sampled_from(["1", "-7", "0", "0.5", "x", "exit(0)", "__class__", ""]),
)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4), max_leaves=12)


@pytest.fixture(autouse=True)
def _without_warnings_of_math_verify():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_crosses_as_a_tree_and_equals_itself_alone(text):
    claim = json.loads(json.dumps(program.claim_of(reference_text(text))))
    assert "tree" in claim
    answer = program.expressions(claim)
    assert program.is_right(answer, answer, program.decoys_of(answer))
    assert not program.equal(program.understood(r"\boxed{161803}"), answer)


@pytest.mark.parametrize("text", [r"\lim_{x\to 0} x", r"\text{5 p.m.}", r"0.\overline{3}"])
def test_what_no_tree_holds_is_compared_as_text(text):
    claim = program.claim_of(reference_text(text))
    assert "tree" not in claim
    answer = program.expressions(claim)
    assert program.equal(answer, answer)


@given(TREES)
@settings(max_examples=times(200, by_default=40), deadline=None)
def test_whatever_a_tree_holds_it_is_built_of_sympys_classes_or_refused(tree):
    import sympy

    try:
        built = program.decode(tree)
    except Exception:  # noqa: BLE001  # sympy has many of its own
        return
    assert isinstance(built, sympy.Basic | sympy.MatrixBase)


def test_an_answer_that_equals_the_neighbour_too_is_wrong():
    """As would one by an error of the library's that makes it equal everything."""
    reference = program.expressions(program.claim_of(r"\boxed{7}"))
    [decoy] = program.decoys_of(reference)
    assert str(decoy) == "8"
    assert program.is_right(reference, reference, [decoy])
    assert not program.is_right([*reference, decoy], reference, [decoy])


@pytest.mark.parametrize("text", [r"\boxed{\infty}", r"\boxed{\mathbb{R}}", r"\boxed{\emptyset}"])
def test_what_has_no_neighbour_is_compared_without(text):
    reference = program.expressions(program.claim_of(text))
    assert program.decoys_of(reference) == []
    assert program.is_right(reference, reference, [])


def run(*arguments: str, given: str = "", without_packages: bool = False):
    flags = ["-I", "-S"] if without_packages else ["-I"]
    return subprocess.run(
        [sys.executable, *flags, program.__file__, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def paths(tmp_path):
    def write(output: str, expected: str) -> list[str]:
        for name, text in (("input", ""), ("output", output), ("expected", expected)):
            (tmp_path / name).write_text(text)
        return [str(tmp_path / name) for name in ("input", "output", "expected")]

    return write


def test_without_math_verify_the_reader_claims_nothing_and_the_checker_is_broken(paths):
    read = run(given=r"\boxed{7}", without_packages=True)
    assert (read.returncode, read.stdout) == (0, "{}")
    checked = run(*paths("{}", '["7"]'), without_packages=True)
    assert checked.returncode == program.BROKEN
    assert "the sandbox lacks math-verify: No module named 'math_verify'" in checked.stderr


def test_a_reference_that_is_nothing_breaks_the_checker_and_rejects_nobody(paths):
    assert run(*paths("{}", r'["\\boxed{}"]')).returncode == program.BROKEN
    assert run(*paths("{}", "no JSON")).returncode == program.BROKEN

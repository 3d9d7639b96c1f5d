"""Copies that would refuse an honest solution, or could not be written at all."""

from __future__ import annotations

import ast
import random

import numpy as np  # noqa: F401  # it cannot be loaded a second time
import pytest

from reward_server.domain import Framework, FunctionTests, TestOutcome
from reward_server.grading.copies.copies import WHOLE, Copies
from reward_server.grading.copies.outcomes import OutcomeVector, schedule
from reward_server.grading.copies.sites import Unit
from reward_server.grading.python_tests.function_files import written
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.syntax import parse_files
from tests.support.in_process import PATH, module, ran
from tests.support.sampling import times

NUMPY, MATH = "import numpy as np", "import math"
FLOATS = "def f(n): return [1.0] * n"
HONEST = {
    "an empty set": ("", "f([]) == set()|f([1]) == {1}", "def f(x): return set(x)"),
    "what a pattern captures": (
        "",
        "match f([3]):\n    case [one, *more] as all_ if more == []: assert one == 3\n"
        "match {'a': f([4]), 'b': 1}:\n    case {'a': [x], **rest}: assert x == 4",
        "def f(x): return list(x)"),
    "an empty set first": ("", "set() == f([])", "def f(x): return set(x)"),
    "infinity": (MATH, "math.isclose(f(0), 1e999)", "def f(x): return float('inf')"),
    "minus infinity": (MATH, "f(0) == [-1e999, 1]", "def f(x): return [-1e999, 1]"),
    "a huge number": (MATH, "math.isclose(f(0), 1.5e308)", "def f(x): return 1.5e308"),
    "a huge integer": (MATH, f"f(0) == {10**400}", "def f(x): return 10**400"),
    "a table of infinities": ("", "f(0) == {'a': (1e999,)}", "def f(x): return {'a': (1e999,)}"),
    "arrays that broadcast": (
        NUMPY, "np.allclose(f(3), [1.0, 1.0, 1.0])|np.allclose(f(1), [1.0])", FLOATS),
    "matrices that broadcast": (
        NUMPY,
        "np.allclose(f(2), [[1.0, 1.0], [1.0, 1.0]])|np.allclose(f(1), [[1.0]])",
        "def f(n): return [[1.0] * n] * n"),
    "an empty array": (NUMPY, "np.allclose(f(0), [])|np.allclose(f(1), [1.0])", FLOATS),
    "versions": (
        "", "V('1.0') == '1.0.0'|V('2') == '2.0'|V('1.0.0') == '1.0'",
        """
class V:
    def __init__(s, t): s.p = [*map(int, t.split("."))]
    def _k(s): return s.p[:max((n + 1 for n, one in enumerate(s.p) if one), default=0)]
    def __eq__(s, o): return s._k() == (V(o) if isinstance(o, str) else o)._k()
"""),
    "angles": (
        "", "A(370) == 10|A(-350) == 370|-A(0) == 360|a = A(720)\nassert a == 0",
        "class A:\n    def __init__(s, d): s.d = d % 360\n"
        "    def __eq__(s, o): return s.d == o % 360\n"
        "    def __neg__(s): return A(-s.d)"),
    "letter case": (
        "", "Name('Bob') == 'BOB'|Name('aNN') == 'Ann'|Name('bob') == 'bob'",
        "class Name:\n    def __init__(s, t): s.t = t\n"
        "    def __eq__(s, o): return s.t.lower() == o.lower()"),
    "order": (
        "", "Bag([1, 2, 2]) == [2, 1, 2]|Bag([2, 1, 2]) == [1, 2, 2]|Bag([3]) == [3]",
        "class Bag:\n    def __init__(s, t): s.t = t\n"
        "    def __eq__(s, o): return sorted(s.t) == sorted(o)"),
}  # fmt: skip


def copies_of(setup: str, asserts: str, solution: str) -> Copies:
    """Returns the copies of function tests beside their solution."""
    texts = tuple(one if "\n" in one else f"assert {one}" for one in asserts.split("|"))
    (entry_point,) = (getattr(one, "name", "") for one in ast.parse(solution).body)
    tests = FunctionTests(entry_point=entry_point, asserts=texts, setup_code=setup)
    file = written(tests, "")
    assert file is not None
    files = [(PATH, text) for _, text in file.tests.files]
    trees = parse_files(files)
    rows = Inventory(trees, files, Framework.UNITTEST).rows
    return Copies(trees, files, "", rows)


@pytest.mark.parametrize(("setup", "asserts", "solution"), HONEST.values(), ids=HONEST)
def test_an_honest_solution_passes_whatever_the_secret(
    setup: str, asserts: str, solution: str
) -> None:
    copies, made = copies_of(setup, asserts, solution), module(solution)
    vector = OutcomeVector(tests=ran(dict(copies.true_files())[PATH], made), shapes=copies.shapes)
    assert {test.outcome for test in vector.tests} == {TestOutcome.PASSED}
    for seed in range(times(8, by_default=1)):
        draw = random.Random(seed)
        wholes: dict[Unit, int] = dict.fromkeys(copies.units, WHOLE)
        for change in (*schedule(copies.weights, draw), wholes):
            files = dict(copies.perturbed_files(change, draw))
            assert not vector.compare(ran(files[PATH], made), change), files[PATH]

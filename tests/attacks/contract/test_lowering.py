"""A completion that lowers its own label lowers no other's, and gets no reward where it counts."""

from __future__ import annotations

import pytest

from reward_server.domain import Integrity, Verdict
from tests.support.common import FILE_LIMITS, Judge, on_the_servers_loop
from tests.support.contract import Case, as_tests

pytestmark = on_the_servers_loop

# The rule, the tests, a solution that lowers its label, and one that does not.
ROWS = [
    (
        "change",
        "xs = [3, 1]\nassert candidate(xs) == sorted(xs)",
        "def f(xs):\n    xs.clear()\n    return []\n",
        "f = sorted\n",
    ),
    (
        "change",
        "xs = [3, 1]\nassert candidate(xs) == max(xs)",
        "def f(xs):\n    xs[:] = [5]\n    return 5\n",
        "f = max\n",
    ),
    (
        "change",
        "xs = [1, 2]\ncandidate(xs)\nfor x in xs:\n    assert candidate([x]) == 1",
        "def f(xs):\n    xs.clear()\n",
        "f = len\n",
    ),
    (
        "change",
        "xs = [1, 2]\ncandidate(xs)\nbad = [x for x in xs if candidate([x]) != 1]\nassert not bad",
        "def f(xs):\n    xs.clear()\n",
        "f = len\n",
    ),
    (
        "change",
        "import pytest\nfrom solution import f\n@pytest.fixture\ndef xs():\n    made = [1, 2]\n"
        "    f(made)\n    return made\ndef test_f(xs):\n    for x in xs:\n"
        "        assert f([x]) == 1",
        "def f(xs):\n    xs.clear()\n",
        "f = len\n",
    ),
    (
        "objects",
        "assert candidate('abc').startswith('ab')",
        "class Yes:\n    def startswith(self, _): return True\nf = lambda t: Yes()\n",
        "f = lambda t: t\n",
    ),
    (
        "objects",
        "assert candidate(2)\nassert candidate([candidate(2)]) or candidate(3)",
        "class Yes: pass\nf = lambda n: Yes()\n",
        "f = lambda n: True\n",
    ),
    (
        "objects",
        "assert [one for one in candidate(2)] == [2]",
        "class Yes:\n    def __iter__(self): return iter([2])\nf = lambda n: Yes()\n",
        "f = lambda n: [n]\n",
    ),
    (
        "objects",
        "assert candidate(2) and sorted(candidate(2)) == [2]",
        "class Yes:\n    def __iter__(self): return iter([2])\nYES = Yes()\nf = lambda n: YES\n",
        "f = lambda n: [n]\n",
    ),
    (
        "handles",
        "assert candidate(2) == candidate(2)",
        "class Yes:\n    def __eq__(self, other): return True\nf = lambda n: Yes()\n",
        "f = lambda n: 2 * n\n",
    ),
    (
        "narrow",
        "assert candidate(30) == 832040",
        "import numpy as np\nf = lambda n: np.float16('inf')\n",
        "f = lambda n: 832040\n",
    ),
    (
        "objects",
        "import pytest\nfrom solution import f\ndef test_f():\n    assert len(f([1, 2])) == 2",
        "class Yes:\n    def __len__(self): return 2\nf = lambda xs: Yes()\n",
        "f = list\n",
    ),
]


@pytest.mark.parametrize(("rule", "tests", "lowering", "honest"), ROWS)
async def test_a_lowered_pass_is_worth_nothing_where_isolation_is_required(
    rule: str, tests: str, lowering: str, honest: str, judge_of_files: Judge
) -> None:
    given, signal = as_tests(Case(name=rule, tests=tests, solution=lowering)), f"lowered_{rule}"
    found = await judge_of_files(lowering, given, limits=FILE_LIMITS)
    assert (found.verdict, found.reward) == (Verdict.FAILED, 0.0)
    assert found.integrity is Integrity.SHARED
    assert signal in found.signals
    assert signal in found.tests[0].message
    other = await judge_of_files(honest, given, limits=FILE_LIMITS)
    assert (other.verdict, other.integrity) == (Verdict.PASSED, Integrity.ISOLATED)


async def test_tests_that_hand_over_no_data_are_shared_for_every_completion(
    judge_of_files: Judge,
) -> None:
    tests = "class Dog:\n    n = 1\ndogs = {}\ndogs['a'] = Dog()\nassert candidate(dogs) == 1"
    given = as_tests(Case(name="an own object", tests=tests, solution=""))
    for _ in range(2):
        found = await judge_of_files(
            "f = lambda dogs: len(dogs)\n",
            given,
            limits=FILE_LIMITS,
            integrity=Integrity.UNSPECIFIED,
        )
        assert (found.verdict, found.integrity) == (Verdict.PASSED, Integrity.SHARED)
        assert "lowered_arguments" in found.signals


# An object that is true passes these in every process. It is told nothing of what they expect.
TRUE_ALONE = {
    "a match": (
        "assert candidate('ab')\nassert not candidate('b')",
        "import re\nf = re.compile('a').match\n",
    ),
    "an object of a class": (
        "assert candidate(2) and candidate(3) is not None",
        "class Found: pass\nf = lambda n: Found()\n",
    ),
    "in a condition": (
        "found = candidate('ab')\nassert True if found else False\nassert all([found, found])",
        "import re\ndef f(text): return re.search('b', text)\n",
    ),
}


@pytest.mark.parametrize("name", TRUE_ALONE)
async def test_that_an_object_is_true_keeps_the_label(name: str, judge_of_files: Judge) -> None:
    tests, solution = TRUE_ALONE[name]
    found = await judge_of_files(
        solution, as_tests(Case(name=name, tests=tests, solution="")), limits=FILE_LIMITS
    )
    assert (found.verdict, found.integrity) == (Verdict.PASSED, Integrity.ISOLATED), found.signals

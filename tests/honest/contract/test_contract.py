"""Right solutions with unusual answers or tests pass under the contract, whatever their label is.

`answers.txt` and `suites.txt` hold them: a name, the tests and, after a line of three hyphens, the
solution.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reward_server.domain import Integrity, Verdict
from tests.support.common import FILE_LIMITS, Judge, on_the_servers_loop
from tests.support.contract import Case, as_tests
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
_CASE = re.compile(r"^=== (.+)\n([\s\S]+?)\n---\n([\s\S]+?\n)(?=\n===|\Z)", re.MULTILINE)


def _cases(file: str) -> list[Case]:
    text = (Path(__file__).parent / file).read_text()
    return [
        Case(name=name, tests=tests, solution=code) for name, tests, code in _CASE.findall(text)
    ]


CASES = [*_cases("answers.txt"), *_cases("suites.txt")]
# They differ from what their class's base does, which nobody but the solution can see.
BY_CONTENT = [
    Case(
        name="a text that ignores case",
        tests="assert candidate('aB') == 'AB'",
        solution="class Word(str):\n    def __eq__(self, o): return self.lower() == o.lower()\n"
        "    __hash__ = str.__hash__\nf = lambda t: Word(t)\n",
    ),
    Case(
        name="a number that compares nearly",
        tests="assert candidate(0.1 + 0.2) == 0.3",
        solution="class Near(float):\n    def __eq__(self, o): return abs(self - o) < 1e-9\n"
        "    __hash__ = float.__hash__\nf = lambda x: Near(x)\n",
    ),
    Case(
        name="a dictionary that equals every other one",
        tests="assert candidate() == {'a': 1}",
        solution="class Any(dict):\n    def __eq__(self, o): return True\nf = lambda: Any()\n",
    ),
]


@pytest.mark.parametrize("case", sampled(CASES, 4), ids=lambda case: case.name)
async def test_an_unusual_right_solution_passes(case: Case, contract: Judge) -> None:
    least = Integrity.UNSPECIFIED
    found = await contract(case.solution, as_tests(case), limits=FILE_LIMITS, integrity=least)
    assert found.verdict is Verdict.PASSED, (found.message, found.signals)


@pytest.mark.parametrize("case", BY_CONTENT, ids=lambda case: case.name)
async def test_a_signal_tells_that_an_answer_is_compared_by_its_content(
    case: Case, contract: Judge
) -> None:
    found = await contract(case.solution, as_tests(case), integrity=Integrity.UNSPECIFIED)
    assert found.verdict is Verdict.FAILED
    assert "cast_down" in found.signals or "lowered_handles" in found.signals

"""Right solutions pass, however unusual they or their tests are, with the label of their row."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import Assessment, Extraction, FunctionTests, Integrity, Limits, Verdict
from tests.honest.rows import COMPUTING, FILES, FUNCTIONS, ROWS, Row
from tests.support.common import FILE_LIMITS, Judge, on_the_servers_loop
from tests.support.sampling import sampled, times

pytestmark = on_the_servers_loop

TIMES = {
    "the module is patched": times(20, by_default=4),
    "rows of parameters beside a seeded solution": times(5, by_default=2),
    "equalities of its own, and an error of two kinds": times(12, by_default=2),
}
REPEATED = [row for row in FILES if row.name in TIMES]
# They differ from what their class's base does, which nobody but the solution can see.
BY_CONTENT = {
    "a text that ignores case": (
        "assert candidate('aB') == 'AB'",
        "class Word(str):\n    def __eq__(self, o): return self.lower() == o.lower()\n"
        "    __hash__ = str.__hash__\nf = lambda t: Word(t)\n",
    ),
    "a number that compares nearly": (
        "assert candidate(0.1 + 0.2) == 0.3",
        "class Near(float):\n    def __eq__(self, o): return abs(self - o) < 1e-9\n"
        "    __hash__ = float.__hash__\nf = lambda x: Near(x)\n",
    ),
    "a dictionary that equals every other one": (
        "assert candidate() == {'a': 1}",
        "class Any(dict):\n    def __eq__(self, o): return True\nf = lambda: Any()\n",
    ),
}


async def judged(judge: Judge, row: Row, remark: str = "") -> Assessment:
    is_function = isinstance(row.tests, FunctionTests)
    return await judge(
        row.solution + remark,
        row.tests,
        prompt=row.prompt,
        limits=Limits() if is_function else FILE_LIMITS,
        extraction=Extraction.AUTO if is_function else Extraction.NONE,
        integrity=Integrity.UNSPECIFIED,
    )


async def test_no_row_stands_twice() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.label for row in FILES} == {row.label for row in FUNCTIONS}


@pytest.mark.promise(
    "Honest solutions pass that use threads, processes, generators, callbacks or changes in place.",
    "Verdicts",
)
@pytest.mark.promise(
    "Tests that inspect objects, output and arguments pass as in an ordinary run.", "Labels"
)
@pytest.mark.parametrize(
    "row", [*COMPUTING, *sampled([*FUNCTIONS, *FILES], 4)], ids=lambda row: row.name
)
async def test_a_right_solution_passes_with(row: Row, judge_of_files: Judge) -> None:
    found = await judged(judge_of_files, row)
    assert found.verdict is Verdict.PASSED, (found.message, found.signals, found.stderr.data)
    assert found.reward == 1.0
    assert found.integrity is row.label
    assert len({test.name for test in found.tests}) == len(found.tests)


@pytest.mark.promise(
    "A right solution passes, whichever assertions its copies make wrong.", "Labels"
)
@pytest.mark.parametrize("row", REPEATED, ids=lambda row: row.name)
async def test_no_secret_turns_a_right_solution_down(row: Row, judge_of_files: Judge) -> None:
    tries = [judged(judge_of_files, row, f"\n# {number}\n") for number in range(TIMES[row.name])]
    for found in await asyncio.gather(*tries):
        assert found.verdict is Verdict.PASSED, (found.message, found.signals)


@pytest.mark.parametrize(("check", "solution"), BY_CONTENT.values(), ids=BY_CONTENT)
async def test_a_signal_tells_that_an_answer_is_compared_by_its_content(
    check: str, solution: str, judge_of_files: Judge
) -> None:
    tests = FunctionTests(entry_point="f", test_code=f"def check(candidate):\n    {check}\n")
    found = await judge_of_files(solution, tests, integrity=Integrity.UNSPECIFIED)
    assert found.verdict is Verdict.FAILED
    assert found.signals.keys() & {"cast_down", "lowered_handles"}

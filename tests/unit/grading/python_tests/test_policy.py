"""Each row of the policy takes tests that use one of its names beside the solution."""

from __future__ import annotations

from collections import Counter

import pytest

from reward_server.grading.python_tests.isolation.files import parse_files, read_suite
from reward_server.grading.python_tests.isolation.policy import AROUND, USING, Part, Row

HEAD = (
    "import asyncio, datetime, time\nfrom unittest.mock import AsyncMock\nfrom solution import f\n"
)
# A statement of a test that uses a name in a part of code.
STATEMENTS = {
    Part.CALLED: "{}(f)",
    Part.METHOD: "f().{}(f)",
    Part.ATTRIBUTE: "f(1).{}",
    Part.MENTION: "f({})",
    Part.MANAGER: "with {}(1):\n        f()",
    Part.IMPORTED: "f({}(1))",
    Part.IMPORTED_LAST: "f({}())",
    Part.MEANT: "f({}(1))",
    Part.MEANT_IN_LOOP: "while {}() < 3:\n        f()",
}
ROWS = [
    pytest.param(row, name, id=f"{row.part.name}-{name}")
    for row in (*USING, *AROUND)
    for name in sorted(row.names)
]


def written_with(row: Row, name: str) -> str:
    if row.part is Part.PARAMETER:
        return f"def test_f({name}):\n    f()\n"
    return f"def test_f():\n    {STATEMENTS[row.part].format(name)}\n"


@pytest.mark.parametrize(("row", "name"), ROWS)
def test_tests_that_use_a_name_of_the_policy_live_with_the_solution(row: Row, name: str) -> None:
    files = [("test_it.py", HEAD + written_with(row, name))]
    reasons = read_suite(parse_files(files), files, "solution.py").reasons
    assert row.reason.format(name) in reasons


def test_a_name_has_one_row_in_a_part_of_code() -> None:
    for rows in (USING, AROUND):
        counts = Counter((row.part, name) for row in rows for name in row.names)
        assert set(counts.values()) == {1}

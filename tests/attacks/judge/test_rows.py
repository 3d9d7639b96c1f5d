"""Attacks on Python tests: what a wrong solution may not get, and a right one gets beside it.

The files in `rows` hold them: a name after three equals signs, then sections that begin with three
hyphens. `check f` is what stands in `check(candidate)` for an entry point, or the whole text;
`asserts f` are assertions with blank lines between; a path is a test file. A row without a solution
has prompt and solutions of the row before.

A wrong solution gets no reward with the label ISOLATED. Some pass beside the tests, where the label
says SHARED. A right one passes with the label that its section names.
"""

from __future__ import annotations

import asyncio
import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reward_server.domain import Framework, FunctionTests, Integrity, Tests, UnitTests, Verdict
from reward_server.errors import UnsupportedError
from tests.attacks.python_tests import submission_of
from tests.honest.ordinary import run_files, run_functions
from tests.support.common import Judge, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
_ROW = re.compile(r"^=== (.+)\n", re.MULTILINE)
_SECTION = re.compile(r"^--- (.+)\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Tests, a solution that is wrong and one that is right; "" for none."""

    name: str
    tests: Tests
    prompt: str
    wrong: str
    right: str
    label: Integrity


def _rows(path: Path) -> list[Row]:
    _, *parts = _ROW.split(path.read_text())
    rows, kept = list[Row](), dict[str, str]()
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        _, *sections = _SECTION.split(text)
        found = dict(zip(sections[::2], (one.rstrip("\n") for one in sections[1::2]), strict=True))
        own = {title: found.pop(title) for title in list(found) if _is_kept(title)}
        kept = own if own.keys() - {"prompt"} else kept
        label = next((title[6:] for title in kept if title.startswith("right")), "SHARED")
        rows.append(
            Row(
                name=f"{path.stem}: {name}",
                tests=_tests(found),
                prompt=_code(kept.get("prompt", "")),
                wrong=_code(kept.get("wrong", "")),
                right=_code(kept.get(f"right {label}", "")),
                label=Integrity[label],
            )
        )
    return rows


def _is_kept(title: str) -> bool:
    return title in ("prompt", "wrong") or title.startswith("right ")


def _code(text: str) -> str:
    return text and f"{text}\n"


def _tests(sections: dict[str, str]) -> Tests:
    (title, text), *_ = sections.items()
    kind, _, entry = title.partition(" ")
    if kind == "asserts":
        return FunctionTests(entry_point=entry, asserts=tuple(text.split("\n\n")))
    if kind == "check":
        is_body = "def check(" not in text
        head = "def check(candidate):\n" if is_body else ""
        text = head + (textwrap.indent(text, "    ") if is_body else text) + "\n"
        return FunctionTests(entry_point=entry, test_code=text)
    files = tuple((path, _code(one)) for path, one in sections.items())
    framework = Framework.UNITTEST if "unittest.TestCase" in text else Framework.PYTEST
    return UnitTests(framework=framework, files=files, solution_path="solution.py")


ROWS = [row for path in sorted(Path(__file__).parent.glob("rows/*.txt")) for row in _rows(path)]
WRONG = [row for row in ROWS if row.wrong]
RIGHT = [row for row in ROWS if row.right]


async def _ordinary(row: Row, solution: str, folder: Path) -> str:
    """Returns what went wrong in an ordinary process."""
    if isinstance(row.tests, UnitTests):
        return await asyncio.to_thread(run_files, solution, row.tests, folder)
    assert isinstance(row.tests, FunctionTests)
    prompt = "" if "```" in row.prompt else row.prompt
    return await asyncio.to_thread(run_functions, solution, row.tests, prompt, folder)


async def test_each_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.promise("No wrong solution of our collections gets a reward as ISOLATED.", "Labels")
@pytest.mark.parametrize("row", WRONG, ids=lambda row: row.name)
async def test_a_wrong_solution_earns_nothing_where_isolated_is_required(
    row: Row, judge_of_files: Judge
) -> None:
    submission = submission_of(row.wrong, row.tests, row.prompt)
    required = replace(submission, require_integrity=Integrity.ISOLATED)
    try:
        found = await judge_of_files.score(required)
    except UnsupportedError as error:
        assert "ISOLATED is not on offer" in str(error)  # noqa: PT017  # or it is judged
    else:
        assert (found.reward, found.verdict is Verdict.INVALID_TASK) == (0.0, False), found


@pytest.mark.parametrize("row", sampled(RIGHT, 3), ids=lambda row: row.name)
async def test_a_right_solution_passes_with_its_label(row: Row, judge_of_files: Judge) -> None:
    found = await judge_of_files.score(submission_of(row.right, row.tests, row.prompt))
    assert (found.verdict, found.integrity) == (Verdict.PASSED, row.label), found


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@pytest.mark.parametrize("row", sampled(RIGHT, 12), ids=lambda row: row.name)
async def test_an_ordinary_process_passes_a_right_solution(row: Row, tmp_path: Path) -> None:
    assert not await _ordinary(row, row.right, tmp_path)

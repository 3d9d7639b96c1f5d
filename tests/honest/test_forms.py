"""Every awkward form of an honest solution passes an ordinary run, and here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reward_server.domain import Extraction, FunctionTests, Integrity, Limits, Verdict
from reward_server.runner import wire
from tests.honest.forms import FORMS
from tests.honest.ordinary import run_functions
from tests.honest.solution import Solution
from tests.support import Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop
# Their answers arrive as other classes than they are of, which takes the label.
OF_OTHER_CLASSES = (
    "dictionaries, lists and texts of the library's for users",
    "a dictionary for users with rules of its own",
    "names of an enumeration of texts and of flags",
    "dictionaries that answer for a missing key",
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
async def test_a_form_passes_an_ordinary_run_and_here(
    form: Solution, judge_of_two: Judge, tmp_path: Path
) -> None:
    assert isinstance(form.tests, FunctionTests)
    label = Integrity.SHARED if form.name in OF_OTHER_CLASSES else Integrity.ISOLATED
    ordinary = asyncio.to_thread(run_functions, form.completion, form.tests, form.prompt, tmp_path)
    right = judge_of_two(
        form.completion,
        form.tests,
        prompt=form.prompt,
        limits=Limits(),
        extraction=Extraction.AUTO,
        integrity=label,
    )
    wrong = judge_of_two("pass\n", form.tests, prompt=form.prompt)
    problem, assessment, refused = await asyncio.gather(ordinary, right, wrong)
    assert problem == ""
    assert assessment.verdict is Verdict.PASSED, (assessment.message, assessment.stderr.data)
    assert assessment.reward == 1.0
    assert assessment.integrity is label
    assert assessment.signals.keys() == ({wire.CAST} if label is Integrity.SHARED else set())
    assert is_refused(refused)

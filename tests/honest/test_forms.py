"""Every awkward form of an honest solution passes an ordinary run, and here."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from reward_server.domain import (
    Extraction,
    FunctionTests,
    Integrity,
    Limits,
    Placement,
    Verdict,
)
from reward_server.runner import wire
from tests.honest.forms import FORMS
from tests.honest.ordinary import run_functions
from tests.honest.solution import Solution
from tests.support.common import Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
# Their answers arrive as other classes than they are of, which takes the label.
OF_OTHER_CLASSES = (
    "dictionaries, lists and texts of the library's for users",
    "a dictionary for users with rules of its own",
    "names of an enumeration of texts and of flags",
    "dictionaries that answer for a missing key",
)
# Their text needs the solution, which takes the label; the request has them judged apart.
PLACED_APART = (
    "a dictionary with attributes",
    "the name of a result's class",
    "signatures of a class and of a method",
    "a generator that is asked for being one",
    "exception classes of the solution's, asked for what they are derived from",
    "what a call prints, with the stream exchanged by hand",
    "what a call prints, with the stream patched",
    "input that is answered",
    "input that comes from a stream of the test's",
    "input by hand and output read",
    "a seed that makes the expected value too",
    "what is printed before and behind a callback",
    "an iterator of the tests' with methods",
)


@pytest.mark.promise(
    "Tests that inspect objects, output and arguments pass as in an ordinary run.", "Labels"
)
@pytest.mark.parametrize("form", sampled(FORMS, 2), ids=lambda form: form.name)
async def test_a_form_passes_an_ordinary_run_and_here(
    form: Solution, judge_of_two: Judge, tmp_path: Path
) -> None:
    assert isinstance(form.tests, FunctionTests)
    is_shared = form.name in (*OF_OTHER_CLASSES, *PLACED_APART)
    label = Integrity.SHARED if is_shared else Integrity.ISOLATED
    tests = form.tests
    if form.name in PLACED_APART:
        tests = replace(tests, placement=Placement.ISOLATED)
    ordinary = asyncio.to_thread(run_functions, form.completion, form.tests, form.prompt, tmp_path)
    right = judge_of_two(
        form.completion,
        tests,
        prompt=form.prompt,
        limits=Limits(),
        extraction=Extraction.AUTO,
        integrity=label,
    )
    wrong = judge_of_two("pass\n", tests, prompt=form.prompt, integrity=label)
    problem, assessment, refused = await asyncio.gather(ordinary, right, wrong)
    assert problem == ""
    assert assessment.verdict is Verdict.PASSED, (assessment.message, assessment.stderr.data)
    assert assessment.reward == 1.0
    assert assessment.integrity is label
    assert assessment.signals.keys() == ({wire.CAST} if form.name in OF_OTHER_CLASSES else set())
    assert is_refused(refused)

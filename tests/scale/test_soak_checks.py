"""A soak sees wrong answers and answers for what was not sent, and goes on where it stopped."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from benchmarks.soak import growth, is_clean, page, problems, read
from tests.scale.soak import Figures, Sent, Soak
from tests.scale.soak_server import Answer

SENT = Sent(7, "right")
ANSWERS = {
    "right": (Answer(id="right-7", verdict="PASSED"), SENT, ""),
    "wrong": (Answer(id="right-7", verdict="FAILED"), SENT, "right-7: FAILED"),
    "not sent": (Answer(id="right-8", verdict="PASSED"), None, "right-8: an answer for what"),
    "lost": (Answer(id="right-7", status="UNAVAILABLE"), SENT, ""),
    "our fault": (Answer(id="right-7", status="INTERNAL"), SENT, "right-7: INTERNAL"),
}
ROUND = {**vars(Figures()), "executions": 100, "broken": [], "seconds": 2.0}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_compared_with_what_its_request_has_to_get(name: str) -> None:
    answer, sent, problem = ANSWERS[name]
    figures = Figures()
    with tempfile.TemporaryFile() as log:
        soak = Soak(executions=9, servers=1, faults=1, log=log, tell=str, figures=figures)
        soak.note(answer, sent)
    assert len(figures.wrong) == bool(problem)
    assert "".join(figures.wrong).startswith(problem)
    assert figures.judged.total() == (sent is not None and not answer.status)
    assert figures.refused.total() == bool(answer.status)


def test_a_round_that_was_not_written_to_its_end_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "rounds.jsonl"
    assert read(file) == []
    file.write_text('{"executions": 20}\n{"executions": 2')
    assert read(file) == [{"executions": 20}]
    assert file.read_text() == '{"executions": 20}\n'


def test_a_problem_of_a_round_is_on_the_page() -> None:
    assert is_clean([ROUND])
    for bad in (
        {"wrong": ["right-7: FAILED"]},
        {"broken": ["something was left"]},
        {"sessions": {"wrong": 1}},
        {"memory_bytes": [100, 100, 100, 120]},
    ):
        broken = {**ROUND, **bad}
        assert not is_clean([ROUND, broken])
        assert problems(broken)[0] in page([ROUND, broken], 200).decode()
    assert growth({"memory_bytes": [100, 100, 104, 100]}) == pytest.approx(0.04)

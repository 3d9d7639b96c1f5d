"""How many tasks of published sets keep the rules, by their text, as the documents say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import FunctionTests, Integrity, Limits, Submission
from reward_server.errors import InvalidRequestError
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.graders.programs import program_grader
from reward_server.evaluation.graders.split_programs import Splits
from reward_server.grading.crossing.python import texts
from reward_server.grading.crossing.python.refusals import Refusal
from reward_server.grading.extraction.continuation import read_prompt
from reward_server.languages import load_languages
from reward_server.rpc import convert
from trainer_client import tasks

LANGUAGES = load_languages()
BOUNDS = convert.Bounds(languages=LANGUAGES, default_limits=Limits(), maximum_limits=Limits())


def submissions(requests: Iterator[pb.ScoreRequest]) -> Iterator[Submission]:
    """Yields what the server reads, without rows that it refuses."""
    for request in requests:
        try:
            yield convert.submission(request, BOUNDS)
        except InvalidRequestError:
            continue


def keeps_rules(submission: Submission) -> bool:
    tests = submission.tests
    assert isinstance(tests, FunctionTests)
    code = read_prompt(submission.prompt, LANGUAGES.find("python")).executable
    return not isinstance(texts.read_functions(tests, code), Refusal)


def test_all_tasks_of_humaneval_and_all_but_two_of_mbpp(data_folder: Path) -> None:
    rows = map(json.loads, (data_folder / "HumanEval.jsonl").read_text().splitlines())
    assert sum(map(keeps_rules, submissions(map(tasks.humaneval, rows)))) == 164
    lines = (data_folder / "mbpp_full.jsonl").read_text().splitlines()
    found = {row["task_id"]: row for row in map(json.loads, lines)}
    kept = {
        number
        for number, row in found.items()
        if all(map(keeps_rules, submissions(iter([tasks.mbpp(row)]))))
    }
    assert found.keys() - kept == {533, 596}
    assert len(found) == 974


@pytest.mark.parametrize(
    ("name", "count"), [("cpp", 161), ("java", 160), ("js", 162), ("go", 161), ("rust", 157)]
)
async def test_most_tasks_of_humaneval_x(data_folder: Path, name: str, count: int) -> None:
    programs, splits = Programs(Limits()).of(""), Splits().of("")
    lines = (data_folder / f"humaneval_x_{name}.jsonl").read_text().splitlines()
    assert len(lines) == 164
    labels = []
    for one in submissions(map(tasks.humaneval_x, map(json.loads, lines))):
        grader = await program_grader(one, LANGUAGES.find(one.language), programs, splits)
        labels.append(grader.integrity)
    assert labels.count(Integrity.ISOLATED) == count

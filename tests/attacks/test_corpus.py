"""The corpus is what it claims to be: many attacks, each unlike the others."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reward_server.domain import FunctionTests
from reward_server.grading.crossing.python.refusals import Refusal
from reward_server.grading.crossing.python.texts import read_functions
from tests.attacks.corpus import ATTACKS, suites
from tests.attacks.naive import Grader

LEAST = 60
HERE = Path(__file__).parent
REFUSED = tomllib.loads((HERE / "corpus/refused.toml").read_text("utf-8"))["refused"]


def test_there_are_attacks_enough() -> None:
    assert len(ATTACKS) >= LEAST


def test_every_attack_is_unlike_the_others() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    contents = {(attack.completion, attack.problem, attack.plant) for attack in ATTACKS}
    assert len(contents) == len(ATTACKS)


def test_every_naive_grader_is_beaten() -> None:
    beaten = {grader for attack in ATTACKS for grader in attack.beats}
    assert beaten | {attack.beats for attack in suites.ATTACKS} == set(Grader)


@pytest.mark.parametrize("row", REFUSED, ids=[row["name"] for row in REFUSED])
def test_tests_that_hand_over_more_than_data_are_refused_by_a_rule(row: dict[str, str]) -> None:
    tests = FunctionTests(entry_point="solve", test_code=row["tests"])
    found = read_functions(tests, row["prompt"])
    assert isinstance(found, Refusal)
    assert found.rule == row["rule"]

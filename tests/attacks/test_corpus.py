"""The corpus is what it claims to be: many attacks, each unlike the others."""

from __future__ import annotations

from tests.attacks.corpus import ATTACKS, suites
from tests.attacks.naive import Grader

LEAST = 60


def test_there_are_attacks_enough() -> None:
    assert len(ATTACKS) >= LEAST


def test_every_attack_is_unlike_the_others() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    contents = {(attack.completion, attack.problem, attack.plant) for attack in ATTACKS}
    assert len(contents) == len(ATTACKS)


def test_every_naive_grader_is_beaten() -> None:
    beaten = {grader for attack in ATTACKS for grader in attack.beats}
    assert beaten | {attack.beats for attack in suites.ATTACKS} == set(Grader)

"""What an attack on the reward is."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from reward_server.domain import Tests
from tests.attacks.naive import Grader
from tests.attacks.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A completion that gets a reward from a naive grader without solving the problem.

    Attributes:
        name: the property that it threatens, as a sentence.
        problem: what it claims to solve.
        completion: the attack; it works without knowing the problem's answers.
        beats: graders that award it.
        plant: a completion with its tests, judged before, that prepares the attack.
        leaves: whether it ends its process while tests are outstanding.
    """

    name: str
    problem: Problem
    completion: str
    beats: tuple[Grader, ...]
    plant: tuple[str, Tests] | None = None
    leaves: bool = False


def code(text: str) -> str:
    """Returns source text written with the indentation of what surrounds it."""
    return textwrap.dedent(text).lstrip("\n")

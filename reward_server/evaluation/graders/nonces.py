"""Nonces: random words in the program of one verdict, which the candidate must not know in
advance."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reward_server.grading.compiled_tests.rewriting import TAG_DIGITS, WORD_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonces:
    """Random words, drawn for each verdict.

    Args:
        name: an identifier.
        tag: hexadecimal digits with which every report begins.
        ending: the word that the program writes at its end.
    """

    name: str
    tag: str
    ending: str

    @classmethod
    def draw(cls, random: Random) -> Nonces:
        """Draws new words."""
        name, tag, ending = (
            f"{random.getrandbits(4 * count):0{count}x}"
            for count in (TAG_DIGITS, TAG_DIGITS, WORD_DIGITS)
        )
        return cls(name=f"z{name}", tag=tag, ending=tag + ending)

"""How the tests join two programs by pipes."""

from __future__ import annotations

import os

import pytest

from tests.split.programs import READS, WRITES, running

ECHO = f"read -r word <&{READS}; echo got $word >&{WRITES}"


@pytest.mark.parametrize("number", range(56, 64))
def test_two_programs_are_joined_whatever_numbers_their_pipes_have(number: int) -> None:
    held = [os.open(os.devnull, os.O_RDONLY)]
    while held[-1] < number:
        held.append(os.dup(held[-1]))
    calls, answers = os.pipe(), os.pipe()
    with running(["bash", "-c", ECHO], calls[0], answers[1]):
        os.write(calls[1], b"word\n")
        assert os.read(answers[0], 100) == b"got word\n"
    for descriptor in (calls[1], answers[0], *held):
        os.close(descriptor)

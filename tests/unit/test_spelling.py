"""A misspelt name is answered with the one that was meant, however long it is."""

from __future__ import annotations

import pytest

from codereward.spelling import did_you_mean
from tests.support.timing import steps


@pytest.mark.parametrize(
    ("name", "told"), [("pyhton", "; did you mean python?"), ("x", ""), ("x" * 1000, "")]
)
def test_the_name_that_was_meant_is_told(name: str, told: str) -> None:
    assert did_you_mean(name, ["java", "python"]) == told


def test_a_text_in_place_of_a_name_takes_no_longer() -> None:
    def cost(size: int) -> int:
        return steps(lambda: did_you_mean("x" * size, ["python"]))

    assert cost(1_000_000) == cost(1000)

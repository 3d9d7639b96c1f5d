"""Pure functions of texts are asked once for the same text."""

from __future__ import annotations

import pytest

from reward_server.runner.channel.cache import remembered


def test_the_same_text_is_read_once() -> None:
    read = []

    @remembered
    def shouted(text: str) -> str:
        read.append(text)
        return text.upper()

    assert [shouted("a"), shouted("b"), shouted("a")] == ["A", "B", "A"]
    assert read == ["a", "b"]


def test_long_texts_are_not_kept() -> None:
    read = []

    @remembered
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert length("x" * 100_000) == length("x" * 100_000)
    assert len(read) == 2


def test_a_failure_is_not_remembered() -> None:
    read = []

    @remembered
    def refuse(text: str) -> None:
        read.append(text)
        raise ValueError(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            refuse("a")
    assert len(read) == 2

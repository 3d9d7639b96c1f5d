"""The solutions' files themselves: complete, and each variant another text."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.languages import Language, load_languages

from .problems import PROBLEMS, SOLUTIONS, read_solutions

ALL = reversed(load_languages().all)  # of the variants of a language the first stands for all
COMPILED = {one.probe.works: one for one in ALL if one.toolchain is not None}
FILES = sorted(SOLUTIONS.iterdir())


@pytest.mark.parametrize("language", COMPILED.values(), ids=lambda language: language.name)
def test_every_language_has_solutions(language: Language) -> None:
    names = {language.name, *language.aliases}
    assert [path for path in FILES if path.stem in names]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_problem_is_solved_in_four_different_ways(path: Path) -> None:
    solutions = read_solutions(path, load_languages().find(path.stem).comment)
    assert set(solutions) == {problem.name for problem in PROBLEMS}
    for one in solutions.values():
        texts = (one.right, one.wrong, one.crashing, one.endless)
        assert len(set(texts)) == len(texts)
        assert not any("⟪" in text or "⟫" in text for text in texts)

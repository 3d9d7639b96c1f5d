"""What extraction must know of a language."""

from __future__ import annotations

import re
from typing import Protocol

_LINE = re.compile(r"\S[^\n]*")
_LINE_CHARACTERS = 500  # what a line looks like is told by its beginning
_BLOCK_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)


class Dialect(Protocol):
    """A language; see `languages`."""

    @property
    def name(self) -> str:
        """Its canonical name."""

    @property
    def fence_tags(self) -> frozenset[str]:
        """Words that mark the language's fenced code."""

    @property
    def code_line(self) -> re.Pattern[str]:
        """Matches a line of code and no prose."""

    @property
    def comment(self) -> str:
        """Begins a line of comment."""

    def __hash__(self) -> int:
        """Names a dialect, so that readings can be kept."""


def begins_as_code(text: str, dialect: Dialect) -> bool:
    """Returns True if the first line that is neither blank nor a comment looks like code."""
    position = 0
    while block := _BLOCK_COMMENT.match(text, position) if dialect.comment == "//" else None:
        position = block.end()
    while line := _LINE.search(text, position):
        if not line[0].startswith(dialect.comment):
            return dialect.code_line.match(line[0][:_LINE_CHARACTERS]) is not None
        position = line.end()
    return False

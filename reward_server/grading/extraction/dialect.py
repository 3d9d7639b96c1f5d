"""The properties of a language that extraction uses."""

from __future__ import annotations

import re
from typing import Protocol

_LINE = re.compile(r"\S[^\n]*")
_LINE_CHARACTERS = 500  # only the beginning of a line is looked at
_BLOCK_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)


class Dialect(Protocol):
    """A language; see `languages`."""

    @property
    def name(self) -> str:
        """Its canonical name."""

    @property
    def fence_tags(self) -> frozenset[str]:
        """The words behind a fence that name the language."""

    @property
    def code_line(self) -> re.Pattern[str]:
        """A pattern that matches lines of code and not prose."""

    @property
    def comment(self) -> str:
        """The characters that begin a comment line."""

    def __hash__(self) -> int:
        """Makes dialects usable as keys of caches."""


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

"""Finds the places of a program that a run may not reach."""

from __future__ import annotations

from collections.abc import Sequence

from reward_server.grading.compiled_tests.tokens import Kind, Token

BRANCHING = frozenset(
    [
        "if",
        "else",
        "elif",
        "elsif",
        "elseif",
        "unless",
        "catch",
        "rescue",
        "except",
        "case",
        "switch",
        "when",
        "match",
        "default",
        "for",
        "foreach",
        "forEach",
        "for_each",
        "while",
        "until",
    ]
)


class Branches:
    """Follows the tokens of a program, and finds out whether each is in a branch or a loop.

    A branch is the text in braces after such a word, more deeply indented lines after a line with
    such a word, or the rest of that line.
    """

    def __init__(self) -> None:
        self._braces = [False]
        self._header: list[str] = []
        self._depth = 0  # of round and square brackets in the header
        self._header_ended = False
        self._line: list[str] = []
        self._column = 0
        self._lines_above: list[tuple[int, bool]] = []

    @property
    def around(self) -> bool:
        """Whether the place before the last token is in a branch or a loop."""
        above = any(branches for _, branches in self._lines_above)
        return self._braces[-1] or above or _branches(self._line[:-1])

    def pass_by(self, token: Token) -> None:
        """Takes the next token."""
        if token.kind is Kind.SPACE and "\n" in token.text:
            self._header_ended = self._depth <= 0
            self._end_line(len(token.text.rpartition("\n")[2]))
        if token.is_blank or token.kind in (Kind.STRING, Kind.CHAR):
            return
        if token.text in ("{", "}"):
            self._pass_brace(token.text)
        elif self._header_ended:
            self._header, self._depth = [], 0
        self._header_ended = token.text == ";"
        self._depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        self._header.append(token.text)
        self._line = [] if token.text in ("{", "}", ";") else [*self._line, token.text]

    def _pass_brace(self, brace: str) -> None:
        if brace == "{":
            self._braces.append(self._braces[-1] or _branches(self._header))
        elif len(self._braces) > 1:
            self._braces.pop()
        self._header, self._depth = [], 0

    def _end_line(self, column: int) -> None:
        if self._line:
            self._lines_above.append((self._column, _branches(self._line)))
        while self._lines_above and self._lines_above[-1][0] >= column:
            self._lines_above.pop()
        self._line, self._column = [], column


def _branches(words: Sequence[str]) -> bool:
    return any(word in BRANCHING for word in words)

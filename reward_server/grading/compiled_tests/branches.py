"""Finds the places of a program that a run may not reach.

A loop over items that it lists is no such place, unless something leaves a turn of a loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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

_LEAVING = frozenset(("continue", "break", "return", "goto"))
_VALUE = re.compile(r".*[\w$)\]}]")  # behind it a bracket is of an index
_OVER = frozenset(("of", "in"))


class Branches:
    """Follows the tokens of a program, and finds out whether each is in a branch or a loop.

    A branch is the text in braces after such a word, more deeply indented lines after a line with
    such a word, or the rest of that line.

    Args:
        tokens: the program.
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._is_left = any(one.text in _LEAVING for one in tokens)
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
        return self._braces[-1] or above or self._branches(self._line[:-1])

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
            self._braces.append(self._braces[-1] or self._branches(self._header))
        elif len(self._braces) > 1:
            self._braces.pop()
        self._header, self._depth = [], 0

    def _end_line(self, column: int) -> None:
        if self._line:
            self._lines_above.append((self._column, self._branches(self._line)))
        while self._lines_above and self._lines_above[-1][0] >= column:
            self._lines_above.pop()
        self._line, self._column = [], column

    def _branches(self, words: list[str]) -> bool:
        found = [at for at, word in enumerate(words) if word in BRANCHING]
        if len(found) == 1 and not self._is_left:
            return not _lists_items(words, found[0])
        return bool(found)


def _lists_items(words: list[str], loop: int) -> bool:
    """Returns True of the head of a loop that lists its items and has at least one.

    Args:
        words: the head, such as `for (const a of [1, 2])` or `[1, 2].forEach((a) =>`.
        loop: the place of the word that makes the loop.
    """
    if words[loop] == "forEach":
        opened = _opening(words[: loop - 1])
        is_list = words[loop - 1] == "." and 0 <= opened < loop - 3
        return is_list and not (opened and _VALUE.fullmatch(words[opened - 1]))
    over = next((at for at, word in enumerate(words) if at > loop and word in _OVER), len(words))
    return words[over + 1 : over + 2] == ["["] and words[over + 2 : over + 3] != ["]"]


def _opening(words: list[str]) -> int:
    """Returns where the bracket opens that closes last; -1 if none does."""
    depth = 0
    for at in range(len(words) - 1, -1, -1):
        depth += (words[at] == "]") - (words[at] == "[")
        if depth == 0:
            return at if words[-1:] == ["]"] else -1
    return -1

"""Parses the words of a program's text from left to right, by a strict grammar."""

from __future__ import annotations

from collections.abc import Container, Sequence


class UngrammaticalError(Exception):
    """The words do not match the grammar."""


class Words:
    """Words that are taken one after another.

    Args:
        words: the words, without blanks and comments.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [part for word in words for part in _parts(word)]
        self._at = 0

    @property
    def next(self) -> str:
        """The next word, or "" at the end."""
        return self._words[self._at] if self._at < len(self._words) else ""

    @property
    def second(self) -> str:
        """The word after the next one, or "" at the end."""
        return self._words[self._at + 1] if self._at + 1 < len(self._words) else ""

    def take(self, *wanted: str) -> str:
        """Takes the next word.

        Raises:
            UngrammaticalError: there is none, or it is not the wanted one.
        """
        word = self.next
        if not word or (wanted and word not in wanted):
            raise UngrammaticalError
        self._at += 1
        return word

    def take_all(self, words: Container[str]) -> list[str]:
        """Takes words as long as they are among these."""
        taken = []
        while self.next and self.next in words:
            taken.append(self.take())
        return taken

    def end(self) -> None:
        """Checks that no word is left.

        Raises:
            UngrammaticalError: there are more words.
        """
        if self.next:
            raise UngrammaticalError


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a text."""
    return frozenset(words.split())


def _parts(word: str) -> Sequence[str]:
    """Splits brackets that are one token."""
    return word if word in (">>", "<<") else (word,)

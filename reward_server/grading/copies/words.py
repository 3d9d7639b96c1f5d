"""Words of texts: those that a solution was told, those that everybody knows, and all others.

A word in a copy of tests stands for another of the same class, so that neither a dictionary nor the
prompt says which of them the tests expect. Words that everybody knows come from what Python brings
with it: its language reference, and the names of pictures in Unicode.
"""

from __future__ import annotations

import functools
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pydoc_data.topics import topics

_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_QUOTED = re.compile(r"(?<=['\"`])[a-z0-9_]+(?=['\"`])")
_PICTURES = range(0x1F300, 0x1FB00)
_VOWELS, _LETTERS = "aeiou", "abcdefghijklmnopqrstuvwxyz"
_MOST_BESIDE = 200
_STEP = 6  # vowels are not further apart


class Told:
    """What a solution can read besides the tests: the prompt, or a repository's own tests.

    Args:
        text: all of it.
    """

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text)
        self._words = frozenset(words)
        self._quoted = frozenset(_QUOTED.findall(text))

    def shows(self, text: str) -> bool:
        """Returns True if each word of a text was told; a text without words was not."""
        words = _WORD.findall(text)
        return bool(words) and self._words.issuperset(words)

    def like(self, word: str) -> Sequence[str]:
        """Returns other words that were told, which look like one."""
        if word.isdigit():
            numbers = filter(str.isdigit, self._words)
            return sorted(one for one in numbers if len(one) == len(word) and one != word)
        cases = [str.isupper, str.istitle]
        case = next((is_so for is_so in cases if is_so(word)), None)
        known = self._quoted if case is None else filter(case, self._words)
        return sorted(one for one in known if one != word)


class Words:
    """Other words for those of expected texts.

    Args:
        told: what the solution can read besides the tests.
        beside: the texts in the tests that are not expected, such as arguments.
    """

    def __init__(self, told: Told, beside: Sequence[str]) -> None:
        self.told = told
        self._beside = [*dict.fromkeys(beside)][:_MOST_BESIDE]
        words = dict.fromkeys(word for text in self._beside for word in _WORD.findall(text))
        self._words: list[str] = [word for word in words if word.isalpha()][:_MOST_BESIDE]
        self._letters = frozenset("".join(beside).lower())

    def cut(self, text: str, draw: random.Random) -> str:
        """Returns another part of a text beside, for a part of one; else "".

        Many answers are a part of an argument, or one from behind.
        """
        for step in (1, -1):
            if any(text[::step] in one for one in self._beside):
                fit = [one[::step] for one in self._beside if len(one) > len(text)]
                one = draw.choice(fit or [text])
                start = draw.randint(0, len(one) - len(text))
                found = one[start : start + len(text)]
                return found if found != text else ""
        return ""

    def other(self, word: str, draw: random.Random) -> str:
        """Returns another word of the class of one, which consists of letters."""
        if self.told.shows(word) and (others := self.told.like(word)):
            return draw.choice(others)
        plain = word.lower()
        if word in self._words and len(self._words) > 1:
            return draw.choice([one for one in self._words if one != word])
        known = _known().get(len(plain), Counter())
        if plain in known and not self._letters.issuperset(plain):
            (new,) = draw.choices([*known], [*known.values()])
            return _in_case(new, word)
        return _in_case(self._exchanged(plain, draw), word)

    def _exchanged(self, word: str, draw: random.Random) -> str:
        """Exchanges letters for near ones, equal ones for equal ones, those beside for those."""
        left, new = {*_LETTERS}, dict[str, str]()
        for letter in draw.sample([*dict.fromkeys(word)], len({*word})):
            is_beside = letter in self._letters
            fit = [one for one in sorted(left - {letter}) if (one in self._letters) is is_beside]
            alike = [one for one in fit if (one in _VOWELS) is (letter in _VOWELS)]
            near = [one for one in alike if is_beside or abs(ord(one) - ord(letter)) <= _STEP]
            new[letter] = draw.choice(near or alike or fit or sorted(left))
            left.discard(new[letter])
        return "".join(new[one] for one in word)


def _in_case(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    if like[:1].isupper():
        return word.capitalize()
    return word


@functools.cache
def _known() -> Mapping[int, Counter[str]]:
    """Returns words by their length, with how often they occur."""
    pictures = (unicodedata.name(chr(code), "") for code in _PICTURES)
    found: dict[int, Counter[str]] = {}
    for word in re.findall(r"[a-z]+", " ".join((*topics.values(), *pictures)).lower()):
        found.setdefault(len(word), Counter())[word] += 1
    return found

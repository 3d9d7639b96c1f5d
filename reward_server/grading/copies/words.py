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
from collections.abc import Mapping, Sequence
from pydoc_data.topics import topics

_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_QUOTED = re.compile(r"(?<=['\"`])[a-z0-9_]+(?=['\"`])")
_PICTURES = range(0x1F300, 0x1FB00)
_VOWELS, _LETTERS = "aeiou", "abcdefghijklmnopqrstuvwxyz"
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


def other_word(word: str, told: Told, draw: random.Random) -> str:
    """Returns another word of the class of one, which consists of letters."""
    if told.shows(word) and (others := told.like(word)):
        return draw.choice(others)
    plain = word.lower()
    known = _known().get(len(plain), ())
    if plain in known:
        others = [one for one in known if one[0] != plain[0]]
        return _in_case(draw.choice(others), word) if others else word
    return _in_case(_exchanged(plain, draw), word)


def _exchanged(word: str, draw: random.Random) -> str:
    """Exchanges letters for those that are near in the alphabet, equal ones for equal ones."""
    left = [*_LETTERS]
    new = dict[str, str]()
    for letter in draw.sample([*dict.fromkeys(word)], len({*word})):
        kind = letter in _VOWELS
        near = [
            one
            for one in left
            if one != letter
            and (one in _VOWELS) is kind
            and letter.isascii()
            and abs(ord(one) - ord(letter)) <= _STEP
        ]
        new[letter] = draw.choice(near) if near else letter
        left = [one for one in left if one != new[letter]]
    return "".join(new[one] for one in word)


def _in_case(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    if like[:1].isupper():
        return word.capitalize()
    return word


@functools.cache
def _known() -> Mapping[int, Sequence[str]]:
    """Returns words by their length, each as often as it occurs."""
    pictures = (unicodedata.name(chr(code), "") for code in _PICTURES)
    found: dict[int, list[str]] = {}
    for word in re.findall(r"[a-z]+", " ".join((*topics.values(), *pictures)).lower()):
        found.setdefault(len(word), []).append(word)
    return found

"""Makes decoys: wrong values beside the expected one, which look like it.

A solution that reads the program finds the expected value and its decoys. The decoys differ from
the expected value in one literal. All values that this literal can have are divided into random
groups, independently of the expected one. The program contains the whole group to which the
expected literal belongs. If another member of the group were expected, the program would have the
same text. All assertions of a program use the same groups. So assertions that expect the same value
contain the same group. They have the whole group in common, and not only the right value. Values
that other assertions expect are not used as decoys: each of them is right in one place, so a
solution could match values and places in only a few ways.

What this does not stop: a guess by the usual look of such values. A text without letters and
digits, or with escapes, belongs to no group: its decoys have an additional letter at their
beginning.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from reward_server.grading.compiled_tests.literals import Leaf, Literal, meaning_of
from reward_server.languages.assertions import Assertions

_NUMBER = re.compile(r"(?P<whole>\d[\d_]*)(?P<rest>.*)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;!?()\[\]<>/+*=|-]*")
_QUOTES = "\"'`"
_FRONTS = "abcdefgh"
_LETTERS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
# A number below this differs from seven others in its last three bits, so that no type has a limit
# between them. A longer number differs in its second and third digit, which no rounding hides.
_BLOCK = 8
_LARGE_DIGITS = 4
# The largest numbers that a type can hold, or can hold exactly.
_LIMITS = tuple((1 << bits) - 1 for bits in (15, 16, 31, 32, 53, 63, 64))
_KEYED = ("Set", "Map")  # constructors that may refuse equal elements


def others(value: Literal, count: int, language: Assertions, lot: str) -> list[str]:
    """Returns values that differ from one: `count` to twice as many, or all that there are.

    Args:
        value: the value that the program expects.
        count: the number of values wanted.
        language: the language of the program.
        lot: a secret for the whole program, new for each verdict.
    """
    leaves = list(value.leaves)
    _draw(lot, _masked(value)).shuffle(leaves)
    classes = [(leaf, _members(value, leaf, language, lot)) for leaf in leaves]
    # The first class that is large enough, or else the largest. For each of its members, this is
    # the same class.
    classes.sort(key=lambda one: -min(len(one[1]), count + 1))
    found = (
        _others_that_matter(value, leaf, _group(value, leaf, members, count + 1, lot))
        for leaf, members in classes
    )
    return next((texts for texts in found if texts), [])


def _draw(lot: str, about: str) -> Random:
    """Returns a generator that decides the same question alike throughout a program."""
    return Random(f"{lot} {about}")


def _masked(value: Literal) -> str:
    """Returns the text that a value has in common with all its decoys."""
    pieces, last = [], 0
    for leaf in value.leaves:
        pieces += [value.text[last : leaf.start], f"<{leaf.kind}>"]
        last = leaf.end
    return "".join((*pieces, value.text[last:]))


def _group(
    value: Literal, leaf: Leaf, members: Sequence[str], size: int, lot: str
) -> Sequence[str]:
    """Divides a class at random and returns the group of the literal in the value."""
    dealt = sorted(members)
    around = f"{value.text[: leaf.start]}\0{value.text[leaf.end :]}"
    _draw(lot, f"{around} {dealt}").shuffle(dealt)
    groups = max(1, len(dealt) // size)
    number = min(dealt.index(value.text[leaf.start : leaf.end]) // size, groups - 1)
    return dealt[number * size : None if number == groups - 1 else (number + 1) * size]


def _others_that_matter(value: Literal, leaf: Leaf, members: Sequence[str]) -> list[str]:
    """Puts members of a literal's class in its place, if that makes another value."""
    rest = {meaning_of(value.text[one.start : one.end], one) for one in value.leaves if one != leaf}
    keys = rest if any(one in word for word in value.frame for one in _KEYED) else set()
    known, texts = {value.meaning}, list[str]()
    for member in members:
        own = meaning_of(member, leaf)
        if own not in keys and (meaning := frozenset((*rest, own))) not in known:
            known.add(meaning)
            texts.append(value.text[: leaf.start] + member + value.text[leaf.end :])
    return texts


def _members(value: Literal, leaf: Leaf, language: Assertions, lot: str) -> Sequence[str]:
    """Returns the class of a literal, itself included."""
    text = value.text[leaf.start : leaf.end]
    match leaf.kind:
        case "truth":
            return (text, language.opposites[text])
        case "char":
            return _with_other_letter(text, 1) if len(text) == 3 else (text,)
        case "string":
            return _strings(text, lot)
    return _numbers(text, leaf.negative)


def _numbers(text: str, negative: bool) -> Sequence[str]:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return (text,)
    whole, rest = found["whole"], found["rest"]
    digits = whole.replace("_", "")
    in_base = digits[0] == "0" and (len(digits) > 1 or rest[:1].lower() in ("x", "b", "o"))
    if in_base or rest.startswith("'"):
        return (text,)
    if len(digits) >= _LARGE_DIGITS:
        return [f"{_grouped(one, whole)}{rest}" for one in _large(digits, negative)]
    exact = negative and rest[:1] not in (".", "e", "E")
    return _small(int(digits), exact, rest) if digits == whole else (text,)


def _small(number: int, negative: bool, rest: str) -> Sequence[str]:
    # The least number of a type is further from zero by one than its greatest.
    shift = 1 if negative and number else 0
    first = (number - shift) // _BLOCK * _BLOCK + shift
    return [f"{first + step}{rest}" for step in range(_BLOCK)]


def _large(digits: str, negative: bool) -> Sequence[str]:
    found = [f"{digits[0]}{middle:02}{digits[3:]}" for middle in range(100)]
    limits = [limit + negative for limit in _LIMITS]
    if len(digits) > len(str(limits[-1])):
        return found
    side = bisect_left(limits, int(digits))
    return [one for one in found if bisect_left(limits, int(one)) == side]


def _grouped(digits: str, like: str) -> str:
    """Adds separators at the same places as another number with as many digits."""
    rest = iter(digits)
    return "".join(one if one == "_" else next(rest) for one in like)


def _strings(text: str, lot: str) -> Sequence[str]:
    start = min((text.find(quote) for quote in _QUOTES if quote in text), default=-1)
    inner = text[start + 1 : -1]
    if start < 0 or text[:start].endswith("R") or inner[:1] == text[start]:
        return (text,)  # a raw string, or one with three quotes
    places = [index for index, letter in enumerate(inner) if letter.isascii() and letter.isalnum()]
    if places and _PLAIN.fullmatch(inner):
        # The place is the same in all texts that can become each other.
        draw = _draw(lot, "".join(map(_kind_of, text)))
        return _with_other_letter(text, start + 1 + draw.choice(places))
    return (text, *(f"{text[: start + 1]}{one}{text[start + 1 :]}" for one in _FRONTS))


def _with_other_letter(text: str, place: int) -> Sequence[str]:
    return [text[:place] + letter + text[place + 1 :] for letter in _kind_of(text[place])]


def _kind_of(letter: str) -> str:
    return next((letters for letters in _LETTERS if letter in letters), letter)

"""Draws wrong values like the values that they replace.

A solution in the process of its tests can read what they expect. So a wrong value is as a right one
might be: of the same type and sign, with as many digits and decimals and zeros at the end, as many
letters, words of the same kind, and in order if the others are. It is drawn anew for each run.

A text may stand for an object whose equality ignores order, case or marks, and a number for hours
or angles, or for one that was rounded. Honest objects of that kind must fail where the tests are
wrong. So a value replaces another only if no such equality holds between them (`may_agree`). Where
the text shows no object, numbers that are equal modulo two or nearly so count as different: wrong
numbers that are always odd if the right one is even would tell which run is which.
"""

from __future__ import annotations

import ast
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from reward_server.grading.copies.words import Told, Words
from reward_server.grading.python_tests.literals import differs, evaluated, shape_of

# Hours, months and angles come again after a multiple of this.
_CYCLE = 12
# Numbers whose distance is a prime above this differ modulo every number that a class may use.
_LEAST_PRIME = 1 << 31
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # for all numbers of fewer than 24 digits
_NEAR = 1e-3  # the relative rounding error of numpy's narrowest type
TOLERANCE = 0.1  # the greatest one, relative and absolute, of assertions that get wrong values
_LEAST_DISTANCE = 0.4  # for numbers with a fraction
_MOST_PAIRS = 1 << 12  # that are compared
_MOST_NUMBER = 1e100
_TRIALS = 60
_NUMBER = re.compile(r"(?P<whole>\d+)(?:\.(?P<rest>\d+))?(?P<power>e[-+]\d+)?")
_PART = re.compile(r"[A-Za-z]+|[0-9]+")
_FIRST = (1, 2, 3, 4, 5, 6, 7, 8, 9)
_STEPS = (1009, 1013)
_WEIGHTS = [1 / (1 + digit) for digit in (0, *_FIRST)]  # tests expect small ones more often


def can_vary(value: object, *, far: bool) -> bool:
    """Returns True if every part of a value can be replaced by another one.

    Infinite and huge numbers have no neighbours. A comparison with an empty array always holds.
    """
    match value:
        case bool() | None:
            return True
        case int() | float() | complex():
            return abs(value) < _MOST_NUMBER  # False for NaN
        case list() | tuple() | set():
            return bool(value or not far) and all(can_vary(one, far=far) for one in value)
        case dict():
            parts = (*value.keys(), *value.values())
            return bool(value or not far) and all(can_vary(one, far=far) for one in parts)
    return isinstance(value, (str, bytes))


def drawn(value: object, words: Words, draw: random.Random, kind: str) -> Iterator[object]:
    """Yields values that may replace a leaf of a literal.

    Args:
        value: the leaf.
        words: other words for those of texts.
        draw: the source of randomness.
        kind: of its place; see `sites.Place`.
    """
    if kind == "object" and type(value) in (int, float):
        yield _distant(cast("float", value), draw)
    for trial in range(_TRIALS):
        yield _drawn(value, words, draw, is_wide=trial >= _TRIALS // 2)
    yield from _last_resort(value)


def _last_resort(value: object) -> Iterator[object]:
    """Yields values that differ for sure, though they do not look alike."""
    match value:
        case int() | float() | complex():
            yield from (
                value * 3 + (step if abs(value + 1) > abs(value) else -step) for step in _STEPS
            )
        case str():
            yield f"{value}xq"
        case bytes():
            yield value + b"xq"
        case _:
            yield 1


def surely_differs(value: object, other: object, kind: str) -> bool:
    """Returns True if no honest answer passes with both values."""
    if kind == "far":
        return shape_of(value) == shape_of(other) and any(
            abs(a - b) > 3 * TOLERANCE * (1 + max(abs(a), abs(b)))
            for a, b in zip(_numbers(value), _numbers(other), strict=True)
        )
    agrees = may_agree(value, other, counts=kind == "object")
    return differs(value, other, far=False) and not agrees


def looks_alike(node: ast.expr, other: ast.expr) -> bool:
    """Returns True if two literals are in order alike, and repeat alike."""
    return _looks(evaluated(node)) == _looks(evaluated(other))


def _looks(value: object) -> object:
    if not isinstance(value, (list, tuple)) or not all(type(one) in (int, float) for one in value):
        return None
    ordered = sorted(value)
    return ordered == [*value], ordered[::-1] == [*value], len({*value}) == len(value)


def _numbers(value: object) -> list[complex]:
    match value:
        case bool() | int() | float() | complex():
            return [value]
        case dict():
            return [number for one in value.values() for number in _numbers(one)]
        case list() | tuple():
            return [number for one in value for number in _numbers(one)]
    return []


def _drawn(value: object, words: Words, draw: random.Random, *, is_wide: bool) -> object:
    match value:
        case bool():
            return not value
        case None:
            return draw.choice((0, 1, False, True, ""))
        case int() | float():
            return _other_number(value, words, draw, is_wide=is_wide)
        case complex():
            return complex(_other_number(value.real, words, draw, is_wide=is_wide), value.imag)
        case str():
            return _other_text(value, words, draw)
        case bytes():
            return _other_text(value.decode("latin-1"), words, draw).encode("latin-1")
        case dict():
            return {draw.choice("abc"): draw.choice(_FIRST)}
    assert isinstance(value, (list, tuple, set))  # an empty one, since it is a leaf
    return type(value)((draw.choice(_FIRST),))


def _other_number(value: float, words: Words, draw: random.Random, *, is_wide: bool) -> float:
    found = _NUMBER.fullmatch(repr(abs(value)))
    assert found is not None
    whole, rest, power = (found[name] or "" for name in ("whole", "rest", "power"))
    new = _other_digits(whole + rest, words.told, draw, is_wide=is_wide)
    point = f".{new[-len(rest) :]}" if rest else ""
    number = type(value)(f"{new[: len(new) - len(rest)]}{point}{power}")
    return -number if value < 0 else number


def _other_digits(digits: str, told: Told, draw: random.Random, *, is_wide: bool = False) -> str:
    """Returns a number of as many digits, with zeros where the other has them at its ends."""
    if told.shows(digits) and (others := told.like(digits)):
        return draw.choice(others)
    inner = digits.strip("0") or "0"
    start = digits.find(inner) if inner != "0" else len(digits) - 1
    behind = digits[start + len(inner) :]
    if is_wide:
        inner, start = f"{inner}1", max(0, start - 1)
    if len(inner) == 1:
        (new,) = draw.choices(_FIRST if behind else (0, *_FIRST), _WEIGHTS[bool(behind) :])
    else:
        low, high = int("1" + "0" * (len(inner) - 1)), int("9" * len(inner))
        low, high = max(low, int(inner) // 2), min(high, int(inner) * 2)
        new = _of_ending(round(low * (high / low) ** draw.random()), inner[-1], draw)
    return f"{digits[:start]}{new}{behind}"


def _of_ending(number: int, last: str, draw: random.Random) -> int:
    """Returns a number whose last digit is of the kind of another: a five, or none and no zero."""
    return number - number % 10 + (5 if last == "5" else draw.choice((1, 2, 3, 4, 6, 7, 8, 9)))


def _other_text(text: str, words: Words, draw: random.Random) -> str:
    """Returns a text with another word or number."""
    parts = [*_PART.finditer(text)]
    if not parts:
        return text + draw.choice("abcdefgh")
    if found := words.cut(text, draw):
        return found
    long = [part for part in parts if len(part[0]) > 2]
    part = draw.choice(long or parts)
    return text[: part.start()] + _other_part(part[0], words, draw) + text[part.end() :]


def _other_part(part: str, words: Words, draw: random.Random) -> str:
    if not part.isdigit():
        return words.other(part, draw)
    if len(part) > 1 and {*part} <= {"0", "1"}:
        return "".join(draw.choice("01") for _ in part)
    return _other_digits(part, words.told, draw)


def _distant(value: float, draw: random.Random) -> float:
    """Returns a number that an object's own arithmetic does not consider equal to another."""
    distance = draw.randrange(_LEAST_PRIME + 1, 2 * _LEAST_PRIME, 2)
    while not _is_prime(distance):
        distance += 2
    return value + draw.choice((-1, 1)) * distance


def may_agree(value: object, other: object, *, counts: bool = False) -> bool:
    """Returns True if an equality coarser than Python's may hold between two values.

    Args:
        value: one value.
        other: the other value.
        counts: whether the object may count modulo any number.
    """
    ours, theirs = [*_atoms(value)], [*_atoms(other)]
    left, right = _without(ours, theirs), _without(theirs, ours)
    if len(left) * len(right) > _MOST_PAIRS:
        return True
    return all(_each_is_alike(*pair, counts=counts) for pair in ((left, right), (right, left)))


def _atoms(value: object) -> Iterator[object]:
    """Yields the parts of nested data, without empty containers and keys of empty values."""
    match value:
        case list() | tuple() | set() | frozenset():
            for part in value:
                yield from _atoms(part)
        case dict():
            for key, part in value.items():
                yield from _atoms((key, part) if part else part)
        case _:
            yield value


def _without(some: Sequence[object], others: Sequence[object]) -> list[object]:
    known = {*map(repr, others)}
    return [one for one in some if repr(one) not in known]


def _each_is_alike(some: Sequence[object], others: Sequence[object], *, counts: bool) -> bool:
    """Returns True if each part is like a part of the other value; empty parts may be missing."""
    return all(not one or any(_alike(one, other, counts) for other in others) for one in some)


def _alike(one: object, other: object, counts: bool) -> bool:
    match one, other:
        case (bool(), _) | (_, bool()):
            return one == other
        case (int() | float() | complex(), int() | float() | complex()):
            return _are_near(one, other, counts)
    return _letters(one) == _letters(other)


def _are_near(one: complex, other: complex, counts: bool) -> bool:
    """Returns True for numbers that are equal up to rounding, up to sign, or modulo a number."""
    distance = abs(one - other)
    if abs(one) == abs(other) or distance <= _NEAR * max(abs(one), abs(other)):
        return True
    if distance != math.floor(distance):
        return distance < _LEAST_DISTANCE
    if counts:
        return distance < _LEAST_PRIME or not _is_prime(int(distance))
    return distance % _CYCLE == 0


def _is_prime(number: int) -> bool:
    """Returns True for a prime, by the Miller-Rabin test."""
    if number in _WITNESSES or any(number % one == 0 for one in _WITNESSES):
        return number in _WITNESSES
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    return all(
        pow(one, (number - 1) >> twos, number) == 1
        or any(pow(one, (number - 1) >> by, number) == number - 1 for by in range(1, twos + 1))
        for one in _WITNESSES
    )


def _letters(value: object) -> Counter[str]:
    """Returns the letters and digits of a text, in one case, without zeros."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    folded = unicodedata.normalize("NFKD", text).casefold()
    return Counter(one for one in folded if one.isalnum() and one != "0")

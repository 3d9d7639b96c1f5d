"""Finds values that an honest equality of a solution's class may consider equal.

A twin expects another value in an assertion, and refuses a solution that passes this assertion. But
the class of a solution's object defines its equality, which may ignore order, letter case or white
space, compare modulo a number, or round. So a value replaces another only if no such equality holds
between them. Then only an object that equals everything, or one that reads the expectation, passes
the twin.
"""

from __future__ import annotations

import math
import random
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

# Angles, hours, weekdays and last digits repeat only after numbers with one of these factors.
_MODULI = 2 * 3 * 5 * 7 * 11
# Numbers whose distance is a prime above this differ modulo every number that a class may use.
_LEAST_PRIME = 1 << 31
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # for all numbers of fewer than 24 digits
_NEAR = 1e-3  # the relative rounding error of numpy's narrowest type
_LEAST_DISTANCE = 0.4  # for numbers with a fraction
_MOST_PAIRS = 1 << 12  # that are compared


def distant(value: float, draw: random.Random) -> float:
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
    return math.gcd(int(distance), _MODULI) > 1


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

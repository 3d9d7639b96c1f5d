"""Which values an honest equality of a solution's own may take for one another.

A twin expects another value in an assertion, and refuses whoever meets it. An object of the
solution's compares as its class says: without order, letter case or white space, modulo a number,
up to rounding. So a value takes the place of another only where no such equality holds between
them; what is left is met by who equals everything, or reads what is expected.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

# No angle, hour, weekday or last digit repeats after a number that has none of these factors.
_MODULI = 2 * 3 * 5 * 7 * 11
_NEAR = 1e-3  # a share of a number that the narrowest type of numpy's may round away
_LEAST_DISTANCE = 0.4  # of numbers with a fraction
_MOST_PAIRS = 1 << 12  # that are looked at


def may_agree(value: object, other: object) -> bool:
    """Returns True if an equality coarser than Python's may hold between two values."""
    ours, theirs = [*_atoms(value)], [*_atoms(other)]
    left, right = _without(ours, theirs), _without(theirs, ours)
    if len(left) * len(right) > _MOST_PAIRS:
        return True
    return _each_is_alike(left, right) and _each_is_alike(right, left)


def _atoms(value: object) -> Iterator[object]:
    """Gives the parts of nested data, without what has no part, or keys of what is empty."""
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


def _each_is_alike(some: Sequence[object], others: Sequence[object]) -> bool:
    """Returns True if each is like one of the others, but for what is empty and may be left out."""
    return all(not one or any(_alike(one, other) for other in others) for one in some)


def _alike(one: object, other: object) -> bool:
    match one, other:
        case (bool(), _) | (_, bool()):
            return one == other
        case (int() | float() | complex(), int() | float() | complex()):
            return _are_near(one, other)
    return _letters(one) == _letters(other)


def _are_near(one: complex, other: complex) -> bool:
    """Returns True for numbers that are the same up to rounding, sign, or modulo a number."""
    distance = abs(one - other)
    if abs(one) == abs(other) or distance <= _NEAR * max(abs(one), abs(other)):
        return True
    if distance != math.floor(distance):
        return distance < _LEAST_DISTANCE
    return math.gcd(int(distance), _MODULI) > 1


def _letters(value: object) -> Counter[str]:
    """Returns the letters and digits of a text, in one case, without zeros."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    folded = unicodedata.normalize("NFKD", text).casefold()
    return Counter(one for one in folded if one.isalnum() and one != "0")

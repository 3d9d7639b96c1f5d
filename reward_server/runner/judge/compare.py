"""Compares an observed result with the expected JSON value.

Equality is Python's on the JSON form of a value: tuples are arrays at any depth, keys are the
strings that `json.dumps` makes of them, True equals 1 equals 1.0, and nan equals only nan. Arrays
and numbers of numpy are as `tolist` makes them. Sets, ranges, deques, bytes and complex numbers are
not JSON and equal nothing. Published data sets compare with `==`, so that `n & 1` is an accepted
answer to a yes-or-no question. EXACT distinguishes Booleans from numbers. Other checkers accept
more, if the request names them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

_NUMBERS = (int, float, Decimal, Fraction)
_KEYWORDS = {None: "null", True: "true", False: "false"}
_FLAT = frozenset((int, float, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The allowed error of a number: either bound suffices."""

    absolute: float
    relative: float


def _same_number(expected: object, observed: object) -> bool:
    if expected != expected or observed != observed:
        return expected != expected and observed != observed
    return expected == observed


def _same_text(expected: str, observed: str) -> bool:
    return expected == observed


class Comparison:
    """Compares values.

    Args:
        same_number: compares two numbers.
        same_text: compares two texts.
        has_booleans: whether Booleans are distinct from numbers.
    """

    def __init__(
        self,
        same_number: Callable[[object, object], bool] = _same_number,
        same_text: Callable[[str, str], bool] = _same_text,
        *,
        has_booleans: bool = False,
    ) -> None:
        self._same_number = same_number
        self._same_text = same_text
        self._is_plain = same_number is _same_number and same_text is _same_text
        self._has_booleans = has_booleans

    def same(self, expected: object, observed: object) -> bool:
        """Returns True if an observation is the expected value.

        Args:
            expected: a value from JSON.
            observed: data, or what stands for an object of the solution, which never matches.
        """
        observed = _plain(observed)
        if isinstance(expected, str):
            return isinstance(observed, str) and self._same_text(expected, observed)
        if isinstance(expected, list):
            return isinstance(observed, (list, tuple)) and self._same_lists(expected, observed)
        if isinstance(expected, dict):
            return isinstance(observed, dict) and self._same_dicts(expected, observed)
        if expected is None or (self._has_booleans and isinstance(expected, bool)):
            return observed is expected
        if self._has_booleans and isinstance(observed, bool):
            return False
        return isinstance(observed, _NUMBERS) and self._same_number(expected, observed)

    def _same_lists(
        self, expected: list[object], observed: list[object] | tuple[object, ...]
    ) -> bool:
        if len(expected) != len(observed):
            return False
        if (
            self._is_plain
            and _FLAT.issuperset(map(type, observed))
            and _FLAT.issuperset(map(type, expected))
            and expected == list(observed)
        ):
            return True
        return all(map(self.same, expected, observed))

    def _same_dicts(self, expected: dict[str, object], observed: dict[object, object]) -> bool:
        named = {_key_text(key): value for key, value in observed.items()}
        if len(named) != len(observed) or named.keys() != expected.keys():
            return False
        return all(self.same(value, named[key]) for key, value in expected.items())


def _plain(observed: Any) -> object:
    """Returns lists and Python's own numbers in the place of numpy's."""
    return observed.tolist() if type(observed).__module__ == "numpy" else observed


def _key_text(key: object) -> str:
    """Returns the text that `json.dumps` makes of a key, or another value if it refuses the key."""
    key = _plain(key)
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return _KEYWORDS[key]
    if isinstance(key, (int, float)):
        return repr(key)
    return f"\0{key!r}"


# ---------------------------------------------------------------------------------- checkers


def _within(tolerance: Tolerance) -> Callable[[object, object], bool]:
    def same_number(expected: object, observed: object) -> bool:
        if _same_number(expected, observed):
            return True
        if isinstance(expected, int) and isinstance(observed, int):
            return False
        try:
            wanted, got = float(cast("float", expected)), float(cast("float", observed))
        except OverflowError:
            return False
        if not math.isfinite(wanted) or not math.isfinite(got):
            return False
        return abs(wanted - got) <= max(tolerance.absolute, tolerance.relative * abs(wanted))

    return same_number


def _same_tokens(expected: str, observed: str) -> bool:
    return expected.split() == observed.split()


def _same_letters(expected: str, observed: str) -> bool:
    return expected.casefold() == observed.casefold()


def _frozen(value: object) -> object:
    """Returns a hashable form, which is equal for values that are equal by JSON's equality."""
    value = _plain(value)
    if isinstance(value, (list, tuple)):
        return ("list", *map(_frozen, value))
    if isinstance(value, dict):
        return ("dict", frozenset((_key_text(key), _frozen(item)) for key, item in value.items()))
    if isinstance(value, _NUMBERS):
        return ("nan",) if value != value else value
    return ("text", value) if isinstance(value, str) else ("other", id(value))


def _same_in_any_order(expected: object, observed: object) -> bool:
    observed = _plain(observed)
    if not isinstance(expected, list) or not isinstance(observed, (list, tuple)):
        return Comparison().same(expected, observed)
    return Counter(map(_frozen, expected)) == Counter(map(_frozen, observed))


def checker(
    kind: str, *, absolute_tolerance: float, relative_tolerance: float
) -> Callable[[object, object], bool]:
    """Returns the function that compares an expected with an observed value.

    Args:
        kind: name of a `CheckerKind`. EXACT distinguishes Booleans from numbers. TOKENS and
            CASE_INSENSITIVE loosen the comparison of strings; UNORDERED_LINES accepts a list's
            elements in any order.
        absolute_tolerance: for FLOAT; two integers must be equal in any case.
        relative_tolerance: for FLOAT, relative to the expected value.

    Raises:
        ValueError: no such kind compares values.
    """
    tolerance = Tolerance(absolute=absolute_tolerance, relative=relative_tolerance)
    checkers: Mapping[str, Callable[[object, object], bool]] = {
        "TRAILING_WHITESPACE": Comparison().same,
        "EXACT": Comparison(has_booleans=True).same,
        "TOKENS": Comparison(same_text=_same_tokens).same,
        "FLOAT": Comparison(same_number=_within(tolerance)).same,
        "CASE_INSENSITIVE": Comparison(same_text=_same_letters).same,
        "UNORDERED_LINES": _same_in_any_order,
    }
    if kind not in checkers:
        raise ValueError(f"checker {kind} does not compare values")
    return checkers[kind]

"""Literals in tests' text: their values, others unlike them, and whether a prompt shows them."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter

_WORD = re.compile(r"[A-Za-z0-9_]")
_VALUES = (bool, int, float, complex, str, bytes, list, tuple, dict, set, type(None))
_NOTHING = object()


def evaluated(node: ast.AST) -> object:
    """Returns the value of a literal; an object that is none for anything else."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _NOTHING


def is_literal(node: ast.expr) -> bool:
    """Tells whether an expression is a literal of plain data."""
    return isinstance(evaluated(node), _VALUES)


def kind_of(value: object) -> str:
    """Returns a type's name; of a list, also that of its elements."""
    if isinstance(value, (list, tuple, set)) and value:
        return f"{type(value).__name__} of {type(next(iter(value))).__name__}"
    return type(value).__name__


def is_same(left: object, right: object) -> bool:
    """Tells whether two values are written alike."""
    return type(left) is type(right) and repr(left) == repr(right)


def differs(value: object, other: object, *, far: bool) -> bool:
    """Tells whether no answer that equals one value, or is near it, equals the other."""
    if value == other or _counted(value) == _counted(other):
        return False
    if far:
        before, after = _numbers(value), _numbers(other)
        return len(before) != len(after) or any(
            abs(a - b) > 2 + 0.6 * max(abs(a), abs(b)) for a, b in zip(before, after, strict=True)
        )
    return True


def _counted(value: object) -> object:
    """Returns a list without its order, in which assertCountEqual compares."""
    if isinstance(value, (list, tuple)):
        return Counter(map(repr, value))
    return value


def _numbers(value: object) -> list[complex]:
    if isinstance(value, (bool, int, float, complex)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [number for element in value for number in _numbers(element)]
    if isinstance(value, dict):
        return [number for element in value.values() for number in _numbers(element)]
    return []


def varied(value: object, draw: random.Random, *, far: bool) -> object:
    """Returns another value that looks alike."""
    match value:
        case bool():
            return not value
        case None:
            return draw.choice((0, False, ""))
        case int() | float() | complex():
            return _varied_number(value, draw, far=far)
        case str():
            return _varied_text(value, draw)
        case bytes():
            return _varied_text(value.decode("latin-1"), draw).encode("latin-1")
        case dict():
            return _varied_table(value, draw, far=far)
        case set():
            return set(_varied_row(list(value), draw, far=far))
        case tuple():
            return tuple(_varied_row(list(value), draw, far=far))
        case list():
            return _varied_row(value, draw, far=far)
    return None


def _varied_number(value: complex, draw: random.Random, *, far: bool) -> complex:
    if far:
        return value + draw.choice((-1, 1)) * (
            round(abs(value)) * draw.randint(3, 5) + draw.randint(7, 19)
        )
    if isinstance(value, int):
        return value + draw.choice((-2, -1, 1, 2, 3))
    return value + draw.choice((-1.5, -0.5, 0.5, 1.5, 2.5))


def _varied_text(text: str, draw: random.Random) -> str:
    places = [
        place for place, character in enumerate(text) if character.isascii() and character.isalnum()
    ]
    if not places:
        return text + draw.choice("abcdefgh")
    place = draw.choice(places)
    old = text[place]
    letters = "0123456789" if old.isdigit() else "abcdefghijklmnopqrstuvwxyz"
    new = draw.choice([letter for letter in letters if letter != old.lower()])
    return text[:place] + (new.upper() if old.isupper() else new) + text[place + 1 :]


def _varied_row(row: list[object], draw: random.Random, *, far: bool) -> list[object]:
    if not row:
        return [draw.choice((0, 1, 2))]
    place = draw.randrange(len(row))
    return [*row[:place], varied(row[place], draw, far=far), *row[place + 1 :]]


def _varied_table(table: dict[object, object], draw: random.Random, *, far: bool) -> object:
    if not table:
        return {draw.choice("abc"): draw.randint(0, 9)}
    key = draw.choice(list(table))
    return {**table, key: varied(table[key], draw, far=far)}


def literal(value: object) -> ast.expr:
    """Returns the expression of a value of plain data."""
    if isinstance(value, set) and not value:
        return ast.parse("set()", mode="eval").body
    return ast.parse(repr(value), mode="eval").body


def stands_in(text: str, prompt: str) -> bool:
    """Tells whether a text stands in the prompt, and not as a part of a longer word."""
    start = prompt.find(text)
    while start >= 0:
        end = start + len(text)
        inside = start > 0 and _WORD.match(text) and _WORD.match(prompt[start - 1])
        goes_on = end < len(prompt) and _WORD.match(text[-1]) and _WORD.match(prompt[end])
        if not inside and not goes_on:
            return True
        start = prompt.find(text, start + 1)
    return False

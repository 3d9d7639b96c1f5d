"""In which ways an expected value is made wrong, so that no equality coarser than its own holds.

An object of the solution's may compare as it likes: without order, letter case, white space, sign
or nesting. It is found out by a value that differs in that alone. So a value has a list of
variations: one for each of its parts, of each kind that fits some part, and of the whole. Each is
in one twin at least.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reward_server.grading.python_literals import evaluated, leaves, literal, with_leaf

MOST_LETTERS = 12  # of all texts in a value, each of which is shown to be compared
_MOST_DIGITS = 5  # that count, of numbers that have six or more in the narrowest type
_MARKS = "-_.:;,!"
_ROWS = (ast.List, ast.Tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One way to make a value wrong.

    Attributes:
        kind: what is done.
        leaf: of which part, None for the whole value.
        place: at which character of a text.
    """

    kind: str
    leaf: int | None = None
    place: int = 0


def variations(node: ast.expr, *, ordered: bool) -> tuple[Variation, ...]:
    """Returns in which ways a value is made wrong.

    Args:
        node: a literal, or a call with literals for arguments.
        ordered: whether what compares it looks at the order of elements.
    """
    parts = [evaluated(leaf) for leaf in leaves(node)]
    found = (*_of_leaves(parts), *_of_whole(node, ordered=ordered))
    is_bag = not ordered and isinstance(evaluated(node), (str, bytes))
    return tuple(one for one in found if not (is_bag and one.kind == "transposed"))


def is_shown_in_full(node: ast.expr) -> bool:
    """Returns True if every letter of a value's texts has a variation."""
    return _letters([evaluated(leaf) for leaf in leaves(node)]) <= MOST_LETTERS


def _letters(parts: Sequence[object]) -> int:
    return sum(len(part) for part in parts if isinstance(part, str))


def _of_leaves(parts: Sequence[object]) -> Iterator[Variation]:
    """Gives a variation for each part, and one of each kind that fits some part."""
    by_letter, seen = _letters(parts) <= MOST_LETTERS, set[str]()
    first: dict[str, int] = {}
    for number, part in enumerate(parts):
        kinds = _kinds(part)
        if isinstance(part, str) and part and by_letter:
            yield from (
                Variation(kind="letter", leaf=number, place=place) for place in range(len(part))
            )
            seen.add("letter")
        else:
            kind = next((one for one in kinds if one not in seen), kinds[number % len(kinds)])
            yield Variation(kind=kind, leaf=number, place=-1)
            seen.add(kind)
        for kind in kinds:
            first.setdefault(kind, number)
    yield from (
        Variation(kind=kind, leaf=number) for kind, number in first.items() if kind not in seen
    )


def _kinds(part: object) -> tuple[str, ...]:
    match part:
        case bool() | None | bytes():
            return ("other",)
        case int() | float() | complex():
            return ("other", "last", "negated") if part else ("other", "last")
        case str() if part:
            cased = ("case",) if part != part.swapcase() else ()
            mixed = ("transposed",) if _swaps(part) else ()
            return ("letter", *cased, *mixed, "spaced", "marked")
    return ("other",)


def _of_whole(node: ast.expr, *, ordered: bool) -> Iterator[Variation]:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if parts:
            yield Variation(kind="dropped")
            yield Variation(kind="doubled")
            if len(parts) > 1:
                yield Variation(kind="nested")
            if ordered and len({ast.dump(part) for part in parts}) > 1:
                yield Variation(kind="reordered")
        case ast.Set(elts=parts) if len(parts) > 1:
            yield Variation(kind="dropped")
        case ast.Dict(values=values) if any(map(evaluated, values)):
            yield Variation(kind="dropped")


def varied_as(node: ast.expr, variation: Variation, draw: random.Random) -> ast.expr | None:
    """Returns a value made wrong; None where any other value will do."""
    if variation.leaf is None:
        return _whole(node, variation.kind, draw)
    value = evaluated(leaves(node)[variation.leaf])
    if isinstance(value, str) and value:
        changed: object = _text(value, variation, draw)
    elif variation.kind == "negated" and isinstance(value, (int, float, complex)):
        changed = -value
    elif variation.kind == "last" and isinstance(value, (int, float)):
        changed = _last_digit(value, draw)
    else:
        return None
    return with_leaf(node, variation.leaf, literal(changed)) if changed != value else None


def _last_digit(value: float, draw: random.Random) -> float:
    step = draw.choice((-1, 1))
    if isinstance(value, int):
        return value + step
    digits = len(repr(value).partition("e")[0].partition(".")[2])
    if value:
        digits = min(digits, _MOST_DIGITS - math.ceil(math.log10(abs(value))))
    return round(value + step * 10.0**-digits, digits)


def _text(text: str, variation: Variation, draw: random.Random) -> str:
    place = variation.place if variation.place >= 0 else draw.randrange(len(text))
    match variation.kind:
        case "case":
            place = draw.choice([n for n, one in enumerate(text) if one != one.swapcase()])
            return text[:place] + text[place].swapcase() + text[place + 1 :]
        case "transposed":
            place = draw.choice(_swaps(text))
            return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        case "spaced":
            spaces = [n for n, one in enumerate(text) if one == " "]
            place = draw.choice(spaces) if spaces else draw.randint(0, len(text))
            return text[:place] + " " + text[place:]
        case "marked":
            place = draw.randint(0, len(text))
            return text[:place] + draw.choice(_MARKS) + text[place:]
    return text[:place] + _other_letter(text[place], draw) + text[place + 1 :]


def _other_letter(old: str, draw: random.Random) -> str:
    if old.isdigit():
        return draw.choice([one for one in "0123456789" if one != old])
    if not old.isalpha():
        return draw.choice([one for one in _MARKS if one != old])
    letters = [one for one in "abcdefghijklmnopqrstuvwxyz" if one != old.lower()]
    return draw.choice(letters).upper() if old.isupper() else draw.choice(letters)


def _swaps(text: str) -> list[int]:
    """Returns where two neighbours differ."""
    return [place for place in range(len(text) - 1) if text[place] != text[place + 1]]


def _whole(node: ast.expr, kind: str, draw: random.Random) -> ast.expr | None:
    if isinstance(node, ast.Dict):
        filled = [number for number, value in enumerate(node.values) if evaluated(value)]
        gone = draw.choice(filled)
        keep = [number for number in range(len(node.keys)) if number != gone]
        return ast.Dict(
            keys=[node.keys[number] for number in keep],
            values=[node.values[number] for number in keep],
        )
    if not isinstance(node, (*_ROWS, ast.Set)):
        return None
    parts = _arranged(list(node.elts), kind, draw)
    if isinstance(node, ast.Set):
        return ast.Set(elts=parts)
    changed = type(node)(elts=parts, ctx=ast.Load())
    return changed if evaluated(changed) != evaluated(node) else None


def _arranged(parts: list[ast.expr], kind: str, draw: random.Random) -> list[ast.expr]:
    place = draw.randrange(len(parts))
    match kind:
        case "dropped":
            return [*parts[:place], *parts[place + 1 :]]
        case "doubled":
            return [*parts[: place + 1], *parts[place:]]
        case "nested":
            place = min(place, len(parts) - 2)
            inner = ast.List(elts=parts[place : place + 2], ctx=ast.Load())
            return [*parts[:place], inner, *parts[place + 2 :]]
    return draw.sample(parts, len(parts))

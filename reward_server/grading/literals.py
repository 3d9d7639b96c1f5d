"""Expected values that are written out as literals, and others in their place.

A value is another one, whatever way the tests compare, if its set of literals differs: order,
repetition, letter case and small differences of numbers may not matter to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from reward_server.grading.tokens import Kind, Token, Tokens, text_of
from reward_server.languages.assertions import Assertions

_SEPARATORS = frozenset((",", ":", "=>", ";"))
_KEY_MARKS = frozenset((":", "=>"))
_SIGNS = frozenset(("-", "+"))
_LEADING_DIGITS = re.compile(r"\d*")
_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;!?-]*")
_QUOTES = "\"'`"
_ATTEMPTS = 32
_MOST_STEPS = 9
_DECIMALS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A literal that can be exchanged: where in the value's text it is, and what it means."""

    start: int
    end: int
    kind: str
    negative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A value written out.

    Args:
        text: as it stands in the program.
        leaves: its literals.
        frame: its brackets and constructors.
        depth: of its brackets.
    """

    text: str
    leaves: tuple[Leaf, ...]
    frame: frozenset[str]
    depth: int

    @property
    def meaning(self) -> frozenset[tuple[str, str]]:
        """The set of what its literals mean, as far as it matters to every comparison."""
        return frozenset(_meaning(self.text[leaf.start : leaf.end], leaf) for leaf in self.leaves)

    def resembles(self, other: Literal) -> bool:
        """Tells whether the other could stand in its place, as far as types are concerned."""
        if (self.depth, self.frame) != (other.depth, other.frame):
            return False
        kinds, others = ([leaf.kind for leaf in one.leaves] for one in (self, other))
        if not self.depth or "(" in self.frame or len({*kinds, *others}) > 1:
            return kinds == others
        return True


def read_literal(tokens: Tokens, language: Assertions) -> Literal | None:
    """Reads a value that is made of nothing but literals, brackets and constructors."""
    text = text_of(tokens)
    solid = [token for token in tokens if not token.is_blank]
    if not solid or any(token.kind is Kind.COMMENT for token in tokens):
        return None
    reading = _Reading(text, -tokens[0].start, language)
    for token, following in zip(solid, [*solid[1:], None], strict=True):
        if not reading.takes(token, following):
            return None
    return Literal(
        text=text,
        leaves=tuple(reading.leaves),
        frame=frozenset(reading.frame),
        depth=reading.deepest,
    )


class _Reading:
    """A value as far as it was read."""

    def __init__(self, text: str, shift: int, language: Assertions) -> None:
        self._text = text
        self._shift = shift  # from places in the program to places in the text
        self._language = language
        self._last: Token | None = None
        self._constructor_end = 0
        self._brackets: list[bool] = []  # whether each that is open is a bare round one
        self.leaves: list[Leaf] = []
        self.frame: set[str] = set()
        self.deepest = 0

    def takes(self, token: Token, following: Token | None) -> bool:
        """Reads a token; tells whether it may stand in a literal value."""
        start = token.start + self._shift
        if start < self._constructor_end:
            return True
        fits = self._takes_constructor(token, start) or self._takes_plain(token, start, following)
        self._last = token
        return fits

    def _takes_constructor(self, token: Token, start: int) -> bool:
        found = self._language.containers.match(self._text, start)
        if found is None or not found[0]:
            return False
        self._constructor_end = max(found.end(), start + len(token.text))
        self.frame.add(re.sub(r"\s|<.*>", "", found[0]))
        return True

    def _takes_plain(self, token: Token, start: int, following: Token | None) -> bool:
        is_key = following is not None and following.text in _KEY_MARKS
        match token.kind:
            case Kind.OPEN:
                self._open(token)
            case Kind.CLOSE:
                self._brackets.pop()
            case Kind.MARK if token.text == "," and self._brackets[-1:] == [True]:
                return self._language.tuples
            case Kind.MARK if token.text in _SIGNS:
                return self._starts_value() and following is not None and _is_number(following)
            case Kind.MARK:
                return token.text in _SEPARATORS
            case Kind.WORD if not (is_key or _is_literal_word(token, self._language)):
                return False
            case _ if not is_key:
                self._add_leaf(token, start)
        return True

    def _open(self, token: Token) -> None:
        bare = self._starts_value()
        self._brackets.append(bare and token.text == "(")
        self.deepest = max(self.deepest, len(self._brackets))
        if bare:
            self.frame.add(token.text)

    def _starts_value(self) -> bool:
        last = self._last
        return last is None or last.kind is Kind.OPEN or last.text in _SEPARATORS

    def _add_leaf(self, token: Token, start: int) -> None:
        if kind := _kind(token, self._language):
            negative = self._last is not None and self._last.text == "-"
            end = start + len(token.text)
            self.leaves.append(Leaf(start=start, end=end, kind=kind, negative=negative))


def _is_number(token: Token) -> bool:
    return token.kind is Kind.NUMBER


def _is_literal_word(token: Token, language: Assertions) -> bool:
    return token.text in language.constants or token.text in language.opposites


def _kind(token: Token, language: Assertions) -> str:
    """Returns the kind of literal that a token is; "" for what cannot be exchanged."""
    if token.kind is Kind.NUMBER:
        return "whole" if token.text.replace("_", "").isdigit() else "number"
    if token.kind in (Kind.STRING, Kind.CHAR):
        return "string" if token.kind is Kind.STRING else "char"
    return "truth" if token.text in language.opposites else ""


def others(
    value: Literal, pool: Iterable[Literal], count: int, language: Assertions, random: Random
) -> list[str]:
    """Returns values that differ from one, at most `count`, best first.

    Values that other assertions expect come first: nobody who reads the program can tell by
    their looks that they do not belong.
    """
    found: dict[frozenset[tuple[str, str]], str] = {}
    borrowed = [one for one in pool if value.resembles(one)]
    random.shuffle(borrowed)
    for other in borrowed:
        found.setdefault(other.meaning, other.text)
    for meaning, text in _changed(value, language, random):
        if len(found) > count:
            break
        found.setdefault(meaning, text)
    found.pop(value.meaning, None)
    return list(found.values())[:count]


def _changed(
    value: Literal, language: Assertions, random: Random
) -> Iterator[tuple[frozenset[tuple[str, str]], str]]:
    if not value.leaves:
        return
    for _ in range(_ATTEMPTS):
        leaf = random.choice(value.leaves)
        old = value.text[leaf.start : leaf.end]
        new = _other(old, leaf, language, random)
        if new is None:
            continue
        rest = [
            _meaning(value.text[one.start : one.end], one)
            for one in value.leaves
            if one is not leaf
        ]
        text = value.text[: leaf.start] + new + value.text[leaf.end :]
        yield frozenset([*rest, _meaning(new, leaf)]), text


def _other(text: str, leaf: Leaf, language: Assertions, random: Random) -> str | None:
    match leaf.kind:
        case "truth":
            return language.opposites[text]
        case "char":
            return _other_char(text, random)
        case "string":
            return _other_string(text, random)
    for _ in range(random.randint(1, _MOST_STEPS)):
        text = _other_number(text)
    return text


def _other_number(text: str) -> str:
    """Changes the leading digits, so that the size stays within a type's and rounding."""
    found = _LEADING_DIGITS.match(text)
    digits = found[0] if found else ""
    rest = text[len(digits) :]
    if not digits:
        return f"1{rest}"
    if digits[0] > "1" and len(digits) > 1:
        return f"{int(digits[0]) - 1}{digits[1:]}{rest}"
    if len(digits) > 1 and digits[0] == "1":
        return f"1{_next_digit(digits[1])}{digits[2:]}{rest}"
    return (
        text if len(digits) > 1 or rest[:1] in ("x", "X", "b", "o") else _next_digit(digits) + rest
    )


def _next_digit(digit: str) -> str:
    return "8" if digit == "9" else str(int(digit) + 1)


def _other_char(text: str, random: Random) -> str | None:
    inner = text[1:-1]
    if len(inner) != 1 or not inner.isascii() or not inner.isalnum():
        return None
    return text[0] + _other_letter(inner, random) + text[-1]


def _other_string(text: str, random: Random) -> str | None:
    """Changes a letter where nothing in the text has a meaning; else puts one in front."""
    start = min((text.find(quote) for quote in _QUOTES if quote in text), default=-1)
    inner = text[start + 1 : -1]
    if start < 0 or text[:start].endswith("R") or inner[:1] == text[start]:
        return None  # it begins with a mark of its own choice, or with three quotes
    places = [index for index, letter in enumerate(inner) if letter.isascii() and letter.isalnum()]
    if not _PLAIN.fullmatch(inner) or not places:
        return f"{text[: start + 1]}{random.choice('abcdefgh')}{text[start + 1 :]}"
    place = start + 1 + random.choice(places)
    return text[:place] + _other_letter(text[place], random) + text[place + 1 :]


def _other_letter(letter: str, random: Random) -> str:
    family = "0123456789" if letter.isdigit() else "abcdefghijklmnopqrstuvwxyz"
    new = random.choice([one for one in family if one != letter.lower()])
    return new.upper() if letter.isupper() else new


def _meaning(text: str, leaf: Leaf) -> tuple[str, str]:
    if leaf.kind in ("whole", "number"):
        found = re.match(r"\d*\.?\d*(?:[eE][+-]?\d+)?", text.replace("_", ""))
        try:
            value = round(float(found[0] if found else ""), _DECIMALS)
        except (ValueError, OverflowError):
            return "number", text
        return "number", repr(-value if leaf.negative and value else value)
    return leaf.kind, text.casefold().replace(" ", "")

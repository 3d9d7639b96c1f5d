"""Finds the names by which tests in JavaScript or TypeScript reach an object that they pass.

A name reaches an object that is assigned to it, or that is a part of such an object. A change of a
part is visible by all these names. If too many names are related, the label may be SHARED without
need; the verdict stays right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, Token

_KEEPING = word_set("push unshift set add splice fill append")
_CHAINED = frozenset((".", "?."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    """An assignment of objects, or of their parts, to names.

    Args:
        names: the names that are assigned; in a pattern, each gets another part.
        places: the positions of the names whose objects are assigned.
    """

    names: frozenset[str]
    places: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The names that reach an object, or a part of it.

    Args:
        names: the names.
        places: the positions of names that are only assigned or declared, so that tests do not
            look at the object there.
    """

    names: frozenset[str]
    places: frozenset[int]


class Aliases:
    """The names of a text that reach the same objects.

    Args:
        tokens: the tokens of the text, without blanks.
        partners: the position of the closing bracket, by that of the opening one.
        words: the positions of names.
        calls: the positions of calls of the solution; a result is not related to the arguments.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        partners: Mapping[int, int],
        words: Collection[int],
        calls: Collection[int],
    ) -> None:
        self._tokens = tokens
        self._partners = partners
        self._openings = {end: start for start, end in partners.items()}
        self._words = frozenset(words)
        self._answered = frozenset(at for one in calls for at in self._answer(one))
        self._declared: set[int] = set()
        self._gifts = [one for one in self._found() if one.names and one.places]

    def of(self, name: str) -> Related:
        """Returns all names that reach the object of a name, or a part of it."""
        above, chain = {name}, set[int]()
        for _ in self._gifts:
            more = {at for at, one in enumerate(self._gifts) if one.names & above} - chain
            if not more:
                break
            chain |= more
            above |= {self._text(place) for at in more for place in self._gifts[at].places}
        names = set(above)
        for _ in self._gifts:
            size = len(names)
            for at, one in enumerate(self._gifts):
                if at not in chain and any(self._text(place) in names for place in one.places):
                    names |= one.names
            if len(names) == size:
                break
        places = frozenset(place for at in chain for place in self._gifts[at].places)
        return Related(names=frozenset(names), places=places | self._declared)

    # -------------------------------------------------------------------------------- gifts

    def _found(self) -> Iterator[Gift]:
        for index, token in enumerate(self._tokens):
            if token.text == "=" or token.text == "of":
                yield self._gift(self._given(index - 1), range(index + 1, self._end(index + 1)))
            elif token.text == "=>":
                yield from self._called_back(index)
            elif token.text == "function":
                yield from self._handed(index)
            elif token.text in _KEEPING and self._text(index - 1) in _CHAINED:
                inside = range(index + 2, self._partners.get(index + 1, index + 2))
                yield self._gift(self._given(index), inside)

    def _gift(self, names: frozenset[str], inside: range) -> Gift:
        places = set[int]()
        at = inside.start
        while at < inside.stop:
            if self._holds(at):
                places.add(at)
            is_index = self._text(at) == "[" and self._is_postfix(at)
            at = (self._partners.get(at, at) if is_index else at) + 1
        return Gift(names=names, places=frozenset(places))

    def _holds(self, at: int) -> bool:
        """Returns True if an object could be read from the name at a position."""
        is_count = self._text(at + 1) in _CHAINED and self._text(at + 2) == "length"
        is_called = self._text(at + 1) == "("
        return at in self._words and at not in self._answered and not (is_count or is_called)

    def _given(self, last: int) -> frozenset[str]:
        """Returns the names of the pattern that ends at a position, or the first name of the chain
        that ends there."""
        start = self._openings.get(last)
        if start is not None and not self._is_postfix(start):
            return self._pattern(range(start, last))
        root = self._root(last)
        return frozenset((self._text(root),)) if root in self._words else frozenset()

    def _pattern(self, places: range) -> frozenset[str]:
        """Returns the names that a pattern declares."""
        made = [at for at in places if at in self._words]
        self._declared.update(made)
        return frozenset(map(self._text, made))

    def _is_postfix(self, bracket: int) -> bool:
        before = self._tokens[bracket - 1] if bracket else None
        declares = before is not None and before.text in ("const", "let", "var")
        return before is not None and before.kind in (Kind.WORD, Kind.CLOSE) and not declares

    def _root(self, last: int) -> int:
        """Returns the start of the chain of properties, indices and calls that ends at a token."""
        at = last
        while at > 0:
            if at in self._openings:
                at = self._openings[at] - self._is_postfix(self._openings[at])
                if self._tokens[at].kind is Kind.OPEN:
                    return at
            elif self._text(at - 1) in _CHAINED:
                at -= 2
            else:
                return at
        return at

    def _called_back(self, arrow: int) -> Iterator[Gift]:
        """Yields the values that the parameters of an arrow function may have.

        They may be parts of an object if one of its methods gets the function, or arguments if the
        function has a name.
        """
        start = self._openings.get(arrow - 1, arrow - 1)
        first = start - (self._text(start - 1) == "async")
        names = self._pattern(range(start, arrow))
        if self._text(first - 1) == "(" and self._text(first - 3) in _CHAINED:
            yield self._gift(names, range(self._root(first - 2), first - 2))
        elif self._text(first - 1) == "=":
            yield from self._passed(self._text(first - 2), names, first)

    def _handed(self, index: int) -> Iterator[Gift]:
        """Yields the values that the parameters of a `function` may have; see the method above."""
        is_named = self._tokens[index + 1].kind is Kind.WORD if self._text(index + 1) else False
        bracket = index + 1 + is_named
        names = self._pattern(range(bracket, self._partners.get(bracket, bracket)))
        if is_named:
            yield from self._passed(self._text(index + 1), names, index + 1)
        elif self._text(index - 1) == "(" and self._text(index - 3) in _CHAINED:
            yield self._gift(names, range(self._root(index - 2), index - 2))

    def _passed(self, function: str, names: frozenset[str], defined: int) -> Iterator[Gift]:
        for at in self._words:
            if self._text(at) == function and self._text(at + 1) == "(" and at != defined:
                yield self._gift(names, range(at + 2, self._partners.get(at + 1, at + 2)))

    # ------------------------------------------------------------------------------- places

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _end(self, start: int) -> int:
        """Returns the end of the expression that begins at a position."""
        at = start
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.kind is Kind.CLOSE or token.text in (";", ",", "const", "let", "var"):
                return at
            if at > start and self._begins(at):
                return at
            at = self._partners.get(at, at) + 1
        return at

    def _begins(self, at: int) -> bool:
        """Returns True if an expression ends before a token, and a statement begins there."""
        before, token = self._tokens[at - 1], self._tokens[at]
        ended = before.kind in (Kind.CLOSE, Kind.NUMBER, Kind.STRING) or (
            before.kind is Kind.WORD and before.text not in ("await", "new", "typeof", "async")
        )
        return (
            ended and token.kind is Kind.WORD and not re.fullmatch(r"in|instanceof|as", token.text)
        )

    def _answer(self, call: int) -> range:
        """Returns the positions of a call. If it is the result of a callback of `map`, these are
        the positions of the call of `map`."""
        end = self._partners.get(call + 1, call + 1)
        first = call - (self._text(call - 1) == "await")
        arrow = self._text(first - 1) == "=>"
        start = self._openings.get(first - 2, first - 2) if arrow else first
        start -= arrow and self._text(start - 1) == "async"
        if arrow and self._text(start - 2) == "map" and self._text(end + 1) == ")":
            return range(self._root(start - 2), end + 1)
        return range(call, end + 1)

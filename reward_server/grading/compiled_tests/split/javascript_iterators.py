"""Finds tests in JavaScript or TypeScript that iterate over an answer after something has changed.

An iterator of an array, a map or a set crosses with the items that exist at that time. The items of
a generator are requested in advance. In one program both would show later changes. So tests may
only iterate over an answer in the expression of the call, or by its name before the next call.
Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, Token

_DECLARING = frozenset(("const", "let", "var"))
# Functions that iterate over their first argument.
_GATHERING = word_set("from fromEntries Set Map WeakSet WeakMap all allSettled groupBy")
_CHANGING = word_set(
    "add clear copyWithin delete fill pop push reverse set shift sort splice unshift"
)
_ASSIGNING = word_set("= += -= *= /= %= &= |= ^=")
# Words after which an expression continues.
_OPERATORS = word_set("async await delete extends in instanceof new of return typeof void yield")
_CHAINED = frozenset((".", "?."))


class Iterations:
    """The iterations over answers, and the code that could change an answer before they end.

    Args:
        tokens: the tokens of the tests, without blanks.
        partners: the position of the closing bracket, by that of the opening one.
        words: the positions of names.
        calls: the positions of calls of the solution.
        answers: the positions of names that are assigned results of these calls.
        given: the positions of names that are arguments of these calls.
        functions: the names of functions of the tests.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        partners: Mapping[int, int],
        words: Collection[int],
        calls: Collection[int],
        answers: Collection[int],
        given: Collection[int],
        functions: Collection[str],
    ) -> None:
        self._tokens = tokens
        self._partners = partners
        self._openings = {end: start for start, end in partners.items()}
        self._calls = frozenset(calls)
        self._answers = frozenset(answers)
        self._functions = functions
        self._blocks = _blocks(tokens, partners)
        crossed = {self._text(at) for at in (*answers, *given)}
        changed = (at for at in words if self._text(at) in crossed and self._is_changed(at))
        bodies = dict(self._bodies(words))
        self._events = self._with_callers(words, bodies, {*calls, *changed})
        iterated = {at for at in answers if self._is_iterated(at)}
        self._iterated = self._with_callers(words, bodies, iterated)

    def are_late(self) -> bool:
        """Returns True if something could change an answer before an iteration over it ends."""
        return any(map(self._is_called_meanwhile, self._calls)) or any(
            self._is_called_meanwhile(at) or self._is_late(at)
            for at in self._answers
            if self._is_iterated(at) or self._is_passed_on(at)
        )

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _is_iterated(self, at: int) -> bool:
        before = self._text(at - 1)
        if before == "of" or [self._text(at - back) for back in (1, 2, 3)] == [".", ".", "."]:
            return True
        if before == "(":
            return self._text(at - 2) in _GATHERING
        if before == "=" and self._text(at - 2) == "]":
            return self._is_pattern(self._openings[at - 2])
        return before == "*" and self._text(at - 2) == "yield"

    def _is_pattern(self, bracket: int) -> bool:
        """Returns True if a bracket begins a pattern or a list, and no index."""
        before = self._tokens[bracket - 1] if bracket else None
        is_item = before is not None and before.kind in (Kind.WORD, Kind.CLOSE, Kind.STRING)
        return not is_item or self._text(bracket - 1) in (*_DECLARING, "}")

    def _is_passed_on(self, at: int) -> bool:
        """Returns True if a position is an argument of a function that iterates over answers."""
        around = self._around(at)
        return self._text(around) == "(" and around - 1 in self._iterated

    def _is_called_meanwhile(self, at: int) -> bool:
        """Returns True if something could change during the iteration over the expression at a
        position."""
        before = self._text(at - 1)
        if before == "of":
            return any(one in self._body(self._partners[self._around(at)]) for one in self._events)
        if before == "(" and self._text(at - 2) in _GATHERING:
            inside = range(at + 1, self._partners[at - 1])
            own = range(at, self._partners.get(at + 1, at) + 1)
            return any(one in inside and one not in own for one in self._events)
        return False

    def _is_late(self, at: int) -> bool:
        """Returns True if something could change after an answer was assigned to the name at a
        position."""
        scope, block = self._scope(at)
        return any(
            one in scope and (one < at or block != self._block(at))
            for one in self._events
            if self._text(one) != self._text(at)  # a value with a changing method is no iterator
        )

    def _scope(self, at: int) -> tuple[range, int]:
        """Returns where the name at a position keeps its value, and the block that assigns it."""
        name = self._text(at)
        for place in range(at - 1, -1, -1):
            if self._text(place) != name or self._text(place - 1) in _CHAINED:
                continue
            around = self._around(place)
            if self._text(around) == "(" and self._text(around - 1) == "for":
                body = self._body(self._partners[around])
                return body, body.start
            if self._is_parameter(around):
                body = self._body(self._partners[around])
                return body, body.start
            if self._text(place + 1) == "=" or self._text(place - 1) in _DECLARING:
                block = self._block(place)
                end = self._partners.get(block, len(self._tokens))
                return range(self._statement_end(place), end), block
            if self._text(place + 1) == "=>":
                body = self._body(place)
                return body, body.start
        return range(len(self._tokens)), -1

    def _is_parameter(self, around: int) -> bool:
        """Returns True if a bracket contains a function's parameters."""
        while self._text(around) == "[":
            around = self._around(around)
        if self._text(around) != "(":
            return False
        behind = self._text(self._partners[around] + 1)
        is_named = self._text(around - 1) == "function" or self._text(around - 2) == "function"
        return behind == "=>" or is_named

    def _is_changed(self, at: int) -> bool:
        """Returns True if the expression that begins with a name changes an object."""
        end, method = at + 1, ""
        while self._text(end) in (*_CHAINED, "["):
            if self._text(end) == "[":
                method, end = "", self._partners[end] + 1
            else:
                method, end = self._text(end + 1), end + 2
        if self._text(end) == "(":
            return method in _CHANGING
        is_counted = self._text(end) == self._text(end + 1) and self._text(end) in ("+", "-")
        return end > at + 1 and (self._is_set_by(end) or is_counted)

    def _is_set_by(self, end: int) -> bool:
        """Returns True if an operator that assigns follows, such as `=` or `??=`."""
        while self._text(end) in ("?", "|", "||", "&&", "*", "<<", ">", ">>"):
            end += 1
        return self._text(end) in _ASSIGNING

    def _bodies(self, words: Iterable[int]) -> Iterator[tuple[str, range]]:
        """Yields the names of the tests' functions, with their bodies."""
        for at in words:
            if self._text(at) in self._functions and (body := self._body_of(at)) is not None:
                yield self._text(at), body

    def _with_callers(
        self, words: Iterable[int], bodies: Mapping[str, range], places: set[int]
    ) -> set[int]:
        """Returns the positions, and those of calls of functions that contain such positions."""
        found, callers = {*places}, set[str]()
        for _ in bodies:
            more = {name for name, body in bodies.items() if any(map(body.__contains__, found))}
            if more <= callers:
                break
            callers |= more
            found |= {at for at in words if self._text(at) in callers and self._text(at + 1) == "("}
        return found

    def _body_of(self, at: int) -> range | None:
        """Returns the body of the function that is declared at a position, or None."""
        if self._text(at - 1) in ("function", "*") and self._text(at + 1) == "(":
            return self._body(self._partners[at + 1])
        if self._text(at + 1) != "=":
            return None
        place = at + 2
        while self._text(place) in ("async", "function", "*"):
            place += 1
        if self._text(place) == "(":
            place = self._partners[place]
        return self._body(place)

    def _body(self, end: int) -> range:
        """Returns the body after a head: a block, or the rest of the statement."""
        start = end + 1 + (self._text(end + 1) == "=>")
        if self._text(start) == "{":
            return range(start, self._partners[start])
        return range(start, self._statement_end(start))

    def _statement_end(self, start: int) -> int:
        at = start
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.kind is Kind.CLOSE or token.text == ";":
                return at
            at = self._partners.get(at, at) + 1
            if self._begins(at):
                return at
        return at

    def _begins(self, at: int) -> bool:
        """Returns True if the token at a position is a word that begins a new statement."""
        if not 0 < at < len(self._tokens):
            return False
        before, token = self._tokens[at - 1], self._tokens[at]
        ended = before.kind in (Kind.CLOSE, Kind.NUMBER, Kind.STRING) or (
            before.kind is Kind.WORD and before.text not in _OPERATORS
        )
        return ended and token.kind is Kind.WORD and token.text not in ("in", "instanceof", "of")

    def _around(self, at: int) -> int:
        return self._blocks[at] if 0 <= at < len(self._blocks) else -1

    def _block(self, at: int) -> int:
        """Returns the position where the block around a position opens, or -1."""
        around = self._around(at)
        while around >= 0 and self._text(around) != "{":
            around = self._around(around)
        return around


def _blocks(tokens: Sequence[Token], partners: Mapping[int, int]) -> list[int]:
    """Returns the position of the innermost open bracket at each token, or -1."""
    found, open_at = list[int](), [-1]
    for index, token in enumerate(tokens):
        if token.kind is Kind.CLOSE and len(open_at) > 1:
            open_at.pop()
        found.append(open_at[-1])
        if index in partners:
            open_at.append(index)
    return found

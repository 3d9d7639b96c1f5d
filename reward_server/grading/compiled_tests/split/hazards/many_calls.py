"""Finds tests that may call the solution so often that passing the calls would use up the time
limit.

A call that crosses takes about a tenth of a millisecond. So the text has to show how often each
call is made: once outside of loops, as often as a written list has items, as often as a counting
loop says, and in a helper as often as the helper is called. A call whose number the text does not
show counts as made too often. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from reward_server.grading.compiled_tests.split.base import Task
from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, Token, match_brackets, tokenize

_MOST_CALLS = 2000
_MOST_DEPTH = 6
_DEFINING = word_set("fn func function")
# Words that are followed by brackets and are no names of functions.
_CONTROLS = word_set("for while if switch catch synchronized try with match else return range in")
# Functions that call an argument for each of several items.
_FOR_EACH = word_set(
    """all all_of allMatch any any_of anyMatch count_if every filter filter_map find find_if
    findIndex findLast flatMap flat_map fold for_each forEach forEachOrdered from generate iterate
    map mapToDouble mapToInt mapToLong mapToObj none_of noneMatch partition position reduce
    removeIf setAll some sort sort_by sorted transform try_for_each"""
)
_ADDING = word_set("push add append put insert push_back emplace_back offer addAll unshift extend")
_WRITING = word_set("of asList ofEntries")  # functions that make a list of their arguments
_GROWING = word_set("pow powi repeat")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")


def calls_often(task: Task, functions: Collection[str]) -> bool:
    """Returns True unless the text of tests shows that they call functions at most 2,000 times.

    Args:
        task: the task with the tests.
        functions: the names of the solution's functions.
    """
    brackets = match_brackets(
        [one for one in tokenize(task.tests, task.language) if not one.is_blank]
    )
    if brackets is None or brackets.unclosed:
        return False  # a text that cannot be parsed; at worst the run exceeds its time limit
    found = _Repetitions(task)
    return sum(map(found.of_function, functions)) > _MOST_CALLS


class _Repetitions:
    """Upper bounds for how often positions of a text are reached.

    Args:
        task: the task with the tests.
    """

    def __init__(self, task: Task) -> None:
        tokens = [one for one in tokenize(task.tests, task.language) if not one.is_blank]
        self._tokens: Sequence[Token] = tokens
        self._lines = [task.tests.count("\n", 0, one.start) for one in tokens]
        brackets = match_brackets(tokens)
        self._partners = brackets.partners if brackets else {}
        self._openings = {end: start for start, end in self._partners.items()}
        self._around = list(self._innermost())
        self._places: dict[str, list[int]] = {}
        for at, token in enumerate(tokens):
            if token.kind is Kind.WORD:
                self._places.setdefault(token.text, []).append(at)
        self._met: list[str] = []

    # ------------------------------------------------------------------------------ places

    def of_function(self, name: str) -> float:
        """Returns how often a function is called or named. It is 1 for a function that the text
        does not name, since a harness may call it."""
        if name in self._met or len(self._met) > _MOST_DEPTH:
            return math.inf
        self._met.append(name)
        sites = [at for at in self._places.get(name, ()) if not self._is_declared(at)]
        found = sum(map(self._of_place, sites)) if sites else 1.0
        self._met.pop()
        return found

    def _of_place(self, at: int) -> float:
        found, place = 1.0, at
        while place >= 0 and found <= _MOST_CALLS:
            around = self._around[place]
            before = list(self._before(place))
            if (name := self._function(place, before)) is not None:
                return found * self.of_function(name)
            for one in before:
                found *= self._of_mark(one, place)
            if self._is_head(around):
                found *= 1.0 if self._each(around + 1, self._partners[around]) else math.inf
            elif self._text(around) == "(" and self._is_callback(place, before):
                found *= self._of_callback(around)
            place = around
        return found

    def _function(self, place: int, before: Sequence[int]) -> str | None:
        """Returns the name of the function whose body contains a position, or None."""
        texts = [self._text(one) for one in before]
        if self._text(place) == "{":
            for one in before:
                if self._text(one) in _DEFINING and self._text(one + 1) != "(":
                    return self._text(one + 1 if self._text(one + 1) != "*" else one + 2)
        named = next((one for one in before if self._text(one) == "="), None)
        is_value = named == place - 1 and self._text(place + 1) != "("
        if named is not None and (is_value or self._is_callback(place, before)):
            behind = max((one for one in before if one < named and self._names(one)), default=-1)
            typed = next((one for one in before if one < named and self._text(one) == ":"), -1)
            return self._text(typed - 1 if typed > 0 else behind)
        if self._text(place) == "{" and not {"for", "while", *_DEFINING} & {*texts}:
            for one in before:
                opened = self._openings.get(one, -1)
                word = self._text(opened - 1)
                if self._text(one) == ")" and self._names(opened - 1) and word not in _CONTROLS:
                    return word
        return None

    def _is_callback(self, place: int, before: Sequence[int]) -> bool:
        """Returns True if an anonymous function begins before a position."""
        texts = [self._text(one) for one in before]
        if self._text(place) == "{":
            is_cpp = any(pair == (")", "]") for pair in pairwise(texts))
            if is_cpp or any(
                self._text(one) in _DEFINING and self._text(one + 1) == "(" for one in before
            ):
                return True
        return bool({"=>", "->", "|", "||"} & {*texts}) or "::" in texts[:1]

    def _of_mark(self, at: int, place: int) -> float:
        """Returns how often the loop head at a position runs its body; 1 if there is no loop."""
        text, opened = self._text(at), self._openings.get(at, -1)
        if text == ")" and self._is_head(opened):
            is_for = self._text(opened - 1) == "for"
            return self._of_loop(opened + 1, at) if is_for else math.inf
        if text in ("do", "loop") or (text == "while" and not self._is_head(at + 1)):
            return math.inf
        if text == "for" and not self._is_head(at + 1):
            if self._text(place) == "{":
                return self._of_loop(at + 1, place)
            return 1.0 if self._each(at + 1, place) else math.inf
        return 1.0

    def _of_callback(self, bracket: int) -> float:
        """Returns how often a function is called that is an argument of a call."""
        name = self._text(bracket - 1)
        if any(self._is_declared(at) for at in self._places.get(name, ())):
            return math.inf  # the tests define that function, which may call it often
        if name not in _FOR_EACH:
            return 1.0
        counted = [
            self._value(at) for at in range(bracket + 1, self._partners[bracket]) if self._value(at)
        ]
        if name == "from":
            return max(counted, default=math.inf)
        return self._size(range(self._chain(bracket - 1), bracket - 1))

    # ------------------------------------------------------------------------------- loops

    def _is_head(self, at: int) -> bool:
        """Returns True if a bracket holds the head of a loop, and no pattern of such a head."""
        if self._text(at) != "(" or self._text(at - 1) not in ("for", "while"):
            return False
        return self._text(self._partners[at] + 1) != "in"

    def _of_loop(self, first: int, last: int) -> float:
        """Returns how many iterations a loop has whose head is between two positions."""
        each = self._each(first, last)
        if each:
            return self._size(range(each + 1, last))
        cuts = [at for at in self._outermost(first, last) if self._text(at) == ";"]
        if len(cuts) != 2:
            return math.inf
        step = [self._text(at) for at in range(cuts[1] + 1, last)]
        counts = {("+", "+"), ("-", "-")} & {*pairwise(step)} or {"+=", "-="} & {*step}
        start = range(first, cuts[0])
        counters = {
            self._text(at - 1 - (self._text(at - 1) == ":"))
            for at in start
            if self._text(at) == "="
        }
        end = self._size(range(cuts[0] + 1, cuts[1]), counters)
        return max(end, *map(self._value, start)) if counts else math.inf

    def _each(self, first: int, last: int) -> int:
        """Returns the position of the word before a loop's items (such as `of`), or 0."""
        places = list(self._outermost(first, last))
        if any(self._text(at) == ";" for at in places):
            return 0
        words = ("of", "in", ":", "range")
        return next((at for at in reversed(places) if self._text(at) in words), 0)

    # ------------------------------------------------------------------------------- sizes

    def _size(self, places: range, known: Collection[str] = (), depth: int = 0) -> float:
        """Returns an upper bound for the items or the numbers in an expression."""
        texts = [self._text(at) for at in places]
        outside = [self._text(at) for at in self._outside_lists(places)]
        grows = {"<<", *_GROWING} & {*outside} or ("*", "*") in pairwise(outside)
        if depth > _MOST_DEPTH or grows:
            return math.inf
        if (items := self._items(places)) is not None:
            return items
        if {*self._met} & {*texts}:
            return math.inf
        names = {self._text(at) for at in places if self._is_variable(at)} - {*known}
        found = [self._value(at) for at in places]
        found += [self._size_of_name(name, depth) for name in names]
        some = [one for one in found if one]
        return math.prod(some) if "*" in texts else max(some, default=math.inf)

    def _outside_lists(self, places: range) -> Iterator[int]:
        """Yields the positions outside of list literals."""
        at = places.start
        while at < places.stop:
            yield at
            is_list = self._text(at) in ("[", "{") or self._text(at - 1) in _WRITING
            at = self._partners.get(at, at) + 1 if is_list else at + 1

    def _items(self, places: range) -> float | None:
        """Returns the most items of a list literal in an expression, or None if it has none."""
        found = list[float]()
        for at in self._outermost(places.start, places.stop):
            if at not in self._partners:
                continue
            texts = [self._text(one) for one in range(at + 1, self._partners[at])]
            before = self._text(at - 1) if at > places.start else ""
            is_index = self._text(at) == "[" and (before.isidentifier() or before == "]")
            is_list = self._text(at) != "(" or before in _WRITING
            is_range = ".." in "".join(texts) or ";" in texts
            if is_list and not is_index and not is_range:
                found.append(1.0 + texts.count(","))
        return max(found, default=None)

    def _size_of_name(self, name: str, depth: int) -> float:
        """Returns an upper bound for the numbers or items that are assigned or added to a name."""
        found = list[float]()
        for at in self._places.get(name, ()):
            if self._text(at + 1) == "." and self._text(at + 2) in _ADDING:
                found.append(self._of_place(at))
            elif (value := self._given(at)) is not None:
                found.append(self._size(value, (name,), depth + 1))
        return sum(found) if found else math.inf

    def _given(self, at: int) -> range | None:
        """Returns the position of the value that is assigned to the name at a position, or None."""
        if self._text(at - 1) in (".", "->"):
            return None
        if self._text(at + 1) == "{" and (self._names(at - 1) or self._text(at - 1) in (">", ">>")):
            return range(at + 1, self._partners[at + 1] + 1)
        around = self._around[at]
        stop = self._partners.get(around, len(self._tokens))
        for place in self._outermost(at + 1, stop):
            text = self._text(place)
            if text == "=":
                return range(place + 1, self._end(place + 1, stop))
            if text in ("of", "in", "range", ":") and self._is_head(around):
                return range(place + 1, self._partners[around])
            if text in (";", ",", "(", ".", ")") or (text == "{" and place > at + 1):
                return None
        return None

    def _end(self, start: int, stop: int) -> int:
        """Returns the end of the expression that begins at a position."""
        at = start
        while at < stop and self._text(at) not in (";", ","):
            at = self._partners.get(at, at) + 1
            if self._begins(at):
                return at
        return min(at, stop)

    def _value(self, at: int) -> float:
        """Returns the number at a position, or 0 if there is none."""
        token = self._tokens[at]
        text = token.text.replace("_", "").lstrip(".")  # the last token of `0..9` begins with a dot
        found = _NUMBER.match(text) if token.kind is Kind.NUMBER else None
        if found is None:
            return 0.0
        return float(int(found[0], 16)) if found[0][:2] in ("0x", "0X") else float(found[0])

    # ------------------------------------------------------------------------------ tokens

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _is_variable(self, at: int) -> bool:
        """Returns True if the name at a position is that of a variable."""
        is_own = self._text(at - 1) not in (".", "?.", "->", "::")
        is_class = self._text(at)[:1].isupper() and self._text(at + 1) in (".", "::")
        is_word = self._text(at) in ("new", "vec", "mut", "const", "await")
        return self._names(at) and is_own and self._text(at + 1) != "(" and not is_class | is_word

    def _names(self, at: int) -> bool:
        return 0 <= at < len(self._tokens) and self._tokens[at].kind is Kind.WORD

    def _innermost(self) -> Iterator[int]:
        """Yields the position of the innermost bracket around each token, or -1."""
        opened = [-1]
        for at in range(len(self._tokens)):
            if at in self._openings:
                opened.pop()
            yield opened[-1]
            if at in self._partners:
                opened.append(at)

    def _outermost(self, first: int, last: int) -> Iterator[int]:
        """Yields the positions between two others, except those in brackets."""
        at = first
        while at < last:
            yield at
            at = self._partners.get(at, at) + 1

    def _before(self, place: int) -> Iterator[int]:
        """Yields the positions from another one back to the start of its statement or argument,
        except those in brackets."""
        around, at = self._around[place], place - 1
        ends = (";", ",") if self._text(around) in ("(", "[") else (";",)
        while at > around and (self._text(at) not in ends or self._is_in_head(at)):
            if self._begins(at + 1) or (self._text(at) == "}" and self._names(at + 1)):
                return
            yield at
            at = self._openings.get(at, at) - 1

    def _is_in_head(self, at: int) -> bool:
        """Returns True if a semicolon is in the head of a loop without brackets."""
        first = at
        while first > 0 and self._lines[first - 1] == self._lines[at]:
            first -= 1
        words = [one for one in range(first, at) if self._text(one) == "for"]
        return (
            bool(words)
            and not self._is_head(words[-1] + 1)
            and all(self._text(one) != "{" for one in self._outermost(words[-1], at))
        )

    def _begins(self, at: int) -> bool:
        """Returns True if a statement begins at a position that is the first word of a line."""
        kinds = (Kind.WORD, Kind.CLOSE, Kind.NUMBER, Kind.STRING)
        if not self._names(at) or at == 0 or self._tokens[at - 1].kind not in kinds:
            return False
        opened = self._openings.get(at - 1, -1)
        is_head = self._text(at - 1) == ")" and self._text(opened - 1) in _CONTROLS
        is_keyword = self._text(at - 1) in ("else", "do", "return", "in", "of", "await", "new")
        return self._lines[at] > self._lines[at - 1] and not (is_head or is_keyword)

    def _chain(self, at: int) -> int:
        """Returns the start of the chain of method calls that ends at a position."""
        while at > 0 and self._text(at - 1) in (".", "?.", "::"):
            at -= 2
            while at in self._openings:
                at = self._openings[at] - 1
            at += not self._names(at)
        return at

    def _is_declared(self, at: int) -> bool:
        """Returns True if the name at a position is declared or assigned there."""
        if self._text(at - 1) in (*_DEFINING, "*", "const", "let", "var", "mut", "auto"):
            return self._text(at - 1) != "*" or self._text(at - 2) in _DEFINING
        if "=" in (self._text(at + 1), self._text(at + 1 + (self._text(at + 1) == ":"))):
            return True
        if self._text(at + 1) != "(" or not (self._names(at - 1) or self._text(at - 1) in ">]"):
            return False
        behind = self._partners[at + 1] + 1
        return self._text(behind) in ("{", "throws", "const") and not (
            self._text(at - 1) in _CONTROLS or self._text(at - 1) == ""
        )

"""Finds tests in Java that read an object again after they passed it to the solution.

The tests could compute their expected values from the content that a solution left in the object.
The module follows names through all statements of the text, in any order: assignments, loops over
elements, additions to containers, and methods of the tests that return a field. Following too much
costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from reward_server.grading.compiled_tests.split.text.words import QUOTED, word_set

_PLAIN = word_set(
    """int long double float char boolean byte short String Integer Long Double Float Character
    Boolean Byte Short BigInteger BigDecimal"""
)
_PLAIN_NAMES = "|".join(sorted(_PLAIN))
# A name that is no field and no method. A question for its length or size does not count.
_NAMED = r"(?<![\w.]){}\b(?!\s*\()(?!\s*\.\s*(?:length\b(?!\s*\()|(?:size|isEmpty)\s*\())"
_NAME = re.compile(_NAMED.format(r"([A-Za-z_]\w*)"))
_CONSTANT = re.compile(rf"\b(?:{_PLAIN_NAMES})\s+(\w+)\b(?!\s*\[)")
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(")
# Arrays, lists, sets and maps of immutable values: a copy shares nothing that can change.
_FLAT = re.compile(
    rf"\b(?:{_PLAIN_NAMES})\s*(?:\[\s*\]\s*(\w+)\b(?!\s*\[)|(\w+)\s*\[\s*\](?!\s*\[))"
    rf"|<\s*(?:{_PLAIN_NAMES})\s*(?:,\s*(?:{_PLAIN_NAMES})\s*)?>\s+(\w+)\b(?!\s*\[)"
)
_COPIES = re.compile(
    r"\s*(?:(?P<cloned>\w+)\s*\.\s*clone\s*\(\s*\)"
    r"|Arrays\s*\.\s*copyOf(?:Range)?\s*\(\s*(?P<copied>\w+)\b[^()]*\)"
    r"|(?:List|Set|Map)\s*\.\s*copyOf\s*\(\s*(?P<listed>\w+)\s*\)"
    r"|new\s+\w+\s*<[^()]*>\s*\(\s*(?P<made>\w+)\s*\))\s*"
)
_ASSIGNED = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]=;]*\]\s*)*=(?!=)(?P<value>[^;]*)"
)
_LOOPED = re.compile(r"\bfor\s*\([^;:()]*?(?P<name>\w+)\s*:(?!:)(?P<value>[^{;]*)")
_PUT = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*(?:\.\s*\w+\s*\([^()]*\)\s*)?\.\s*"
    r"(?:add\w*|put\w*|set|push|offer\w*|append|compute\w*|merge)\s*\((?P<value>[^;]*)"
)
_LAMBDA = re.compile(
    r"(?<![\w.])(?P<value>[A-Za-z_]\w*)(?:\s*\.\s*\w+\s*\([^()]*\))*\s*\.\s*\w+\s*"
    r"\(\s*\(?\s*(?P<name>\w+)[\w\s,]*\)?\s*->"
)
_METHOD = re.compile(
    r"[\w>\]]\s+(?P<name>\w+)\s*\((?P<parameters>[^(){};]*)\)\s*(?:throws\s+[\w.,\s]+)?\{"
)
_MADE = re.compile(r"\s*\)\s*(?:throws[\w\s.,]*)?\{")
_FIELD = re.compile(r"[\w>\]]\s+(?P<name>\w+)\s*(?:\[\s*\]\s*)*[=;]")
_LOOP = re.compile(r"\b(?:for|while)\s*\(|\bdo\s*\{")
_WORDS = word_set(
    """new return throw class enum interface if for while switch else do true false null this
    final static public private protected void var instanceof try catch assert break continue"""
)


def looks_once(tests: str, method: str) -> bool:
    """Returns True if tests do not read objects again after they passed them to a method.

    Args:
        tests: a text in Java.
        method: the name of the solution's method.
    """
    code = without_own_names(tests)
    calls = own_calls(code, method)
    names = Names(code, method)
    return not any(
        names.is_looked_at(name, call, names.loops)
        for call in calls
        for name in names.within(code[call.start : call.stop])
    )


def without_own_names(tests: str) -> str:
    """Returns tests without string literals and comments, and without `this.` and class names in
    front of names."""
    code = QUOTED.sub(" ", tests)
    own = "|".join(("this", *map(re.escape, re.findall(r"\bclass\s+(\w+)", code))))
    return re.sub(rf"(?<![\w.])(?:{own})\s*\.\s*(?=\w)", "", code)


def own_calls(code: str, method: str) -> list[range]:
    """Returns the positions of the arguments of calls of a method, and of methods that call it."""
    return [
        range(one.end(), end_of(code, one.end()))
        for one in re.finditer(rf"\b(?:{_called(code, method)})\s*\(", code)
        if not _is_declared(code, one.end())
    ]


def _called(code: str, method: str) -> str:
    return "|".join(sorted(map(re.escape, _calling(code, method))))


def _is_declared(code: str, start: int) -> bool:
    """Returns True if the parameters of a declared method begin at a position."""
    return _MADE.match(code, end_of(code, start)) is not None


def _calling(code: str, method: str) -> set[str]:
    """Returns the names of a method and of the tests' methods that call it."""
    bodies = {
        found["name"]: code[found.end() : end_of(code, found.end())]
        for found in _METHOD.finditer(code)
    }
    calling = {method}
    while True:
        called = re.compile(rf"\b(?:{'|'.join(map(re.escape, calling))})\s*\(")
        more = {name for name, body in bodies.items() if called.search(body)} - calling
        if not more:
            return calling
        calling |= more


def _body_end(code: str, opening: int) -> int:
    """Returns the end of a loop whose head or body opens at a position."""
    end = end_of(code, opening + 1)
    if code[opening] == "{":
        return end
    while end + 1 < len(code) and code[end + 1].isspace():
        end += 1
    if code[end + 1 : end + 2] == "{":
        return end_of(code, end + 2)
    return _or_end(code, code.find(";", end))


def _or_end(code: str, at: int) -> int:
    return len(code) if at < 0 else at


class Names:
    """The names of mutable objects, grouped by the objects that they may hold.

    Args:
        code: the tests, without string literals and comments.
        method: the solution's method; its result does not hold its arguments.

    Attributes:
        loops: the positions of the loops.
    """

    def __init__(self, code: str, method: str) -> None:
        called = _called(code, method)
        calls = own_calls(code, method)
        self.loops = [
            range(one.start(), _body_end(code, one.end() - 1)) for one in _LOOP.finditer(code)
        ]
        self._code = code
        self._called = re.compile(rf"(?:\b\w+\s*\.\s*)?\b(?:{called})\s*\(")
        self._constant = frozenset(_CONSTANT.findall(code))
        self._flat = frozenset(name for found in _FLAT.findall(code) for name in found if name)
        self._methods = list(_METHOD.finditer(code))
        self._handing = frozenset(self._handing_out())
        self._heads: dict[str, str] = {}
        for pattern in (_ASSIGNED, _LOOPED, _PUT, _LAMBDA):
            for found in pattern.finditer(code):
                self._join(found["name"], self._held_by(found["value"]))
        self._join_parameters()
        self._looks = self._looks_beside(calls)

    def within(self, text: str) -> set[str]:
        """Returns the names of mutable objects in a text, and of methods that return a field."""
        found = {name for name in _NAME.findall(text) if self.can_change(name)}
        return found | (self._handing & set(_CALLED.findall(text)))

    def is_looked_at(self, name: str, call: range, loops: Sequence[range]) -> bool:
        """Returns True if an argument of a call is read after the call, or in a loop around it.

        Args:
            name: the argument's name.
            call: the position of the call's arguments.
            loops: the positions of the loops.
        """
        looks = self._looks.get(self.head(name), [])
        if looks and looks[-1][0] >= call.stop:
            return True
        return any(
            self._comes_again(at, one, loop)
            for loop in loops
            if call.start in loop
            for at, one in looks[bisect_left(looks, (loop.start, "")) :]
        )

    def _comes_again(self, at: int, name: str, loop: range) -> bool:
        """Returns True if a position in a loop reads the same object in several iterations."""
        if re.fullmatch(r"for\s*\([^;:()]*:\s*", self._code[loop.start : at]):
            return False  # the head of the loop is evaluated once
        if re.match(r"\w+\s*(?:\[|\.\s*get\s*\()", self._code[at : at + 200]):
            return False  # it reads another element in each iteration
        declared = rf"[\w>\]]\s+{re.escape(name)}\s*(?:=(?!=)|:(?!:)|;|\[\s*\]\s*=)"
        return not re.search(declared, self._code[loop.start : loop.stop])

    def _looks_beside(self, calls: Sequence[range]) -> dict[str, list[tuple[int, str]]]:
        """Returns the positions and names by which objects are read outside of calls' arguments, by
        the head of the names."""
        found: dict[str, list[tuple[int, str]]] = {}
        starts = [call.start for call in calls]
        furthest = list(accumulate((call.stop for call in calls), max))
        named = [(one.start(), one[1]) for one in _NAME.finditer(self._code)]
        handed = [
            (one.start(), one[1])
            for one in _CALLED.finditer(self._code)
            if one[1] in self._handing and not _is_declared(self._code, one.end())
        ]
        for at, name in sorted(named + handed):
            before = bisect_right(starts, at)
            is_given = before > 0 and at < furthest[before - 1]
            if not is_given and (name in self._heads or self.can_change(name)):
                found.setdefault(self.head(name), []).append((at, name))
        return found

    def _join_parameters(self) -> None:
        """Groups the parameters of the tests' methods with their arguments."""
        parameters = self._parameters = {
            found["name"]: [one.split()[-1].rstrip("[] ") for one in parts_of(found["parameters"])]
            for found in self._methods
            if found["parameters"].strip()
        }
        for found in _CALLED.finditer(self._code):
            if found[1] in parameters:
                given = parts_of(self._code[found.end() : end_of(self._code, found.end())])
                for name, value in zip(parameters[found[1]], given, strict=False):
                    self._join(name, self._held_by(value))

    @property
    def known(self) -> Iterable[str]:
        """All names that were grouped with others."""
        return list(self._heads)

    def is_flat(self, name: str) -> bool:
        """Returns True if all elements of the container with a name are immutable."""
        return name in self._flat

    def is_in_helper(self, place: int) -> bool:
        """Returns True if a position is in a method of the tests that the tests themselves call."""
        return any(
            found.end() <= place < end_of(self._code, found.end())
            and any(
                one[1] == found["name"] and not _is_declared(self._code, one.end())
                for one in _CALLED.finditer(self._code)
            )
            for found in self._methods
        )

    def parameters_at(self, start: int, stop: int) -> Iterable[str]:
        """Yields the parameters of the tests' methods that are called between two positions."""
        for found in _CALLED.finditer(self._code, start, stop):
            yield from self._parameters.get(found[1], ())

    def can_change(self, name: str) -> bool:
        """Returns True if the object with a name can be changed."""
        is_type = name[:1].isupper() and not name.isupper()
        return name not in _WORDS | _PLAIN and not is_type and name not in self._constant

    def _held_by(self, value: str) -> set[str]:
        """Returns the names of the objects that may be in a value."""
        copy = _COPIES.fullmatch(value)
        source = next((one for one in copy.groups() if one), "") if copy else ""
        if source in self._flat:
            return set()
        return self.within(self._without_calls(value))

    def _without_calls(self, value: str) -> str:
        for found in reversed(list(self._called.finditer(value))):
            value = value[: found.start()] + "(" + value[end_of(value, found.end()) :]
        return value

    def _handing_out(self) -> Iterable[str]:
        """Yields the tests' methods that use a mutable field and return something."""
        fields = {one["name"] for one in _FIELD.finditer(_outside(self._code, 1))}
        changing = {name for name in fields if self.can_change(name)}
        for found in self._methods:
            body = self._code[found.end() : end_of(self._code, found.end())]
            if changing & set(_NAME.findall(body)) and re.search(r"\breturn\b", body):
                yield found["name"]

    def _join(self, name: str, others: Iterable[str]) -> None:
        if not self.can_change(name):
            return
        for other in others:
            one, two = self.head(name), self.head(other)
            self._heads[one] = self._heads.setdefault(two, two)

    def head(self, name: str) -> str:
        """Returns the name that represents the group of a name."""
        while (above := self._heads.setdefault(name, name)) != name:
            name = above
        return name


def parts_of(text: str) -> list[str]:
    """Splits the text between two brackets at its outermost commas."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{<") - (sign in ")]}>")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _outside(code: str, depth: int) -> str:
    """Returns a text in which code in more than `depth` blocks is replaced by blanks."""
    kept, at = [], 0
    for sign in code:
        at -= sign == "}"
        kept.append(sign if at <= depth else " ")
        at += sign == "{"
    return "".join(kept)


def end_of(code: str, start: int) -> int:
    """Returns the position of the bracket that closes the one before a position."""
    depth = 1
    for at in range(start, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    return len(code)

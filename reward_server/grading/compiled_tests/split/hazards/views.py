"""Finds tests in Java that pass views, or write to an object that a view could show.

A view that crossed, such as a `subList` or a `keySet`, is a separate container in the tests'
program. If the tests write to the view, its container changes only with the next call. So tests are
judged in one program if they write to an object that crossed, and then read another one that
crossed. Tests may change a container as a whole and then only use its own name. A view that the
tests made does not show changes made in the solution's program. So tests that pass a view are
judged in one program, too. Following too many names costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reward_server.grading.compiled_tests.split.hazards.holding import (
    Names,
    end_of,
    own_calls,
    without_own_names,
)

_CHANGES = (
    r"(?:add\w*|put\w*|set\w*|remove\w*|clear|push|pop|poll\w*|offer\w*|retain\w*|replace\w*|sort"
    r"|compute\w*|merge|fill|drain\w*|take\w*)"
)
_INSIDE = r"\((?:[^()]|\([^()]*\))*\)"
_CHAIN = rf"(?:\s*\.\s*\w+\b(?:\s*{_INSIDE})?|\s*\[[^\]]*\])*?"
_ITEM = r"\s*\[[^\]]*[^\]\s][^\]]*\]"
_SET = r"\s*(?:[-+*/%&|^]?=(?!=)|\+\+|--)"
_WRITTEN = re.compile(
    rf"(?<![\w.])(?P<name>[A-Za-z_]\w*)(?P<chain>{_CHAIN})"
    rf"(?:\s*\.\s*{_CHANGES}\s*\(|{_ITEM}{_SET})"
    rf"|(?:\+\+|--)\s*(?P<counted>[A-Za-z_]\w*){_CHAIN}{_ITEM}"
)
_HELPED = re.compile(
    r"\b(?:Collections|Arrays)\s*\.\s*(?:sort|reverse|shuffle|swap|fill|rotate|replaceAll|addAll"
    rf"|setAll|parallel\w+|copy)\s*\(\s*(?P<name>[A-Za-z_]\w*)(?P<chain>{_CHAIN})\s*[,)]"
)
_HANDED = re.compile(rf"::\s*{_CHANGES}\b")
_BEHIND = re.compile(rf"{_CHAIN}(?:\s*\.\s*{_CHANGES}\s*\(|{_ITEM}{_SET})")
_LAMBDA = re.compile(r"\(\s*\(?\s*(\w+)[\w\s,]*\)?\s*->")
# Arrays of primitive values, which have no views.
_PRIMITIVE = re.compile(
    r"\b(?:int|long|double|float|char|boolean|byte|short)\s*(?:\[\s*\]\s*)+(\w+)"
)
# An expression that makes a view of a variable's container or array, up to its opening bracket.
_VIEW = re.compile(
    rf"(?<![\w.])[a-z_]\w*(?:\s*{_INSIDE})?{_CHAIN}\s*\.\s*(?:subList|(?:head|tail|sub)(?:Set|Map)"
    r"|descending(?:Set|Map|KeySet)|navigableKeySet|keySet|values|entrySet|reversed"
    r"|sequenced\w+|(?:first|last|floor|ceiling|higher|lower)Entry)\s*\("
    r"|\bCollections\s*\.\s*(?:synchronized|unmodifiable|checked)\w+\s*\((?=\s*[a-z_]\w*\s*[,)])"
    r"|\bCollections\s*\.\s*(?:newSetFromMap|asLifoQueue)\s*\("
    r"|\bArrays\s*\.\s*asList\s*\((?=\s*[a-z_]\w*\s*\))"
)
_SHOWING = re.compile(rf"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*=\s*(?={_VIEW.pattern})")
_ENTRIES = re.compile(r"\bfor\s*\([^;:()]*?(?P<name>\w+)\s*:(?!:)[^;{]*\bentrySet\s*\(\s*\)\s*\)")
_COPYING = re.compile(r"(?:\bnew\s+\w+\s*(?:<[^()]*>)?|\bcopyOf)\s*\(\s*$")
_CALL = re.compile(r"(?:\b\w+\s*\.\s*)?\b\w+\s*\($")
_NAMED = r"(?<![\w.])(?:{})\b(?!\s*(?:\(|=(?!=)))"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Write:
    """A change of an object, or of a part of it.

    Args:
        at: the position where the expression begins.
        end: the position where the method's name or the assignment ends.
        name: the first name of the expression.
        is_whole: whether the object of that name is changed, and no part of it.
    """

    at: int
    end: int
    name: str
    is_whole: bool


def writes_to_views(tests: str, method: str) -> bool:
    """Returns True if tests write to an object that crossed, and read it by another name.

    Args:
        tests: a text in Java.
        method: the name of the solution's method.
    """
    code = without_own_names(tests)
    calls = own_calls(code, method)
    starts = {call.start for call in calls}
    writes = [one for one in _writes(code) if one.end not in starts]
    if any(_BEHIND.match(code, call.stop + 1) for call in calls):
        return True
    crossing = _HANDED.search(code) is not None
    if not writes and not crossing:
        return False
    names = Names(code, method)
    answered = _answered(code, calls, names)
    given = {
        (call.stop, one) for call in calls for one in names.within(code[call.start : call.stop])
    }
    primitive = set(_PRIMITIVE.findall(code))
    crossed = [(at, one) for at, one in sorted({*answered, *given}) if one not in primitive]
    if crossing and crossed:
        return True
    found = _Crossed(code, names, calls, crossed, {one for _, one in answered})
    return any(
        found.shows(one)
        for one in writes
        if names.can_change(one.name) and one.name not in primitive
    )


def _writes(code: str) -> Iterator[_Write]:
    for pattern in (_WRITTEN, _HELPED):
        for found in pattern.finditer(code):
            name = found["name"] or found.groupdict().get("counted") or ""
            whole = found["name"] is not None and not found["chain"].strip()
            yield _Write(at=found.start(), end=found.end(), name=name, is_whole=whole)


def _answered(code: str, calls: list[range], names: Names) -> set[tuple[int, str]]:
    """Returns the names that are assigned the results of calls, and the positions of the calls'
    ends."""
    found = set[tuple[int, str]]()
    for call in calls:
        begin = max(code.rfind(sign, 0, call.start) for sign in ";{}") + 1
        before = _CALL.sub("", code[begin : call.start])
        for name in re.findall(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=(?!=)|:(?!:))", before):
            found.add((call.stop, name))
        end = code.find(";", call.stop)
        found |= {(call.stop, one) for one in _LAMBDA.findall(code[call.stop : end + 1])}
        for put in re.findall(r"([A-Za-z_]\w*)\s*\.\s*\w+\s*\(", before):
            found.add((call.stop, put))
        found |= {(call.stop, one) for one in names.parameters_at(begin, begin + len(before))}
    return {(at, one) for at, one in found if names.can_change(one)}


def hands_views(tests: str, method: str) -> bool:
    """Returns True if tests pass a view of a variable's container to the solution.

    Args:
        tests: a text in Java.
        method: the name of the solution's method.
    """
    code = without_own_names(tests)
    names = {found["name"] for found in _ENTRIES.finditer(code)}
    names |= {
        found["name"]
        for found in _SHOWING.finditer(code)
        if any(one.start() == found.end() for one in _views(code, found.end(), len(code)))
    }
    while more := _aliases(code, names) - names:
        names |= more
    bare = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b(?!\s*[.(\[])")
    return any(
        any(_views(code, call.start, call.stop))
        or any(
            not _COPYING.search(code[call.start : one.start()])
            for one in bare.finditer(code, call.start, call.stop)
        )
        for call in own_calls(code, method)
    )


def _views(code: str, start: int, stop: int) -> Iterator[re.Match[str]]:
    """Yields the expressions between two positions that make a view.

    Views that are copied at once, or on which a method is called at once, are left out.
    """
    for found in _VIEW.finditer(code, start, stop):
        behind = code[end_of(code, found.end()) + 1 :].lstrip()[:1]
        if behind != "." and not _COPYING.search(code[: found.start()]):
            yield found


def _aliases(code: str, names: set[str]) -> set[str]:
    """Returns further names of the objects that have these names."""
    known = "|".join(map(re.escape, names)) or "(?!)"
    return set(re.findall(rf"(?<![\w.])([A-Za-z_]\w*)\s*=\s*(?:{known})\s*[;,]", code))


class _Crossed:
    """The objects that crossed.

    Args:
        code: the tests, without string literals and comments.
        names: the names of objects in the code.
        calls: the positions of the arguments of calls of the solution.
        crossed: names of objects that crossed, each with the position of the call's end.
        answered: the names of results of calls.
    """

    def __init__(
        self,
        code: str,
        names: Names,
        calls: list[range],
        crossed: list[tuple[int, str]],
        answered: set[str],
    ) -> None:
        self._code = code
        self._names = names
        self._crossed = crossed
        self._answered = answered
        self._loops = names.loops
        heads = {names.head(name) for _, name in crossed}
        known = {one for one in names.known if names.head(one) in heads}
        known |= {name for _, name in crossed}
        pattern = _NAMED.format("|".join(sorted(map(re.escape, known))) or "(?!)")
        self._looks = [
            (one.start(), one[0])
            for one in re.finditer(pattern, code)
            if not any(one.start() in call for call in calls)
        ]

    def shows(self, write: _Write) -> bool:
        """Returns True if a write may be visible by another name."""
        head = self._names.head(write.name)
        before = [at for at, one in self._crossed if self._names.head(one) == head]
        is_helper = self._names.is_in_helper(write.at)
        before = [
            at for at in before if is_helper or at < write.at or self._comes_again(at, write.at)
        ]
        if not before or (write.is_whole and self._is_made_anew(write, max(before))):
            return False
        if not (
            write.is_whole and (write.name in self._answered or self._names.is_flat(write.name))
        ):
            return True
        elsewhere = {
            one
            for at, one in self._crossed
            if is_helper or at < write.at or self._comes_again(at, write.at)
        }
        heads = {self._names.head(one) for one in elsewhere}
        return any(
            one != write.name
            and self._names.head(one) in heads
            and (is_helper or at > write.at or self._comes_again(write.at, at))
            for at, one in self._looks
        )

    def _is_made_anew(self, write: _Write, since: int) -> bool:
        made = rf"(?<![\w.]){re.escape(write.name)}\s*=\s*new\b"
        return since < write.at and re.search(made, self._code[since : write.at]) is not None

    def _comes_again(self, first: int, second: int) -> bool:
        """Returns True if a loop contains both positions, so that each can follow the other."""
        return any(first in loop and second in loop for loop in self._loops)

"""Finds Go functions whose pointers or slices could refer to a part of other memory.

The target of a pointer or a slice crosses with a number of its own. The target may be an element or
a field of another value that crosses, or an array inside one. Then the pointer or slice would refer
to a copy. Such tests are judged in one program. The types of the prompt decide, so that a
completion cannot. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reward_server.grading.compiled_tests.split.text.words import UngrammaticalError, Words
from reward_server.languages.go_source import Declaration

_WORD = re.compile(r"[A-Za-z_]\w*")
_TOKEN = re.compile(r"\w+|\.\.\.|[^\w\s]")
_ANY = "interface {}"
_LETTERS = {"byte": "uint8", "rune": "int32", "any": _ANY}
# What shows that tests look for a pointer in an interface.
_ASSERTS = re.compile(r"\.\s*\(\s*\*|\bcase\s+\*")


@dataclass(frozen=True, slots=True)
class _Type:
    """A type.

    Args:
        kind: "name", "pointer", "slice", "array", "map", "struct" or "interface".
        parts: the types that it is made of.
        name: of a type that has one.
    """

    kind: str
    parts: tuple[_Type, ...] = ()
    name: str = ""


class _Parser(Words):
    """Reads types."""

    def whole(self) -> _Type:
        """Reads one type, with nothing behind it."""
        if self.next == "=":
            self.take()
        found = self._type()
        while self.next in ("\n", ";"):
            self.take()
        self.end()
        return found

    def _type(self) -> _Type:
        word = self.take()
        if word == "...":
            return _Type("slice", (self._type(),))
        if word == "*":
            return _Type("pointer", (self._type(),))
        if word == "(":
            inner = self._type()
            self.take(")")
            return inner
        if word == "[":
            return self._sequence()
        if word == "map":
            self.take("[")
            key = self._type()
            self.take("]")
            return _Type("map", (key, self._type()))
        if word == "struct":
            return _Type("struct", tuple(self._fields()))
        if word == "interface":
            self.take("{")
            while self.take() != "}":
                pass
            return _Type("interface")
        if not _WORD.fullmatch(word) or word in ("chan", "func") or self.next in (".", "["):
            raise UngrammaticalError
        return _Type("name", name=_LETTERS.get(word, word))

    def _sequence(self) -> _Type:
        kind = "slice" if self.next == "]" else "array"
        while self.take() != "]":
            pass
        return _Type(kind, (self._type(),))

    def _fields(self) -> Iterator[_Type]:
        self.take("{")
        while True:
            while self.next in ("\n", ";"):
                self.take()
            if self.next == "}":
                self.take()
                return
            yield from self._field()
            if self.next[:1] in ('"', "`"):
                self.take()

    def _field(self) -> Iterator[_Type]:
        if self.next == "*":
            yield self._type()
            return
        names = [self.take()]
        if self.next in ("\n", ";", "}") or self.next[:1] in ('"', "`"):
            yield _Type("name", name=names[0])
            return
        while self.next == ",":
            self.take()
            names.append(self.take())
        of = self._type()
        yield from [of] * len(names)


@dataclass(kw_only=True)
class _Memory:
    """What the values of some types may lie in.

    Args:
        known: the prompt's types by name.
    """

    known: Mapping[str, _Type | None]
    pointed: set[_Type] = field(default_factory=set)
    sliced: set[_Type] = field(default_factory=set)
    parts: set[_Type] = field(default_factory=set)
    arrays: set[_Type] = field(default_factory=set)
    has_interface: bool = False
    _seen: set[tuple[_Type, bool]] = field(default_factory=set)

    @property
    def is_shared_in_part(self) -> bool:
        """Whether a pointer or a slice could lead into a part of other memory."""
        sliced = not self.sliced.isdisjoint(self.arrays)
        return sliced or not self.pointed.isdisjoint(self.parts)

    def visit(self, one: _Type, *, lies: bool) -> None:
        """Looks at a type.

        Args:
            one: the type.
            lies: whether a value of this type is in shared memory, and is no copy.

        Raises:
            UngrammaticalError: nothing is known of a type.
        """
        if (one, lies) in self._seen:
            return
        self._seen.add((one, lies))
        if one.kind == "name" and one.name in self.known:
            inner = self.known[one.name]
            if inner is None:
                raise UngrammaticalError
            self.visit(inner, lies=lies)
        elif one.kind == "pointer":
            self.pointed.add(self._canonical(one.parts[0]))
            self.visit(one.parts[0], lies=True)
        elif one.kind == "slice":
            self.sliced.add(self._canonical(one.parts[0]))
            self._part(one.parts[0])
        elif one.kind in ("array", "struct") and lies:
            if one.kind == "array":
                self.arrays.add(self._canonical(one.parts[0]))
            for part in one.parts:
                self._part(part)
        else:
            self.has_interface |= one.kind == "interface" or one.name in (_ANY, "error")
            for part in one.parts:
                self.visit(part, lies=False)

    def _part(self, one: _Type) -> None:
        self.parts.add(self._canonical(one))
        self.visit(one, lies=True)

    def _canonical(self, one: _Type) -> _Type:
        """Follows the name of a type that is defined as another's."""
        seen = {one}
        while one.kind == "name":
            inner = self.known.get(one.name)
            if inner is None or inner.kind == "struct" or inner in seen:
                break
            one = inner
            seen.add(one)
        return one


def leads_into_parts(types: Sequence[str], before: Sequence[Declaration], tests: str) -> bool:
    """Returns True if pointers or slices of a function could lead into a part of other memory.

    Args:
        types: the types of the function's parameters and results.
        before: the declarations of the prompt before the function.
        tests: the tests that call the function.
    """
    known = {one.name: _defined(one) for one in before if one.kind == "type"}
    memory = _Memory(known=known)
    try:
        for one in types:
            memory.visit(_Parser(_TOKEN.findall(one)).whole(), lies=False)
        if memory.has_interface:
            if _ASSERTS.search(tests):
                return True
            for name in known:
                if re.search(rf"\]\s*{re.escape(name)}\b", tests):
                    memory.visit(_Type("slice", (_Type("name", name=name),)), lies=False)
    except UngrammaticalError:
        return True
    return memory.is_shared_in_part


def _defined(one: Declaration) -> _Type | None:
    try:
        return _Parser([word.text for word in one.words[2:]]).whole()
    except UngrammaticalError:
        return None

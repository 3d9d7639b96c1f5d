"""Parses C++ signatures and records, by a strict grammar.

A type consists of words, names with arguments in angle brackets, `const`, `&` and `*`. Attributes,
macro calls, arrays, callbacks and expressions are not accepted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.grading.compiled_tests.split.text.blocks import Statement
from reward_server.grading.compiled_tests.split.text.words import (
    UngrammaticalError,
    Words,
    word_set,
)

_WORD = re.compile(r"[A-Za-z_]\w*")
_BUILTIN = word_set(
    """void bool char short int long float double signed unsigned wchar_t char16_t char32_t"""
)
_BEFORE = frozenset(("static", "inline", "constexpr", "virtual"))
_AFTER = frozenset(("const", "noexcept", "override", "final"))
_NO_TYPES = word_set(
    """auto decltype typename struct class enum union operator template return if for while switch
    else do try catch new delete volatile register mutable this throw explicit friend"""
)
_STANDARD = word_set(
    """string wstring string_view vector deque list array map multimap unordered_map set multiset
    unordered_set unordered_multiset pair tuple optional size_t
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t ptrdiff_t"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a function.

    Args:
        name: the name of the function.
        result: the type of its result.
        parameters: the types of the parameters.
        names: the names of the parameters.
        is_static: whether it is declared `static`.
    """

    name: str
    result: str
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    is_static: bool

    @property
    def type(self) -> str:
        """The function's type."""
        return f"{self.result}({', '.join(self.parameters)})"


def parse_signature(head: Sequence[str]) -> Signature | None:
    """Parses the words of a function before its body; returns None if they are no signature."""
    try:
        return _Words(head).signature()
    except UngrammaticalError:
        return None


def parse_fields(statement: Statement) -> tuple[str, tuple[str, ...]] | None:
    """Returns the names of a struct and of its fields; None if it is of another form."""
    kind, *name = statement.head or ("",)
    if kind != "struct" or len(name) != 1 or not statement.block:
        return None
    try:
        return name[0], tuple(_fields(statement.block))
    except UngrammaticalError:
        return None


def _fields(block: Sequence[str]) -> list[str]:
    """Parses the fields; functions, whose blocks come after a bracket, are left out."""
    found: list[str] = []
    for words in _members(block):
        if "(" in words[: words.index("=") if "=" in words else None]:
            continue
        found += _Words(words).fields()
    return found


def _members(block: Sequence[str]) -> list[list[str]]:
    """Splits the content of a struct at its semicolons and after the bodies of its functions."""
    members: list[list[str]] = [[]]
    depth = 0
    for word in block:
        depth += (word in "({") - (word in ")}") if len(word) == 1 else 0
        if depth == 0 and (word == ";" or (word == "}" and "(" in members[-1])):
            members.append([])
        else:
            members[-1].append(word)
    return [member for member in members if member]


class _Words(Words):
    """Parses declarations."""

    def signature(self) -> Signature:
        before = self.take_all(_BEFORE)
        result, name = self._type(), self._name()
        types, names = self._parameters()
        self.take_all(_AFTER)
        self.end()
        return Signature(
            name=name,
            result=result,
            parameters=tuple(types),
            names=tuple(names),
            is_static="static" in before,
        )

    def fields(self) -> list[str]:
        self._type()
        names = [self._name()]
        self._initial()
        while self.next == ",":
            self.take()
            names.append(self._name())
            self._initial()
        self.end()
        return names

    def _name(self) -> str:
        word = self.take()
        if not _WORD.fullmatch(word) or word in _NO_TYPES | _BUILTIN | {"const"}:
            raise UngrammaticalError
        return word

    def _parameters(self) -> tuple[list[str], list[str]]:
        self.take("(")
        types: list[str] = []
        names: list[str] = []
        while self.next != ")":
            if types:
                self.take(",")
            types.append(self._type())
            if types == ["void"] and self.next == ")":
                types.clear()
                break
            names.append(self._name())
            self._initial()
        self.take(")")
        return types, names

    def _initial(self) -> None:
        """Skips an initial value, which stays in the text."""
        if self.next != "=":
            return
        depth = 0
        while self.next and (depth > 0 or self.next not in (",", ")")):
            word = self.take()
            depth += (word in ("(", "{", "[", "<")) - (word in (")", "}", "]", ">"))

    def _type(self) -> str:
        is_constant = self._constant()
        base = self._builtin() if self.next in _BUILTIN else self._named()
        is_constant = self._constant() or is_constant
        text = f"const {base}" if is_constant else base
        while self.next in ("*", "&"):
            mark = self.take()
            if mark == "*" and text != "const char":
                raise UngrammaticalError
            text = f"{text} {mark}"
            self._constant()
        return text

    def _constant(self) -> bool:
        return bool(self.take_all(("const",)))

    def _builtin(self) -> str:
        return " ".join(self.take_all(_BUILTIN))

    def _named(self) -> str:
        text, is_first = "", True
        if self.next == "::":
            text, is_first = self.take(), False
        while True:
            word = self._name()
            text += f"std::{word}" if is_first and word in _STANDARD else word
            is_first = False
            if self.next == "<":
                text += self._arguments()
            if self.next != "::":
                return text
            text += self.take()

    def _arguments(self) -> str:
        self.take("<")
        arguments = []
        while True:
            is_number = self.next.isdecimal()
            arguments.append(self.take() if is_number else self._type())
            if self.take(",", ">") == ">":
                return f"<{', '.join(arguments)}>"

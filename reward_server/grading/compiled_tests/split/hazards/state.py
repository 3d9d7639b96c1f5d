"""Finds state that a prompt in C++ or Java keeps while it runs.

Each program would have a copy of the state, and a change in one would not show in the other. A
prompt may define types, functions that keep nothing from call to call, and constants whose type is
primitive or a text. Everything else is state. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from reward_server.grading.compiled_tests.split.text.blocks import Statement, members
from reward_server.grading.compiled_tests.split.text.cpp_types import parse_signature
from reward_server.grading.compiled_tests.split.text.words import word_set

_WORD = re.compile(r"[A-Za-z_]\w*")
_ACCESS = frozenset(("public", "private", "protected"))
_CPP_TYPES = frozenset(("struct", "class", "union", "enum"))
_CPP_SAYS = frozenset(("using", "typedef", "static_assert", "friend"))
_CPP_KEEPS = frozenset(("static", "thread_local", "__thread", "extern"))
_CPP_PLAIN = word_set(
    """std :: const constexpr static inline bool char short int long float double signed unsigned
    wchar_t char16_t char32_t size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t
    uint32_t uint64_t string string_view"""
)
# Words that a macro could add to a text without the text showing them.
_CPP_MACRO = re.compile(
    r"(?m)^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*?"
    r"(?:\b(?:static|thread_local|__thread|extern|namespace|struct|class)\b|;[ \t]*$)"
)
_JAVA_TYPES = frozenset(("class", "record", "enum", "interface"))
_JAVA_MODIFIERS = word_set(
    """public protected private static final synchronized strictfp abstract native default sealed"""
)
_JAVA_PLAIN = word_set("boolean byte char short int long float double String")
_MAKES = frozenset(("{", "[", "new", "->", "=>", "?", "&"))


# ----------------------------------------------------------------------------------------- C++


def keeps_state_cpp(prompt: str) -> bool:
    """Returns True if a macro of a prompt could make a state."""
    return _CPP_MACRO.search(prompt) is not None


def is_state_cpp(statement: Statement, *, in_type: bool = False) -> bool:
    """Returns True if a statement outside of functions makes a state.

    Args:
        statement: a statement of a namespace or a type.
        in_type: whether each object has a copy of the fields that it declares without `static`.
    """
    head = without_access(statement.head)
    head = _without_template(head)
    if not head or head[0] in _CPP_SAYS:
        return False
    if "namespace" in head[:2]:
        return "=" not in head and any(map(is_state_cpp, members(statement.block or ())))
    if head[0] in _CPP_TYPES and (statement.block is not None or len(head) == 2):
        parts = () if head[0] == "enum" else members(statement.block or ())
        return any(is_state_cpp(one, in_type=True) for one in parts)
    if _is_called(head):
        return _is_state_of_function(head, statement, in_type=in_type)
    return not (in_type and not _CPP_KEEPS & {*head}) and not _is_constant_cpp(head)


def without_access(head: tuple[str, ...]) -> tuple[str, ...]:
    """Returns a statement's words without access modifiers."""
    while len(head) > 1 and head[0] in _ACCESS and head[1] == ":":
        head = head[2:]
    return head


def _without_template(head: tuple[str, ...]) -> tuple[str, ...]:
    """Returns a statement's words without the head of a template."""
    while head[:2] == ("template", "<"):
        depth = 0
        for index, word in enumerate(head):
            depth += word.count("<") - word.count(">") if set(word) <= {"<", ">"} else 0
            if index and depth == 0 and ">" in word:
                head = head[index + 1 :]
                break
        else:
            return ()
    return head


def _is_called(head: tuple[str, ...]) -> bool:
    """Returns True if a bracket comes before an initial value, as in a function's head."""
    return "(" in head and ("operator" in head or "=" not in head[: head.index("(")])


def _is_state_of_function(head: tuple[str, ...], statement: Statement, *, in_type: bool) -> bool:
    if statement.block is not None:
        return bool(_CPP_KEEPS & {*statement.block})
    if in_type and ("=" in head or head[1] == "(" or head[0] == "~"):
        return False  # how objects are made and end
    return parse_signature(head) is None


def _is_constant_cpp(head: tuple[str, ...]) -> bool:
    at = head.index("=") if "=" in head else len(head)
    declared, value = head[:at], head[at:]
    is_fixed = "constexpr" in declared or ("const" in declared and "*" not in declared)
    kind = [word for word in declared[:-1] if word not in ("*",)]
    is_text = "*" not in declared or "char" in declared
    return is_fixed and is_text and _CPP_PLAIN.issuperset(kind) and _is_plain(value)


# ---------------------------------------------------------------------------------------- Java


def is_state_java(statement: Statement) -> bool:
    """Returns True if a statement outside of classes makes a state."""
    head = statement.head
    if not head or head[0] in ("import", "package"):
        return False
    kind = next((word for word in head if word in _JAVA_TYPES), "")
    return not kind or _is_state_of_type(kind, statement)


def is_member_state_java(statement: Statement, *, kind: str, in_each: bool = False) -> bool:
    """Returns True if a member of a class makes a state.

    Args:
        statement: a statement of the class.
        kind: the kind of the class, such as "enum".
        in_each: whether fields that are not `static` belong to each object, which crosses as a
            value.
    """
    head = _without_annotations(statement.head)
    words = [word for word in head if word not in _JAVA_MODIFIERS]
    if not head and statement.block is None:
        return False
    if words and (words[0] in _JAVA_TYPES) and statement.block is not None:
        return _is_state_of_type(words[0], statement)
    if _is_called(head):
        return "static" in (statement.block or ()) or (
            statement.block is None and head[-1] != ")" and "throws" not in head
        )
    if statement.block is not None:  # an initial block, or a record's constructor
        return not (kind == "record" and len(words) == 1 and "static" not in head)
    if in_each and "static" not in head:
        return False
    return not _is_constant_java(head, words, is_fixed=kind == "interface")


def _is_state_of_type(kind: str, statement: Statement) -> bool:
    block = statement.block or ()
    if kind == "enum":
        at = block.index(";") if ";" in block else len(block)
        if "{" in block[:at]:
            return True
        block = block[at + 1 :]
    in_each = kind in ("class", "record")
    return any(is_member_state_java(one, kind=kind, in_each=in_each) for one in members(block))


def _without_annotations(head: tuple[str, ...]) -> tuple[str, ...]:
    """Returns a statement's words without annotations that consist of a name only."""
    while "@" in head[:-1]:
        at = head.index("@")
        if head[at + 2 : at + 3] == ("(",):
            return ("@", "static")  # whatever it is
        head = head[:at] + head[at + 2 :]
    return head


def _is_constant_java(head: tuple[str, ...], words: Sequence[str], *, is_fixed: bool) -> bool:
    return (
        ("final" in head or is_fixed)
        and len(words) > 1
        and words[0] in _JAVA_PLAIN
        and _is_plain(words[1:])
    )


def _is_plain(value: Sequence[str]) -> bool:
    """Returns True if a value is computed without a call, and is no container."""
    calls = any(word == "(" and _WORD.fullmatch(before) for before, word in pairwise(value))
    return not calls and not _MAKES & {*value}

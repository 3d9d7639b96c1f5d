"""Splits C++ test programs; see the package.

The solution completes the function at the end of the prompt. In the tests' program its body is a
stub; the definitions before it stay unchanged in both programs. The support files serialise types
by their shape. A type without a serialiser does not compile, and then the task is not split.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib.resources import files

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.cpp_loop import Loop
from reward_server.grading.compiled_tests.split.text.blocks import (
    Block,
    Statement,
    open_blocks,
    unclosed,
    unopened,
)
from reward_server.grading.compiled_tests.split.text.cpp_types import (
    Signature,
    parse_fields,
    parse_signature,
)
from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.crossing import Solution

_OBJECT = "splitwire_object"
_ACCESS = frozenset(("public", "private", "protected"))
_REAL = re.compile(r"\b(?:float|double)\b")
# The library reports an index, a length or an iterator that is out of range; see also `cpp.toml`.
_CHECKED = "#undef _GLIBCXX_DEBUG\n#define _GLIBCXX_DEBUG 1\n"
_DECLARES = word_set(
    """using typedef template struct class enum union namespace static_assert friend extern
    const constexpr"""
)
# Signatures of these words alone need no `split_types.hpp`.
_USUAL = word_set(
    """void bool char short int long float double signed unsigned wchar_t char16_t char32_t const
    size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t std string
    wstring vector deque list map multimap unordered_map unordered_multimap set multiset
    unordered_set unordered_multiset pair"""
)
# These headers are precompiled in images and on prepared hosts, for programs that include one of
# them first. The first one of this list that a solution includes saves most.
_PRECOMPILED = ("bits/stdc++.h", "iostream", "string", "vector")
# A comment that may go on in the next line is none of this text.
_FIRST_INCLUDES = re.compile(
    r"""(?x) (?: \s | // (?: [^\n\\?] | \? (?! \?/ ) )* \n | /\* [\s\S]*? \*/
    | \# [ \t]* include [ \t]* < [\w./+]+ > (?= \s | /[/*] ) )*+"""
)
_INCLUDED = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/|<([\w./+]+)>")
_MACRO = re.compile(r"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)")


def split_cpp(task: Task) -> Split | None:
    """Splits a test program whose prompt ends in an open function."""
    blocks = open_blocks(task.prompt, task.language)
    if not blocks or len(blocks) < 2:
        return None
    owner = _owner(blocks)
    signature = parse_signature(without_access(blocks[-1].head))
    if owner is None or signature is None or blocks[-1].statements:
        return None
    if "unordered_" in signature.type:  # their order would change as they cross
        return None
    if any(map(_is_shared, (signature.result, *signature.parameters))):
        return None
    return CppSplit(task=task, blocks=tuple(blocks), owner=owner, signature=signature)


def without_access(head: tuple[str, ...]) -> tuple[str, ...]:
    """Returns a statement's words without access modifiers."""
    while len(head) > 1 and head[0] in _ACCESS and head[1] == ":":
        head = head[2:]
    return head


def _owner(blocks: list[Block]) -> tuple[str, ...] | None:
    """Returns the names around the function, a class with "()"; None if one is no name."""
    names = []
    for index, block in enumerate(blocks[1:-1], 1):
        kind, *name = without_access(block.head) or ("",)
        is_class = kind in ("class", "struct") and index == len(blocks) - 2
        if len(name) != 1 or not (is_class or kind == "namespace"):
            return None
        if is_class and any(_declares_type(one) for one in block.statements):
            return None
        names.append(f"{name[0]}()" if is_class else name[0])
    return tuple(names)


def _precompiled(solution: str) -> str:
    """Returns a line that includes one of the headers that the solution itself includes first.

    Headers of the standard library may be included in any order and more than once. Nothing but
    comments stands before them, so that no macro can change what they mean.
    """
    found = _FIRST_INCLUDES.match(solution)
    names = set(_INCLUDED.findall(found[0])) if found else set()
    return next((f"#include <{name}>\n" for name in _PRECOMPILED if name in names), "")


def _is_shared(declared: str) -> bool:
    """Returns True if a function and its caller can change the same value."""
    return declared.endswith("&") and not declared.startswith("const ")


def _declares_type(statement: Statement) -> bool:
    head = without_access(statement.head)
    return bool(head) and head[0] in _DECLARES - {"const", "constexpr"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CppSplit:
    """A C++ test program that was split.

    Args:
        task: the test program.
        blocks: the blocks that the prompt leaves open.
        owner: the names of the namespaces around the function, and of its class with "()".
        signature: the signature of the function.
    """

    task: Task
    blocks: tuple[Block, ...]
    owner: tuple[str, ...]
    signature: Signature

    @property
    def solution(self) -> Solution:
        """See `Split.solution`."""
        owner = self._class.rpartition("::")[2]
        return Solution(
            names=frozenset((self.signature.name,)),
            owner=owner,
            copies=not any(one.endswith("&") for one in self.signature.parameters),
            is_plain=True,
            is_whole=_REAL.search(self.signature.result) is None,
        )

    @property
    def before(self) -> str:
        """See `Split.before`."""
        closing = ["}", *["};"] * (len(self.blocks) - 2)]
        return self.task.prompt + "".join(closing[: len(closing) - self._left_open])

    @property
    def stubs(self) -> Source:
        """The prompt with a stub as its open function."""
        inside = self.blocks[-1].inside
        outer = self.blocks[1].start
        head = self.task.prompt[:outer] + self._renamed
        text = (
            f"{_CHECKED}{self._includes('split_stubs.hpp')}"
            f'#line 1 "prompt.cpp"\n{head}{self._records}'
            f"{self.task.prompt[outer:inside]}\n{self._body}\n{self._closing}\n"
        )
        return Source(
            text=text, files=_support(*self._headers, "split_stubs.hpp"), library=_library()
        )

    def serving(self, solution: str) -> Source:
        """The solution's program: the solution, followed by a loop that answers calls."""
        missing = min(unclosed(solution, self.task.language), self._left_open)
        loop = Loop(
            name=self._name,
            class_name=self._class if self._takes_object else "",
            signature=self.signature,
        )
        first = _precompiled(solution)
        text = (
            f"{first}{self._includes()}#define main splitwire_solution_main\n"
            '#line 1 "solution.cpp"\n'
            f'{solution}\n{"};" * missing}\n#line 1 "loop.cpp"\n{self._forgotten(solution)}'
            f'#include "split_loop.hpp"\n{self._records}{loop.text}'
        )
        files = _support(*self._headers, "split_loop.hpp")
        return Source(text=text, files=files, library=_library())

    @property
    def _headers(self) -> tuple[str, ...]:
        """The names of the headers that both programs need."""
        is_usual = not self._records and _USUAL.issuperset(re.findall(r"\w+", self._types))
        return ("split.hpp",) if is_usual else ("split.hpp", "split_types.hpp")

    def _includes(self, *more: str) -> str:
        return "".join(f'#include "{name}"\n' for name in (*self._headers, *more))

    @property
    def _types(self) -> str:
        return " ".join((self.signature.result, *self.signature.parameters))

    def _forgotten(self, solution: str) -> str:
        """Ends a solution's macros, except those for names that the loop uses."""
        named = " ".join((self._name, self.signature.type, self._records))
        kept = {*re.findall(r"\w+", named)}
        macros = dict.fromkeys(_MACRO.findall(solution))
        return "".join(f"#undef {one}\n" for one in macros if one not in kept)

    @property
    def _left_open(self) -> int:
        """The number of the prompt's blocks that the tests close."""
        return unopened(self.task.tests, self.task.language)

    @property
    def _class(self) -> str:
        """The class with its namespaces, or "" for a function."""
        is_method = bool(self.owner) and self.owner[-1].endswith("()")
        return "::".join(("", *self.owner)).removesuffix("()") if is_method else ""

    @property
    def _renamed(self) -> str:
        """Gives the stub another name, so that no function of the library is called for it."""
        name = self.signature.name
        is_scoped = re.search(rf"(?:::|\.|->)\s*{name}\b", self.task.tests) is not None
        return "" if self.owner or is_scoped else f"\n#define {name} splitwire_{name}\n"

    @property
    def _takes_object(self) -> bool:
        return bool(self._class) and not self.signature.is_static

    @property
    def _name(self) -> str:
        return "::".join(("", *self.owner, self.signature.name)).replace("()", "")

    @property
    def _body(self) -> str:
        number = f"{_OBJECT}.object()" if self._takes_object else "0"
        given = "".join(f", {name}" for name in self.signature.names)
        call = f'splitwire::stub<{self.signature.type}>::call("{self._name}", {number}{given})'
        return f"    return {call};"

    @property
    def _closing(self) -> str:
        """Closes the prompt's open blocks, and opens as many blocks as the tests close.

        The new blocks are of the kind in which the declarations that follow are valid.
        """
        member = f'public: mutable splitwire::Instance {_OBJECT}{{"{self._class}"}};'
        own = [member] if self._takes_object else []
        outer = ["};"] * (len(self.blocks) - 2)
        rest = [f"inline namespace splitwire_rest_{one} {{" for one in range(self._left_open)]
        return "\n".join(("}", *own, *outer, *rest))

    @property
    def _records(self) -> str:
        parsed = (parse_fields(one) for one in self.blocks[0].statements)
        return "".join(
            f"template <> struct splitwire::record<{name}> : splitwire::truth<true> {{\n"
            f"    static constexpr splitwire::size count = {len(fields)};\n"
            f'    static const char *name() {{ return "{name}"; }}\n'
            "    template <class V, class S> static void each(V &visit, S &self) { "
            + " ".join(f'visit("{field}", self.{field});' for field in fields)
            + " }\n};\n"
            for name, fields in filter(None, parsed)
        )


@functools.cache
def _read(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


@functools.cache
def _library() -> str:
    names = ("split.hpp", "split_types.hpp", "split_stubs.hpp", "split.cpp")
    return b"".join(map(_read, names)).decode()


def _support(*names: str) -> dict[str, bytes]:
    return {name: _read(name) for name in names}

"""Splits Go test programs; see the package.

The solution completes the function at the end of the prompt. In the tests' program its body is a
stub; the definitions before it stay unchanged in both programs. Values are read and written by
reflection. A type that cannot cross ends the tests' program before its first call, and then the
task is not split.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.crossing import Solution, parsed
from reward_server.grading.crossing.text import said
from reward_server.languages.go_source import Declaration, arranged, declarations

_TYPES = word_set(
    """bool byte rune string error any int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64
    float32 float64"""
)
_PREDECLARED = _TYPES | word_set(
    """uintptr comparable true false iota nil append cap clear close complex copy delete imag len
    make max min new panic print println real recover init main _"""
)
_KINDS = word_set(
    "slice_type array_type map_type interface_type struct_type field_declaration_list"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_SUPPORT = "splitwire"
_ANY = re.compile(r"\bany\b|\binterface\b")
# Types that `split.go` knows when an interface holds them, as tests write them.
_HELD = frozenset(
    {"[]int", "[]string", "[]float64", "[]bool", "[]interface{}", "[]any"}
    | {"map[string]int", "map[string]interface{}", "map[string]any"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a function.

    Args:
        name: the name of the function.
        parameters: the types of the parameters; the last may begin with "...".
        results: the types of the results.
    """

    name: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def stub(self) -> str:
        """The function as a stub, which calls the other program."""
        taken = ", ".join(f"a{index} {one}" for index, one in enumerate(self.parameters))
        given = ", ".join(f"r{index} {one}" for index, one in enumerate(self.results))
        arguments = ", ".join(f"&a{index}" for index in range(len(self.parameters)))
        results = ", ".join(f"&r{index}" for index in range(len(self.results)))
        return (
            f"func {self.name}({taken}) ({given}) {{\n"
            f'\t{_SUPPORT}.Call("{self.name}", []interface{{}}{{{arguments}}}, '
            f"[]interface{{}}{{{results}}})\n\treturn\n}}\n"
        )


def split_go(task: Task) -> Split | None:
    """Splits a test program whose prompt ends in an open function."""
    found = declarations(task.prompt)
    before, last = found[:-1], found[-1] if found else None
    if last is None or last.kind != "func" or last.depth != 1 or any(one.depth for one in before):
        return None
    types = [one.name for one in before if one.kind == "type"]
    if not all(map(_is_type, before)):
        return None
    head, inside = _head(last)
    signature = parse_signature(head, frozenset(types))
    if signature is None or inside:
        return None
    return GoSplit(
        prompt=task.prompt,
        head=task.prompt[: last.words[0].start],
        signature=signature,
        types=tuple(types),
        left_open=min(1, -min(0, sum(one.depth for one in declarations(task.tests)))),
    )


def _is_type(one: Declaration) -> bool:
    """Returns True if a declaration is of one type without type parameters."""
    if one.kind != "type":
        return True
    named = _WORD.fullmatch(one.name) is not None
    generic = len(one.words) > 4 and one.words[2].text == "[" and one.words[3].kind == "word"
    return named and not (generic and one.words[4].text != "]")


def _head(function: Declaration) -> tuple[list[str], bool]:
    """Returns the words before a function's body, and whether the body has any."""
    words = [word.text for word in function.words]
    depth, opened = 0, [0]
    for index, word in enumerate(words):
        if word == "{" and depth == 0 and words[index + 1 : index + 2] != ["}"]:
            opened.append(index)
        depth += len(word) == 1 and (word in "([{") - (word in ")]}")
    rest = [word for word in function.words[opened[-1] + 1 :] if word.kind != "end"]
    return words[1 : opened[-1]], bool(rest)


def parse_signature(words: Sequence[str], types: Collection[str]) -> Signature | None:
    """Parses the words between `func` and a function's body; returns None if they are no signature.

    Args:
        words: the words, without blanks and comments.
        types: the names of other types than Go's own.
    """
    head = " ".join(word for word in words if word != "\n")
    root = parsed("go", f"package p\nfunc {head} {{}}")
    functions = root.named_children[1:]
    if root.has_error or [one.type for one in functions] != ["function_declaration"]:
        return None
    name, taken, given, generic = (
        functions[0].child_by_field_name(field)
        for field in ("name", "parameters", "result", "type_parameters")
    )
    if name is None or generic is not None:
        return None
    word = said(name)
    is_own = word not in _PREDECLARED and not word.startswith(_SUPPORT) and word.isascii()
    parameters, results = _listed(taken, types), _listed(given, types)
    if not is_own or parameters is None or results is None:
        return None
    if any(one.startswith("...") for one in (*parameters[:-1], *results)):
        return None
    return Signature(name=word, parameters=tuple(parameters), results=tuple(results))


def _listed(node: Any, types: Collection[str]) -> list[str] | None:
    """Returns the types of parameters or results; None if one is of another form."""
    if node is None:
        return []
    found: list[str] = []
    for one in node.named_children if node.type == "parameter_list" else [node]:
        own = one.child_by_field_name("type") if one.type.endswith("parameter_declaration") else one
        if not _is_known(own, types):
            return None
        dots = "..." if one.type == "variadic_parameter_declaration" else ""
        count = len(one.children_by_field_name("name")) or 1
        found += [dots + "".join(said(own).split())] * count
    return found


def _is_known(node: Any, types: Collection[str]) -> bool:
    match node.type:
        case "type_identifier":
            return said(node) in _TYPES or said(node) in types
        case "int_literal":
            return said(node).isdecimal()
    return node.type in _KINDS and all(_is_known(one, types) for one in node.named_children)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoSplit:
    """A Go test program that was split.

    Args:
        signature: the signature of the function.
        prompt: the prompt.
        head: its text before its function.
        types: the names of the prompt's types.
        left_open: the number of the prompt's blocks that the tests close.
    """

    signature: Signature
    prompt: str = ""
    head: str = ""
    types: tuple[str, ...] = ()
    left_open: int = 0

    @property
    def solution(self) -> Solution:
        """See `Split.solution`."""
        is_open = any(_ANY.search(one) for one in self.signature.parameters)
        return Solution(
            names=frozenset((self.signature.name,)),
            copies={*self.signature.parameters} <= _TYPES - {"error", "any"},
            held=_HELD if is_open else frozenset(),
            is_plain=not {"error", "any", "interface{}"} & {*self.signature.results},
        )

    @property
    def before(self) -> str:
        """See `Split.before`."""
        return self.prompt + "}" * (1 - self.left_open)

    @property
    def stubs(self) -> Source:
        """The prompt with a stub as its open function."""
        stub = self.signature.stub
        if self.left_open:
            stub = stub.rstrip().removesuffix("}")
        text = f'{self.head}\nimport "{_SUPPORT}"\n{self._known}{stub}\n'
        return Source(text=text, library=_library())

    def serving(self, solution: str) -> Source:
        """The solution, beside a loop."""
        missing = min(max(sum(one.depth for one in declarations(solution)), 0), self.left_open)
        text = arranged(_without_main(solution) + "\n}" * missing)
        name = self.signature.name
        loop = (
            f'package main\n\nimport "{_SUPPORT}"\n\n{self._known}func main() '
            f'{{ {_SUPPORT}.Serve(map[string]interface{{}}{{"{name}": {name}}}) }}\n'
        )
        return Source(text=text, files={"split_main.go": loop.encode()}, library=_library())

    @property
    def _known(self) -> str:
        """Returns the code that registers the prompt's types."""
        types = ", ".join(f"(*{name})(nil)" for name in self.types)
        return f"func init() {{ {_SUPPORT}.Know({types}) }}\n"


def _without_main(text: str) -> str:
    """Gives another name to the function `main` of a text."""
    for one in reversed(declarations(text)):
        if one.kind == "func" and one.name == "main":
            start = one.words[1].start
            text = f"{text[:start]}{_SUPPORT}Main{text[start + len(one.name) :]}"
    return text


@functools.cache
def _library() -> str:
    return files(__package__).joinpath("split.go").read_text("utf-8")

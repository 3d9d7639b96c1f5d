"""Splits Java test programs; see the package.

The solution completes the method at the end of the prompt. In the tests' program its body is a
stub; the definitions before it stay unchanged in both programs. The types of values are those of
the stub's signature, read by reflection. A type that cannot be read ends the tests' program before
its first call, and then the task is not split.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.text.blocks import (
    Block,
    Statement,
    open_blocks,
    unclosed,
    unopened,
)
from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, tokenize
from reward_server.grading.crossing import Solution, parsed
from reward_server.grading.crossing.text import blank, said

_LOOP = "SplitwireMain"
_UNCHANGING = word_set(
    """int long double float char boolean byte short String Integer Long Double Float Character
    Boolean Byte Short BigInteger BigDecimal"""
)
_MODIFIERS = word_set("""public protected private static final synchronized strictfp""")
_KINDS = frozenset(("class", "record", "enum", "interface"))
_PRIMITIVE = word_set("int long double float char boolean byte short void")
_REAL = re.compile(r"double|float|Double|Float|BigDecimal")
_TYPES = word_set(
    """type_identifier scoped_type_identifier generic_type array_type integral_type
    floating_point_type boolean_type void_type"""
)
_PARTS = _TYPES | word_set("modifiers identifier formal_parameters throws block")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a method.

    Args:
        name: the name of the method.
        parameters: the names of the parameters.
        takes_objects: whether a parameter is of a type whose values can change.
        is_static: whether it is called without an object.
        result: the type of its result.
    """

    name: str
    parameters: tuple[str, ...]
    takes_objects: bool
    is_static: bool
    result: str


def split_java(task: Task) -> Split | None:
    """Splits a test program whose prompt ends in an open method."""
    blocks = open_blocks(task.prompt, task.language)
    if not blocks or len(blocks) != 3 or blocks[2].statements:
        return None
    owner = _class_name(blocks[1].head)
    signature = _signature(task.prompt[blocks[2].start : blocks[2].inside])
    beside = (*blocks[0].statements, *blocks[1].statements)
    if owner is None or signature is None or any(map(_is_type, beside)):
        return None
    return JavaSplit(task=task, blocks=tuple(blocks), owner=owner, signature=signature)


def _is_type(one: Statement) -> bool:
    """Returns True if a statement declares a type, whose values would be more than data."""
    return bool(_KINDS & {*one.head}) and one.block is not None


def _class_name(head: Sequence[str]) -> str | None:
    """Returns the name of a class that extends nothing and has no parameters."""
    words = [word for word in head if word not in _MODIFIERS]
    return words[1] if len(words) == 2 and words[0] == "class" else None


def _signature(head: str) -> Signature | None:
    """Reads the head of a method, with its bracket; returns None if it is of another form."""
    root = parsed("java", f"class A {{ {head} }} }}")
    if root.has_error:
        return None
    methods = root.named_children[0].named_children[-1].named_children
    if [one.type for one in methods] != ["method_declaration"]:
        return None
    parts = {one.type: one for one in methods[0].named_children if not blank(one)}
    taken = [one for one in parts["formal_parameters"].named_children if not blank(one)]
    words = said(parts["modifiers"]).split() if "modifiers" in parts else []
    if not (_PARTS.issuperset(parts) and _MODIFIERS.issuperset(words)):
        return None
    if not all(map(_is_parameter, taken)):
        return None
    return Signature(
        name=said(parts["identifier"]),
        parameters=tuple(said(_named(one)) for one in taken),
        takes_objects=not _UNCHANGING.issuperset(map(_type, taken)),
        is_static="static" in words,
        result=_type(methods[0]),
    )


def _is_parameter(node: Any) -> bool:
    """Returns True of `int a`, `final int a` and `int... a`."""
    parts = {one.type: said(one) for one in node.named_children if not blank(one)}
    known = _TYPES | {"modifiers", "identifier", "variable_declarator"}
    is_final = parts.get("modifiers", "final") == "final"
    return is_final and known.issuperset(parts) and said(_named(node)).isidentifier()


def _named(node: Any) -> Any:
    """Returns the name of a parameter, which stands last."""
    return node.child_by_field_name("name") or node.named_children[-1]


def _type(node: Any) -> str:
    """Returns the last name of a type, without its arguments; "..." behind those of any number."""
    types = [said(one) for one in node.named_children if one.type in _TYPES]
    name = types[0].partition("<")[0].rpartition(".")[2] if types else ""
    dots = "..." if node.type == "spread_parameter" else ""
    return "".join(name.split()) + dots


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaSplit:
    """A Java test program that was split.

    Args:
        task: the test program.
        blocks: the blocks that the prompt leaves open: the text, a class, a method.
        owner: the name of the class.
        signature: the signature of the method.
    """

    task: Task
    blocks: tuple[Block, ...]
    owner: str
    signature: Signature

    @property
    def solution(self) -> Solution:
        """See `Split.solution`."""
        return Solution(
            names=frozenset((self.signature.name,)),
            owner=self.owner,
            copies=not self.signature.takes_objects,
            is_plain=self.signature.result in _PRIMITIVE,
            is_whole=_REAL.search(self.signature.result) is None,
        )

    @property
    def before(self) -> str:
        """See `Split.before`."""
        return self.task.prompt + "}" * (2 - self._left_open)

    @property
    def stubs(self) -> Source:
        """The prompt with a stub as its open method."""
        head = self.task.prompt[: self.blocks[2].inside]
        closing = "}" * (2 - self._left_open)
        return Source(text=f"{head}\n{self._body}\n{closing}\n", library=_library())

    def serving(self, solution: str) -> Source:
        """A loop that answers calls, and the solution in a separate file."""
        missing = min(unclosed(solution, self.task.language), self._left_open)
        text = f"{_visible_to_package(solution, self.task)}\n{'}' * missing}\n"
        own = {f"{self.owner}.java": text.encode("utf-8", "surrogatepass")}
        return Source(text=self._loop, files=own, library=_library())

    @property
    def _left_open(self) -> int:
        """The number of the prompt's blocks that the tests close."""
        return min(unopened(self.task.tests, self.task.language), 2)

    @property
    def _body(self) -> str:
        method = "new Object() {}.getClass().getEnclosingMethod()"
        owner = "null" if self.signature.is_static else "this"
        given = f"new Object[] {{{', '.join(self.signature.parameters)}}}"
        result = "" if self.signature.result == "void" else "return "
        return f"        {result}Splitwire.call({method}, {owner}, {given});"

    @property
    def _loop(self) -> str:
        return (
            f"public class {_LOOP} {{\n"
            "    public static void main(String[] arguments) throws java.io.IOException {\n"
            f"        Splitwire.serve({self.owner}.class);\n"
            "    }\n}\n"
        )


def _visible_to_package(solution: str, task: Task) -> str:
    """Removes the package and the outermost `public`, which a file of another name cannot have."""
    depth, kept, in_package = 0, [], False
    for token in tokenize(solution, task.language):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        in_package = in_package or (depth == 0 and token.text == "package")
        if not in_package and not (depth == 0 and token.text == "public"):
            kept.append(token.text)
        in_package = in_package and token.text != ";"
    return "".join(kept)


@functools.cache
def _library() -> str:
    return files(__package__).joinpath("Splitwire.java").read_text("utf-8")

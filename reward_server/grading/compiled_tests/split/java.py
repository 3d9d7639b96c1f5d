"""Splits Java test programs; see the package.

The solution completes the method at the end of the prompt. In the tests' program its body is a
stub; the definitions before it stay unchanged in both programs. The types of values are those of
the stub's signature, read by reflection. A type that cannot be read ends the tests' program before
its first call, and then the task is not split.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.hazards.derived import asks_objects, can_be_extended
from reward_server.grading.compiled_tests.split.hazards.holding import looks_once
from reward_server.grading.compiled_tests.split.hazards.lent import lends_names
from reward_server.grading.compiled_tests.split.hazards.many_calls import calls_often
from reward_server.grading.compiled_tests.split.hazards.state import (
    is_member_state_java,
    is_state_java,
)
from reward_server.grading.compiled_tests.split.hazards.threads import starts_threads
from reward_server.grading.compiled_tests.split.hazards.trusting import is_trusting_java
from reward_server.grading.compiled_tests.split.hazards.unseen import is_asked_java, is_unseen_java
from reward_server.grading.compiled_tests.split.hazards.views import hands_views, writes_to_views
from reward_server.grading.compiled_tests.split.text.blocks import (
    Block,
    Statement,
    members,
    open_blocks,
    unclosed,
    unopened,
)
from reward_server.grading.compiled_tests.split.text.words import (
    UngrammaticalError,
    Words,
    word_set,
)
from reward_server.grading.compiled_tests.tokens import Kind, tokenize

_LOOP = "SplitwireMain"
_IN_PLACE = re.compile(r"(?i)\bin[- ]?place\b|\bmodif(?:y|ies|ied)\b|\bmutat")
_CLASS = re.compile(r"\bgetClass\s*\(|\bidentityHashCode\b|\bWeakReference\b")
_UNCHANGING = word_set(
    """int long double float char boolean byte short String Integer Long Double Float Character
    Boolean Byte Short BigInteger BigDecimal"""
)
_MODIFIERS = word_set("""public protected private static final synchronized strictfp""")
_CLASSES = frozenset(("class", "record", "enum", "interface"))
# Methods of objects that are called without a call in the text.
_ASKED = frozenset(("equals", "hashCode", "toString", "compareTo", "iterator"))
_FIXED = frozenset(("static", "private", "final"))
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = word_set(
    """new return throw class enum interface if for while switch else do true false null this"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a method.

    Args:
        name: the name of the method.
        parameters: the names of the parameters.
        takes_objects: whether a parameter is of a type whose values can change.
        is_static: whether it is called without an object.
        is_void: whether it has no result.
    """

    name: str
    parameters: tuple[str, ...]
    takes_objects: bool
    is_static: bool
    is_void: bool


def split_java(task: Task) -> Split | None:
    """Splits a test program whose prompt ends in an open method."""
    if is_trusting_java(task.tests):
        return None
    if is_unseen_java(task.prompt, task.tests):
        return None
    if starts_threads(task.prompt, task.tests, "java") or lends_names(task):
        return None
    blocks = open_blocks(task.prompt, task.language)
    if not blocks or len(blocks) != 3 or blocks[2].statements:
        return None
    owner, signature = _class_name(blocks[1].head), parse_signature(blocks[2].head)
    if owner is None or signature is None or _keeps_state(blocks):
        return None
    if is_asked_java(task.tests, owner) or _can_be_derived(task, blocks):
        return None
    is_asked = signature.is_void or _IN_PLACE.search(task.prompt) or not signature.takes_objects
    if _CLASS.search(task.tests) or not (is_asked or looks_once(task.tests, signature.name)):
        return None
    if any(one(task.tests, signature.name) for one in (writes_to_views, hands_views)):
        return None
    if calls_often(task, (signature.name,)):
        return None
    return JavaSplit(task=task, blocks=tuple(blocks), owner=owner, signature=signature)


def parse_signature(head: Sequence[str]) -> Signature | None:
    """Parses the words of a method before its body; returns None if they are no signature."""
    try:
        return _Words(head).signature()
    except UngrammaticalError:
        return None


def _class_name(head: Sequence[str]) -> str | None:
    """Returns the name of a class that extends nothing and has no parameters."""
    words = [word for word in head if word not in _MODIFIERS]
    return words[1] if len(words) == 2 and words[0] == "class" else None


def _keeps_state(blocks: Sequence[Block]) -> bool:
    """Returns True if the prompt keeps a state, of which both programs would have a copy."""
    text, owner = blocks[0].statements, blocks[1].statements
    return any(map(is_state_java, text)) or any(
        bool(_CLASSES & {*one.head}) or is_member_state_java(one, kind="class") for one in owner
    )


def _can_be_derived(task: Task, blocks: Sequence[Block]) -> bool:
    """Returns True if tests use a method of a prompt's class that a derived class may override.

    If the solution derives a class from a class of the prompt, its objects have the prompt's class
    in the tests' program.
    """
    classes = {
        one.head[one.head.index("class") + 1]: one
        for one in blocks[0].statements
        if one.block is not None and "class" in one.head[:-1]
    }
    due, reached = {*blocks[2].head} & classes.keys(), set[str]()
    while due:
        reached |= due
        words = {
            word for name in due for word in (*classes[name].head, *(classes[name].block or ()))
        }
        derived = {name for name, one in classes.items() if reached & {*one.head}}
        due = ((words & classes.keys()) | derived) - reached
    texts = {name: " ".join(classes[name].block or ()) for name in reached}
    open_to_all = {
        name: text
        for name, text in texts.items()
        if can_be_extended(classes[name].head, text, name)
    }
    return any(
        method in _ASKED or _is_called(method, task)
        for name in open_to_all
        for method in _overridable(name, classes[name])
    ) or asks_objects(task.tests, open_to_all, _method(blocks[2].head), " ".join(blocks[2].head))


def _method(head: Sequence[str]) -> str:
    """Returns the name of the method in a head."""
    return head[head.index("(") - 1] if "(" in head else ""


def _overridable(name: str, statement: Statement) -> Iterator[str]:
    """Yields the methods of a class that a derived class may override."""
    for one in members(statement.block or ()):
        if "(" not in one.head or "=" in one.head or _FIXED & {*one.head}:
            continue
        method = one.head[one.head.index("(") - 1]
        if method != name:
            yield method


def _is_called(method: str, task: Task) -> bool:
    """Returns True if the tests name a method, or the prompt names it outside its declaration."""
    pattern = re.compile(rf"\b{re.escape(method)}\b")
    return pattern.search(task.tests) is not None or len(pattern.findall(task.prompt)) > 1


class _Words(Words):
    """Parses declarations."""

    def signature(self) -> Signature:
        modifiers = self.take_all(_MODIFIERS)
        result, name = self._type(), self._name()
        types, names = self._parameters()
        if self.next == "throws":
            self.take()
            self._type()
            while self.next == ",":
                self.take()
                self._type()
        self.end()
        return Signature(
            name=name,
            parameters=tuple(names),
            takes_objects=not _UNCHANGING.issuperset(types),
            is_static="static" in modifiers,
            is_void=result == "void",
        )

    def _parameters(self) -> tuple[list[str], list[str]]:
        self.take("(")
        types: list[str] = []
        names: list[str] = []
        while self.next != ")":
            if names:
                self.take(",")
            self.take_all(("final",))
            types.append(self._type() + "".join(self.take_all((".",))))
            names.append(self._name())
        self.take(")")
        return types, names

    def _name(self) -> str:
        word = self.take()
        if not _WORD.fullmatch(word) or word in _NO_NAMES | _MODIFIERS:
            raise UngrammaticalError
        return word

    def _type(self) -> str:
        if self.next == "?":
            self.take()
            return self._bound()
        name = self._name()
        while self.next == "." and self.second != ".":
            self.take()
            name = self._name()
        if self.next == "<":
            self._arguments()
        while self.next == "[":
            self.take()
            self.take("]")
            name += "[]"
        return name

    def _bound(self) -> str:
        if self.next not in ("extends", "super"):
            return "?"
        self.take()
        return self._type()

    def _arguments(self) -> None:
        self.take("<")
        self._type()
        while self.take(",", ">") == ",":
            self._type()


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
    def _classes(self) -> str:
        """The names of the prompt's other top-level classes, as further arguments."""
        heads = (one.head for one in self.blocks[0].statements if one.block is not None)
        names = [
            head[index + 1]
            for head in heads
            for index in [next((at for at, word in enumerate(head) if word in _CLASSES), -1)]
            if 0 <= index < len(head) - 1
        ]
        return "".join(f', "{name}"' for name in names)

    @property
    def _body(self) -> str:
        method = "new Object() {}.getClass().getEnclosingMethod()"
        owner = "null" if self.signature.is_static else "this"
        given = f"new Object[] {{{', '.join(self.signature.parameters)}}}"
        result = "" if self.signature.is_void else "return "
        return f"        {result}Splitwire.call({method}, {owner}, {given}{self._classes});"

    @property
    def _loop(self) -> str:
        return (
            f"public class {_LOOP} {{\n"
            "    public static void main(String[] arguments) throws java.io.IOException {\n"
            f"        Splitwire.serve({self.owner}.class{self._classes});\n"
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

"""Splits Rust test programs; see the package.

The solution completes the function at the end of the prompt. In the tests' program its body is a
stub; the definitions before it stay unchanged in both programs. A type that cannot cross does not
compile, and then the task is not split.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.text.blocks import (
    Block,
    Statement,
    open_blocks,
    unclosed,
    unopened,
)
from reward_server.grading.compiled_tests.split.text.words import (
    UngrammaticalError,
    Words,
    word_set,
)
from reward_server.grading.compiled_tests.tokens import tokenize
from reward_server.grading.crossing import Solution
from reward_server.languages.assertions import Assertions
from reward_server.languages.masking import masked
from reward_server.languages.rust_source import arranged

_REAL = re.compile(r"\bf(?:32|64)\b")
_PLAIN = word_set(
    """i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char String"""
)
_COLLECTIONS = word_set("HashMap HashSet BTreeMap BTreeSet VecDeque")
_ARGUMENTS = dict.fromkeys(("Vec", "Option", "Box", "HashSet", "BTreeSet", "VecDeque"), 1) | {
    "Result": 2,
    "HashMap": 2,
    "BTreeMap": 2,
}
_KEYWORDS = word_set(
    """as async await break const continue crate dyn else enum extern false fn for if impl in let
    loop match mod move mut pub ref return self static struct super trait true type unsafe use where
    while yield union _"""
)
_TAKEN = word_set("main drop size_of size_of_val align_of align_of_val")
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OTHER_MAIN = "splitwire_main"
_INTEGERS = word_set("i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize")
_OUT = "splitwire_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter.

    Args:
        name: its name.
        owned: the type of its value, or of the value to which it refers.
        passed: the text around its value in a call, such as "&{}".
    """

    name: str
    owned: str
    passed: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a function.

    Args:
        name: the name of the function.
        parameters: its parameters.
        result: the type of its result; "" if there is none.
        head: its head in the tests' program.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    head: str

    @property
    def body(self) -> str:
        """The body of the stub, which calls the function of the other program."""
        writes = "".join(
            f" splitwire::Write::write(&{one.name}, {_OUT});" for one in self.parameters
        )
        return (
            f'    splitwire::taken(splitwire::call("{self.name}", {len(self.parameters)}, '
            f"&|{_OUT}| {{{writes} }}))\n"
        )

    def served(self, written: Sequence[str]) -> str:
        """Returns the code that calls the function in the solution's program.

        Args:
            written: the types of its integer parameters there.
        """
        reads = "".join(
            f" let mut a{index}: {one.owned} = splitwire::Read::read(from);"
            for index, one in enumerate(self.parameters)
        )
        passed = ", ".join(
            _passed(index, one, written) for index, one in enumerate(self.parameters)
        )
        return (
            f'("{self.name}", &|from: &mut splitwire::In, out: &mut splitwire::Out| {{{reads}'
            f" let result = {self.name}({passed});"
            " splitwire::Write::write(&result, out); })"
        )


def _passed(index: int, one: Parameter, written: Sequence[str]) -> str:
    """Returns an argument: a reference to the whole value, or an integer of the right type."""
    own = written[index] if index < len(written) else ""
    if own not in ("", one.owned) and one.owned in _INTEGERS and one.passed == "{}":
        return f"splitwire::fitting::<{one.owned}, {own}>(a{index})"
    return one.passed.removesuffix("[..]").format(f"a{index}")


def _without_main(text: str, language: Assertions) -> str:
    """Gives another name to the function `main` of a text."""
    solid = [token for token in tokenize(text, language) if not token.is_blank]
    for first, second, third in reversed(list(zip(solid, solid[1:], solid[2:], strict=False))):
        if (first.text, second.text, third.text) == ("fn", "main", "("):
            text = f"{text[: second.start]}{_OTHER_MAIN}{text[second.end :]}"
    return text


def _integers(name: str, solution: str, task: Task) -> tuple[str, ...]:
    """Returns the types of a function's parameters in a solution; "" for all but integers."""
    text = open_blocks(solution, task.language)
    found = [one.head for one in text[0].statements if _function_name(one) == name] if text else []
    if len(found) != 1 or "(" not in found[0]:
        return ()
    pieces: list[list[str]] = [[]]
    depth = 0
    for word in found[0][found[0].index("(") :]:
        depth += (word in "([{<") - (word in ")]}>") if len(word) == 1 else -2 * (word == ">>")
        if depth == 0:
            break
        if word == "," and depth == 1:
            pieces.append([])
        else:
            pieces[-1].append(word)
    last = [piece[-1] if piece[-2:-1] == [":"] else "" for piece in pieces]
    return tuple(one if one in _INTEGERS else "" for one in last)


def split_rust(task: Task) -> Split | None:
    """Splits a test program whose prompt ends in an open function."""
    blocks = open_blocks(task.prompt, task.language)
    if not blocks or len(blocks) != 2 or blocks[1].statements:
        return None
    inside = masked(task.prompt, task.language)[blocks[1].inside :]
    if inside.strip() or any(map(_has_state, blocks[0].statements)):
        return None
    types = {name for one in blocks[0].statements if (name := _type_name(one))}
    head = task.prompt[blocks[1].start : blocks[1].inside - 1]
    signature = parse_signature(blocks[1].head, types, head)
    if signature is None:
        return None
    records = _records(blocks[0], signature)
    if records is None:
        return None
    return RustSplit(
        task=task,
        head=_without_main(task.prompt[: blocks[1].start], task.language),
        signature=signature,
        records=records,
        left_open=min(1, unopened(task.tests, task.language)),
    )


def _has_state(one: Statement) -> bool:
    return bool({"static", "thread_local", "extern"} & {*one.head, *(one.block or ())})


def _type_name(one: Statement) -> str:
    """Returns the name of a struct or enum without parameters; "" for anything else."""
    for kind in ("struct", "enum"):
        if kind in one.head[:4] and one.head.index(kind) + 1 < len(one.head):
            return one.head[one.head.index(kind) + 1]
    return ""


def _function_name(one: Statement) -> str:
    if one.block is None or "fn" not in one.head[:-1]:
        return ""
    return one.head[one.head.index("fn") + 1]


def parse_signature(words: Sequence[str], types: Collection[str], head: str) -> Signature | None:
    """Parses the words of a function before its body; returns None if they are no signature.

    Args:
        words: the words, without blanks and comments.
        types: the names of other types than the standard library's.
        head: the head of the function, which is used unchanged.
    """
    try:
        return _Words(words, types).signature(head)
    except UngrammaticalError:
        return None


class _Words(Words):
    """Parses the heads of functions, and the fields of types."""

    def __init__(self, words: Sequence[str], types: Collection[str]) -> None:
        super().__init__(words)
        self._types = types

    def signature(self, head: str) -> Signature:
        self._visibility()
        self.take("fn")
        name = self._name()
        if name in _TAKEN or name.startswith("splitwire") or not name[:1].islower():
            raise UngrammaticalError
        if self.next == "<":
            self._lifetimes()
        parameters = self._parameters()
        result = ""
        if self.next == "->":
            self.take()
            result = self.type()
        self.end()
        return Signature(name=name, parameters=tuple(parameters), result=result, head=head)

    def fields(self) -> list[str]:
        """Parses names with types."""
        names = []
        while self.next:
            self._visibility()
            names.append(self._name())
            self.take(":")
            self.type()
            if self.next:
                self.take(",")
        return names

    def types_alone(self) -> int:
        """Parses types, and returns how many there are."""
        count = 0
        while self.next:
            self._visibility()
            self.type()
            count += 1
            if self.next:
                self.take(",")
        return count

    def _visibility(self) -> None:
        if self.next == "pub":
            self.take()
            if self.next == "(":
                self.take("(")
                self.take("crate", "super", "self")
                self.take(")")

    def _name(self) -> str:
        word = self.take()
        if not _WORD.fullmatch(word) or word in _KEYWORDS:
            raise UngrammaticalError
        return word

    def _lifetimes(self) -> None:
        self.take("<")
        while True:
            self._lifetime()
            if self.take(",", ">") == ">":
                return

    def _lifetime(self) -> None:
        self.take("'")
        if not _WORD.fullmatch(self.take()):
            raise UngrammaticalError

    def _parameters(self) -> list[Parameter]:
        self.take("(")
        found: list[Parameter] = []
        while self.next != ")":
            self.take_all(("mut",))
            name = self._name()
            self.take(":")
            found.append(self._parameter(name))
            if self.take(",", ")") == ")":
                return found
        self.take(")")
        return found

    def _parameter(self, name: str) -> Parameter:
        if self.next != "&":
            return Parameter(name=name, owned=self.type())
        self._reference()
        if self.next == "str":
            self.take()
            return Parameter(name=name, owned="String", passed="&{}[..]")
        if self.next == "[":
            element, count = self._elements()
            owned = f"[{element}; {count}]" if count else f"Vec<{element}>"
            return Parameter(name=name, owned=owned, passed="&{}" if count else "&{}[..]")
        return Parameter(name=name, owned=self.type(), passed="&{}")

    def _reference(self) -> None:
        self.take("&")
        if self.next == "'":
            self._lifetime()

    def _elements(self) -> tuple[str, str]:
        self.take("[")
        element, count = self.type(), ""
        if self.take(";", "]") == ";":
            count = self.take()
            self.take("]")
            if not count.isdecimal():
                raise UngrammaticalError
        return element, count

    def type(self) -> str:
        """Parses a type; borrowed texts become static ones."""
        if self.next == "&":
            self._reference()
            return f"&'static {self.take('str')}"
        if self.next == "(":
            return self._parts()
        if self.next == "[":
            element, count = self._elements()
            if not count:
                raise UngrammaticalError
            return f"[{element}; {count}]"
        return self._named()

    def _parts(self) -> str:
        self.take("(")
        parts = []
        while self.next != ")":
            parts.append(self.type())
            if self.next != ")":
                self.take(",")
        self.take(")")
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def _named(self) -> str:
        name = self._name()
        while self.next == "::" and name in ("std", "collections", "string", "vec", "option"):
            self.take()
            name = self._name()
        if name in self._types:
            return name
        if name in _PLAIN:
            return name
        if name not in _ARGUMENTS:
            raise UngrammaticalError
        self.take("<")
        arguments = [self.type()]
        while self.take(",", ">") == ",":
            arguments.append(self.type())
        if len(arguments) != _ARGUMENTS[name]:
            raise UngrammaticalError
        place = "std::collections::" if name in _COLLECTIONS else ""
        return f"{place}{name}<{', '.join(arguments)}>"


def _records(block: Block, signature: Signature) -> str | None:
    """Returns code that registers the types of a signature; None if one is of another form."""
    known = {name: one for one in block.statements if (name := _type_name(one))}
    wanted = set(re.findall(r"\w+", " ".join((signature.head, signature.result)))) & {*known}
    found: dict[str, str] = {}
    while wanted:
        name = wanted.pop()
        one = known[name]
        try:
            found[name] = _record(name, one, known)
        except UngrammaticalError:
            return None
        wanted |= ({*one.head, *(one.block or ())} & {*known}) - {*found}
    return "".join(found.values())


def _record(name: str, one: Statement, types: Collection[str]) -> str:
    at = one.head.index(name)
    is_enum = one.head[at - 1] == "enum"
    rest = one.head[at + 1 :]
    if is_enum:
        if rest or one.block is None:
            raise UngrammaticalError
        variants = [(f"{name}::{first}", content) for first, content in _variants(one.block)]
    else:
        if rest and (one.block is not None or rest[0] != "("):
            raise UngrammaticalError
        content = ("{", *one.block) if one.block is not None else rest[:-1]
        variants = [(name, content)]
    parsed = [(label, *_content(content, types)) for label, content in variants]
    return _implementations(name, parsed)


def _variants(block: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Splits an enum's content into its variants' names and contents, with the first bracket."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for word in block:
        depth += len(word) == 1 and (word in "({[<") - (word in ")}]>")
        if word == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(word)
    found = []
    for piece in filter(None, pieces):
        if not _WORD.fullmatch(piece[0]) or (len(piece) > 1 and piece[1] not in ("(", "{")):
            raise UngrammaticalError
        found.append((piece[0], tuple(piece[1:-1])))
    return found


def _content(content: Sequence[str], types: Collection[str]) -> tuple[list[str], str]:
    """Returns the names of fields, and the bracket around them."""
    if not content:
        return [], ""
    words = _Words(content[1:], types)
    if content[0] == "{":
        return words.fields(), "{"
    return [str(number) for number in range(words.types_alone())], "("


def _implementations(name: str, variants: Sequence[tuple[str, list[str], str]]) -> str:
    writes, reads, names = [], [], []
    for number, (label, fields, bracket) in enumerate(variants):
        short = label.rpartition("::")[2]
        bound = [f"f{index}" for index in range(len(fields))]
        named = ", ".join(f"{one}: {to}" for one, to in zip(fields, bound, strict=True))
        puts = "".join(f' out.field("{a}", {b});' for a, b in zip(fields, bound, strict=True))
        gets = ", ".join(f'{one}: from.field("{one}")' for one in fields)
        braced = bracket != ""
        pattern = f"{label} {{ {named} }}" if braced else label
        made = f"{label} {{ {gets} }}" if braced else label
        writes.append(f'{pattern} => {{ out.record("{short}", {len(fields)});{puts} }}')
        reads.append(f"{number if number < len(variants) - 1 else '_'} => {made}")
        names.append(f'("{short}", {len(fields)})')
    return (
        f"impl splitwire::Write for {name} {{ fn write(&self, out: &mut splitwire::Out) {{ "
        f"match self {{ {', '.join(writes)} }} out.end(); }} }}\n"
        f"impl splitwire::Read for {name} {{ fn read(from: &mut splitwire::In) -> Self {{ "
        f"let made = match from.record(&[{', '.join(names)}]) {{ {', '.join(reads)} }}; "
        "from.end(); made } }\n"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RustSplit:
    """A Rust test program that was split.

    Args:
        task: the test program.
        signature: the signature of the function.
        head: the text of the prompt before its function.
        records: code that registers the prompt's types.
        left_open: the number of the prompt's blocks that the tests close.
    """

    task: Task
    signature: Signature
    head: str = ""
    records: str = ""
    left_open: int = 0

    @property
    def solution(self) -> Solution:
        """See `Split.solution`."""
        return Solution(
            names=frozenset((self.signature.name,)),
            copies=not any("&" in one.passed for one in self.signature.parameters),
            is_plain=True,
            is_whole=_REAL.search(self.signature.result) is None,
        )

    @property
    def before(self) -> str:
        """See `Split.before`."""
        return self.task.prompt + "}" * (1 - self.left_open)

    @property
    def stubs(self) -> Source:
        """The prompt with a stub as its open function."""
        stub = f"{self.signature.head}{{\n{self.signature.body}}}\n"
        if self.left_open:
            stub = stub.rstrip().removesuffix("}")
        text = arranged(f"{self.head}\n{self.records}{stub}")
        return Source(text=f"extern crate splitwire;\n{text}", library=_library())

    def serving(self, solution: str) -> Source:
        """The solution, and a loop behind it."""
        missing = min(unclosed(solution, self.task.language), self.left_open)
        entry = self.signature.served(_integers(self.signature.name, solution, self.task))
        text = arranged(
            f"{_without_main(solution, self.task.language)}\n{'}' * missing}\n"
            "extern crate splitwire;\n"
            f"{self.records}fn main() {{ splitwire::serve(&[{entry}]); }}\n"
        )
        return Source(text=text, files={"tested": b""}, library=_library())


@functools.cache
def _library() -> str:
    return files(__package__).joinpath("split.rs").read_text("utf-8")

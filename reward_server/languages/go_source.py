"""Arranges a Go program that is made of several texts: its package clause and imports come first.

A program that is made of a prompt, a solution and tests has package clauses and imports in several
places. Go accepts one package clause, with the imports after it, and refuses imports that occur
twice or are not used. A completion that continues a function cannot import what it needs, so common
imports are added.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from reward_server.languages.imports import Import
from reward_server.languages.masking import edited

_TOKEN = re.compile(
    r"""(?P<blank>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|[^\S\n]+)
    | (?P<text>"(?:\\.|[^"\\\n])*+"?|`[^`]*+`?|'(?:\\[^\n]{1,9}|[^'\\\n])')
    | (?P<word>[^\W\d]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<end>[\n;])
    | (?P<mark><-|\.\.\.|:=|[\s\S])""",
    re.VERBOSE,
)
_KINDS = frozenset(("package", "import", "func", "type", "var", "const"))
_SPEC = re.compile(r'(?:(?<![\w.])([\w.]++)[ \t]++)?("[^"\n]*"|`[^`\n]*`)')
_OUTPUT = re.compile(r"(?i)//[^\S\n]*(?:unordered )?output:")
_VERSION = re.compile(r"v\d+")
# Packages that are imported for a program that uses them without an import, and the text that
# shows the use of each.
_STANDARD = {
    "bufio": ("bufio", "NewReader"),
    "bytes": ("bytes", "Equal"),
    "md5": ("crypto/md5", "New"),
    "sha256": ("crypto/sha256", "New"),
    "hex": ("encoding/hex", "EncodeToString"),
    "json": ("encoding/json", "Marshal"),
    "errors": ("errors", "New"),
    "fmt": ("fmt", "Sprint"),
    "heap": ("container/heap", "Init"),
    "list": ("container/list", "New"),
    "math": ("math", "Abs"),
    "big": ("math/big", "NewInt"),
    "bits": ("math/bits", "Len"),
    "rand": ("math/rand", "Int"),
    "os": ("os", "Exit"),
    "reflect": ("reflect", "TypeOf"),
    "regexp": ("regexp", "Compile"),
    "slices": ("slices", "Sort[[]int]"),
    "sort": ("sort", "Ints"),
    "strconv": ("strconv", "Itoa"),
    "strings": ("strings", "Count"),
    "sync": ("sync", "NewCond"),
    "testing": ("testing", "Main"),
    "time": ("time", "Now"),
    "unicode": ("unicode", "IsLetter"),
    "utf8": ("unicode/utf8", "RuneLen"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word or mark of a text, without blanks and comments.

    Args:
        kind: "text", "word", "number", "end" of a line or statement, or "mark".
        text: its text.
        start: where it begins.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """An outermost declaration.

    Args:
        kind: its first word; "" for the text before the first declaration.
        words: all its words.
        depth: how many brackets it leaves open; below 0 if it closes more than it opens.
    """

    kind: str
    words: tuple[Word, ...]
    depth: int

    @property
    def name(self) -> str:
        """The word behind the first; for a method, "("."""
        return self.words[1].text if len(self.words) > 1 else ""


def declarations(text: str) -> list[Declaration]:
    """Divides a text at words that begin an outermost declaration at the beginning of a line."""
    found: list[Declaration] = []
    words: list[Word] = []
    depth, begins = 0, True
    for word in _words(text):
        if begins and depth <= 0 and word.text in _KINDS:
            found += _declaration(words, depth)
            words, depth = [], 0
        words.append(word)
        begins = word.kind == "end"
        depth += word.kind == "mark" and (word.text in "([{") - (word.text in ")]}")
    return [*found, *_declaration(words, depth)]


def _declaration(words: Sequence[Word], depth: int) -> Iterator[Declaration]:
    if any(word.kind != "end" for word in words):
        kind = words[0].text if words[0].text in _KINDS else ""
        yield Declaration(kind=kind, words=tuple(words), depth=depth)


def _words(text: str) -> Iterator[Word]:
    for found in _TOKEN.finditer(text):
        if found.lastgroup and found.lastgroup != "blank":
            yield Word(found.lastgroup, found[0], found.start())


def arranged(text: str) -> str:
    """Puts a program's package clause and its imports first, and keeps its line numbers.

    Imports that are not used are left out; common packages of the standard library that are used
    without an import are added.
    """
    imports: dict[tuple[str, str], None] = {}
    rest: list[str] = []
    last = 0
    parts = declarations(text)
    for part in parts:
        if part.kind in ("package", "import"):
            start, end = part.words[0].start, _end(part)
            if part.kind == "import":
                imports |= dict.fromkeys(_specs(text[start:end]))
            rest += [text[last:start], "\n" * text.count("\n", start, end)]
            last = end
    rest.append(text[last:])
    own = [word for part in parts if part.kind not in ("package", "import") for word in part.words]
    head = _head(imports, _used(own), {part.name for part in parts})
    return f"package main; {head}{''.join(rest)}"


def with_tests(tests: str, secret: str) -> str:
    """Makes a main that calls everything that `go test` would call, and the main of the tests.

    Raises:
        ValueError: there is nothing to call, or something that would not be called.
    """
    functions = [one for one in declarations(tests) if one.kind == "func"]
    called = [one.name for one in functions if _is_test(one.name) and _takes(one, "T")]
    around = [one for one in functions if one.name == "TestMain" and _takes(one, "M")]
    mains = [one for one in functions if one.name == "main" and _parameters(one) == ""]
    _refuse_others(tests, functions)
    if not called and not mains:
        raise ValueError("has neither a main nor a func TestX(t *testing.T)")
    given = ", ".join(f'{{"{name}", {name}}}' for name in called)
    main, surrounds = f"m{secret}" if mains else "nil", "TestMain" if around else "nil"
    changed = [(one.words[1], one.words[1], main) for one in mains]
    changed += [(*_taken_type(one), f"{secret}M") for one in around]
    places = sorted((first.start, last.end, new) for first, last, new in changed)
    call = f"{secret}run({main}, {surrounds}, []{secret}test{{{given}}})"
    return f"{edited(tests, places)}\nfunc main() {{ {call} }}\n"


def _is_test(name: str) -> bool:
    """Returns True if Go's own runner takes a name for a test's."""
    return name.startswith("Test") and not name[4:5].islower()


def _takes(function: Declaration, type_: str) -> bool:
    """Returns True if a function's only parameter is a pointer to a type of package `testing`."""
    form = rf"(?:\w+ )?\* (?:\w+ \. )?{type_}(?: ,)?"
    return re.fullmatch(form, _parameters(function)) is not None


def _parameters(function: Declaration) -> str:
    """Returns the text in a function's brackets; "-" if there are further brackets, or results."""
    words = [word.text for word in function.words[2:] if word.kind != "end"]
    end = words.index(")") if ")" in words else 0
    alone = words[:1] == ["("] and words[end + 1 : end + 2] == ["{"]
    return " ".join(words[1:end]) if alone else "-"


def _taken_type(function: Declaration) -> tuple[Word, Word]:
    """Returns the first and the last word of a function's parameter type, without its star."""
    texts = [word.text for word in function.words]
    return function.words[texts.index("*") + 1], function.words[texts.index("M")]


def _refuse_others(tests: str, functions: Sequence[Declaration]) -> None:
    for one in functions:
        text = tests[one.words[0].start : one.words[-1].end]
        is_fuzz = one.name.startswith("Fuzz") and _takes(one, "F")
        if is_fuzz or (one.name.startswith("Example") and _OUTPUT.search(text)):
            raise ValueError(
                f"has {one.name}, which is not run; make it a func TestX(t *testing.T)"
            )


def uses(*texts: str) -> Iterator[tuple[str, str]]:
    """Yields the paths of packages, each with a name of the package that parts of one program use.

    The name is "" if a package is imported for its effects, or with all its names.
    """
    specs = [spec for text in texts for spec in _imports(text)]
    paths = {name: path for name, (path, _) in _STANDARD.items()}
    for name, path in specs:
        called = name or package_name(path)
        if called in ("_", ".", ""):
            yield path, ""
        paths[called] = path
    for text in texts:
        for owner, name in _selected(text):
            if owner in paths:
                yield paths[owner], name


def imported(text: str) -> Iterator[Import]:
    """Yields the imports of a text, as statements that use nothing."""
    for name, path in _imports(text):
        called = name or package_name(path)
        names = frozenset() if called in ("_", ".", "") else frozenset((called,))
        yield Import(statement=f'import _ "{path}"', module=path, names=names)


def without_imports(text: str) -> str:
    """Returns a text without its package clause and its imports."""
    heads = (one for one in declarations(text) if one.kind in ("package", "import"))
    return edited(text, ((one.words[0].start, _end(one), " ") for one in heads))


def _imports(text: str) -> Iterator[tuple[str, str]]:
    for part in declarations(text):
        if part.kind == "import":
            yield from _specs(text[part.words[0].start : _end(part)])


def _selected(text: str) -> Iterator[tuple[str, str]]:
    """Yields words that begin a chain with dots, each with the word after its first dot."""
    words = [word for part in declarations(text) for word in part.words]
    before = ["", *(word.text for word in words)]
    for last, owner, dot, name in zip(before, words, words[1:], words[2:], strict=False):
        if owner.kind == "word" and dot.text == "." and last != ".":
            yield owner.text, name.text


def _end(part: Declaration) -> int:
    """Returns the end of a clause or an import; another statement may follow on its line."""
    depth = 0
    for word in part.words:
        depth += word.kind == "mark" and (word.text == "(") - (word.text == ")")
        if depth <= 0 and word.kind == "end":
            return word.end if word.text == ";" else word.start
    return part.words[-1].end


def _specs(text: str) -> Iterator[tuple[str, str]]:
    """Returns the names and paths of an import; a name is "" if it is the package's own."""
    code = "".join(
        found[0] if found.lastgroup != "blank" or found[0].isspace() else " "
        for found in _TOKEN.finditer(text.removeprefix("import"))
    )
    for found in _SPEC.finditer(code):
        yield found[1] or "", found[2][1:-1]


def _used(words: Sequence[Word]) -> set[str]:
    """Returns the names that a dot and an exported name follow."""
    return {
        first.text
        for first, dot, name in zip(words, words[1:], words[2:], strict=False)
        if first.kind == "word" and dot.text == "." and name.text[:1].isupper()
    }


def _head(
    imports: Collection[tuple[str, str]], used: Collection[str], declared: Collection[str]
) -> str:
    known = {name or package_name(path) for name, path in imports}
    kept = [
        f'import {f"{name} " if name else ""}"{path}"; '
        for name, path in imports
        if (name or package_name(path)) in ("_", ".", "", *used)
    ]
    added = sorted({*_STANDARD} & {*used} - known - {*declared})
    kept += [f'import "{_STANDARD[name][0]}"; ' for name in added]
    return "".join((*kept, *(f"var _ = {name}.{_STANDARD[name][1]}; " for name in added)))


def package_name(path: str) -> str:
    """Returns the name of the package at a path, if the path shows it; otherwise ""."""
    *folders, last = path.split("/")
    if folders and _VERSION.fullmatch(last):
        last = folders[-1]
    return last if last.isidentifier() else ""

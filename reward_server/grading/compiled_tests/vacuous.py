"""Says of test programs and test files in other languages that no answer can fail them, and why.

The text is read as tokens. It can fail if a part of it that runs has a call or a word that sounds
like a failure, or if it imports what is not known to assert nothing. So a text is refused only if
it has nothing but comparisons, output, calls of the solution, and functions of its own without such
words. A language without a row is left open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from reward_server.grading.compiled_tests.own_functions import OwnFunctions
from reward_server.grading.compiled_tests.tokens import blanked, match_brackets, tokenize
from reward_server.languages.assertions import Assertions

READ_CHARACTERS = 1 << 18
_SOUND = (
    r"assert|expect|should|must|verif|check|requir|ensure|fail|fatal|error|panic|abort|exit|unwrap"
    r"|reject|terminat|trap|quit|unreachable|todo|throw|die\b|raise|kill|skip"
)
_FAILING = re.compile(
    rf"(?<!\w)\w{{0,99}}(?:{_SOUND})\w{{0,99}}\s{{0,9}}(?:[(!.<`]|::)"
    r"|\bthrow\b|(?<!\.)\bassert\b(?=\s+[\w!(\"-])|\bexitCode\b|\.\s*(?:should|must)\b",
    re.IGNORECASE,
)
_REMEDY = "the tests cannot fail, so they would reward every completion: "
_NOTHING = "nothing that runs asserts anything about an answer"
# An assertion about literals alone, which holds.
_IDLE_ASSERTION = re.compile(
    r"(?<![\w.:])(?:[\w.:]{0,99}assert[\w.!]{0,99}|expect)\s{0,9}\(\s*(?:true|(\d+|true|false|null)\s*,\s*\1)"
    r"\s*(?:,\s*\"\s*\"\s*)?\)(?:\s*\.\s*(?:toBe|toEqual|toStrictEqual)\s*\(\s*true\s*\))?"
    r"|\bassert\s+true\s*(?=[;:])"
)
_FALSE_BRANCH = re.compile(r"\bif\s*(?:\(\s*false\s*\)|false)\s*\{")
_TRY = re.compile(r"\btry\s*\{")
_DECLARED = re.compile(
    r"\b(?:func|fn|void|function|class|struct)\s+(?P<head>\w+)"
    r"|(?<![\w.$])(?P<value>[A-Za-z_$]\w*)\s*(?::\s*[\w<>&\[\] ]+)?(?::=|=(?![=>]))"
    r"(?P<made>[^;\n]*)"
)
_QUOTED = re.compile(r"[\"']([^\"'\n]*)[\"']")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_CALLED = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)\s*\(")
_MOST_BLOCKS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quiet:
    """What asserts nothing in a language.

    Args:
        imports: finds imports and includes in the text; a group is the module, or else all quoted
            texts are modules.
        modules: the modules of which nothing asserts unless its name sounds like it.
        words: what only sounds like a failure.
        others: what can fail without sounding like it.
        swallows: finds the head of a handler that catches failed assertions, behind a block.
        skips: finds tests and groups of tests that are skipped in any case, up to a bracket.
    """

    imports: str
    modules: str
    words: str = r"(?!)"
    others: str = r"(?!)"
    swallows: str = r"(?!)"
    skips: str = r"(?!)"


_C = _Quiet(
    imports=r"(?m)^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]",
    modules=r"[a-z_]+|(?:assert|math|stdio|stdlib|string|stdbool|stdint|limits|float)\.h"
    r"|bits/stdc\+\+\.h",
    others=r"#\s*define\b",
)
_NODE = _Quiet(
    imports=r"\bimport\s*(?:[\w*${},\s]{1,500}?\bfrom\s*)?[\"']([^\"'\n]+)[\"']"
    r"|(?:\b(?:const|let|var)\s*[\w${},:\s]{1,500}=\s*)?(?:\brequire|\bawait\s+import)\s*"
    r"\(\s*[\"']([^\"'\n]+)[\"']\s*\)(?:\s*\.\s*\w+)*",
    modules=r"(?:node:)?(?:assert(?:/strict)?|test|fs|path|util|events|os|url)",
    words=r"\bconsole\s*\.\s*(?:log|info|warn|error|debug|table|dir)\b"
    r"|(?<=[;{}\n])[ \t]*new\s+\w*Error\b",
    # A test with two parameters ends by a callback, which the solution may call with an error.
    others=r"\bimport\s*\(|\brequire\b"
    r"|,\s*(?:async\s*)?(?:function\s*\w*\s*)?\(\s*\w+\s*,\s*\w+\s*\)\s*(?:=>\s*)?\{",
    swallows=r"\s*catch\s*(?:\(\s*\w+\s*\)\s*)?\{",
    skips=r"(?<![\w.$])(?:test|it|describe|suite)\s*"
    r"(?:\.\s*(?:skip|todo)\s*\(|\((?=\s*\"[^\"]*\"\s*,\s*\{\s*(?:skip|todo)\s*:\s*(?:true|\")))",
)
_QUIET: Mapping[str, _Quiet] = {
    "c": _C,  # and C++
    "javascript": _NODE,
    "typescript": _NODE,
    "java": _Quiet(
        imports=r"\bimport\s+(?:static\s+)?([\w.*]+)\s*;",
        modules=r"(?:java|javax)\..*|org\.junit\..*",
        words=r"\bthrows\b[^{;]*|(?<=[;{}\n])[ \t]*new\s+\w*(?:Error|Exception)\b",
        swallows=r"\s*catch\s*\(\s*(?:final\s+)?(?:Throwable|Error|AssertionError)\s+\w+\s*\)\s*\{",
        skips=r"@(?:Disabled|Ignore)\b[^{;]{0,1000}\{",
    ),
    "go": _Quiet(
        imports=r"\bimport\s*(?:\((?:\s*+[\w.]*+\s*+\"[^\"\n]*+\";?)*+\s*+\)|[\w.]*\s*\"[^\"\n]*\")",
        modules=r"testing|fmt|strings|sort|math|math/rand|reflect|strconv|time|bytes|unicode"
        r"|slices|maps|regexp|errors|cmp|os|log|sync",
        words=r"\berrors\s*\.\s*(?:New|Is|As)\b|\bfmt\s*\.\s*Errorf\b",
        others=r"(?<![\w.])(?!Test)\w+\s*\(\s*t\s*[,)]",
        skips=r"\bfunc\s+Test\w*\s*\(\s*\w+\s+\*testing\.T\s*\)\s*\{(?=\s*\w+\s*\.\s*Skip)",
    ),
    "rust": _Quiet(
        imports=r"\buse\s+(\w+)[^;]*;|\bextern\s+crate\s+(\w+)\s*;",
        modules=r"std|core|alloc|super|crate|self|solution",
        others=r"\?\s*[;.)]|\bshould_panic\b|\bfn\s+\w+\s*\(\s*\)\s*->\s*(?:\w+::)*(?:Result|ExitCode)"
        r"|\b(?!(?:e?print(?:ln)?|format|vec|writeln?|dbg|matches)\b)\w+!\s*[(\[{]",
        skips=r"#\[ignore\b[^\]]{0,500}\][^{;]{0,1000}\{",
    ),
}


def flaw_of_program(
    text: str, language: str, assertions: Assertions | None, prompt: str = ""
) -> str:
    """Returns why no answer can fail a test program; "" if one can, or the text leaves it open.

    Args:
        text: the program.
        language: its language.
        assertions: how that asserts; None if nothing is known.
        prompt: code before the solution, whose functions the program may call.
    """
    quiet = _quiet(language)
    if assertions is None or quiet is None or len(prompt) > READ_CHARACTERS:
        return ""
    if _FAILING.search(blanked(tokenize(prompt, assertions))) is not None:
        return ""
    read = _Text.read(text, quiet, assertions)
    # The server sees a program's failed assertion also where a handler catches it.
    is_open = read is None or not read.imports_are_quiet(frozenset()) or read.sounds_like_failure()
    return "" if is_open else _REMEDY + _NOTHING


def flaw_of_suite(
    texts: Mapping[str, str],
    heads: Iterable[tuple[str, int]] | None,
    solution_path: str,
    language: str,
    assertions: Assertions,
) -> str:
    """Returns why no answer can fail test files; "" if one can, or the text leaves it open.

    Args:
        texts: the files, by path.
        heads: the path and the place of each test; None if the text does not name them all.
        solution_path: the path of the solution; "" for the usual one.
        language: the language of the files.
        assertions: how it asserts.
    """
    quiet = _quiet(language)
    if heads is None or quiet is None:
        return ""
    tests = list(heads)
    if not tests:
        return "the files hold no tests"
    if all(_is_skipped(texts[path], place, quiet, assertions) for path, place in tests):
        return f"{_REMEDY}each of them is skipped whatever the answer"
    paths = (*texts, solution_path or "solution")
    own = frozenset(PurePosixPath(path).name.partition(".")[0] for path in paths)
    if any(_suite_can_fail(text, quiet, assertions, own) for text in texts.values()):
        return ""
    return _REMEDY + _NOTHING


def _quiet(language: str) -> _Quiet | None:
    return _QUIET.get(language.partition("++")[0])  # all versions of C++


def _suite_can_fail(text: str, quiet: _Quiet, assertions: Assertions, own: frozenset[str]) -> bool:
    read = _Text.read(text, quiet, assertions)
    if read is None or not read.imports_are_quiet(own):
        return True
    return read.sounds_like_failure(without=read.swallowed())


def _is_skipped(text: str, place: int, quiet: _Quiet, assertions: Assertions) -> bool:
    read = _Text.read(text, quiet, assertions)
    return read is not None and any(place in part for part in read.skipped())


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, with its strings and comments blanked in `code`, and where its brackets end."""

    text: str
    code: str
    ends: Mapping[int, int]
    quiet: _Quiet

    @classmethod
    def read(cls, text: str, quiet: _Quiet, assertions: Assertions) -> _Text | None:
        """Reads a text; returns None if its brackets do not match."""
        if len(text) > READ_CHARACTERS:
            return None
        tokens = tokenize(text, assertions)
        brackets = match_brackets(tokens)
        if brackets is None or brackets.unclosed:
            return None
        ends = {tokens[one].start: tokens[last].end for one, last in brackets.partners.items()}
        return cls(text, blanked(tokens), ends, quiet)

    def imports_are_quiet(self, own: frozenset[str]) -> bool:
        """Returns True if the text imports only modules that are known, or of these files."""
        return all(
            re.fullmatch(self.quiet.modules, name)
            or PurePosixPath(name).name.partition(".")[0] in own | {"solution"}
            for _, names in self._imports()
            for name in names
        )

    def skipped(self) -> list[range]:
        """Returns the parts that are skipped in any case."""
        return list(self._blocks(self.quiet.skips))

    def sounds_like_failure(self, without: Iterable[range] = ()) -> bool:
        """Returns True if something in the parts that run can fail, or sounds like it.

        Args:
            without: parts in which nothing that fails counts.
        """
        code = _blank(self.code, (part for part, _ in self._imports()))
        code = re.sub(self.quiet.words, lambda found: " " * len(found[0]), code)
        code = _IDLE_ASSERTION.sub(lambda found: " " * len(found[0]), code)
        code = _blank(code, [*self._idle(code), *self.skipped(), *self._blocks(_FALSE_BRANCH)])
        code = _blank(code, without)
        if re.search(self.quiet.others, code) or self._returns_status(code):
            return True
        failing = (found[0] for found in _FAILING.finditer(code))
        declared = set(_declared(code))
        taken = {name for part, names in self._imports() for name in self._taken(part, names)}
        sounds = any(declared.isdisjoint(_WORD.findall(found)) for found in failing)
        return sounds or not taken.isdisjoint(_WORD.findall(code))

    def swallowed(self) -> Iterator[range]:
        """Yields the blocks whose failures are caught by handlers that only report."""
        for block in self._blocks(_TRY):
            head = re.compile(self.quiet.swallows).match(self.code, block.stop)
            if head is not None:
                handler = self.code[head.end() : self.ends.get(head.end() - 1, head.end())]
                handler = re.sub(self.quiet.words, "", handler)
                if not (re.search(r"\w\s*\(", handler) or _FAILING.search(handler)):
                    yield block

    def _imports(self) -> Iterator[tuple[range, list[str]]]:
        for found in re.finditer(self.quiet.imports, self.text):
            named = [name for name in found.groups() if name]
            yield range(*found.span()), named or _QUOTED.findall(found[0])

    def _taken(self, part: range, names: Iterable[str]) -> Iterator[str]:
        """Yields the names by which a text calls a module of assertions."""
        if any("assert" in name for name in names):
            words = _WORD.findall(self.code[part.start : part.stop])
            yield from (word for word in words if word not in _IMPORTING)

    def _idle(self, code: str) -> Iterator[range]:
        """Yields the bodies of functions that nothing calls, not even with false."""
        functions = OwnFunctions(self.text, code, self.ends)
        called = Counter(found["name"] for found in _CALLED.finditer(code))
        for one in functions.helpers:
            is_called = called[one.name] > len(_CALLED.findall(f"{one.name}{one.head}"))
            if functions.is_idle(one.body.start) and not is_called:
                yield one.body

    def _returns_status(self, code: str) -> bool:
        """Returns True if main() may return another status than 0."""
        for body in self._blocks(r"\bmain\s*\([^)]{0,500}\)\s*\{"):
            if re.search(r"\breturn\s+(?!0\s*;|EXIT_SUCCESS\b)", code[body.start : body.stop]):
                return True
        return False

    def _blocks(self, head: str | re.Pattern[str]) -> Iterator[range]:
        for number, found in enumerate(re.finditer(head, self.code)):
            if number < _MOST_BLOCKS:
                yield range(found.start(), self.ends.get(found.end() - 1, found.start()))


def _declared(code: str) -> Iterator[str]:
    """Yields the names of functions, and of values not made by what sounds like a failure."""
    for found in _DECLARED.finditer(code):
        if found["head"] or not _FAILING.search(found["made"]):
            yield found["head"] or found["value"]


_IMPORTING = frozenset(
    ("import", "from", "as", "const", "let", "var", "require", "await", "static")
)


def _blank(code: str, parts: Iterable[range]) -> str:
    found = bytearray(len(code))
    for part in parts:
        found[part.start : part.stop] = b"\1" * len(part)
    return "".join(" " if hidden else sign for sign, hidden in zip(code, found, strict=True))

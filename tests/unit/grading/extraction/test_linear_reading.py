"""Whoever reads a completion's text takes time in the measure of its length, whatever it says.

Nobody but the completion's author chooses it, and it is read by the server itself.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from reward_server.domain import Extraction
from reward_server.grading.compiled_tests.assertions import opened_for
from reward_server.grading.compiled_tests.split import SPLITTERS, Task
from reward_server.grading.compiled_tests.split.text.blocks import open_blocks, unclosed
from reward_server.grading.compiled_tests.tokens import tokenize
from reward_server.grading.extraction import other_languages
from reward_server.grading.extraction.extract import extract
from reward_server.grading.repository import changes
from reward_server.grading.repository.protection import composed
from reward_server.grading.repository.tree import Tree
from reward_server.languages import Language, go_source, load_languages, rust_source

Reader = Callable[[str], object]
ALIKE = frozenset({"c++11", "c++14", "c++20"})  # read as C++ 17 is
LANGUAGES = tuple(one for one in load_languages().all if one.name not in ALIKE)
TIMES = 4
MOST = 2 * TIMES  # a reader of quadratic time takes TIMES ** 2 as long
CHARACTERS = 1 << 11
LEAST_SECONDS = 0.003  # below that a clock tells little; no reader is slow that takes no more
OPENINGS = (
    r"""" \" r" b" u8" a" ' '\ a' ` `\ """ + '""" '
    r"""''' R"( R"a( r#" r##"# /* /** /*/ /+ --[[ --[=[ [[ [=[ (/[ =/a (/\ # #\ #include" #["""
)
PIECES: tuple[str, ...] = (
    *OPENINGS.split(),
    '"\\',
    '"\n',
    *("{", "}", "a = {} ", "f() {} ", "\n", " ", "\n ", "a   ", "a &", "int f", "return f(", "f<"),
    *("import (", 'import (\n"a', "use rand", "use rand\n", "use rand;\n", "\nclass A ", "class A"),
    *(
        "object a extends ",
        "public final ",
        "```\n",
        "~~~",
        "```a\n",
        "- ```\n",
        "a ```b\n",
        "> ```a\n",
        "<think>",
        "@a\n",
    ),
    *("fn f(a: Vec<", "\ndef f():", "typedef ", ".a", "0x_", "[Aa", "<answer>", "func main", "::"),
)
SPLITS: Mapping[str, tuple[str, str]] = {  # prompts that leave a function open, and tests
    "c++17": ("int f(int a) {\n", "int main() { if (f(1) != 1) return 1; }\n"),
    "java": (
        "class Solution {\n public int f(int a) {\n",
        "public class Main { public static void main(String[] a) { if (new Solution().f(1) != 1) "
        "throw new AssertionError(); } }\n",
    ),
    "go": (
        "package main\n\nfunc f(a int) int {\n",
        'import "testing"\nfunc TestF(t *testing.T) { if f(1) != 1 { t.Fatal() } }\n',
    ),
    "rust": ("fn f(a: i32) -> i32 {\n", "fn main() { assert_eq!(f(1), 1); }\n"),
}


def readers_of(language: Language) -> Iterator[tuple[str, Reader]]:
    """Yields what reads a completion in a language."""
    wanted = frozenset({"f"})
    prompt = "def f(a):\n" if language.name == "python" else "int f(int a) {\n"
    yield (
        "extraction",
        lambda text: extract(
            text, extraction=Extraction.AUTO, dialect=language, prompt=prompt, wanted=wanted
        ),
    )
    yield "stem", language.source_file
    if language.program is None or language.program.assertions is None:
        return
    assertions = language.program.assertions
    yield "tokens", lambda text: tokenize(text, assertions)
    yield "opened", lambda text: opened_for("}", text, assertions)
    if language.program.split:
        yield from split_readers(language, SPLITTERS[language.program.split])


def split_readers(
    language: Language, splitter: Callable[[Task], object]
) -> Iterator[tuple[str, Reader]]:
    assert language.program is not None
    assertions = language.program.assertions
    assert assertions is not None
    yield "unclosed", lambda text: unclosed(text, assertions)
    yield "blocks", lambda text: open_blocks(text, assertions)
    prompt, tests = SPLITS.get(language.name, ("", "f(1);\n"))
    split = splitter(Task(prompt=prompt, tests=tests, language=assertions))
    if split is not None:
        yield "serving", split.serving


def importing(language: str, beginning: bytes) -> Reader:
    known = changes.LANGUAGES[language]
    return lambda text: list(known.imported_by(beginning + text.encode()))


def of_new_modules(text: str) -> object:
    """Reads a change that adds as many modules as a repository has, all at its top."""
    modules = {f"a/m{number}.py": b"" for number in range(len(text))}
    new = {f"n{number}.py": b"" for number in range(len(text))}
    return composed(Tree(files=modules), Tree(files={**modules, **new}), {})


READERS: Mapping[str, Reader] = {
    **{
        f"{language.name}: {what}": reader
        for language in LANGUAGES
        for what, reader in readers_of(language)
    },
    "definitions": lambda text: other_languages.defines(text, "f"),
    "go: imports": go_source.arranged,
    "rust: crates": rust_source.arranged,
    "rust: own tests": rust_source.without_tests,
    "javascript: imports": importing("javascript", b"from"),
    "python: imports": importing("python", b"import "),
    "rust: imports": importing("rust", b"mod"),
    "new modules": of_new_modules,
}


def seconds(reader: Reader, text: str, tries: int) -> float:
    found = []
    for _ in range(tries):
        began = time.process_time()
        reader(text)
        found.append(time.process_time() - began)
    return min(found)


def grows_too_fast(reader: Reader, piece: str) -> float:
    """Returns how much longer a longer text takes, or 0 if that is in its measure."""
    count = CHARACTERS // len(piece)
    if seconds(reader, piece * count, 1) < LEAST_SECONDS:
        return 0.0
    for tries in (1, 4):
        short, long = (seconds(reader, piece * n, tries) for n in (count, count * TIMES))
        if long < MOST * short:
            return 0.0
    return long / short


def pieces_for(name: str) -> tuple[str, ...]:
    if os.environ.get("REWARD_SERVER_TEST_ALL") == "1":
        return PIECES
    return tuple(random.Random(name).sample(PIECES, 3))


@pytest.mark.parametrize("name", READERS)
def test_a_longer_text_takes_longer_in_its_measure(name: str) -> None:
    found = {piece: grows_too_fast(READERS[name], piece) for piece in pieces_for(name)}
    assert not {piece: f"{ratio:.0f} times" for piece, ratio in found.items() if ratio}


FLOODS = (
    ("c++17: serving", '"\\'),
    ("c++17: tokens", 'R"('),
    ("c++17: tokens", "/*"),
    ("rust: serving", 'r#"'),
    ("rust: tokens", '"\\'),
    ("java: serving", '"""\\"'),
    ("go: serving", '"\\'),
    ("go: serving", "/*"),
    ("javascript: opened", "(/["),
    ("javascript: opened", "`\\`"),
    ("kotlin: opened", '"""a'),
    ("lua: opened", "[=["),
    ("d: opened", "/+"),
    ("rust: blocks", "#"),
    ("rust: blocks", "a = {} "),
    ("rust: crates", "use rand;\n"),
    ("rust: crates", "use rand\n"),
    ("rust: own tests", 'r#"'),
    ("rust: own tests", "/*"),
    ("rust: own tests", "#[test]"),
    ("java: stem", "\nclass A"),
    ("scala: stem", "object a extends "),
    ("c++17: extraction", "/*"),
    ("c++17: extraction", '"\\'),
    ("definitions", "a   "),
    ("definitions", "\n"),
    ("go: imports", 'import (\n"a'),
    ("javascript: imports", " "),
    ("python: imports", " "),
    ("python: imports", "a, "),
    ("rust: imports", " "),
    ("new modules", " "),
)


@pytest.mark.parametrize(("name", "piece"), FLOODS)
def test_floods_that_once_stopped_a_server_do_not(name: str, piece: str) -> None:
    assert not grows_too_fast(READERS[name], piece)

"""Reads test files that are compiled with the solution: their tests and assertions.

Only the text determines which tests a run has to report, since the solution can forge the report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from reward_server.grading.compiled_tests.assertions import (
    READ_CHARACTERS,
    Assertion,
    find_assertions,
)
from reward_server.grading.compiled_tests.rewriting import Rewritten, rewrite
from reward_server.grading.compiled_tests.tokens import blanked, match_brackets, tokenize
from reward_server.languages.suites import Rewrites, Suites

_PART = re.compile(r"\{(?:secret|tag|word|tests|files)\}")
_IDENTIFIER = re.compile(r"\W+")
_QUOTED = re.compile(r"""(["'`])((?:(?!\1)[^\\])*)\1""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test in a file.

    Args:
        name: its name in the text; "" if the text does not contain it.
        path: the path of the file.
        start: where it begins in the text.
        end: where its body ends.
        lines: its lines, from 1.
        may_be_skipped: whether its author may skip it.
    """

    __test__ = False  # it is no test of pytest's

    name: str
    path: str
    start: int
    end: int
    lines: range
    may_be_skipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFiles:
    """Test files that were read.

    Args:
        texts: the text of each file, by path.
        tests: the tests in the files.
        assertions: the assertions that can be rewritten, by path.
        complete: whether the text names all tests.
        flaw: why no answer can fail them; "" if one can.
    """

    __test__ = False

    texts: Mapping[str, str]
    tests: tuple[Test, ...]
    assertions: Mapping[str, tuple[Assertion, ...]]
    complete: bool
    flaw: str = ""

    @property
    def counts(self) -> Counter[str]:
        """The number of tests with each name."""
        return Counter(test.name for test in self.tests)

    def may_be_skipped(self, name: str) -> bool:
        """Returns True if the author may skip a test with that name."""
        known = [test for test in self.tests if test.name == name]
        return any(test.may_be_skipped for test in known) or not known


def read_test_files(files: Iterable[tuple[str, str]], suites: Suites) -> TestFiles:
    """Reads test files.

    Args:
        files: the path and the text of each.
        suites: how tests of the framework are written.
    """
    texts = dict(files)
    tests, assertions = list[Test](), {}
    complete, own = True, _declared(texts.values(), suites)
    for path, text in texts.items():
        if suites.holds.search(path) is None:
            continue
        found = _tests(path, text, suites)
        complete = complete and found is not None and all(test.name for test in found)
        within = [(test.start, test.end) for test in found or ()]
        assertions[path] = find_assertions(text, suites.assertions, within, own)
        tests += found or ()
    return TestFiles(
        texts=texts,
        tests=tuple(test for test in tests if test.name),
        assertions=assertions,
        complete=complete,
    )


def _declared(texts: Iterable[str], suites: Suites) -> frozenset[str]:
    """Returns the names of assertions that the test files define themselves."""
    found = (head for text in texts for head in suites.declares.finditer(text[:READ_CHARACTERS]))
    return frozenset(name for head in found for name in head.groups() if name)


def _tests(path: str, text: str, suites: Suites) -> list[Test] | None:
    """Finds the tests of a file; None if its brackets do not match."""
    if len(text) > READ_CHARACTERS:
        return None
    tokens = tokenize(text, suites.assertions)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unopened or brackets.unclosed:
        return None
    ends = {tokens[a].start: tokens[b].end for a, b in brackets.partners.items()}
    code = blanked(tokens)
    heads = list(_heads(code, suites, ends))
    outside = _outside(code, [(head.start(), ends[head.end() - 1]) for head in heads])
    skips_all = suites.skips.search(outside) is not None
    found = []
    for head in heads:
        start, end = head.start(), ends[head.end() - 1]
        skips = skips_all or suites.skips.search(code, start, end) is not None
        found.append(
            Test(
                name=_name(text, head, end),
                path=path,
                start=start,
                end=end,
                lines=range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2),
                may_be_skipped=skips,
            )
        )
    return found


def _heads(code: str, suites: Suites, ends: Mapping[int, int]) -> Iterator[re.Match[str]]:
    """Finds where tests begin that are not inside another one."""
    last = 0
    for head in suites.test.finditer(code):
        if head.start() >= last and head.end() - 1 in ends:
            last = ends[head.end() - 1]
            yield head


def _name(text: str, head: re.Match[str], end: int) -> str:
    """Returns a test's name: a word, or the text of a string that is the first argument.

    A test that a macro makes has no name in the text.
    """
    if head["name"] is not None:
        name = text[head.start("name") : head.end("name")]
        return "" if name.startswith("$") else name
    quoted = _QUOTED.match(text[head.end() : end].lstrip())
    return "" if quoted is None or "${" in quoted[2] else quoted[2]


def _outside(code: str, parts: Sequence[tuple[int, int]]) -> str:
    pieces, last = [], 0
    for start, end in parts:
        pieces.append(code[last:start])
        last = end
    return "".join((*pieces, code[last:]))


def rewrite_test_files(
    known: TestFiles, suites: Suites, *, secret: str, tag: str, random: Random
) -> tuple[dict[str, str], dict[str, Rewritten]]:
    """Rewrites test files so that their assertions report what they find.

    Args:
        known: the files.
        suites: how tests of the framework are written.
        secret: a fresh identifier.
        tag: the fresh tag with which every report begins.
        random: the source of words.

    Returns:
        The text of each file, by the path where it is put; and the rewritten files with tests, by
        path.
    """
    texts, told = dict(known.texts), {}
    for path, assertions in known.assertions.items():
        told[path] = rewrite(
            texts[path], assertions, suites.assertions, secret=secret, tag=tag, random=random
        )
        texts[path] = rewritten_by(suites.rewrites, told[path].text, secret)
    return {_placed(path, known, suites): text for path, text in texts.items()}, told


def _placed(path: str, known: TestFiles, suites: Suites) -> str:
    return rewritten_by(suites.paths, path, "") if path in known.assertions else path


def rewritten_by(rewrites: Rewrites, text: str, secret: str) -> str:
    """Applies rewrites one after another."""
    for pattern, new in rewrites:
        text = pattern.sub(new.replace("{secret}", secret), text)
    return text


def harness(
    known: TestFiles, suites: Suites, *, secret: str, tag: str, word: str
) -> dict[str, str]:
    """Returns the harness's files, by path.

    Args:
        known: the test files.
        suites: how they are run.
        secret: a fresh identifier.
        tag: the tag with which every report begins.
        word: the word to write at the end.
    """
    files = [
        suites.each_file.replace("{path}", path).replace("{stem}", _IDENTIFIER.sub("_", path))
        for path in known.assertions
    ]
    meanings = {
        "{secret}": secret,
        "{tag}": tag,
        "{word}": word,
    }
    lists = {
        "{tests}": "".join(suites.each.replace("{name}", test.name) for test in known.tests),
        "{files}": "".join(files),
    }
    meanings |= {part: _filled(text, meanings) for part, text in lists.items()}
    return {_filled(path, meanings): _filled(text, meanings) for path, text in suites.files.items()}


def _filled(text: str, meanings: Mapping[str, str]) -> str:
    return _PART.sub(lambda part: meanings[part[0]], text)

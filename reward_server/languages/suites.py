r"""How a framework's test files are run with the solution: the table [unit] of a language.

The files are compiled with the solution and a harness of ours, which runs the tests one after
another and tells what becomes of each by writing to standard output, each time on a line by itself

    {tag}+NAME<tab>TITLE                                when a test begins
    {tag}-OUTCOME<tab>SECONDS<tab>TITLE<tab>MESSAGE     when it ends
    {word}                                              when all have ended

where NAME is what the test's text calls it, TITLE is unlike that of any other test, and OUTCOME is
p, f or s: passed, failed or skipped. A test within a test begins and ends within it.

framework    whose test files they are: a name of `domain.Framework`, in small letters
available    command that succeeds where the framework is; absent where the language has it
holds        regular expression of the paths of files that hold tests; others are helpers
solution     where tests find the solution, unless a request tells; as the language calls it if ""
test         regular expression of what a test begins with, up to the opening bracket of what it
             does, in text whose strings and comments are blank; its group "name" is the test's name
declares     regular expression of a definition of what assertions are called; its groups are the
             names, which mean what the test files say; none if absent
skips        regular expression of what may skip a test: in its text, or outside all tests
rewrites     pairs of a regular expression and its replacement, in the files that hold tests; they
             are applied one after another, and keep the number of lines
solutions    the same, in the solution
paths        the same, in the paths of those files
refuses      regular expression found in files with tests that cannot be run so; none if absent
each         code that stands in the harness's {tests} for each test; {name} in it
each_file    code that stands in the harness's {files} for each file that holds tests; in it, {path}
             and {stem}, an identifier made of that
files        the harness's files, by relative path; put over those of [program.files]
compile, keep, run   as of [toolchain]; {sources} stands for all files of the solution's kind,
             {solution} for where it lies
failed       regular expression of the framework's own word that a test failed, whose group "name"
             is the test's; besides what the harness tells
assertions   table as of [program.assertions], put over it key by key

{secret}, {tag} and {word} are made afresh for each verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reward_server.languages.assertions import Assertions, parse_assertions

_NOTHING = r"(?!)"

Rewrites = tuple[tuple[re.Pattern[str], str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Suites:
    """How a framework's test files are run; see above."""

    framework: str
    available: tuple[str, ...]
    holds: re.Pattern[str]
    solution: str
    test: re.Pattern[str]
    declares: re.Pattern[str]
    skips: re.Pattern[str]
    rewrites: Rewrites
    solutions: Rewrites
    paths: Rewrites
    refuses: re.Pattern[str]
    each: str
    each_file: str
    files: Mapping[str, str]
    compile: tuple[tuple[str, ...], ...]
    keep: tuple[str, ...]
    run: tuple[str, ...]
    failed: re.Pattern[str]
    assertions: Assertions


def parse_suites(table: Mapping[str, Any], program: Mapping[str, Any]) -> Suites:
    """Reads the table [unit].

    Args:
        table: itself.
        program: the table [program], or an empty one.

    Raises:
        ValueError: the pattern of a test names none.
    """
    test = re.compile(table["test"])
    if "name" not in test.groupindex:
        raise ValueError('the pattern of a test needs a group "name"')
    return Suites(
        framework=table["framework"],
        available=tuple(table.get("available", ())),
        holds=re.compile(table["holds"]),
        solution=table["solution"],
        test=test,
        declares=re.compile(table.get("declares", _NOTHING)),
        skips=re.compile(table["skips"]),
        rewrites=_parse_rewrites(table.get("rewrites", [])),
        solutions=_parse_rewrites(table.get("solutions", [])),
        paths=_parse_rewrites(table.get("paths", [])),
        refuses=re.compile(table.get("refuses", _NOTHING)),
        each=table.get("each", ""),
        each_file=table.get("each_file", ""),
        files={**program.get("files", {}), **table["files"]},
        compile=tuple(map(tuple, table["compile"])),
        keep=tuple(table["keep"]),
        run=tuple(table["run"]),
        failed=re.compile(table.get("failed", _NOTHING)),
        assertions=parse_assertions({**program.get("assertions", {}), **table["assertions"]}),
    )


def _parse_rewrites(pairs: list[list[str]]) -> Rewrites:
    return tuple((re.compile(pattern), new) for pattern, new in pairs)

r"""How a framework's test files are run with the solution: the table [unit] of a language.

The files are compiled with the solution and with a harness of the server. The harness runs the
tests one after another, and writes these lines to standard output:

    {tag}+NAME<tab>TITLE                                when a test begins
    {tag}-OUTCOME<tab>SECONDS<tab>TITLE<tab>MESSAGE     when it ends
    {word}                                              when all have ended

NAME is the name of the test in the text of the tests, TITLE is different for each test, and OUTCOME
is p, f or s: passed, failed or skipped. A test within a test begins and ends within it.

The keys of the table:

framework    the framework: a name of `domain.Framework`, in small letters
available    command that succeeds if the framework is installed; absent if the language includes it
holds        regular expression of the paths of files with tests; other files are helpers
solution     path of the solution if the request sets none; "" for the usual name in the language
test         regular expression of the beginning of a test, up to the opening bracket of its body,
             in text whose strings and comments are blank. Its group "name" is the test's name
declares     regular expression of declarations of assertions in the test files. Its groups are the
             names, which then have the meaning of these declarations; none if absent
skips        regular expression of code that may skip a test: in its text, or outside all tests
rewrites     pairs of a regular expression and its replacement for files with tests. They are
             applied one after another, and keep the number of lines
solutions    such pairs for the solution
paths        such pairs for the paths of those files
refuses      regular expression of code that cannot be run in this way; none if absent
each         code for each test, which replaces {tests} in the harness; has {name}
each_file    code for each file with tests, which replaces {files} in the harness. It has {path} and
             {stem}, an identifier made from the path
files        the harness's files, by relative path, in addition to those of [program.files]
compile, keep, run   the same as in [toolchain]; {sources} stands for all files of the solution's
             kind, and {solution} for the solution's path
failed       regular expression of the text with which the framework reports that a test failed. Its
             group "name" is the test's name. It is used in addition to the harness's report
assertions   table like [program.assertions], whose keys replace those of that table

{secret}, {tag} and {word} are new for each verdict.
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
        table: the table [unit].
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

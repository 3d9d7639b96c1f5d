"""How a test program and the solution become one program: the table [program] of a language.

layout      how the source is put together of {opening}, {solution}, {tests} and {ending}, each
            once; the first and the last only where there are any
opening     text that the ending, or the assertions, need in front; "" if absent
rename      a regular expression and what it is replaced by, once, in the tests, such as the name
            of their main; tests in which it finds nothing are refused
ending      code behind the tests; it, or what `rename` puts in, runs the tests' main and then,
            only if that came to its normal end, writes the line {word} to standard output; "" if
            absent
files       further files, by relative path, that are compiled with the source
failed      regular expression found in what a failed assertion writes to standard error
hoists      which of `HOISTS` puts first what a program's text has to begin with, such as imports;
            "" if absent
runs        which of `RUNS` makes a main of tests that a test harness would call; "" if absent
split       which of `grading.split.SPLITTERS` takes test programs apart; "" if absent
assertions  table that lets test programs be rewritten; described in `languages.assertions`

{secret} is an identifier: a letter, then letters and digits. {word} is hexadecimal. Both are made
afresh for each verdict. The program passes if it exits with status 0 and has written the line
{word}: one that leaves early did not run all the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reward_server.languages import go_source, rust_source
from reward_server.languages.assertions import Assertions, parse_assertions

_OPTIONAL = ("opening", "ending")
_PART = re.compile(r"\{(?:opening|solution|tests|ending)\}")
_FAILED = r"(?i)assert"
HOISTS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "go": go_source.arranged,
    "rust": rust_source.without_crates,
}
RUNS: Mapping[str, Callable[[str], str]] = {"": str, "rust": rust_source.with_main}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A program made of a solution and its tests, and the files beside it."""

    source: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Composition:
    """How a language composes programs; see above."""

    layout: str
    opening: str
    rename: tuple[re.Pattern[str], str] | None
    ending: str
    files: Mapping[str, str]
    failed: re.Pattern[str]
    hoists: str
    runs: str
    split: str
    assertions: Assertions | None

    def fits(self, tests: str) -> bool:
        """Tells whether tests have what is renamed in them."""
        return self.rename is None or self.rename[0].search(RUNS[self.runs](tests)) is not None

    def compose(self, solution: str, tests: str, *, secret: str, word: str) -> Composed:
        """Puts a program together.

        Args:
            solution: untrusted; put in as it is.
            tests: that fit.
            secret: a fresh identifier.
            word: a fresh word, which the ending writes.
        """
        tests = RUNS[self.runs](tests)
        if self.rename is not None:
            pattern, new = self.rename
            new = _filled(new, secret, word)
            tests = pattern.sub(lambda found: found.expand(new), tests, count=1)
        parts = {
            "{opening}": _filled(self.opening, secret, word),
            "{solution}": solution,
            "{tests}": tests,
            "{ending}": _filled(self.ending, secret, word),
        }
        source = _PART.sub(lambda part: parts[part[0]], self.layout)
        files = {
            _filled(name, secret, word): _filled(text, secret, word).encode()
            for name, text in self.files.items()
        }
        return Composed(source=HOISTS[self.hoists](source), files=files)


def _filled(text: str, secret: str, word: str) -> str:
    return text.replace("{secret}", secret).replace("{word}", word)


def parse_composition(table: Mapping[str, Any]) -> Composition:
    """Reads the table [program].

    Raises:
        ValueError: the layout lacks a part or has one twice, or nothing writes {word}.
    """
    layout, ending, rename = table["layout"], table.get("ending", ""), table.get("rename")
    parts = {"{solution}", "{tests}", *(f"{{{part}}}" for part in _OPTIONAL if table.get(part))}
    found = _PART.findall(layout)
    if len(found) != len({*found}) or not parts <= {*found}:
        raise ValueError(f"the layout must have each of {', '.join(sorted(parts))} once")
    written = (table.get("opening", ""), ending, rename[1] if rename else "")
    if not any("{word}" in text for text in written):
        raise ValueError("nothing writes {word}")
    return Composition(
        layout=layout,
        opening=table.get("opening", ""),
        rename=(re.compile(rename[0]), rename[1]) if rename else None,
        ending=ending,
        files=table.get("files", {}),
        failed=re.compile(table.get("failed", _FAILED)),
        hoists=table.get("hoists", ""),
        runs=table.get("runs", ""),
        split=table.get("split", ""),
        assertions=parse_assertions(table["assertions"]) if "assertions" in table else None,
    )

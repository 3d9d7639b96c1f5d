"""How a test program and the solution become one program: the table [program] of a language.

The keys of the table:

layout      order of {opening}, {solution}, {closing}, {tests} and {ending} in the source. Each
            occurs once; only {solution} and {tests} are always needed. {closing} stands for the
            brackets at the beginning of the tests, which close what the solution opened
opening     text at the beginning, which the ending or the assertions need; "" if absent. It may
            define something between solution and tests that is used after the tests. If a solution
            makes the tests a part of its last comment or text, this definition is missing
tail        regular expression of a mark that ends a program's text before the end of its file. The
            mark and all text after it are moved to the end of the program: those of the tests, or
            else those of the solution
rename      a regular expression and its replacement, applied once in the tests, such as for the
            name of their main program. If it finds nothing, the tests are refused
exits       pairs of a regular expression and its replacement, applied everywhere in the tests. They
            replace calls that end the program by calls that first write the line {word} if the
            status is 0; none if absent
leaves      regular expression of other ways to end the program. Tests with them are refused, since
            a solution that ends the program early would look the same; none if absent
ending      code after the tests; "" if absent. This code, or the text of `rename` or `runs`, runs
            the tests. Then, only if they ended normally, it writes the line {word} to standard
            output
files       further files, by relative path, that are compiled with the source
ran         regular expression found in standard output if a test was run; absent if {word} shows it
failed      regular expression found in the text that a failed assertion writes to standard error
hoists      name in `HOISTS` of the function that moves text such as imports to the beginning of the
            program; "" if absent
runs        name in `RUNS` of the function that makes the tests call everything that a test harness
            would call, or refuses them; "" if absent
bares       name in `BARES` of the function that removes the solution's own tests; "" if absent
split       name in `grading.split.SPLITTERS` of the class that makes tests and solution two
            programs; "" if absent
assertions  table by which assertions are rewritten; see `languages.assertions`
comments, strings, chars   keys with the meaning of those in `assertions`, if that table is absent

All regular expressions except `tail` see the tests without comments and quoted texts.

{secret} is an identifier: a letter, then letters and digits. {word} is hexadecimal. Both are new
for each verdict. The program passes if it exits with status 0 and has written the line {word}. If
the line is missing, not all tests were run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reward_server.languages import go_source, javascript_source, rust_source
from reward_server.languages.assertions import Assertions, parse_assertions
from reward_server.languages.masking import masked, replaced

_NOTHING = re.compile("(?!)")
_OPTIONAL = ("opening", "ending")
_PART = re.compile(r"\{(?:opening|solution|closing|tests|ending)\}")
_CLOSING = re.compile(r"(?:\s*[}\])])*")
_FAILED = r"(?i)assert"
HOISTS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "go": go_source.arranged,
    "rust": rust_source.arranged,
}
# Each gets the tests and {secret}, and raises ValueError with a remedy for those that it refuses.
RUNS: Mapping[str, Callable[[str, str], str]] = {
    "": lambda tests, _: tests,
    "go": go_source.with_tests,
    "javascript": javascript_source.with_requires,
    "rust": rust_source.with_tests,
}
BARES: Mapping[str, Callable[[str], str]] = {"": str, "rust": rust_source.without_tests}


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
    exits: tuple[tuple[re.Pattern[str], str], ...]
    leaves: re.Pattern[str]
    tail: re.Pattern[str]
    ending: str
    files: Mapping[str, str]
    failed: re.Pattern[str]
    hoists: str
    runs: str
    bares: str
    ran: re.Pattern[bytes] | None
    split: str
    assertions: Assertions | None
    tokens: Assertions | None

    def refusal(self, tests: str) -> str:
        """Returns why tests cannot be run: they lack something, or a part would not run; else
        ""."""
        try:
            tests = RUNS[self.runs](tests, "s")
        except ValueError as error:
            return str(error)
        found = self.rename is None or self.rename[0].search(masked(tests, self.tokens))
        return "" if found else "has no main program"

    def leaving(self, tests: str) -> str:
        """Returns code of the tests that ends the program in a refused way; "" if there is none."""
        found = self.leaves.search(masked(tests, self.tokens))
        return found[0] if found else ""

    def compose(self, solution: str, tests: str, *, secret: str, word: str) -> Composed:
        """Puts a program together.

        Args:
            solution: untrusted; put in as it is.
            tests: the tests, which `refusal` does not refuse.
            secret: a fresh identifier.
            word: a fresh word, which the ending writes.
        """
        tests, last = self._cut(RUNS[self.runs](tests, secret))
        solution, rest = self._cut(solution)
        for pattern, new in self.exits:
            tests = replaced(tests, self.tokens, pattern, _filled(new, secret, word))
        if self.rename is not None:
            pattern, new = self.rename
            new = _filled(new, secret, word)
            tests = replaced(tests, self.tokens, pattern, new, most=1)
        closes = _CLOSING.match(tests) if "{closing}" in self.layout else None
        closed = closes.end() if closes else 0
        parts = {
            "{opening}": _filled(self.opening, secret, word),
            "{solution}": BARES[self.bares](solution),
            "{closing}": tests[:closed],
            "{tests}": "\n" * tests.count("\n", 0, closed) + tests[closed:],
            "{ending}": _filled(self.ending, secret, word),
        }
        layout = _filled(self.layout, secret, word)
        source = _PART.sub(lambda part: parts[part[0]], layout) + (last or rest)
        files = {
            _filled(name, secret, word): _filled(text, secret, word).encode()
            for name, text in self.files.items()
        }
        return Composed(source=HOISTS[self.hoists](source), files=files)

    def _cut(self, text: str) -> tuple[str, str]:
        """Divides a program's text at its end mark, and returns both parts."""
        found = self.tail.search(text)
        return (text[: found.start()], text[found.start() :]) if found else (text, "")


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
    files = table.get("files", {})
    written = (table.get("opening", ""), ending, rename[1] if rename else "", *files.values())
    if not any("{word}" in text for text in written):
        raise ValueError("nothing writes {word}")
    assertions = parse_assertions(table["assertions"]) if "assertions" in table else None
    return Composition(
        layout=layout,
        opening=table.get("opening", ""),
        rename=(re.compile(rename[0]), rename[1]) if rename else None,
        exits=tuple((re.compile(old), new) for old, new in table.get("exits", ())),
        leaves=re.compile(table["leaves"]) if "leaves" in table else _NOTHING,
        tail=re.compile(table["tail"]) if "tail" in table else _NOTHING,
        ending=ending,
        files=files,
        failed=re.compile(table.get("failed", _FAILED)),
        hoists=table.get("hoists", ""),
        runs=table.get("runs", ""),
        bares=table.get("bares", ""),
        ran=re.compile(table["ran"].encode()) if "ran" in table else None,
        split=table.get("split", ""),
        assertions=assertions,
        tokens=assertions or _parse_tokens(table),
    )


def _parse_tokens(table: Mapping[str, Any]) -> Assertions | None:
    """Reads how a language without assertions is cut into tokens; None if nobody tells."""
    if "comments" not in table:
        return None
    nothing = {"capture": "", "observation": "", "statement": "", "forms": ()}
    return parse_assertions({**table, **nothing})

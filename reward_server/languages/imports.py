r"""What texts of a task import: the table [imports] of a language.

The keys of the table:

statements  regular expressions of an import. The group `module` is the name of the library. The
            group `names` holds all names by which a text can use it; without this group, or with a
            "*" in it, nobody can see whether the text uses it
probe       program that does nothing; {imports} stands for its imports
own         regular expression of first parts of modules that are no libraries; none if absent
declares    regular expression whose first group is a name that the text declares, and with which
            an import may begin; none if absent
open        the kind of tests in which a solution may define what the tests import: "program" or
            "unit"; none if absent
undefined   regular expression whose first group is the name of a class that the compiler of test
            files did not find; absent if the solution cannot be told from a library by it
undecided   regular expression of text in which imports depend on conditions; none if absent

A statement counts if it begins outside of comments and quoted texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reward_server.languages.assertions import Assertions
from reward_server.languages.masking import masked

_NOTHING = re.compile("(?!)")
_NAME = re.compile(r"[^\W\d][\w$]*")
_SEGMENT = re.compile(r"[^\w$@-]")
_NONE: frozenset[str] = frozenset()
_SYNTAX = frozenset(("as", "type", "default"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """An import of a task.

    Args:
        statement: its text.
        module: the name of the library.
        names: the names by which a text can use it; empty if nobody knows.
    """

    statement: str
    module: str
    names: frozenset[str] = _NONE

    @property
    def root(self) -> str:
        """The first part of the library's name."""
        return _SEGMENT.split(self.module)[0]

    def is_used(self, rest: str) -> bool:
        """Returns False if the rest of the task's text does not have a name of it.

        Args:
            rest: the text without all imports.
        """
        return not self.names or not self.names.isdisjoint(_NAME.findall(rest))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Imports:
    """How a language imports; see above."""

    statements: tuple[re.Pattern[str], ...]
    probe: str
    own: re.Pattern[str]
    declares: re.Pattern[str]
    open: str
    undefined: re.Pattern[str] | None
    undecided: re.Pattern[str]

    def of(self, text: str, tokens: Assertions | None) -> Iterator[Import]:
        """Yields the imports of a text.

        Args:
            text: of the task.
            tokens: how the language is cut into tokens, or None.
        """
        code = masked(text, tokens)
        for statement in self.statements:
            for found in statement.finditer(text):
                start = found.start() + len(found[0]) - len(found[0].lstrip())
                if code[start] == text[start]:
                    yield _import(found)

    def program(self, imports: Iterable[Import]) -> str:
        """Returns the program that only imports."""
        return self.probe.replace("{imports}", "\n".join(one.statement for one in imports))


def _import(found: re.Match[str]) -> Import:
    module = found["module"].strip()
    names = found.groupdict().get("names")
    words = frozenset(_NAME.findall(f"{names} {module if module.isidentifier() else ''}"))
    is_known = names is not None and "*" not in names and "_" not in words
    return Import(
        statement=found[0].strip(), module=module, names=words - _SYNTAX if is_known else _NONE
    )


def parse_imports(table: Mapping[str, Any]) -> Imports:
    """Reads the table [imports]."""

    def pattern(key: str) -> re.Pattern[str]:
        return re.compile(table[key]) if key in table else _NOTHING

    return Imports(
        statements=tuple(map(re.compile, table["statements"])),
        probe=table["probe"],
        own=pattern("own"),
        declares=pattern("declares"),
        open=table.get("open", ""),
        undefined=re.compile(table["undefined"]) if "undefined" in table else None,
        undecided=pattern("undecided"),
    )

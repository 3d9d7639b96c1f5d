"""The languages on offer. A language is a short declarative file beside this module.

name, aliases   what requests may call it
source_file     what a program's file is called
test_kinds      which kinds of tests it can be judged by: "function", "call", "stdio", "unit"
fence_tags      words that mark its fenced code in chat output
code_line       regular expression that a line of its code matches and prose does not
limits          defaults of its own, by field of `domain.Limits`
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files

from reward_server.domain import LanguageInfo, Limits
from reward_server.errors import UnsupportedError

TEST_KINDS = ("function", "call", "stdio", "unit")
_LIMIT_NAMES = frozenset(limit.name for limit in fields(Limits))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """One language, as its file describes it."""

    name: str
    aliases: tuple[str, ...]
    source_file: str
    test_kinds: tuple[str, ...]
    fence_tags: frozenset[str]
    code_line: re.Pattern[str]
    limits: Mapping[str, float] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ()

    def with_frameworks(self, frameworks: tuple[str, ...]) -> Language:
        """Returns the language as it is where the test files of these frameworks can be run."""
        kinds = tuple(kind for kind in self.test_kinds if kind != "unit" or frameworks)
        return replace(self, frameworks=frameworks, test_kinds=kinds)

    def default_limits(self, server: Limits) -> Limits:
        """Returns the server's defaults with this language's own put over them."""
        return replace(server, **self.limits)  # type: ignore[arg-type]  # names were checked

    def info(self, version: str) -> LanguageInfo:
        """Describes the language to a client, given its implementation's version."""
        return LanguageInfo(
            name=self.name,
            aliases=self.aliases,
            version=version,
            test_kinds=self.test_kinds,
            frameworks=self.frameworks,
        )


class Languages:
    """Finds languages by name or alias, whatever the letter case."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self.all = tuple(languages)
        self._by_name = {
            name.lower(): language
            for language in self.all
            for name in (language.name, *language.aliases)
        }

    def find(self, name: str) -> Language:
        """Returns the language of that name or alias.

        Raises:
            UnsupportedError: there is none.
        """
        language = self._by_name.get(name.lower())
        if language is None:
            offered = ", ".join(sorted(known.name for known in self.all))
            raise UnsupportedError(f"language {name!r} is not offered; offered are: {offered}")
        return language


def parse_language(text: str) -> Language:
    """Reads a language's file.

    Raises:
        ValueError: the file is malformed, or names an unknown test kind or limit.
    """
    table = tomllib.loads(text)
    unknown = {*table["test_kinds"]} - {*TEST_KINDS} | {*table["limits"]} - _LIMIT_NAMES
    if unknown:
        raise ValueError(f"unknown test kinds or limits: {', '.join(sorted(unknown))}")
    return Language(
        name=table["name"],
        aliases=tuple(table["aliases"]),
        source_file=table["source_file"],
        test_kinds=tuple(table["test_kinds"]),
        fence_tags=frozenset(table["fence_tags"]),
        code_line=re.compile(table["code_line"]),
        limits=table["limits"],
    )


def load_languages() -> Languages:
    """Reads the language files that come with the package."""
    entries = sorted(files(__name__).iterdir(), key=lambda entry: entry.name)
    return Languages(
        parse_language(entry.read_text("utf-8"))
        for entry in entries
        if entry.name.endswith(".toml")
    )

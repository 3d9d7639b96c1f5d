"""Finds code in a program's text, but not in its comments and quoted texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from reward_server.languages.assertions import Assertions
from reward_server.recent import Recent

# Of a text and its masked copy; one program is masked for several rules.
_KEPT_BYTES, _BYTES_OF_CHARACTER = 32 << 20, 8
_kept = Recent[str](_KEPT_BYTES)
_ESCAPED = re.compile(r"\\(?:(\d)|(.))", re.DOTALL)
_LETTER = re.compile(r"[^\n]")


def masked(text: str, language: Assertions | None) -> str:
    """Returns a text of the same length and lines, with blanks for comments and quoted texts.

    Args:
        text: of the program.
        language: how it is cut into tokens; None where nobody knows, and the text stays.
    """
    if language is None:
        return text
    quoting = _quoting(language)
    size_bytes = _BYTES_OF_CHARACTER * len(text)
    return _kept.find((text, language), size_bytes, lambda: quoting.sub(_blank, text))


@lru_cache(maxsize=64)
def _quoting(language: Assertions) -> re.Pattern[str]:
    comments, quoted = language.comments, (*language.strings, *language.chars)
    return re.compile(f"(?P<comment>{'|'.join(comments)})|{'|'.join(quoted)}")


def _blank(found: re.Match[str]) -> str:
    blanks = _LETTER.sub(" ", found[0])
    return blanks if found["comment"] is not None else f'"{blanks[1:-1]}"'[: len(blanks)]


def replaced(
    text: str,
    language: Assertions | None,
    pattern: re.Pattern[str],
    new: str,
    *,
    most: int | None = None,
) -> str:
    """Replaces what a pattern finds in a text's code.

    Args:
        text: of the program.
        language: how it is cut into tokens, or None.
        pattern: that finds it.
        new: the replacement; it can use groups, as a template of `re`.
        most: how often it is replaced; None for everywhere.
    """
    places = islice(pattern.finditer(masked(text, language)), most)
    return edited(text, ((*found.span(), _expanded(new, found, text)) for found in places))


def edited(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Replaces parts of a text.

    Args:
        text: it.
        changes: beginning, end and replacement of each part, in the order of the text.
    """
    pieces, last = list[str](), 0
    for start, end, new in changes:
        pieces += [text[last:start], new]
        last = end
    return "".join((*pieces, text[last:]))


def _expanded(new: str, found: re.Match[str], text: str) -> str:
    """Fills a template with the groups of a match, as they are in the text."""
    return _ESCAPED.sub(
        lambda one: text[slice(*found.span(int(one[1])))] if one[1] else one[2], new
    )

"""Reads TOML of strangers with bounded memory and time.

Python's reader keeps each beginning of a dotted key, so its memory grows with the square of the
number of parts: a key of 120 kB takes more than 6 GB.
"""

from __future__ import annotations

import tomllib
from typing import Any

MOST_CHARACTERS = 256 * 1024
# Of all dots, times those of the line that has most of them.
_MOST_WORK = 4_000_000


def parse_toml(text: str) -> dict[str, Any]:
    """Reads TOML.

    Raises:
        ValueError: it is none, or reading it would cost too much.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"has more than {MOST_CHARACTERS} characters")
    if text.count(".") * max(line.count(".") for line in text.split("\n")) > _MOST_WORK:
        raise ValueError("has keys of too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None

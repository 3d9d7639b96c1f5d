"""Names that a caller misspelt: the message names the one that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns "; did you mean X?" for the known name that is most similar, or ""."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def check_options(of: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Checks the names of keyword arguments.

    Args:
        of: what takes them, for the message.
        given: the names that a caller gave.
        known: the names that there are.

    Raises:
        TypeError: there is no such option.
    """
    options = sorted(known)
    for name in given:
        if name not in options:
            hint = did_you_mean(name, options) or f"; there are {', '.join(options)}"
            raise TypeError(f"{of} has no option {name!r}{hint}")

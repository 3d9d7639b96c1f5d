"""Names of keyword arguments that a caller misspelt."""

from __future__ import annotations

from collections.abc import Iterable

from codereward.spelling import did_you_mean


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

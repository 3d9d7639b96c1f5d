"""Pure functions of texts, remembered: a group of completions is judged by one and the same tests.

What this stops: the work of reading the same tests again for each completion of a group.

What it does not: carry anything but what follows from the very same text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_TEXTS = 1024
_LONGEST = 1 << 14  # in characters; longer texts are rare, and worked on afresh


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Remembers what a function of strings returned for the last texts that were not too long."""
    cached = cast("Callable[P, T]", functools.lru_cache(maxsize=_TEXTS)(function))

    @functools.wraps(function)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
        length = sum(map(len, args))  # type: ignore[arg-type]  # they are strings
        return (cached if length <= _LONGEST else function)(*args, **kwargs)

    return look_up

"""A cache for pure functions of texts, since the same tests judge a whole group of completions.

What this stops: repeated work on the same tests for each completion of a group.

Executions share only results that depend on nothing but the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_TEXTS = 1024
_LONGEST = 1 << 14  # in characters; longer texts are rare and are not cached


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Caches the results of a function of strings for the latest texts that are not too long."""
    cached = cast("Callable[P, T]", functools.lru_cache(maxsize=_TEXTS)(function))

    @functools.wraps(function)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
        length = sum(map(len, args))  # type: ignore[arg-type]  # they are strings
        return (cached if length <= _LONGEST else function)(*args, **kwargs)

    return look_up

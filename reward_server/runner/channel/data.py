"""The data that crosses between tests and solution: a closed list of types, by value, as JSON.

What this stops: anything but data that reaches the judge. `reading` makes objects of exactly the
listed types, from a closed set of tags, and runs no code of the other side.

What it does not do: it does not decide what a value means. A value that is narrower than Python's
own (an array of float32) crosses as it is, and the reader is told (`Reader.narrow`), since numpy
compares such values in another way than by their value.

A message has one table for all containers that can be changed. A container is written where it
stands as its place in the table, so that a message keeps which containers are the same. The rows of
a call's arguments come first in the table of its answer, which refers to them by the same places;
those whose content is another than before are written again.

    null, true, 1, 1.5, "a"     the same in JSON; larger integers are texts in base 16
    {"r": 3}                    the container at place 3
    {"s": [value, {"h": ..}]}   a number, text or tuple of a subclass: as one of its base, and what
                                stands for the original
    {"t": [..]}                 another type, by its tag; see `writing.TAGS`
    ["l", ..]                   a row of the table: its kind and its content; see `writing.ROWS`
"""

from __future__ import annotations

import importlib
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from typing import Any

FIRST_ITEMS = 100  # of an iterator that cross with it; the others do when they are asked for
MAX_DEPTH = 400  # levels of tuples
MAX_EXPONENT = 10_000
FRAMES_OF_A_VALUE = 3 * MAX_DEPTH + 100  # to write or read a value
FLAT = frozenset((type(None), bool, str, float))
NUMERIC_KINDS = "biufcMm"
_WIDE = frozenset(("|b1", "<i8", "<u8", "<f8", "<c16"))
_WIDE_KINDS = "UMm"
_BUILT_IN = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict)
# The types that a default dictionary may make, and that an answer may name.
FACTORIES: Mapping[str, type[Any]] = {
    one.__name__: one for one in (*_BUILT_IN, Counter, OrderedDict, deque)
}
TYPES: Mapping[str, type[Any]] = {one.__name__: one for one in (*_BUILT_IN, type(None), range)}

# Types whose subclasses cross with their original: a value of them cannot be changed.
FIXED = (int, float, complex, str, bytes, tuple, frozenset)


class NotDataError(Exception):
    """A value stands in no row of the list, so that it cannot cross."""


class BadDataError(Exception):
    """The other side sent something that is no data."""


def numpy() -> Any:
    """Returns numpy, which is loaded where a solution or tests use it.

    Raises:
        BadDataError: it is not there.
    """
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise BadDataError("numpy is not there") from None


def uuid() -> Any:
    """Returns uuid; with its libraries, each execution would copy a fourteenth more of a memory's
    map."""
    return importlib.import_module("uuid")


def is_wide(dtype: Any) -> bool:
    """Returns True if numpy compares numbers of a type as Python does."""
    return dtype.str in _WIDE or dtype.kind in _WIDE_KINDS


def is_written(dtype: Any) -> bool:
    """Returns True if arrays of a type cross: of numbers, texts or objects."""
    return dtype.names is None and (dtype.kind in NUMERIC_KINDS or dtype.kind in "UO")

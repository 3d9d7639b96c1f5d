"""What crosses of the solution's exceptions: their classes with all bases, and what they say."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from typing import Any


def expected(kind: Any) -> list[Any]:
    """Returns the tree of a class of exceptions, which tests expect.

    Raises:
        TypeError: it is no such class.
    """
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise TypeError("catching classes that do not inherit from Exception is not allowed")
    return tree_of(kind)


def tree_of(kind: type) -> list[Any]:
    """Returns the name of a class of exceptions, and the trees of its bases."""
    bases = [one for one in kind.__bases__ if issubclass(one, Exception)]
    name = kind.__name__ if _is_own(kind) else f"{kind.__module__}.{kind.__qualname__}"
    return [name, *map(tree_of, bases)]


def _is_own(kind: type) -> bool:
    """Returns True for a class that no library has."""
    known = vars(sys.modules.get(kind.__module__) or sys)
    return kind.__module__ == "solution" or known.get(kind.__qualname__) is not kind


def field_names(error: BaseException) -> Iterable[str]:
    """Returns the names of an exception's own attributes, and of those of its own classes."""
    own = itertools.chain.from_iterable(vars(one) for one in type(error).__mro__ if _is_own(one))
    stated = [name for name in own if not callable(getattr(type(error), name))]
    return dict.fromkeys(name for name in (*stated, *vars(error)) if not name.startswith("_"))


def arguments_of(error: BaseException) -> Sequence[object]:
    """Returns what an exception is made of again: its text, if its arguments name classes."""
    if any(isinstance(one, (list, tuple)) and _names_class(one) for one in error.args):
        return [text_of(error)]
    if isinstance(error, OSError) and error.filename is not None and len(error.args) == 2:
        return [*error.args, error.filename]
    return error.args


def _names_class(items: Sequence[object]) -> bool:
    return bool(items) and all(isinstance(one, type) for one in items)


def text_of(error: BaseException) -> str:
    """Returns the text of an exception."""
    try:
        return str(error)
    except Exception as problem:  # noqa: BLE001  # a solution's own text may raise anything
        return f"{type(error).__name__}, whose text raised {type(problem).__name__}"

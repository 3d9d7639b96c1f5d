"""Which tests can tell that an answer arrived as something else than it was.

A subclass of a built-in class arrives as the class that it derives from, and numpy's values as
numbers and lists where the judge has no numpy. The value is the same, but `type(answer) is list`
holds here and would not where the solution lives.

What this stops: such an answer passing as ISOLATED where the tests' text looks for the difference.

What it does not: see what a function of the tests does with a type by another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

OTHER = "other"  # a subclass with an equality or a hash of its own
BASE = "base"  # any other subclass
NUMBER, ARRAY = "number", "array"  # numpy's

_CLASS = r"\btype\s*\(|__class__|assertIs\b"
_KIND = rf"{_CLASS}|\bisinstance\b|\bjson\b|\bis\s+(?:not\s+)?(?:True|False)\b|IsInstance"
_ROWS = rf"{_KIND}|==\s*[\[({{]|assert\s*\[|assert(?:List|Count)?Equal\b"
_TOLD_BY = {BASE: re.compile(_CLASS), NUMBER: re.compile(_KIND), ARRAY: re.compile(_ROWS)}


def told_by(sources: Iterable[str]) -> frozenset[str]:
    """Returns what texts can tell from the value that arrives."""
    texts = list(sources)
    told = (kind for kind, use in _TOLD_BY.items() if any(map(use.search, texts)))
    return frozenset((OTHER, *told))

"""Whether something in the tests holds what a call hands over, or it is a literal of the call's.

A call's own `f([3, 1])` puts a list onto the interpreter's stack and into two tuples. These
references are counted once, for a sample, and any more are somebody's. Where a call is made in
another way (`f(*args)`), or names are only lent to the stack, nothing can be told from counting.

What this stops: nothing; it spares a call the numbers of its containers.

What it does not: see who calls through C code that borrows references. The tests' text tells
whether they may (`may_call_indirectly`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from types import CodeType, FrameType

from . import sharing

_INDIRECTLY = re.compile(r"\b(?:partial|partialmethod|methodcaller|key\s*=)")
_MOST_CODES = 256
_codes: dict[int, tuple[CodeType, bytes]] = {}


def may_call_indirectly(sources: Iterable[str]) -> bool:
    """Returns True if tests may have C code call with what it holds."""
    return any(map(_INDIRECTLY.search, sources))


def are_held(args: tuple[object, ...], frame: FrameType) -> bool:
    """Returns True if arguments must be one and the same on both sides.

    Args:
        args: of a call, as the called method has them.
        frame: that calls.
    """
    if not _COUNTS_TELL or _operation_at(frame) != _PLAIN_CALL:
        return True
    return sharing.must_be_shared(args, _OF_A_LITERAL)


def _operation_at(frame: FrameType) -> int:
    code = frame.f_code
    known = _codes.get(id(code))
    if known is None:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        known = _codes[id(code)] = (code, code.co_code)
    return known[1][frame.f_lasti]


class _Sample:
    """Is called as proxies are."""

    def __call__(self, *args: object) -> tuple[int, int]:
        return _operation_at(sys._getframe(1)), sharing.references_to(args)


def _sampled() -> tuple[int, int, int]:
    sample, named = _Sample(), list[object]()
    operation, of_a_literal = sample([])
    return operation, of_a_literal, sample(named)[1]


_PLAIN_CALL, _OF_A_LITERAL, _OF_A_NAME = _sampled()
_COUNTS_TELL = _OF_A_NAME > _OF_A_LITERAL
_codes.clear()

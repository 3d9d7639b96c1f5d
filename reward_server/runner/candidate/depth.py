"""Gives a solution the recursion depth of an ordinary process, in spite of the runner's frames.

What this stops: results that differ from those of an ordinary process, if tests need a depth near
the usual limit of 1,000. Nothing relies on this, since a solution can set the limit itself.
"""

from __future__ import annotations

import sys
from types import FrameType


def allow(limit: int, above: int, ordinary: int) -> int:
    """Sets the recursion limit so that a solution has as many frames as in an ordinary process.

    Args:
        limit: the limit in an ordinary process.
        above: number of frames between the caller's frame and the solution's first frame.
        ordinary: number of frames below the solution's first frame in an ordinary process.

    Returns:
        The limit that was set.
    """
    own = above
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        own, frame = own + 1, frame.f_back
    chosen = limit + own - ordinary
    sys.setrecursionlimit(chosen)
    return chosen

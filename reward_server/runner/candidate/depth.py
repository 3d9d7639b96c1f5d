"""How deep a solution may recurse: as deep as in an ordinary process, whatever lies under it here.

What this stops: a pass, or a failure, that an ordinary process would not give, where tests ask for
a depth near the usual limit of 1,000. Nothing of this is trusted: a solution can set the limit.
"""

from __future__ import annotations

import sys
from types import FrameType

_ROOM = 30  # of frames, to put a question to the tests


def allow(limit: int, above: int, ordinary: int) -> int:
    """Sets the recursion limit so that a solution has as much of one as in an ordinary process.

    Args:
        limit: the limit there.
        above: how many frames there will be between the caller's and the solution's first one.
        ordinary: how many lie under the solution's first one there.

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


class Room:
    """Gives some frames more for the length of a block, which may itself set the limit."""

    def __enter__(self) -> None:
        sys.setrecursionlimit(sys.getrecursionlimit() + _ROOM)

    def __exit__(self, *_: object) -> None:
        sys.setrecursionlimit(sys.getrecursionlimit() - _ROOM)

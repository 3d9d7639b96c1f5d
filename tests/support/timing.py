"""How tests compare what two pieces of code cost, since no test asserts a time by itself."""

from __future__ import annotations

import gc
import sys
import time
import timeit
from collections.abc import Callable
from types import FrameType
from typing import Any

TRIES = 3


def cpu_seconds(action: Callable[[], object]) -> float:
    """Returns the least CPU time of some tries, in seconds.

    Collections are off meanwhile, as they walk the objects of the whole test session.
    """
    gc.disable()
    try:
        return min(timeit.repeat(action, timer=time.process_time, number=1, repeat=TRIES))
    finally:
        gc.enable()


def takes_at_most(seconds: float, action: Callable[[], object]) -> bool:
    """Returns True if one of some tries takes no more CPU time; the first that does is the last."""
    return any(
        timeit.timeit(action, timer=time.process_time, number=1) <= seconds for _ in range(TRIES)
    )


def steps(action: Callable[[], object]) -> int:
    """Returns how many instructions of Python an action takes, whatever the machine does."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count

"""How tests compare what two pieces of code cost, since no test asserts a time by itself."""

from __future__ import annotations

import gc
import time
import timeit
from collections.abc import Callable


def cpu_seconds(action: Callable[[], object]) -> float:
    """Returns the least CPU time of some tries, in seconds.

    Collections are off meanwhile, as they walk the objects of the whole test session.
    """
    gc.disable()
    try:
        return min(timeit.repeat(action, timer=time.process_time, number=1, repeat=3))
    finally:
        gc.enable()

"""The remaining budget of a candidate, and the time of the next check.

What this stops: a candidate that runs for ever or computes for ever. If it shares a cgroup with
other processes, this also stops it when it takes too much memory, and if it writes to memory files,
when it has written too much.

What it does not do: it does not kill the candidate. The zygote does.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..wire import Start, Stop

_SHORTEST_CPU_CHECK_NS = 1_000_000
_MEMORY_CHECK_NS = 5_000_000
# Until then memory and the size of a file bound what a program writes.
_OUTPUT_CHECK_NS = 20_000_000
_NEVER_NS = 1 << 62
_CORES = os.cpu_count() or 1  # read once, because the kernel generates the file for each read


class Budget:
    """The budget of one execution. Times are monotonic, in nanoseconds.

    Args:
        start: the limits.
        begun: when the execution began.
        cpu_time_ns: returns the CPU time of all its processes, counted from any fixed point.
        memory_bytes: returns the memory they use; None if the kernel enforces that limit.
        output_bytes: returns how much they have written; None if the judge enforces that limit.
    """

    def __init__(
        self,
        start: Start,
        begun: int,
        cpu_time_ns: Callable[[], int],
        memory_bytes: Callable[[], int] | None,
        output_bytes: Callable[[], int] | None = None,
    ) -> None:
        self._start = start
        self._read_cpu, self._read_memory = cpu_time_ns, memory_bytes
        self._read_output = output_bytes
        self._cpu_before = cpu_time_ns()
        self._memory_before = 0 if memory_bytes is None else memory_bytes()
        self._next_cpu = begun + start.cpu_time_ns // _CORES
        self._next_memory = _NEVER_NS if memory_bytes is None else begun + _MEMORY_CHECK_NS
        self._next_output = _NEVER_NS if output_bytes is None else begun + _OUTPUT_CHECK_NS
        self._patience_end = _NEVER_NS
        self.wall_end = begun + start.wall_time_ns
        self.peak_memory_bytes = 0

    @property
    def next_look(self) -> int:
        """The time at which to call `exceeded` again."""
        looks = (self._next_cpu, self._next_memory, self._next_output)
        return min(self.wall_end, self._patience_end, *looks)

    @property
    def cpu_time_ns(self) -> int:
        """The CPU time used so far."""
        return self._read_cpu() - self._cpu_before

    def end_patience(self, at: int) -> None:
        """Sets the time at which the candidate is stopped, after its judge has finished."""
        self._patience_end = at

    def exceeded(self, now: int) -> Stop:
        """Returns the limit that is exceeded, or `Stop.NONE`."""
        if now >= self.wall_end:
            return Stop.WALL_TIME
        if now >= self._patience_end:
            return Stop.JUDGE_DONE
        if now >= self._next_cpu and self._is_cpu_spent(now):
            return Stop.CPU_TIME
        if now >= self._next_memory and self._is_memory_spent(now):
            return Stop.MEMORY
        if now >= self._next_output:
            self._next_output = now + _OUTPUT_CHECK_NS
            return self.exceeded_by_output()
        return Stop.NONE

    def exceeded_by_output(self) -> Stop:
        """Returns `Stop.OUTPUT` if more was written than allowed."""
        if self._read_output is None or self._read_output() <= self._start.output_bytes:
            return Stop.NONE
        return Stop.OUTPUT

    def _is_cpu_spent(self, now: int) -> bool:
        left = self._start.cpu_time_ns - self.cpu_time_ns
        self._next_cpu = now + max(left // _CORES, _SHORTEST_CPU_CHECK_NS)
        return left <= 0

    def _is_memory_spent(self, now: int) -> bool:
        assert self._read_memory is not None
        in_use = self._read_memory()
        # The kernel may free memory of the previous execution only after that execution ended.
        self._memory_before = min(self._memory_before, in_use)
        used = in_use - self._memory_before
        self.peak_memory_bytes = max(self.peak_memory_bytes, used)
        self._next_memory = now + _MEMORY_CHECK_NS
        return used > self._start.memory_bytes

"""One execution in a process that others are forked from, on a sample of ours, before any is.

An interpreter adapts its code and fills its caches as it runs. Done once here, every child starts
with warm ones and, since it need not write to them, shares their memory with its parent. Judge
and candidate take turns in one thread over a real socket. Of the sample nothing stays behind;
the streams of `streams` do.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
import types
from contextlib import ExitStack

from . import judge, solution, streams
from .frames import LOADED, READY, Frames
from .link import Link
from .outputs import Outputs
from .report import Report
from .service import Service

_LIMIT_BYTES = 1 << 20
_SOURCE = """
def f(x, y=None):
    if x is None:
        raise ValueError("none", 1)
    return x

def change(values):
    values.append(1)
"""
_TESTS = """
def check(candidate):
    for value in (1, True, 1.5, "text", [1, 2], ["a", 1], [[1], [2]], (1, "a")):
        assert candidate(value) == value
        assert candidate(value, y=2) == value, "message"
    assert candidate({"a": 1}) == {"a": 1} and candidate({1, 2}) == {1, 2}
    assert all(abs(candidate(number) - number) < 1e-6 for number in range(10))
    values = [1]
    change(values)
    assert values == [1, 1]
    try:
        candidate(None)
    except ValueError as error:
        assert error.args == ("none", 1)
"""


class _Stage(Link):
    """A judge's link whose candidate acts whenever the judge waits for it."""

    def __init__(self, ends: tuple[socket.socket, socket.socket], outputs: Outputs) -> None:
        super().__init__(ends[0], outputs)
        self._frames = Frames(ends[1])
        self._service: Service | None = None
        self._openings = [self._take_program, self._load]

    def receive(self, limit_bytes: int) -> bytes:
        """Lets the candidate act, and takes what it sends."""
        if self._openings:
            self._openings.pop(0)()
        elif self._service is not None:
            self._service.serve(self._frames.receive())
        return super().receive(limit_bytes)

    def _take_program(self) -> None:
        self._frames.receive()
        self._frames.send(READY)

    def _load(self) -> None:
        module = types.ModuleType(solution.NAME)
        exec(compile(_SOURCE, "sample", "exec"), vars(module))
        self._service = Service(self._frames, module, _LIMIT_BYTES)
        self._frames.send(LOADED)


def warm_up() -> None:
    """Makes this process one that others are forked from.

    Raises:
        RuntimeError: the runner is broken.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _allow_most_descriptors()
    rehearse()
    gc.collect()
    gc.freeze()


def _allow_most_descriptors() -> None:
    """Raises this process's limit: it bounds what all of its user have on their way in sockets."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def rehearse() -> None:
    """Judges the sample.

    Raises:
        RuntimeError: the sample did not pass; the runner is broken.
    """
    streams.open_streams()
    kept = sys.stdout, sys.stderr
    with ExitStack() as stack:
        ends = socket.socketpair()
        for end in ends:
            stack.enter_context(end)
        descriptor = os.memfd_create("rehearsal")
        stack.callback(os.close, descriptor)
        report = Report(descriptor=descriptor, announce=_nothing)
        outputs = Outputs(None, None, kept_bytes=0, limit_bytes=0)
        judge.run_suite(_header(), {"source": b""}, _Stage(ends, outputs), report, _nothing)
        report.write(outputs)
    sys.stdout, sys.stderr = kept
    sys.modules.pop(solution.NAME)
    if [test.outcome for test in report.tests] != ["PASSED"]:
        raise RuntimeError(f"the rehearsal failed: {report}")


def _nothing() -> None:
    pass


def _header() -> dict[str, object]:
    return {
        "mode": "function",
        "entry_point": "f",
        "prompt": "",
        "test_code": _TESTS,
        "asserts": [],
        "setup_code": "",
        "stop_at_first_failure": False,
        "output_bytes": _LIMIT_BYTES,
        "result_bytes": _LIMIT_BYTES,
        "calls": 1000,
    }

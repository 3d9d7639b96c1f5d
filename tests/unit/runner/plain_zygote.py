"""A zygote without walls, for tests: forks a judge and a candidate for each request on stdin.

Like the real one it never holds a request or a report in memory.

Runs as a script with the folder that holds the package `reward_server`, others to import from,
and modules to import as its arguments. A request
is its length, a wall time in milliseconds and a document; an answer is a `Reply` and a report.
"""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple, NoReturn

REQUEST = struct.Struct(">II")
REPLY = struct.Struct(">IiiiQQ")
_MEMORY_BYTES = 2 << 30
_GRACE_SECONDS = 5.0


class Reply(NamedTuple):
    """How an execution ended; statuses are those of `os.waitpid`, CPU times nanoseconds."""

    report_bytes: int
    candidate_status: int
    judge_status: int
    timed_out: int
    candidate_cpu_ns: int
    judge_cpu_ns: int


def read_exactly(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(descriptor, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _close_all_but(kept: set[int]) -> None:
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = max(low, descriptor + 1)
    os.closerange(low, 1 << 12)


class Pair:
    """One execution."""

    def __init__(self, document: int) -> None:
        self._document = document
        self._folder = tempfile.mkdtemp(prefix="candidate-")
        self._trusted, self._untrusted = socket.socketpair()
        self._pipes = [os.pipe() for _ in range(3)]
        self._report = os.memfd_create("report")

    def run(self, wall_seconds: float) -> Reply:
        candidate, judge = self._fork(self._candidate), self._fork(self._judge)
        for end in (self._trusted, self._untrusted):
            end.close()
        for pipe in self._pipes:
            for descriptor in pipe:
                os.close(descriptor)
        timed_out = not _wait([judge], wall_seconds)
        if timed_out:
            _kill(candidate)
            _wait([judge], _GRACE_SECONDS)
        _kill(judge)
        _wait([candidate], 0.0)
        _kill(candidate)
        ends = [os.wait4(pid, 0)[1:] for pid in (candidate, judge)]
        shutil.rmtree(self._folder, ignore_errors=True)
        (candidate_status, candidate_usage), (judge_status, judge_usage) = ends
        return Reply(
            os.fstat(self._report).st_size,
            candidate_status,
            judge_status,
            timed_out,
            _cpu_ns(candidate_usage),
            _cpu_ns(judge_usage),
        )

    def send_report(self, reply: Reply) -> None:
        write_all(1, REPLY.pack(*reply))
        offset = 0
        while offset < reply.report_bytes:
            offset += os.sendfile(1, self._report, offset, reply.report_bytes - offset)
        os.close(self._report)

    def _fork(self, body: Callable[[], NoReturn]) -> int:
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            body()
        except BaseException:  # noqa: BLE001  # nothing may return into the loop
            import traceback

            with open("/proc/self/fd/2", "w") as file:
                traceback.print_exc(file=file)
        finally:
            os._exit(1)

    def _candidate(self) -> NoReturn:
        from reward_server.runner import candidate

        (inputs, _), (_, outputs), (_, errors) = self._pipes
        for number, end in enumerate((inputs, outputs, errors)):
            os.dup2(end, number)
        _close_all_but({self._untrusted.fileno()})
        os.chdir(self._folder)
        candidate.run(self._untrusted)

    def _judge(self) -> NoReturn:
        from reward_server.runner import judge

        (_, inputs), (outputs, _), (errors, _) = self._pipes
        kept = {self._trusted.fileno(), inputs, outputs, errors, self._report, self._document}
        _close_all_but(kept)
        os.set_blocking(inputs, False)
        document = os.pread(self._document, os.fstat(self._document).st_size, 0)
        judge.run(document, self._trusted, inputs, outputs, errors, self._report)
        os._exit(0)


def _spliced(size: int) -> int:
    """Moves a document from stdin to a memory file, without this process seeing it."""
    document = os.memfd_create("document")
    offset = 0
    while offset < size:
        offset += os.splice(0, document, size - offset, offset_dst=offset)
    return document


def _cpu_ns(usage: resource.struct_rusage) -> int:
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def _wait(pids: list[int], seconds: float) -> bool:
    """Waits until these children ended, and tells whether they did."""
    poller = select.poll()
    descriptors = [os.pidfd_open(pid) for pid in pids]
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    ended = poller.poll(seconds * 1000)
    for descriptor in descriptors:
        os.close(descriptor)
    return len(ended) == len(pids)


def _kill(pid: int) -> None:
    """Kills the session of a child that was not reaped yet."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def main() -> None:
    sys.path.extend(sys.argv[1].split(os.pathsep))
    import gc

    from reward_server.runner import rehearsal

    for name in sys.argv[2:]:
        __import__(name)
    rehearsal.rehearse()
    gc.collect()
    gc.freeze()
    while True:
        try:
            size, wall_ms = REQUEST.unpack(read_exactly(0, REQUEST.size))
        except EOFError:
            return
        document = _spliced(size)
        pair = Pair(document)
        pair.send_report(pair.run(wall_ms / 1000))
        os.close(document)


if __name__ == "__main__":
    main()

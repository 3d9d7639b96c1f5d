"""A zygote without walls, for tests: forks a candidate for each request on stdin, and judges.

Like the real one it never holds a request or a report in memory.

Runs as a script with the folder that holds the package `reward_server`, others to import from,
and modules to import as its arguments. JUDGE_EXECUTIONS in the environment is the number of
executions after which a judge leaves. A request is its length, a wall time in milliseconds,
whether standard streams are memory files, and a
document; an answer is a `Reply` and a report.
"""

from __future__ import annotations

import functools
import os
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

REQUEST = struct.Struct(">II?")
REPLY = struct.Struct(">IiiiiQQ")
_MEMORY_BYTES = 2 << 30
_GRACE_SECONDS = 5.0
_EXIT_SECONDS = 0.05
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED, see clock_getcpuclockid


class Reply(NamedTuple):
    """How an execution ended; statuses are those of `os.waitpid`, CPU times nanoseconds.

    A judge that gave its word has status 0; `judge_pid` tells whether it is still the same.
    """

    report_bytes: int
    candidate_status: int
    judge_status: int
    timed_out: int
    judge_pid: int
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


class Judge:
    """A judge, as long as it stays."""

    def __init__(self) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._notes, theirs_to_note = socket.socketpair()
        self._notes.setblocking(False)
        self._folder = tempfile.mkdtemp(prefix="judge-")
        self.pid = _fork(functools.partial(_judge, theirs, theirs_to_note, self._folder))
        theirs.close()
        theirs_to_note.close()

    def cpu_ns(self) -> int:
        return time.clock_gettime_ns(~self.pid << 3 | _PROCESS_CLOCK)

    def send(self, descriptors: list[int]) -> None:
        from reward_server.runner import wire

        socket.send_fds(self.line, [wire.JUDGE], descriptors)

    def wait(self, seconds: float) -> bool:
        """Waits until it gives its word; returns False if that takes too long."""
        return _wait(seconds, self.line.fileno())

    def tell_end(self) -> None:
        from reward_server.runner import wire

        self.line.send(wire.ENDED)

    def hear(self) -> tuple[bool, int]:
        """Returns whether it stays, and its exit status, 0 if it gave its word."""
        from reward_server.runner import wire

        message = self.line.recv(wire.WORD.size)
        try:
            may_stay = wire.LAST not in self._notes.recv(1 << 16)
        except BlockingIOError:
            may_stay = True
        if message and wire.Word(*wire.WORD.unpack(message)).stays and may_stay:
            return True, 0
        status = self.end()
        return False, 0 if message else status

    def end(self) -> int:
        _kill(self.pid)
        self.line.close()
        self._notes.close()
        status = os.waitpid(self.pid, 0)[1]
        shutil.rmtree(self._folder, ignore_errors=True)
        return status


class Execution:
    """One execution."""

    def __init__(self, document: int, *, has_files: bool) -> None:
        self._folder = tempfile.mkdtemp(prefix="candidate-")
        self._trusted, self._untrusted = socket.socketpair()
        self._has_files = has_files
        self._pipes = _files() if has_files else [os.pipe() for _ in range(3)]
        self._report = os.memfd_create("report")
        (_, inputs), (outputs, _), (errors, _) = self._pipes
        if not has_files:
            os.set_blocking(inputs, False)
        channel = self._trusted.fileno()
        self._judges_ends = [channel, inputs, outputs, errors, document, self._report]

    def run(self, judge: Judge, wall_seconds: float) -> tuple[Reply, bool]:
        """Returns what came of it, and whether the judge stays."""
        candidate = _fork(self._candidate)
        before = judge.cpu_ns()
        judge.send(self._judges_ends)
        for end in (self._trusted, self._untrusted):
            end.close()
        for pipe in self._pipes:
            for descriptor in pipe:
                os.close(descriptor)
        timed_out = not self._await_word(judge, candidate, wall_seconds)
        if timed_out:
            _kill(candidate)
            if not self._await_word(judge, candidate, _GRACE_SECONDS):
                _kill(judge.pid)
        used = judge.cpu_ns() - before
        stays, judge_status = judge.hear()
        _wait_for_exit(candidate)
        _kill(candidate)
        _, candidate_status, usage = os.wait4(candidate, 0)
        shutil.rmtree(self._folder, ignore_errors=True)
        reply = Reply(
            os.fstat(self._report).st_size,
            candidate_status,
            judge_status,
            timed_out,
            judge.pid,
            int((usage.ru_utime + usage.ru_stime) * 1e9),
            used,
        )
        return reply, stays

    def _await_word(self, judge: Judge, candidate: int, seconds: float) -> bool:
        """Waits for the judge's word; tells the judge of the candidate's end if it needs it."""
        if not self._has_files:
            return judge.wait(seconds)
        end = os.pidfd_open(candidate)
        try:
            if not _wait(seconds, judge.line.fileno(), end):
                return False
        finally:
            os.close(end)
        if not judge.wait(0):
            judge.tell_end()
        return judge.wait(_GRACE_SECONDS)

    def send_report(self, reply: Reply) -> None:
        write_all(1, REPLY.pack(*reply))
        offset = 0
        while offset < reply.report_bytes:
            offset += os.sendfile(1, self._report, offset, reply.report_bytes - offset)
        os.close(self._report)

    def _candidate(self) -> NoReturn:
        from reward_server.runner.candidate import process as candidate
        from reward_server.runner.candidate import streams

        (inputs, _), (_, outputs), (_, errors) = self._pipes
        for number, end in enumerate((inputs, outputs, errors)):
            os.dup2(end, number)
        if self._has_files:
            streams.open_streams.cache_clear()
        _close_all_but({self._untrusted.fileno()})
        _stay_in(self._folder)
        candidate.run(self._untrusted, lambda: None)


def _judge(line: socket.socket, notes: socket.socket, folder: str) -> NoReturn:
    from reward_server.runner.judge import process as judge

    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    _close_all_but({line.fileno(), notes.fileno()})
    _stay_in(folder)
    judge.serve(line, notes)


def _stay_in(folder: str) -> None:
    """Makes a folder the place of this process's files, also of temporary ones."""
    os.chdir(folder)
    tempfile.tempdir = folder


def _fork(body: Callable[[], NoReturn]) -> int:
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


def _spliced(size: int) -> int:
    """Moves a document from stdin to a memory file, without this process seeing it."""
    document = os.memfd_create("document")
    offset = 0
    while offset < size:
        offset += os.splice(0, document, size - offset, offset_dst=offset)
    return document


def _files() -> list[tuple[int, int]]:
    """Returns the ends of program and judge of three memory files, as of pipes."""
    made = [os.memfd_create("stream", os.MFD_ALLOW_SEALING) for _ in range(3)]
    ends = [(os.open(f"/proc/self/fd/{one}", os.O_RDWR), one) for one in made]
    return [ends[0], *(end[::-1] for end in ends[1:])]


def _wait(seconds: float, *descriptors: int) -> bool:
    """Waits until there is something to read, and tells whether there is."""
    poller = select.poll()
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def _wait_for_exit(pid: int) -> None:
    """Gives a child that is about to exit by itself the time to."""
    descriptor = os.pidfd_open(pid)
    _wait(_EXIT_SECONDS, descriptor)
    os.close(descriptor)


def _kill(pid: int) -> None:
    """Kills the session of a child that was not reaped yet."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _warm_up() -> None:
    """Plays both parts of the sample's execution, since both are forked from here."""
    from reward_server.runner.candidate import warm_up as candidate_warm_up
    from reward_server.runner.judge import warm_up as judge_warm_up

    ours, theirs = socket.socketpair()
    candidate = threading.Thread(target=candidate_warm_up.run, args=(ours,))
    candidate.start()
    judge_warm_up.run(theirs.detach())
    candidate.join()


def main() -> None:
    folders = sys.argv[1].split(os.pathsep)
    sys.path.extend(folders)
    import gc

    from reward_server.runner.supervisor import preloading
    from reward_server.runner.walls import policy

    policy.JUDGE_EXECUTIONS = int(os.environ.get("JUDGE_EXECUTIONS", policy.JUDGE_EXECUTIONS))
    preloading.add_packages(folders)

    for name in sys.argv[2:]:
        __import__(name)
    _warm_up()
    gc.collect()
    gc.freeze()
    judge: Judge | None = None
    while True:
        try:
            size, wall_ms, has_files = REQUEST.unpack(read_exactly(0, REQUEST.size))
        except EOFError:
            if judge is not None:
                judge.end()
            return
        judge = judge or Judge()
        document = _spliced(size)
        execution = Execution(document, has_files=has_files)
        reply, stays = execution.run(judge, wall_ms / 1000)
        execution.send_report(reply)
        os.close(document)
        judge = judge if stays else None


if __name__ == "__main__":
    main()

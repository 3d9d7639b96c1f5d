"""The supervisor: a warm interpreter that forks a candidate and a judge for each execution.

What this stops: state and secrets of one execution reaching the next. The zygote reads and
writes nothing but fixed records of numbers; requests and reports pass it inside the kernel
(splice, sendfile). Every candidate is a copy of this process, so this process stays clean.

What it does not: confine anything itself; see `confine`.

A pair is forked, put into its namespaces and left waiting before its execution is known, so
that an execution pays neither the forks nor the wait for its control group.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from . import candidate, confine, forking, judge, kernel, policy, rehearsal, wire
from .meters import Meters
from .wire import Finish, Kind, Start, Stop

CONTROL_IN, CONTROL_OUT = 0, 1
_PIPE_BYTES = 1 << 18
_GO = wire.START
_NEVER_NS = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a zygote works, as found out at its start.

    Args:
        meters: descriptors of the candidate's control group, by `meters` name.
        joins: descriptors to which a process writes 0 to enter the candidate's control group.
        private_proc: whether an execution gets a /proc of its own.
        seccomp_filter: the system call filter, empty where it was waived.
        ruleset: descriptor of the Landlock rules, None where there is no Landlock.
    """

    meters: Mapping[str, int] = field(default_factory=dict)
    joins: tuple[int, ...] = ()
    private_proc: bool = True
    seccomp_filter: bytes = b""
    ruleset: int | None = None


class ServerGoneError(Exception):
    """The control pipe closed: there is nobody left to work for."""


def read_exactly(descriptor: int, size: int) -> bytes:
    """Reads a whole record.

    Raises:
        ServerGoneError: the pipe closed.
    """
    data = b""
    while len(data) < size:
        piece = os.read(descriptor, size - len(data))
        if not piece:
            raise ServerGoneError
        data += piece
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Writes a whole record."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_start() -> Start:
    return Start(*wire.START.unpack(read_exactly(CONTROL_IN, wire.START.size)))


@dataclass(slots=True, kw_only=True)
class Child:
    """A process of the pair: its exit shows on `pidfd`, its start waits for `go`."""

    pid: int
    pidfd: int
    go: int
    status: int = -1
    cpu_time_ns: int = 0
    peak_memory_bytes: int = 0

    @property
    def alive(self) -> bool:
        """Tells whether it was not reaped yet."""
        return self.status == -1

    def start(self, start: Start) -> None:
        """Lets it go on, with the limits."""
        with contextlib.suppress(BrokenPipeError):
            write_all(self.go, _GO.pack(*start))
        os.close(self.go)
        self.go = -1

    def kill(self) -> None:
        """Kills it and, since it is the first of its pid namespace, all its descendants."""
        if self.alive:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def reap(self) -> None:
        """Waits for its end."""
        if self.alive:
            _, self.status, usage = os.wait4(self.pid, 0)
            self.cpu_time_ns = round((usage.ru_utime + usage.ru_stime) * 1e9)
            self.peak_memory_bytes = usage.ru_maxrss << 10
            os.close(self.pidfd)
            if self.go >= 0:
                os.close(self.go)


@dataclass(slots=True, kw_only=True)
class Pair:
    """A candidate and its judge, with the memory files of their request and report."""

    candidate: Child
    judge: Child
    request: int
    report: int

    def discard(self) -> None:
        """Ends both processes and gives everything back."""
        for child in (self.candidate, self.judge):
            child.kill()
            child.reap()
        os.close(self.request)
        os.close(self.report)


def _fork(body: Callable[[int], NoReturn]) -> Child:
    go_read, go_write = os.pipe()
    pid = kernel.clone(confine.NAMESPACES)
    if pid == 0:
        try:
            os.close(go_write)
            forking.hand_over_handlers()
            body(go_read)
        except BaseException as error:  # noqa: BLE001 - nothing may return into the zygote's loop
            os.write(2, f"{body.__name__}: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(wire.BROKEN_STATUS)
    os.close(go_read)
    return Child(pid=pid, pidfd=os.pidfd_open(pid), go=go_write)


def _wait_for_go(go: int) -> Start:
    start = Start(*wire.START.unpack(read_exactly(go, wire.START.size)))
    os.close(go)
    return start


class Zygote:
    """Serves one execution after another."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._meters = Meters(options.meters)
        self._uid, self._gid = os.getuid(), os.getgid()
        self._used = self._meters.reading()
        self._disk_bytes = policy.USUAL_DISK_BYTES

    def serve(self) -> None:
        """Runs executions until the server closes the control pipe."""
        while True:
            pair = self._fork_pair()
            try:
                start = _read_start()
                while start.kind != Kind.EXECUTE:  # a CANCEL that came too late
                    start = _read_start()
                finish = self._execute(pair, start)
                self._send(finish, pair.report)
            finally:
                pair.discard()

    # ------------------------------------------------------------------ forking the pair

    def _enter(self) -> None:
        confine.map_ids(self._uid, self._gid)
        confine.mount_private_folders(self._disk_bytes, private_proc=self._options.private_proc)
        os.setsid()

    def _kept(self, *descriptors: int) -> set[int]:
        ruleset = self._options.ruleset
        return {*descriptors, *(() if ruleset is None else (ruleset,))}

    def _seal(self) -> None:
        confine.seal(ruleset=self._options.ruleset, seccomp_filter=self._options.seccomp_filter)

    def _fork_pair(self) -> Pair:
        trusted, untrusted = socket.socketpair()
        inputs, outputs, errors = os.pipe(), os.pipe(), os.pipe()
        for _, end in (outputs, errors):
            with contextlib.suppress(OSError):  # a smaller pipe is slower, nothing else
                _set_pipe_size(end)

        def candidate_body(go: int) -> NoReturn:
            for descriptor in self._options.joins:
                os.write(descriptor, b"0")
            for number, end in enumerate((inputs[0], outputs[1], errors[1])):
                os.dup2(end, number)
            confine.close_all_but(self._kept(untrusted.fileno(), go))
            confine.become_victim()
            self._enter()
            start = _wait_for_go(go)
            if start.disk_bytes != self._disk_bytes:
                confine.resize_box(start.disk_bytes)
            confine.limit_candidate(start)
            self._seal()
            candidate.run(untrusted)

        # The candidate is forked before the request's memory file exists: it never held it.
        candidate_child = _fork(candidate_body)
        request, report = os.memfd_create("request"), os.memfd_create("report")

        def judge_body(go: int) -> NoReturn:
            null = os.open("/dev/null", os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            ends = (inputs[1], outputs[0], errors[0])
            confine.close_all_but(self._kept(trusted.fileno(), request, report, go, *ends))
            self._enter()
            confine.limit_judge()
            self._seal()
            _wait_for_go(go)
            size = os.fstat(request).st_size
            judge.run(os.pread(request, size, 0), trusted, *ends, report)
            os._exit(0)

        judge_child = _fork(judge_body)
        trusted.close()
        untrusted.close()
        for end in (*inputs, *outputs, *errors):
            os.close(end)
        return Pair(candidate=candidate_child, judge=judge_child, request=request, report=report)

    # ------------------------------------------------------------------- one execution

    def _execute(self, pair: Pair, start: Start) -> Finish:
        _splice_exactly(CONTROL_IN, pair.request, start.payload_bytes)
        self._meters.reset_peak()
        before = self._used._replace(cpu_time_ns=self._meters.cpu_time_ns())
        begun = time.monotonic_ns()
        pair.candidate.start(start)
        pair.judge.start(start)
        stop = self._supervise(pair, start, begun, before.cpu_time_ns)
        wall_time_ns = time.monotonic_ns() - begun
        after = self._used = self._meters.reading()
        return Finish(
            kind=Kind.FINISH,
            report_bytes=os.fstat(pair.report).st_size,
            stop=stop,
            candidate_status=pair.candidate.status,
            judge_status=pair.judge.status,
            wall_time_ns=wall_time_ns,
            cpu_time_ns=after.cpu_time_ns - before.cpu_time_ns or pair.candidate.cpu_time_ns,
            # Version 2 cannot reset a peak before Linux 6.12: the largest process has to do. It
            # counts pages that it shares with the zygote, which the limit does not.
            peak_memory_bytes=self._meters.peak_memory_bytes()
            or min(pair.candidate.peak_memory_bytes, start.memory_bytes),
            oom_kills=after.oom_kills - before.oom_kills,
            process_limit_hits=after.process_limit_hits - before.process_limit_hits,
        )

    def _supervise(self, pair: Pair, start: Start, begun: int, cpu_before: int) -> Stop:
        """Waits for both processes and returns why the candidate was stopped, if it was."""
        stop = Stop.NONE
        wall_end = begun + start.wall_time_ns
        judge_end = wall_end + policy.JUDGE_GRACE_NS
        next_cpu_check = begun + start.cpu_time_ns // (os.cpu_count() or 1)
        poller = select.poll()
        for descriptor in (pair.candidate.pidfd, pair.judge.pidfd, CONTROL_IN):
            poller.register(descriptor, select.POLLIN)
        while pair.candidate.alive or pair.judge.alive:
            horizon = min(wall_end, next_cpu_check) if pair.candidate.alive else judge_end
            for descriptor, _ in poller.poll(max(0, horizon - time.monotonic_ns()) / 1e6 + 1):
                if descriptor == CONTROL_IN:
                    _read_start()
                    stop = stop or Stop.CANCELLED
                    pair.candidate.kill()
                    pair.judge.kill()
                    continue
                poller.unregister(descriptor)
                if descriptor == pair.candidate.pidfd:
                    pair.candidate.reap()
                else:
                    pair.judge.reap()
                    if pair.candidate.alive:
                        stop = stop or Stop.JUDGE_DONE
                        pair.candidate.kill()
            now = time.monotonic_ns()
            if pair.candidate.alive:
                if now >= wall_end:
                    stop = stop or Stop.WALL_TIME
                elif now >= next_cpu_check:
                    left = start.cpu_time_ns - (self._meters.cpu_time_ns() - cpu_before)
                    if left <= 0:
                        stop = stop or Stop.CPU_TIME
                    next_cpu_check = now + max(left // (os.cpu_count() or 1), 1_000_000)
                if stop in (Stop.WALL_TIME, Stop.CPU_TIME):
                    judge_end = min(judge_end, now + policy.JUDGE_GRACE_NS)
                    pair.candidate.kill()
            elif now >= judge_end and pair.judge.alive:
                stop = stop or Stop.JUDGE_STUCK
                pair.judge.kill()
        return stop

    def _send(self, finish: Finish, report: int) -> None:
        write_all(CONTROL_OUT, wire.FINISH.pack(*finish))
        offset = 0
        while offset < finish.report_bytes:
            offset += os.sendfile(CONTROL_OUT, report, offset, finish.report_bytes - offset)


def _set_pipe_size(descriptor: int) -> None:
    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _splice_exactly(source: int, target: int, size: int) -> None:
    """Moves bytes from a pipe to a file without this process seeing them."""
    offset = 0
    while offset < size:
        moved = os.splice(source, target, size - offset, offset_dst=offset)
        if not moved:
            raise ServerGoneError
        offset += moved


def say_hello(description: Mapping[str, object]) -> None:
    """Tells the server that the zygote is warm, and what stands."""
    document = wire.pack(description, {})
    hello = Finish(kind=Kind.HELLO, report_bytes=len(document))
    write_all(CONTROL_OUT, wire.FINISH.pack(*hello) + document)


def run(options: Options, description: Mapping[str, object]) -> NoReturn:
    """Serves until the server goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rehearsal.rehearse()
    gc.collect()
    gc.freeze()
    say_hello(description)
    with contextlib.suppress(ServerGoneError):
        Zygote(options).serve()
    sys.exit(0)

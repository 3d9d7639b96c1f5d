"""The supervisor: a running interpreter that forks a candidate for each execution.

What this stops: state and secrets of one execution that reach the next. Every candidate is a copy
of this process, so its memory must never hold task data. It only reads and writes fixed records of
numbers; the kernel moves requests and reports without copying them into its memory (splice,
sendfile). Judges are forked by a
process with another memory layout, see `judges`, so that a candidate does not know the addresses in
a judge's memory.

What it does not do: it confines nothing itself; see `walls.layers`.

A candidate is forked and put into its namespaces before its execution is known, and then waits. So
an execution waits neither for the fork nor for its cgroup.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from .. import wire
from ..channel.descriptors import receive
from ..walls import policy
from ..wire import Finish, Kind, Start, Stop, Word
from .budget import Budget
from .candidates import CANDIDATE, TESTS, Candidates, Ends
from .cgroup_usage import CgroupUsage
from .children import Child
from .judges import ForkServer, Judge
from .memory_streams import MemoryStreams

CONTROL_IN, CONTROL_OUT = 0, 1
_FIRST = 1  # the waiting first process of a namespace, beside the program's processes
_STAGE_BYTES = 1  # the leading bytes of a report, which state how far the execution got


class ServerGoneError(Exception):
    """The server has closed the control pipe."""


def read_exactly(descriptor: int, size: int) -> bytes:
    """Reads a whole record.

    Raises:
        ServerGoneError: the control pipe is closed.
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


class Zygote:
    """Serves one execution after another."""

    def __init__(self, meters: CgroupUsage, candidates: Candidates, judges: ForkServer) -> None:
        self._meters = meters
        self._candidates = candidates
        self._judges = judges
        self._used = self._meters.reading()
        self._residue_bytes = 0
        # The kernel splices to or from a pipe only, and standard streams may be sockets.
        self._between = () if _is_pipe(CONTROL_IN) else os.pipe()
        self._judge = self._judges.fork()

    def serve(self) -> None:
        """Runs executions until the server closes the control pipe."""
        try:
            while True:
                if not self._judge.alive:
                    self._judge = self._judges.fork()
                candidate, ends = self._candidates.fork(CANDIDATE)
                try:
                    self._serve_one(candidate, ends)
                finally:
                    candidate.end()
                    self._meters.await_empty()
        finally:
            self._judge.end()

    def _serve_one(self, candidate: Child, ends: Ends) -> None:
        start = _read_start()
        while start.kind != Kind.EXECUTE:  # a CANCEL that came too late
            start = _read_start()
        if start.programs == 1:
            return self._judge_one(start, (candidate,), ends)
        tests, its_ends = self._candidates.fork(TESTS)
        try:
            return self._judge_one(start, (candidate, tests), ends, its_ends)
        finally:
            tests.end()

    def _judge_one(self, start: Start, programs: Sequence[Child], ends: Ends, *more: Ends) -> None:
        # The programs were forked before the request's memory file exists: they never held it.
        request, report = os.memfd_create("request"), os.memfd_create("report")
        try:
            _splice_exactly(CONTROL_IN, request, start.payload_bytes, self._between)
            streams = MemoryStreams.make() if start.output_bytes else None
            if streams is not None:
                ends = ends.with_files(streams)
            others = tuple(end for its_ends in more for end in its_ends)
            finish = self._execute(programs, start, (*ends, request, report, *others), streams)
            self._send(finish, report)
        finally:
            os.close(request)
            os.close(report)

    # ------------------------------------------------------------------- one execution

    def _execute(
        self,
        programs: Sequence[Child],
        start: Start,
        descriptors: Sequence[int],
        streams: MemoryStreams | None,
    ) -> Finish:
        candidate, ours = programs[0], slice(len(Ends._fields), len(Ends._fields) + 2)
        report = descriptors[ours][-1]
        self._meters.reset_peak()
        self._residue_bytes = min(self._residue_bytes, self._meters.group_bytes())
        processes = start.processes + _FIRST
        self._meters.limit_processes(processes)
        before = self._used
        begun = time.monotonic_ns()
        sizes = None if streams is None else streams.output_bytes
        budget = Budget(start, begun, self._cpu_time_ns, self._memory_reader, sizes)
        told = wire.START.pack(*start._replace(processes=self._meters.user_processes(processes)))
        opened = [] if streams is None else streams.opened()
        for program in programs:
            program.send(told, opened)
        self._judge.send(wire.JUDGE, descriptors)
        for descriptor in {*descriptors, *opened} - {*descriptors[ours], *(streams or ())}:
            os.close(descriptor)
        reads_at_end = streams is not None
        stop, judge_status, notes = self._supervise(candidate, budget, reads_at_end=reads_at_end)
        if streams is not None:
            streams.close()  # else they would count as what the execution left
        cpu_time_ns = budget.cpu_time_ns
        wall_time_ns = time.monotonic_ns() - begun
        after = self._used = self._meters.reading()
        peak_memory_bytes = self._peak_memory_bytes(candidate, budget, start.memory_bytes)
        for program in programs:
            program.end()
        self._residue_bytes = self._meters.residue_bytes()
        return Finish(
            kind=Kind.FINISH,
            report_bytes=_report_size(report, start.report_bytes),
            stop=stop,
            candidate_status=candidate.status,
            judge_status=judge_status,
            wall_time_ns=wall_time_ns,
            cpu_time_ns=cpu_time_ns or candidate.cpu_time_ns,
            peak_memory_bytes=peak_memory_bytes,
            oom_kills=after.oom_kills - before.oom_kills,
            process_limit_hits=after.process_limit_hits - before.process_limit_hits,
            heard=wire.CAN_HEAR in notes,
            residue_bytes=self._residue_bytes,
        )

    def _peak_memory_bytes(self, candidate: Child, budget: Budget, limit_bytes: int) -> int:
        """Returns the peak memory, without what earlier executions left, as far as it is known.

        Cgroup version 2 cannot reset a peak before Linux 6.12; the peak of the largest process
        stands in. It includes pages shared with the zygote, which the limit does not.
        """
        seen = max(candidate.peak_memory_bytes, budget.peak_memory_bytes)
        peak = self._meters.peak_memory_bytes()
        return max(0, peak - self._residue_bytes) if peak else min(seen, limit_bytes)

    @property
    def _memory_reader(self) -> Callable[[], int] | None:
        return self._meters.memory_bytes if self._meters.polls_memory else None

    def _cpu_time_ns(self) -> int:
        """Returns the CPU time of all candidates so far, with their descendants."""
        everyone = self._meters.cpu_time_ns()
        if not self._meters.counts_machinery:
            return everyone
        machinery = (self._judges, self._judge)
        return everyone - time.process_time_ns() - sum(p.cpu_time_so_far_ns() for p in machinery)

    def _supervise(
        self, candidate: Child, budget: Budget, *, reads_at_end: bool
    ) -> tuple[Stop, int, bytes]:
        """Waits for the candidate's end and the judge's word.

        Args:
            candidate: the candidate.
            budget: its budget.
            reads_at_end: whether the judge reads the output only after the candidate's end.

        Returns:
            Why the candidate was stopped, if it was; the judge's exit status, 0 if it sent its
            word; and the judge's notes.
        """
        stop = Stop.NONE
        judge, judge_status, notes = self._judge, -1, b""
        judge_end = budget.wall_end + policy.JUDGE_GRACE_NS
        poller = select.poll()
        for descriptor in (candidate.watch.descriptor, judge.line.fileno(), CONTROL_IN):
            poller.register(descriptor, select.POLLIN)
        while candidate.alive or judge_status == -1:
            # A candidate that was killed needs no further look at its budget, but a moment to end.
            horizon = budget.next_look if candidate.alive and not stop else judge_end
            for descriptor, _ in poller.poll(max(0, horizon - time.monotonic_ns()) / 1e6 + 1):
                if descriptor == CONTROL_IN:
                    _read_start()
                    stop = stop or Stop.CANCELLED
                    candidate.kill()
                    if judge_status == -1:
                        judge.kill()
                elif descriptor == candidate.watch.descriptor:
                    if candidate.watch.has_ended():
                        poller.unregister(descriptor)
                        candidate.reap()
                        stop = stop or budget.exceeded_by_output()
                        if reads_at_end and judge_status == -1:
                            judge_end = time.monotonic_ns() + policy.JUDGE_GRACE_NS
                            judge.send(wire.ENDED)
                else:
                    poller.unregister(descriptor)
                    notes = judge.take_notes()
                    may_stay = wire.LAST not in notes
                    judge_status, patience_ns = _take_word(judge, may_stay=may_stay)
                    budget.end_patience(time.monotonic_ns() + patience_ns)
            now = time.monotonic_ns()
            if candidate.alive:
                stop = stop or budget.exceeded(now)
                if stop:
                    judge_end = min(judge_end, now + policy.JUDGE_GRACE_NS)
                    candidate.kill()
            elif now >= judge_end and judge_status == -1:
                stop = stop or Stop.JUDGE_STUCK
                judge.kill()
        return stop, judge_status, notes

    def _send(self, finish: Finish, report: int) -> None:
        write_all(CONTROL_OUT, wire.FINISH.pack(*finish))
        offset = 0
        while offset < finish.report_bytes:
            offset += os.sendfile(CONTROL_OUT, report, offset, finish.report_bytes - offset)


def _take_word(judge: Judge, *, may_stay: bool) -> tuple[int, int]:
    """Receives a judge's last message (its word), and ends the judge if it will not serve again.

    Args:
        judge: the judge.
        may_stay: whether the judge may serve again if it offers to.

    Returns:
        Its exit status, 0 if it sent its word, and for how long the candidate may live on.
    """
    message, _ = receive(judge.line, wire.WORD.size)
    if len(message) != wire.WORD.size:
        judge.end()
        return judge.status, 0
    word = Word(*wire.WORD.unpack(message))
    # Its own offer to stay is not enough: an answer may have taken it over. Its notes came before.
    if judge.is_killed or not (word.stays and may_stay):
        judge.end()
    return 0, word.patience_ns


def _report_size(report: int, most: int) -> int:
    """Returns how much of a report is sent: only the first byte of one that is too large to be
    valid."""
    # A judge that was taken over could make a sparse file of a tebibyte.
    size = os.fstat(report).st_size
    return size if size <= most else _STAGE_BYTES


def _splice_exactly(source: int, target: int, size: int, between: tuple[int, ...]) -> None:
    """Moves bytes from a pipe or socket to a file without this process seeing them.

    Args:
        source: the pipe or socket.
        target: an empty file.
        size: how many bytes to move.
        between: both ends of an empty pipe if the source is none, else nothing.
    """
    if not between:
        return _splice_from_pipe(source, target, 0, size)
    output, entry = between
    offset = 0
    while offset < size:
        moved = os.splice(source, entry, size - offset)
        if not moved:
            raise ServerGoneError
        _splice_from_pipe(output, target, offset, moved)
        offset += moved
    return None


def _is_pipe(descriptor: int) -> bool:
    """Returns True for a pipe of this kernel; under gVisor, standard streams are the host's."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
    except OSError:
        return False
    return True


def _splice_from_pipe(source: int, target: int, offset: int, size: int) -> None:
    end = offset + size
    while offset < end:
        moved = os.splice(source, target, end - offset, offset_dst=offset)
        if not moved:
            raise ServerGoneError
        offset += moved


def say_hello(description: Mapping[str, object]) -> None:
    """Reports to the server that the zygote is ready, and describes the runner."""
    document = wire.pack(description, {})
    hello = Finish(kind=Kind.HELLO, report_bytes=len(document))
    write_all(CONTROL_OUT, wire.FINISH.pack(*hello) + document)


def run(
    meters: CgroupUsage,
    candidates: Candidates,
    judges: ForkServer,
    description: Mapping[str, object],
) -> NoReturn:
    """Serves until the server closes the control pipe.

    Args:
        meters: the usage of the candidate's cgroup.
        candidates: forks candidates.
        judges: the fork server of judges.
        description: the content of the first message to the server.
    """
    say_hello(description)
    with contextlib.suppress(ServerGoneError):
        Zygote(meters, candidates, judges).serve()
    judges.close()
    sys.exit(0)

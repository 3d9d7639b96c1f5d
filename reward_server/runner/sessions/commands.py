"""The commands of a session: their processes, pipes and ends.

What this stops: a command that holds up another, or the server. Each command has a window of bytes
that it may send ahead of its reader; then its pipe fills, and the command waits. What it writes
above its limit is counted and dropped. A command that has ended is reaped, and so is every orphan.

What it does not: it does not keep a command's processes together. A process that starts a process
session of its own (`setsid`) lives on until the session ends, as any process in the background may.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import termios
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .wire import Report

_CHUNK_BYTES = 64 << 10
_MOST_UNREAD = 32  # pipes of ended commands that processes in the background still write to
_KILL_ROUNDS = 50
_SESSION_FIELD = 3  # of /proc/PID/stat, behind the name

Send = Callable[[Report, int, bytes], None]


@dataclass(slots=True, kw_only=True, eq=False)
class Stream:
    """An output stream of a command.

    Args:
        descriptor: the end of the pipe to read.
        kind: the kind of report that carries its bytes.
        room: bytes that are still sent; more are dropped.
        size: bytes that were read.
        left: once the command has ended, the bytes that it left in the pipe; before, None.
    """

    descriptor: int
    kind: Report
    room: int
    size: int = 0
    left: int | None = None
    is_open: bool = True

    @property
    def is_done(self) -> bool:
        """Returns True if nothing more of it is sent."""
        return not self.is_open or self.left == 0

    def readable_bytes(self, credit: int) -> int:
        """Returns how much may be read now."""
        most = min(credit, self.room, _CHUNK_BYTES) if self.room else _CHUNK_BYTES
        return most if self.left is None else min(most, self.left)


@dataclass(slots=True, kw_only=True, eq=False)
class Command:
    """A command that runs, or whose output is still being sent."""

    number: int
    process: subprocess.Popen[bytes]
    stdin: int | None
    streams: tuple[Stream, Stream]
    credit: int = wire.WINDOW_BYTES
    status: int | None = None
    pending: bytes = b""
    ends_input: bool = False
    awaits_input: bool = field(default=False)


class Commands:
    """All commands of a session.

    Args:
        poller: reports the pipes that are ready; `handle` is called with them.
        send: sends a report.
        victims: writes whether the next process is one of the kernel's first victims when memory
            runs out, as all commands are and this process is not.
        counters: returns the counters of the session's control group.
    """

    def __init__(
        self,
        poller: select.poll,
        send: Send,
        victims: Callable[[bool], None],
        counters: Callable[[], dict[str, int]],
    ) -> None:
        self._poller = poller
        self._send = send
        self._victims = victims
        self._counters = counters
        self._by_number: dict[int, Command] = {}
        self._by_pid: dict[int, Command] = {}
        self._owners: dict[int, Command] = {}
        self._unread: OrderedDict[int, None] = OrderedDict()

    # ------------------------------------------------------------------------- the server's orders

    def run(self, number: int, order: dict[str, Any]) -> None:
        """Starts a command, or reports why it cannot be started."""
        if len(self._by_number) >= wire.COMMANDS:
            return self._refuse(number, f"{wire.COMMANDS} commands run already")
        try:
            command = self._start(number, order)
        except FileNotFoundError as error:
            is_missing = error.filename != order["cwd"]
            return self._refuse(number, _complaint(error), is_missing=is_missing)
        except (OSError, ValueError) as error:
            return self._refuse(number, _complaint(error))
        self._by_number[number] = self._by_pid[command.process.pid] = command
        told = wire.as_json(pid=command.process.pid, **self._counters())
        self._send(Report.STARTED, number, told)
        for stream in command.streams:
            self._owners[stream.descriptor] = command
        self._listen(command)
        return None

    def add_credit(self, number: int, size: int) -> None:
        """Lets a command send more."""
        if command := self._by_number.get(number):
            command.credit += size
            self._listen(command)

    def put(self, number: int, data: bytes) -> None:
        """Gives a command input."""
        command = self._by_number.get(number)
        if command is None:
            return  # its end was reported, which answers this too
        if command.stdin is None:
            self._send(Report.TAKEN, number, wire.as_json(closed=True))
            return
        command.pending, command.awaits_input = data, True
        self._feed(command)

    def end_input(self, number: int) -> None:
        """Closes a command's standard input, once the pending input was taken."""
        if command := self._by_number.get(number):
            command.ends_input = True
            if not command.awaits_input:
                self._close_input(command)

    def signal(self, number: int, signal_number: int) -> None:
        """Sends a signal to a command's process group."""
        command = self._by_number.get(number)
        if command is not None and command.status is None:
            with contextlib.suppress(OSError):
                os.killpg(command.process.pid, signal_number)

    def kill(self, number: int) -> None:
        """Kills all processes of a command's process session."""
        command = self._by_number.get(number)
        if command is None or command.status is not None:
            return
        for _ in range(_KILL_ROUNDS):  # each round may meet children of processes just killed
            if not _kill_session(command.process.pid):
                break

    # --------------------------------------------------------------------------- what happens here

    def handle(self, descriptor: int) -> bool:
        """Reads or writes a pipe that is ready; returns False if it belongs to no command."""
        if descriptor in self._unread:
            self._drop(descriptor)
        elif command := self._owners.get(descriptor):
            if descriptor == command.stdin:
                self._feed(command)
            else:
                self._read(command, next(s for s in command.streams if s.descriptor == descriptor))
        else:
            return False
        return True

    def reap(self) -> None:
        """Reaps every process that has ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if command := self._by_pid.pop(pid, None):
                self._end(command, status)

    def _start(self, number: int, order: dict[str, Any]) -> Command:
        room = order["output_bytes"]
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for is_input in (True, False, False):
                read, write = os.pipe()
                ours.append(write if is_input else read)
                theirs.append(read if is_input else write)
            self._victims(True)
            process = subprocess.Popen(
                order["argv"],
                cwd=order["cwd"],
                env={**os.environ, **order["environment"]},
                stdin=theirs[0],
                stdout=theirs[1],
                stderr=theirs[2],
                # A time limit kills this process session: an orphan's parent does not show whose
                # it is, and a session has no right to make a control group for each command.
                start_new_session=True,
            )
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            self._victims(False)
            for descriptor in theirs:
                os.close(descriptor)
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        return Command(
            number=number,
            process=process,
            stdin=ours[0],
            streams=(
                Stream(descriptor=ours[1], kind=Report.STDOUT, room=room),
                Stream(descriptor=ours[2], kind=Report.STDERR, room=room),
            ),
        )

    def _refuse(self, number: int, problem: str, *, is_missing: bool = False) -> None:
        self._send(
            Report.ENDED,
            number,
            wire.as_json(
                status=None,
                problem=problem,
                is_missing=is_missing,
                stdout_bytes=0,
                stderr_bytes=0,
                **self._counters(),
            ),
        )

    def _listen(self, command: Command) -> None:
        """Polls the streams that may be read; the end of another would be reported endlessly."""
        for stream in command.streams:
            if stream.is_open and stream.readable_bytes(command.credit):
                self._poller.register(stream.descriptor, select.POLLIN)
            elif stream.is_open:
                with contextlib.suppress(KeyError):
                    self._poller.unregister(stream.descriptor)

    def _read(self, command: Command, stream: Stream) -> None:
        size = stream.readable_bytes(command.credit)
        try:
            data = os.read(stream.descriptor, size) if size else b""
        except BlockingIOError:
            return
        if size and not data:
            self._close(stream)
        elif data:
            self._take(command, stream, data)
        self._listen(command)
        self._finish(command)

    def _take(self, command: Command, stream: Stream, data: bytes) -> None:
        stream.size += len(data)
        if stream.left is not None:
            stream.left -= len(data)
        if stream.room:
            stream.room -= len(data)
            command.credit -= len(data)
            self._send(stream.kind, command.number, data)

    def _end(self, command: Command, status: int) -> None:
        command.status = command.process.returncode = status
        for stream in command.streams:
            stream.left = _waiting_bytes(stream.descriptor) if stream.is_open else 0
        self._close_input(command)
        self._finish(command)

    def _finish(self, command: Command) -> None:
        """Reports the end of a command whose output was sent."""
        if command.status is None or not all(stream.is_done for stream in command.streams):
            return
        for stream in command.streams:
            if stream.is_open:
                self._leave(stream)
        if self._by_number.pop(command.number, None):
            sizes = [stream.size for stream in command.streams]
            self._send(
                Report.ENDED,
                command.number,
                wire.as_json(
                    status=command.status,
                    problem="",
                    is_missing=False,
                    stdout_bytes=sizes[0],
                    stderr_bytes=sizes[1],
                    **self._counters(),
                ),
            )

    def _leave(self, stream: Stream) -> None:
        """Drops what processes in the background write to a stream from now on."""
        self._owners.pop(stream.descriptor)
        stream.is_open = False
        self._unread[stream.descriptor] = None
        self._poller.register(stream.descriptor, select.POLLIN)
        if len(self._unread) > _MOST_UNREAD:
            self._close_unread(next(iter(self._unread)))

    def _drop(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if not os.read(descriptor, _CHUNK_BYTES):
                self._close_unread(descriptor)

    def _close_unread(self, descriptor: int) -> None:
        del self._unread[descriptor]
        self._poller.unregister(descriptor)
        os.close(descriptor)

    def _close(self, stream: Stream) -> None:
        stream.is_open = False
        self._owners.pop(stream.descriptor)
        self._poller.unregister(stream.descriptor)
        os.close(stream.descriptor)

    def _feed(self, command: Command) -> None:
        """Writes pending input as far as the pipe takes it."""
        assert command.stdin is not None
        closed = False
        try:
            while command.pending:
                command.pending = command.pending[os.write(command.stdin, command.pending) :]
        except BlockingIOError:
            self._owners[command.stdin] = command
            self._poller.register(command.stdin, select.POLLOUT)
            return
        except OSError:
            closed = True
        self._input_taken(command, closed=closed)
        if command.ends_input or closed:
            self._close_input(command)

    def _input_taken(self, command: Command, *, closed: bool) -> None:
        if command.stdin in self._owners:
            assert command.stdin is not None
            del self._owners[command.stdin]
            self._poller.unregister(command.stdin)
        command.pending = b""
        if command.awaits_input:
            command.awaits_input = False
            self._send(Report.TAKEN, command.number, wire.as_json(closed=closed))

    def _close_input(self, command: Command) -> None:
        if command.stdin is None:
            return
        self._input_taken(command, closed=True)
        os.close(command.stdin)
        command.stdin = None


def _complaint(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _waiting_bytes(descriptor: int) -> int:
    found = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, found)
    return found[0]


def _kill_session(session: int) -> bool:
    """Kills the processes of a process session; returns False if there are none."""
    met = False
    for name in os.listdir("/proc"):
        if name.isdecimal() and _session_of(name) == session:
            met = True
            with contextlib.suppress(OSError):
                os.kill(int(name), signal.SIGKILL)
    if met:
        time.sleep(0)
    return met


def _session_of(pid: str) -> int:
    """Returns the process session of a living process, else 0."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in b"ZX" else int(fields[_SESSION_FIELD])

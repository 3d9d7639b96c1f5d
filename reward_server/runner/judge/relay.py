"""Passes frames between the two programs of an execution; a part of the judge's process.

The *tests' program* is trusted and makes calls. The *solution's program* is not trusted and answers
them. Each runs in a separate process with its own namespaces, as in mode "commands".

A frame is one message: its length (`>I`), a byte for its kind, the number of the call (`>I`), and
the content. The judge reads kind and number, and passes the content on unread.

What this stops: a solution's program that sends a frame without a call, answers a call other than
the current one, or answers without end. Each program has pipes to the judge only, so neither can
use the pipes of the other. No code of the solution runs before the tests' program has made its
first call. So if a program ends before this call, the solution is not to blame.

A frame of kind S, from the tests' program, is not a call. It reports that the tests made an
argument that cannot be passed to the other program. From then on, the server compiles these tests
into one program with every solution of the task, as if it had known this before the first call.

What it does not do: it does not look at values; the tests' program parses them as hostile input. It
does not limit the number of calls; the tests make the calls, and the time limit ends them. It has
no clock; the zygote has one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from collections.abc import Callable, Mapping
from functools import partial

from .. import requests, wire
from ..channel.frames import READY
from ..requests import CommandsRequest, Side, SplitRequest
from ..wire import LENGTH, Stage
from .endings import Cause
from .link import ClosedError, Link, OversizeFrameError
from .outputs import Outputs
from .report import Report, TestsProgram

_CALL_BYTES = 64 << 20  # of a frame of the tests', which are trusted
_PIECE_BYTES = 1 << 18
_STATUS_BYTES = 16
_MOST_STATUS = 0xFFFF
_MESSAGE_BYTES = 1000
_KIND = slice(LENGTH.size, LENGTH.size + 1)
_NUMBER = slice(_KIND.stop, _KIND.stop + LENGTH.size)
_TEXT = slice(_NUMBER.stop, _NUMBER.stop + _MESSAGE_BYTES)  # the position of its length is _NUMBER
_CALL, _ANSWERS, _UNCOMPILED, _STAYS = b"C", (b"R", b"E"), b"X", b"S"


def read_status(link: Link) -> int:
    """Waits for the status of the last command.

    Raises:
        ClosedError: the process that ran it is gone.
        OversizeFrameError, ValueError: the process sent something else.
    """
    status = json.loads(link.receive(_STATUS_BYTES))
    if type(status) is not int or not 0 <= status <= _MOST_STATUS:
        raise ValueError("no status")
    return status


def read_end(link: Link, report: Report) -> None:
    """Records the status of a solution's last command, or why there is none.

    Its process may be gone, or may have sent something else.
    """
    try:
        report.status = read_status(link)
    except ClosedError:
        report.broken = Cause.CLOSED.value
    except (OversizeFrameError, ValueError):
        report.broken = Cause.FORGED.value


class Peer:
    """One of the two programs.

    Args:
        channel: a socket to the process that runs it.
        link: frames over that socket.
        outputs: what the program writes.
    """

    def __init__(self, channel: socket.socket, link: Link, outputs: Outputs) -> None:
        self.outputs = outputs
        self.link = link
        self.channel = channel
        self.reader = self.writer = -1
        self.inbox = bytearray()
        self._outbox = memoryview(b"")

    def start(self, side: Side, blobs: Mapping[str, bytes]) -> None:
        """Starts the program, connected to two pipes.

        Raises:
            ClosedError, OversizeFrameError: the process that runs it did not start.
            OutputLimitError: the program wrote more than allowed.
        """
        commands = CommandsRequest(**side, keep=[], product_bytes=0, output_bytes=0, joined=True)
        self.link.send(requests.pack(commands, blobs))
        if self.link.receive(len(READY)) != READY:
            raise OversizeFrameError
        (theirs, self.writer), (self.reader, answers) = os.pipe(), os.pipe()
        for end in (self.reader, self.writer):
            os.set_blocking(end, False)
        try:
            socket.send_fds(self.channel, [wire.JOINED], [theirs, answers])
        except OSError as error:
            raise ClosedError from error
        finally:
            os.close(theirs)
            os.close(answers)

    def read(self) -> bool:
        """Reads what is available without waiting; returns True if there was anything."""
        try:
            piece = os.read(self.reader, _PIECE_BYTES)
        except BlockingIOError:
            return False
        self.inbox += piece
        return bool(piece)

    def take(self, limit_bytes: int) -> bytes | None:
        """Takes the first frame that was read, with its length; returns None if it is incomplete.

        Raises:
            OversizeFrameError: it is larger than `limit_bytes`.
        """
        if len(self.inbox) < LENGTH.size:
            return None
        size = LENGTH.unpack_from(self.inbox)[0]
        if size > limit_bytes:
            raise OversizeFrameError
        end = LENGTH.size + size
        if len(self.inbox) < end:
            return None
        frame = bytes(memoryview(self.inbox)[:end])
        del self.inbox[:end]
        return frame

    def send(self, frame: bytes = b"") -> bool:
        """Writes a frame as far as the pipe takes it; returns True if nothing is left to write.

        If the pipe has no reader, the frame is lost: the program's status reports how it ended.
        """
        if frame:
            self._outbox = memoryview(frame)
        try:
            self._outbox = self._outbox[os.write(self.writer, self._outbox) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._outbox = memoryview(b"")
        return not self._outbox


class _OverError(Exception):
    """The execution is over."""


class Relay:
    """Passes frames until one of the programs ends.

    Args:
        tests: the trusted program.
        solution: the untrusted one.
        report: receives the results.
        frame_bytes: greatest size of a frame of the solution's.
    """

    def __init__(self, tests: Peer, solution: Peer, report: Report, *, frame_bytes: int) -> None:
        self._tests, self._solution, self._report = tests, solution, report
        self._frame_bytes = frame_bytes
        self._start: Callable[[], None] | None = None
        self._asked = b""  # number of the call that waits for an answer
        self._is_answered = False  # then what the tests pass may have been chosen by an answer
        self._poller = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}

    def run(self, request: SplitRequest, blobs: Mapping[str, bytes]) -> None:
        """Runs both programs of a request.

        Raises:
            ClosedError, OversizeFrameError: a process that runs one of them did not start.
            OutputLimitError: one of them wrote more than allowed.
        """
        self._report.tests_program = TestsProgram(outputs=self._tests.outputs)
        self._report.reach(Stage.LOADING)
        self._tests.start(request.tests, requests.blobs_of("tests", blobs))
        self._report.reach(Stage.TESTS)
        solution = requests.blobs_of("solution", blobs)
        self._start = partial(self._solution.start, request.solution, solution)
        self._watch(self._tests.channel.fileno(), self._end_of_tests)
        self._watch(self._tests.reader, self._hear_tests)
        self._watch(self._solution.channel.fileno(), self._end_of_solution)
        for peer in (self._tests, self._solution):
            for descriptor in peer.outputs.open:
                self._watch(descriptor, partial(self._read_output, descriptor, peer))
        with contextlib.suppress(_OverError):
            while True:
                for descriptor, _ in self._poller.poll():
                    if handler := self._handlers.get(descriptor):
                        handler()
        self._tests.outputs.drain()

    def _watch(
        self, descriptor: int, handler: Callable[[], None], events: int = select.POLLIN
    ) -> None:
        self._handlers[descriptor] = handler
        self._poller.register(descriptor, events)

    def _unwatch(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None):
            self._poller.unregister(descriptor)

    def _read_output(self, descriptor: int, peer: Peer) -> None:
        if descriptor not in peer.outputs.open or not peer.outputs.read(descriptor):
            self._unwatch(descriptor)

    # ------------------------------------------------------------------------- the ends

    def _end_of_tests(self) -> None:
        """Records the status of the tests' program, unless it found an answer malformed."""
        frame = self._last_frame(self._tests)
        if frame is not None and not self._is_late(frame):
            self._check(frame)
        status = read_status(self._tests.link)
        self._report.tests_program = TestsProgram(status=status, outputs=self._tests.outputs)
        if not self._report.ready:
            self._report.blame = "task"
            self._report.message = "the tests ended before they called the solution"
        # The solution's program is not waited for: timers and threads of honest ones run on.
        raise _OverError

    def _end_of_solution(self) -> None:
        """Records that the solution's program has ended before the tests' program.

        Before the first call this is a failure of the server, afterwards of the solution.
        """
        if not self._report.ready:  # nothing of it ran, so the solution did not end it
            self._report.reach(Stage.LOADING)
        elif (frame := self._last_frame(self._solution)) is not None:
            self._check_left(frame)
        self._report.broken = Cause.CLOSED.value
        read_end(self._solution.link, self._report)
        raise _OverError

    def _check_left(self, frame: bytes) -> None:
        """Examines the frame that an ended program of the solution left in the pipe.

        Returns if the frame is an answer to the current call; otherwise the execution is over.
        """
        if frame[_KIND] == _UNCOMPILED:
            self._answer(frame)
        if not self._is_answer(frame) or self._solution.inbox:
            self._forged()

    def _last_frame(self, peer: Peer) -> bytes | None:
        """Returns the frame that an ended program left in the pipe."""
        while peer.read():
            pass
        return self._take(peer)

    def _forged(self) -> None:
        self._report.broken = Cause.FORGED.value
        raise _OverError

    def _too_much(self, limit: str) -> None:
        self._report.limits.append(limit)
        raise _OverError

    # ---------------------------------------------------------------------- the frames

    def _take(self, peer: Peer) -> bytes | None:
        try:
            return peer.take(_CALL_BYTES if peer is self._tests else self._frame_bytes)
        except OversizeFrameError:
            self._too_much("result")
            return None

    def _hear_tests(self) -> None:
        if self._tests.read():
            self._hear_call()
        else:
            self._unwatch(self._tests.reader)

    def _hear_call(self) -> None:
        frame = self._take(self._tests)
        if frame is None:
            return
        if self._is_late(frame):
            self._unwatch(self._tests.reader)  # the program ends, and fails
            return
        self._check(frame)
        if self._start is not None:
            self._start_solution(self._start)
        self._asked = frame[_NUMBER]
        self._unwatch(self._tests.reader)
        self._send(self._solution, frame)

    def _check(self, frame: bytes) -> None:
        """Returns if a frame of the tests' program is a call; otherwise the execution is over."""
        if frame[_KIND] == _STAYS:
            self._report.blame = "task"
            self._report.message = frame[_TEXT].decode("utf-8", "replace")
            raise _OverError
        if frame[_KIND] != _CALL or len(frame) < _NUMBER.stop:
            self._forged()  # a trusted program sends it only because of an answer

    def _is_late(self, frame: bytes) -> bool:
        """Returns True if an argument cannot be sent after an answer, which may have chosen it."""
        return self._is_answered and frame[_KIND] == _STAYS

    def _start_solution(self, start: Callable[[], None]) -> None:
        self._start = None
        self._report.reach(Stage.LOADING)
        start()
        self._report.reach(Stage.READY)
        self._watch(self._solution.reader, self._hear_solution)

    def _hear_solution(self) -> None:
        if not self._solution.read():
            self._unwatch(self._solution.reader)
            return
        frame = self._take(self._solution)
        if not self._asked or (frame is not None and self._solution.inbox):
            self._forged()
        if frame is not None:
            self._answer(frame)

    def _answer(self, frame: bytes) -> None:
        if frame[_KIND] == _UNCOMPILED:
            message = frame[_TEXT].decode("utf-8", "replace")
            self._report.load = {"kind": "compile", "message": message}
            raise _OverError
        if not self._is_answer(frame):
            self._forged()
        self._asked, self._is_answered = b"", True
        self._send(self._tests, frame)
        self._watch(self._tests.reader, self._hear_tests)
        self._hear_call()

    def _is_answer(self, frame: bytes) -> bool:
        """Returns True if a frame answers the call that waits."""
        return bool(self._asked) and frame[_KIND] in _ANSWERS and frame[_NUMBER] == self._asked

    def _send(self, peer: Peer, frame: bytes) -> None:
        if not peer.send(frame):
            self._watch(peer.writer, partial(self._send_rest, peer), select.POLLOUT)

    def _send_rest(self, peer: Peer) -> None:
        if peer.send():
            self._unwatch(peer.writer)

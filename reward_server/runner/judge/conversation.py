"""The judge's part in a conversation: it passes the output of each of two programs to the other.

The interactor is trusted and decides by its exit status. The solution is not. Each runs in a
separate process with its own namespaces, and its standard output is the standard input of the
other. The judge stores everything that both write, up to a limit, and passes it on. So it never
waits for a program that does not read, and neither program can block the other.

What this stops: a solution that reaches the interactor, its files or its status. The pipes to the
two programs end here, and the interactor's status comes from the process that ran it. If a solution
continues to write after the interactor has ended, the judge reads its output, but nobody gets it.

What it does not do: it has no clock; the zygote has. An interactor parses hostile input. If it
fails after it has read output of the solution, the solution fails, since this output was the
interactor's input.
"""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable, Mapping
from functools import partial

from .. import wire
from ..channel.frames import READY
from ..requests import ConversationRequest, blobs_of
from ..wire import Stage
from .endings import Cause
from .link import ClosedError, Link, OversizeFrameError
from .outputs import Outputs
from .report import Report, TestsProgram

_PIECE_BYTES = 1 << 16
_REFUSAL_BYTES = 1 << 16
_SHOWN_BYTES = 400
_ACCEPTED, _REJECTED = 0, 1 << 8  # as of `os.waitpid`


class Speaker:
    """One of the two programs.

    Args:
        channel: a socket to the process that runs it.
        link: frames over that socket.
        outputs: what the program writes.
        stdin: the write end of its standard input, which does not block.
        stdout: the read end of its standard output.
    """

    def __init__(
        self, channel: socket.socket, link: Link, outputs: Outputs, *, stdin: int, stdout: int
    ) -> None:
        self.channel, self.link, self.outputs = channel, link, outputs
        self.stdin, self._stdout = stdin, stdout
        self._listens = True
        self.heard_bytes = 0

    def start(self, program: Mapping[str, object], blobs: Mapping[str, bytes]) -> None:
        """Hands its program over.

        Raises:
            ClosedError, OversizeFrameError: the process that runs it did not start.
            OutputLimitError: the program wrote more than allowed.
        """
        self.link.send(wire.pack(program, blobs))
        if self.link.receive(len(READY)) != READY:
            raise OversizeFrameError

    @property
    def has_spoken(self) -> bool:
        """Returns True if it will write nothing more to its standard output."""
        return self._stdout not in self.outputs.open

    def is_behind(self, other: Speaker) -> bool:
        """Returns True if the other's output, or its end, must still be passed on."""
        return self._listens and (
            other.has_spoken or self.heard_bytes < len(other.outputs.stdout.kept)
        )

    def listen(self, other: Speaker) -> None:
        """Passes the other's output on as far as the pipe takes it, and then its end."""
        words = other.outputs.stdout.kept
        try:
            while self.heard_bytes < len(words):
                piece = words[self.heard_bytes : self.heard_bytes + _PIECE_BYTES]
                self.heard_bytes += os.write(self.stdin, piece)
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.stop_listening()
        if other.has_spoken:
            self.stop_listening()

    def stop_listening(self) -> None:
        """Closes its standard input."""
        if self._listens:
            os.close(self.stdin)
            self._listens = False


class Conversation:
    """Passes words between two programs until the interactor has decided.

    Args:
        interactor: the trusted program.
        solution: the untrusted one.
        report: receives the results.
    """

    def __init__(self, interactor: Speaker, solution: Speaker, report: Report) -> None:
        self._interactor, self._solution, self._report = interactor, solution, report
        self._told = report.tests_program = TestsProgram(outputs=interactor.outputs)

    def start(self, request: ConversationRequest, blobs: Mapping[str, bytes]) -> None:
        """Hands both programs over; from then on no failure is the server's.

        Raises:
            ClosedError, OversizeFrameError: a process that runs one of them did not start.
            OutputLimitError: one of them wrote more than allowed.
        """
        self._report.reach(Stage.LOADING)
        self._interactor.start(request.interactor, blobs_of("interactor", blobs))
        self._solution.start(request.solution, blobs_of("solution", blobs))
        self._report.reach(Stage.READY)

    def run(self) -> bool:
        """Passes words until the interactor ends, and until the solution does if it is accepted.

        Returns:
            True if the end of the solution decides, too.

        Raises:
            OutputLimitError: one of them wrote more than allowed.
        """
        while self._told.status is None:
            if not self._turn():
                return False
        if self._told.status == _ACCEPTED:
            return self._hear_the_rest()
        self._solution.outputs.drain()
        if self._solution.outputs.open:
            return False
        self._report.broken = Cause.CLOSED.value
        return True

    def _hear_the_rest(self) -> bool:
        while self._solution.outputs.open:
            self._turn()
        return True

    def _turn(self) -> bool:
        """Does what can be done without waiting; returns False if the interactor cannot go on.

        The interactor's status comes first and ends the turn. Its output ends only after that, so a
        solution that was rejected never sees the end before the judge knows the status.
        """
        handlers = self._handlers()
        poller = select.poll()
        for descriptor, (events, _) in handlers.items():
            poller.register(descriptor, events)
        ready = [descriptor for descriptor, _ in poller.poll()]
        if self._told.status is None and self._interactor.channel.fileno() in ready:
            return self._hear_end()
        for descriptor in ready:
            handlers[descriptor][1]()
        return True

    def _handlers(self) -> dict[int, tuple[int, Callable[[], object]]]:
        """Returns what each descriptor waits for, and what to do then."""
        found: dict[int, tuple[int, Callable[[], object]]] = {}
        speakers = self._interactor, self._solution
        for one, other in (speakers, speakers[::-1]):
            for descriptor in one.outputs.open:
                found[descriptor] = select.POLLIN, partial(one.outputs.read, descriptor)
            if one.is_behind(other):
                found[one.stdin] = select.POLLOUT, partial(one.listen, other)
        if self._told.status is None:
            found[self._interactor.channel.fileno()] = select.POLLIN, self._hear_end
        return found

    def _hear_end(self) -> bool:
        """Records how the interactor ended; returns False if that decides nothing."""
        try:
            status = _end_of(self._interactor.link)
        except ClosedError:
            return False
        if isinstance(status, str):
            return self._blame_task(status)
        self._interactor.outputs.drain()
        is_decided = status in (_ACCEPTED, _REJECTED)
        if not self._interactor.heard_bytes and (not is_decided or status == _ACCEPTED):
            said = _last_line(self._interactor.outputs)
            reason = "the interactor ended before it heard anything of the solution"
            return self._blame_task(f"{reason}: {said}".removesuffix(": "))
        self._told.status = status
        return True

    def _blame_task(self, message: str) -> bool:
        self._report.blame, self._report.message = "task", message
        return False


def _last_line(outputs: Outputs) -> str:
    """Returns the last line of what a program wrote to its standard error."""
    words = bytes(outputs.stderr.kept[-_SHOWN_BYTES:]).decode("utf-8", "replace")
    return words.strip().rpartition("\n")[2]


def _end_of(link: Link) -> int | str:
    """Returns a reporting program's status, or why it was not compiled.

    Raises:
        ClosedError: the process that ran it is gone.
    """
    try:
        told = json.loads(link.receive(_REFUSAL_BYTES))
    except (OversizeFrameError, ValueError):
        raise ClosedError from None
    match told:
        case int():
            return told
        case ["unloaded", _, str(reason)]:
            return f"the interactor does not compile: {reason}"
    raise ClosedError

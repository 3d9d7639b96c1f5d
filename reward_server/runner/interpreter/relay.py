"""The relay: the process between the server and the process that evaluates code.

It passes requests on, and sends what the code writes as messages, up to the limit of the request.
What is written while no code runs is read and dropped. When the evaluator ends, the relay sends the
last output and ends in the same way, by the same exit code or signal.

What this stops: output that is lost when code ends its own process. What it does not: it decides
nothing, and it is as untrusted as the code.
"""

from __future__ import annotations

import os
import select
import signal
from typing import NoReturn

from . import evaluation, wire
from .wire import Order, Report

_REQUESTS, _ANSWERS = 0, 1
_READ_BYTES = 1 << 20  # what a pipe can hold at most


def main() -> NoReturn:
    """Starts the evaluator and serves it until one of the two sides ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, reports = os.pipe(), os.pipe()
    streams = os.pipe(), os.pipe()
    evaluator = os.fork()
    if not evaluator:
        evaluation.run(requests[0], reports[1], streams[0][1], streams[1][1])
    for descriptor in (requests[0], reports[1], streams[0][1], streams[1][1]):
        os.close(descriptor)
    _Relay(evaluator, requests[1], reports[0], (streams[0][0], streams[1][0])).serve()


class _Relay:
    def __init__(
        self, evaluator: int, requests: int, reports: int, streams: tuple[int, int]
    ) -> None:
        self._evaluator = evaluator
        self._requests = requests
        self._reports = reports
        self._kinds = dict(zip(streams, (Report.STDOUT, Report.STDERR), strict=True))
        self._received = bytearray()
        self._is_running = False
        self._limit = 0
        self._sizes = dict.fromkeys(streams, 0)

    def serve(self) -> NoReturn:
        for descriptor in (self._reports, *self._kinds):
            os.set_blocking(descriptor, False)
        waking = _wake_for_children()
        poller = select.poll()
        for descriptor in (_REQUESTS, self._reports, waking, *self._kinds):
            poller.register(descriptor, select.POLLIN)
        while True:
            self._follow_end(os.WNOHANG)
            for descriptor, _ in poller.poll():
                if descriptor == _REQUESTS:
                    self._pass_request()
                elif descriptor == self._reports:
                    self._pass_reports()
                elif descriptor == waking:
                    os.read(waking, _READ_BYTES)
                elif not self._pass_output(descriptor):
                    poller.unregister(descriptor)

    def _pass_request(self) -> None:
        kind, length = wire.HEAD.unpack(_read_exactly(wire.HEAD.size))
        payload = _read_exactly(length)
        [self._limit] = wire.LIMIT.unpack_from(payload)
        for stream in self._kinds:
            self._pass_output(stream)  # drops what was written before
        self._sizes = dict.fromkeys(self._kinds, 0)
        self._is_running = True
        _write(self._requests, wire.message(Order(kind), payload[wire.LIMIT.size :]))

    def _pass_reports(self) -> None:
        data = os.read(self._reports, _READ_BYTES)
        if not data:  # the evaluator ends, or the code has closed its descriptors
            os.kill(self._evaluator, signal.SIGKILL)
            self._follow_end(0)
        self._received += data
        while report := wire.take_report(self._received):
            kind, payload = report
            for stream in self._kinds:
                self._pass_output(stream)
            if kind is Report.ENDED:
                self._is_running = False
                payload = wire.SIZES.pack(*self._sizes.values()) + payload
            _write(_ANSWERS, wire.message(kind, payload))

    def _pass_output(self, stream: int) -> bool:
        """Sends what is in a pipe; returns False at its end."""
        try:
            data = os.read(stream, _READ_BYTES)
        except BlockingIOError:
            return True
        if self._is_running:
            room = max(self._limit - self._sizes[stream], 0)
            self._sizes[stream] += len(data)
            for start in range(0, min(room, len(data)), wire.PIECE_BYTES):
                piece = data[start : min(start + wire.PIECE_BYTES, room)]
                _write(_ANSWERS, wire.message(self._kinds[stream], piece))
        return bool(data)

    def _follow_end(self, options: int) -> None:
        """Ends as the evaluator has ended, if it has; without options, waits for that."""
        pid, status = os.waitpid(self._evaluator, options)
        if not pid:
            return
        for stream in self._kinds:
            self._pass_output(stream)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(os.waitstatus_to_exitcode(status))


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(_REQUESTS, size - len(data))
        if not more:
            os._exit(0)  # the server has gone, and ends the session
        data += more
    return data


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _wake_for_children() -> int:
    """Returns a descriptor that is readable when a child has ended."""
    readable, writable = os.pipe()
    for descriptor in (readable, writable):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return readable

"""An interpreter of a session, as the server sees it.

What this stops: an interpreter that harms the server by its messages. Each message is bounded in
size and checked against a schema. An interpreter that breaks the rules, does not start in time, or
goes on after its interrupt is killed, and is then lost. Its session lives on.

What it does not: it does not know whether the interpreter tells the truth about its code, which is
no evidence. The server measures the time, and reads the limits that were hit from the kernel.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from reward_server.domain import Termination, TerminationKind
from reward_server.errors import SessionEndedError
from reward_server.runner.interpreter import wire
from reward_server.runner.interpreter.wire import Order, Report
from reward_server.runner.sessions.wire import from_json
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import (
    Code,
    CodeEnded,
    CodeEvent,
    CodeOutcome,
    Counters,
    Ended,
    Output,
    Raised,
    Shown,
)

READY_SECONDS = 30.0
INTERRUPT_SECONDS = 3.0  # for interrupted code to end before it is killed
_COMPLAINT_BYTES = 4096
_INTERRUPT = "KeyboardInterrupt"
_MOST_SIZE = 1 << 62
_MOST_DROPPED = (1 << 31) - 1


class Interpreter:
    """An interpreter that runs one piece of code at a time.

    Args:
        command: its process.
        counters: reads the session's counters.
    """

    def __init__(self, command: RunningCommand, counters: Callable[[], Counters]) -> None:
        self.command = command
        self._counters = counters
        self._received = bytearray()
        self._complaints = b""
        self._calls = 0
        self._is_ready = self._is_over = self._is_broken = False
        self._settling: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Returns True if it runs no more code."""
        return self._is_over or self.command.has_ended

    async def run(self, code: Code) -> AsyncGenerator[CodeEvent]:
        """Runs code, and yields its output, what it shows and then its end.

        If the iteration stops early, the code is interrupted, as at its time limit, and what it
        still says is dropped.

        Raises:
            SessionEndedError: the session has ended.
        """
        self._calls += 1
        call = _Call(code, self._calls, self.command, self._counters)
        try:
            if self._is_ready:
                call.begin()
            else:
                call.kill_later(READY_SECONDS)
            while (found := await self._next()) is not None:
                event = self._event_of(call, *found)
                if event is not None:
                    yield event
                if isinstance(event, CodeEnded):
                    return
            for event in self._lost(call):
                yield event
        finally:
            call.stop()
            if not (call.is_told or self.has_ended):
                self._settling = asyncio.create_task(self._settle(call))

    async def settled(self) -> None:
        """Waits until code that was interrupted because its caller had gone has ended."""
        if self._settling is not None:
            await asyncio.shield(self._settling)

    async def _settle(self, call: _Call) -> None:
        """Interrupts the code of a caller that has gone, and waits for its end."""
        if not self._is_ready:
            return self.end()
        call.interrupt()
        try:
            while not call.is_told and (found := await self._next()) is not None:
                self._event_of(call, *found)
        except SessionEndedError:
            pass
        call.stop()
        if not call.is_told:
            self._is_over = True
        return None

    def end(self) -> None:
        """Kills it."""
        self._is_over = True
        self.command.abandon()

    async def _next(self) -> tuple[int, bytes] | None:
        """Returns the next report; None if the process has ended."""
        while True:
            try:
                if report := wire.take_report(self._received):
                    return report
            except ValueError:
                self._break()
            event = await self.command.next_event()
            if isinstance(event, Ended):
                self._end = event
                return None
            if isinstance(event, Output) and event.is_error:
                self._complaints = (self._complaints + event.data)[-_COMPLAINT_BYTES:]
            elif isinstance(event, Output) and not self._is_broken:
                self._received += event.data

    def _event_of(self, call: _Call, kind: int, payload: bytes) -> CodeEvent | None:
        if not self._is_ready and kind is Report.READY:
            self._is_ready = True
            call.begin()
            return None
        try:
            return call.event_of(Report(kind), payload)
        except (ValueError, KeyError, TypeError):
            self._break()
            return None

    def _break(self) -> None:
        """Kills the interpreter, which has broken the protocol."""
        self._is_broken = True
        self._received.clear()
        self.command.kill()

    def _lost(self, call: _Call) -> tuple[CodeEvent, ...]:
        self._is_over = True
        complaint = self._complaints or self._end.problem.encode()
        told = (Output(data=complaint, is_error=True),) if complaint else ()
        return *told, call.lost(self._end)


class _Call:
    """One run of code in an interpreter.

    Args:
        code: the code.
        number: the number of the call in the interpreter, from 1.
        command: the interpreter's process.
        counters: reads the session's counters.
    """

    def __init__(
        self, code: Code, number: int, command: RunningCommand, counters: Callable[[], Counters]
    ) -> None:
        self.is_told = False
        self._code = code
        self._number = number
        self._command = command
        self._counters = counters
        self._before = counters()
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[bool] | None = None
        self._sent = {Report.STDOUT: 0, Report.STDERR: 0}
        self._shown = 0
        self._value: str | None = None
        self._is_value_cut = False
        self._timed_out = False

    def begin(self) -> None:
        """Sends the code to an interpreter that waits for it."""
        self.stop()
        self._begun = self._loop.time()
        self._timer = self._loop.call_later(self._code.time_limit_seconds, self.interrupt)
        variables = json.dumps(dict(self._code.environment)).encode()
        head = wire.LIMIT.pack(self._code.output_bytes) + wire.LENGTH.pack(len(variables))
        message = wire.message(Order.RUN, head + variables + self._code.source.encode())
        self._sending = self._loop.create_task(self._command.send_input(message, ends=False))

    def interrupt(self) -> None:
        """Interrupts the code, and kills the interpreter if that has no effect."""
        self._timed_out = True
        self._command.interrupt()
        self._timer = self._loop.call_later(INTERRUPT_SECONDS / 2, self._interrupt_again)

    def kill_later(self, seconds: float) -> None:
        """Kills the interpreter after some seconds, unless another step follows."""
        self._timer = self._loop.call_later(seconds, self._command.kill)

    def stop(self) -> None:
        """Ends the clock, and what is still being sent."""
        if self._timer is not None:
            self._timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    def event_of(self, kind: Report, payload: bytes) -> CodeEvent:
        """Reads a report about the code.

        Raises:
            ValueError, KeyError, TypeError: it breaks the rules of the protocol.
        """
        if self._sending is None:
            raise ValueError("a report before the code")
        if kind in self._sent:
            return self._output(kind, payload)
        if kind is Report.SHOWN:
            return self._show(payload)
        if kind is Report.ENDED:
            return self._ended(payload)
        raise ValueError(f"a report {kind.name} about code")

    def lost(self, ended: Ended) -> CodeEnded:
        """Returns the end of code whose interpreter is gone."""
        self.is_told = True
        termination = ended.termination
        if self._timed_out:
            termination = Termination(kind=TerminationKind.LIMIT)
        most = self._code.output_bytes
        return self._told(
            tuple(self._sent.values()),
            cut=tuple(sent == most for sent in self._sent.values()),
            outcome=CodeOutcome.INTERPRETER_LOST,
            termination=termination,
        )

    def _interrupt_again(self) -> None:
        """Interrupts once more, as the first interrupt may have come before the code began."""
        self._command.interrupt()
        self.kill_later(INTERRUPT_SECONDS / 2)

    def _output(self, kind: Report, data: bytes) -> Output:
        self._sent[kind] += len(data)
        if not data or self._sent[kind] > self._code.output_bytes:
            raise ValueError("more output than was asked for")
        return Output(data=data, is_error=kind is Report.STDERR)

    def _show(self, payload: bytes) -> Shown:
        if not wire.is_sendable(payload):
            raise ValueError("too much to show")
        told = from_json(payload)
        shown = Shown(data=told["data"], is_main=told["is_main"] is True)
        self._shown += 1
        if self._shown > wire.SHOWN or not isinstance(shown.data, dict):
            raise ValueError("nothing that code can show")
        json.dumps(shown.data, ensure_ascii=False).encode()  # refuses halves of characters
        if shown.png is not None and not shown.png.startswith(wire.PNG_BEGIN):
            raise ValueError("no image")
        if shown.is_main:
            self._value = _text(shown.data.get("text/plain"), wire.VALUE_BYTES)
            self._is_value_cut = told["is_cut"] is True
        return shown

    def _ended(self, payload: bytes) -> CodeEnded:
        if len(payload) < wire.SIZES.size:
            raise ValueError("an end without sizes")
        sizes = wire.SIZES.unpack_from(payload)
        told = from_json(payload[wire.SIZES.size :])
        raised = _raised(told) if told["raised"] is True else None
        outcome = CodeOutcome.COMPLETED if raised is None else CodeOutcome.RAISED
        if raised is None:
            self._timed_out = False  # it ended by itself just before it was interrupted
        elif self._timed_out and raised.name == _INTERRUPT:
            outcome = CodeOutcome.INTERRUPTED
        ended = self._told(
            tuple(map(_number, sizes)),
            cut=tuple(size > self._code.output_bytes for size in sizes),
            outcome=outcome,
            value=self._value,
            value_truncated=self._is_value_cut,
            error=raised,
            dropped_images=min(_number(told["dropped_images"]), _MOST_DROPPED),
        )
        self.is_told = True
        return ended

    def _told(self, sizes: tuple[int, ...], *, cut: tuple[bool, ...], **others: Any) -> CodeEnded:
        return CodeEnded(
            limits_hit=self._before.limits_hit(
                self._counters(), timed_out=self._timed_out, output_cut=any(cut)
            ),
            stdout_bytes=sizes[0],
            stderr_bytes=sizes[1],
            stdout_truncated=cut[0],
            stderr_truncated=cut[1],
            wall_time_seconds=self._loop.time() - self._begun,
            execution_count=self._number,
            **others,
        )


def _raised(told: dict[str, Any]) -> Raised:
    return Raised(
        name=_text(told["name"], wire.NAME_BYTES),
        message=_text(told["message"], wire.EXPLANATION_BYTES),
        traceback=_text(told["traceback"], wire.TRACEBACK_BYTES),
    )


def _text(value: object, most_bytes: int) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is none")
    data = value.encode("utf-8", "replace")
    if len(data) > most_bytes:
        raise ValueError("a text is too long")
    return data.decode()


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_SIZE:
        raise ValueError("no number")
    return value

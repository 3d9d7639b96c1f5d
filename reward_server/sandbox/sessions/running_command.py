"""A command that runs in a session, as the server sees it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from reward_server.domain import Termination, TerminationKind
from reward_server.errors import SessionEndedError
from reward_server.runner.sessions import wire
from reward_server.runner.sessions.wire import Order, Report
from reward_server.sandbox.sessions.values import (
    Command,
    Counters,
    Ended,
    Event,
    Output,
    Started,
)

STOP_SECONDS = 10.0  # for a killed command to end
_PIECE_BYTES = 256 << 10
_NOT_FOUND, _NOT_STARTED = 127, 126
_GREATEST_STATUS, _GREATEST_SIZE = 0xFFFF, 1 << 62
_STREAMS = (Report.STDOUT, Report.STDERR)

Send = Callable[[Order, int, bytes], Awaitable[None]]


class RunningCommand:
    """A command that was sent to a session.

    Args:
        number: its number in messages.
        command: what runs.
        send: sends an order to the session.
        counters: reads the session's counters.
        lose: ends the session as lost, with the reason.
    """

    def __init__(
        self,
        number: int,
        command: Command,
        *,
        send: Send,
        counters: Callable[[], Counters],
        lose: Callable[[str], object],
    ) -> None:
        self.number = number
        self.pid = 0
        self._command = command
        self._order = send
        self._counters = counters
        self._lose = lose
        self._events: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._buffered = self._unacknowledged = 0
        self._failure: SessionEndedError | None = None
        self._abandoned = self._timed_out = False
        self._input = asyncio.Lock()
        self._taken: asyncio.Future[bool] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._before = counters()
        self._timer = self._loop.call_later(command.time_limit_seconds, self._time_is_up)

    @property
    def has_ended(self) -> bool:
        """Returns True if its end was reported, or its session is lost."""
        return self._timer.cancelled()

    async def events(self) -> AsyncIterator[Event]:
        """Yields what happens to the command, until its end.

        While the next event is not asked for, the command's pipe fills and it has to wait. If the
        iteration stops early, the command is killed.

        Raises:
            SessionEndedError: the session has ended.
        """
        try:
            while True:
                event = await self.next_event()
                yield event
                if isinstance(event, Ended):
                    return
        finally:
            self.abandon()

    async def send_input(self, data: bytes, *, ends: bool) -> bool:
        """Writes to its standard input; returns True if the command had closed it.

        Raises:
            SessionEndedError: the session has ended.
        """
        async with self._input:
            closed = False
            for start in range(0, len(data), wire.INPUT_BYTES):
                closed = await self._put(data[start : start + wire.INPUT_BYTES])
                if closed:
                    break
            if ends:
                await self._order(Order.END_INPUT, self.number, b"")
            return closed

    async def signal(self, number: int) -> None:
        """Sends a signal to its process group, or SIGKILL to its process session."""
        if number == signal.SIGKILL:
            await self._order(Order.KILL, self.number, b"")
        else:
            await self._order(Order.SIGNAL, self.number, wire.SIGNAL.pack(number))

    def abandon(self) -> None:
        """Kills the command if it runs, and drops what it still writes."""
        if self._abandoned or self.has_ended:
            return
        self._abandoned = True
        dropped = sum(len(event.data) for event in self._events if isinstance(event, Output))
        self._events.clear()
        self._buffered -= dropped
        self._unacknowledged += dropped
        self._acknowledge_read()
        self.kill()

    def interrupt(self) -> None:
        """Sends SIGINT to its process group."""
        self._do(self._order(Order.SIGNAL, self.number, wire.SIGNAL.pack(signal.SIGINT)))

    def kill(self) -> None:
        """Kills its process session; the session is lost if the command does not end soon."""
        if self.has_ended:
            return
        self._timer.cancel()
        self._timer = self._loop.call_later(STOP_SECONDS, self._give_up)
        self._do(self._order(Order.KILL, self.number, b""))

    # ------------------------------------------------------------------- what the session reports

    def take(self, kind: Report, payload: bytes) -> None:
        """Takes a report of the session about this command.

        Raises:
            ValueError: the report breaks the rules of the protocol.
        """
        if kind is Report.STARTED:
            self.pid = _number(wire.from_json(payload), "pid")
            self._before = self._counters()
            self._arrive(Started(pid=self.pid))
        elif kind in _STREAMS:
            self._take_output(payload, is_error=kind is Report.STDERR)
        elif kind is Report.TAKEN:
            self._input_taken(closed=bool(wire.from_json(payload).get("closed")))
        elif kind is Report.ENDED:
            self._end(wire.from_json(payload))
        else:
            raise ValueError(f"a report {kind.name} about a command")

    def fail(self, error: SessionEndedError) -> None:
        """Ends the command with its session."""
        self._timer.cancel()
        self._failure = error
        self._arrived.set()
        if self._taken is not None and not self._taken.done():
            self._taken.set_exception(error)
            self._taken.exception()  # nobody may be waiting for it

    def _take_output(self, data: bytes, *, is_error: bool) -> None:
        self._buffered += len(data)
        if not data or self._buffered + self._unacknowledged > wire.WINDOW_BYTES:
            raise ValueError("more output than the window has room for")
        if self._abandoned:
            self._buffered -= len(data)
            self._acknowledge(len(data))
        else:
            self._arrive(Output(data=data, is_error=is_error))

    def _end(self, told: dict[str, Any]) -> None:
        self._timer.cancel()
        self._input_taken(closed=True)
        sizes = _number(told, "stdout_bytes"), _number(told, "stderr_bytes")
        cut = tuple(size > self._command.output_bytes for size in sizes)
        self._arrive(
            Ended(
                termination=self._termination(told),
                problem=str(told.get("problem"))[:_PIECE_BYTES],
                limits_hit=self._before.limits_hit(
                    self._counters(), timed_out=self._timed_out, output_cut=any(cut)
                ),
                stdout_bytes=sizes[0],
                stderr_bytes=sizes[1],
                stdout_truncated=cut[0],
                stderr_truncated=cut[1],
                wall_time_seconds=self._loop.time() - self._begun,
            )
        )

    def _termination(self, told: dict[str, Any]) -> Termination:
        if told.get("status") is None:
            code = _NOT_FOUND if told.get("is_missing") else _NOT_STARTED
            return Termination(kind=TerminationKind.EXITED, value=code)
        status = _number(told, "status", _GREATEST_STATUS)
        if not os.WIFSIGNALED(status):
            self._timed_out = False  # it ended by itself just before it was killed
        elif self._timed_out:
            return Termination(kind=TerminationKind.LIMIT)
        if os.WIFSIGNALED(status):
            return Termination(kind=TerminationKind.SIGNALED, value=os.WTERMSIG(status))
        return Termination(kind=TerminationKind.EXITED, value=os.WEXITSTATUS(status))

    # ------------------------------------------------------------------------------------- reading

    def _arrive(self, event: Event) -> None:
        self._events.append(event)
        self._arrived.set()

    async def next_event(self) -> Event:
        """Returns what happens next; a cancelled call loses nothing.

        Raises:
            SessionEndedError: the session has ended.
        """
        if not self._events and self._unacknowledged:
            self._acknowledge_read()
        while not self._events:
            if self._failure is not None:
                raise self._failure
            self._arrived.clear()
            await self._arrived.wait()
        event = self._events.popleft()
        return self._together(event) if isinstance(event, Output) else event

    def _together(self, first: Output) -> Output:
        """Joins a piece of output with the pieces of the same stream that follow it."""
        pieces, size = [first.data], len(first.data)
        while self._events:
            following = self._events[0]
            if not isinstance(following, Output) or following.is_error is not first.is_error:
                break
            if size + len(following.data) > _PIECE_BYTES:
                break
            pieces.append(following.data)
            size += len(following.data)
            self._events.popleft()
        self._buffered -= size
        self._unacknowledged += size
        if self._unacknowledged >= wire.WINDOW_BYTES // 2:
            self._acknowledge_read()
        return Output(data=b"".join(pieces), is_error=first.is_error)

    def _acknowledge_read(self) -> None:
        size, self._unacknowledged = self._unacknowledged, 0
        self._acknowledge(size)

    def _acknowledge(self, size: int) -> None:
        """Lets the command write more; at once, or the session could send too much by the rules."""
        if size:
            self._do(self._order(Order.CREDIT, self.number, wire.CREDIT.pack(size)))

    def _do(self, work: Awaitable[None]) -> None:
        async def do() -> None:
            try:
                await work
            except SessionEndedError:
                return  # the command has failed with its session

        task = self._loop.create_task(do())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # ------------------------------------------------------------------------------ input and end

    async def _put(self, part: bytes) -> bool:
        if self._taken is not None and not self._taken.done():
            await asyncio.shield(self._taken)  # of a caller that has gone
        if self.has_ended:
            return True
        taken = self._taken = self._loop.create_future()
        await self._order(Order.INPUT, self.number, part)
        return await asyncio.shield(taken)

    def _input_taken(self, *, closed: bool) -> None:
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(closed)

    def _time_is_up(self) -> None:
        self._timed_out = True
        self.kill()

    def _give_up(self) -> None:
        if self._events and not self._abandoned:  # its reader is slow, and its end comes behind
            self._timer = self._loop.call_later(STOP_SECONDS, self._give_up)
        else:
            self._lose("a command of it could not be stopped")


def _number(told: dict[str, Any], name: str, most: int = _GREATEST_SIZE) -> int:
    value = told.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is no number")
    return value

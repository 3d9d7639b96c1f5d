"""The first process of a session: it builds the walls, then starts commands and moves files.

What this stops: processes that outlive their session, since the kernel kills all of them with the
first process of their namespace; zombies, since it reaps every orphan. It ignores all signals of
the session's processes, which cannot kill, trace or read it either: the kernel does not let them,
because it is the first process and not dumpable.

What it does not: it keeps no secret and decides nothing. It has the rights of any command of the
session; memory, processes and CPU time are limited by the control group that it joined before, and
the server ends the session from outside.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from .. import wire as documents
from ..supervisor.cgroup_usage import CgroupUsage
from ..walls import confine, kernel, policy
from ..walls.layers import Walls
from ..walls.privileges import Privileges
from ..wire import Start
from . import files, wire
from .commands import Commands
from .memory_guard import MemoryGuard
from .wire import Order, Reason, Report

_READ_BYTES = 256 << 10
_UNLIMITED_NS = _UNLIMITED_BYTES = 1 << 60
_RUNNER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A command; its output is limited from call to call.
_INTERPRETER = {
    "argv": [sys.executable, "-P", os.path.join(_RUNNER, "start.py"), "--interpreter"],
    "output_bytes": _UNLIMITED_BYTES,
}
_OWN_SCORE, _VICTIM = b"0", b"%d" % policy.VICTIM_SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a session stands on.

    Args:
        privileges: how the first process gets the right to build walls.
        joins: descriptors to which a process writes 0 to enter the session's control group.
        meters: reads that control group.
        guard: keeps the limits if the kernel does not.
    """

    privileges: Privileges
    joins: tuple[int, ...]
    meters: CgroupUsage
    guard: MemoryGuard | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that the first process keeps."""
        guarded = () if self.guard is None else (self.guard.inside.fileno(),)
        return *self.meters.descriptors, *guarded

    def counters(self) -> dict[str, int]:
        """Returns the counters of the control group, as the server is told of them."""
        reading = self.meters.reading()
        kills = reading.oom_kills if self.guard is None else self.guard.kills
        return {"oom_kills": kills, "process_limit_hits": reading.process_limit_hits}


def run(ground: Ground, walls: Walls, control_in: int, control_out: int) -> NoReturn:
    """Serves one session until the server closes the pipe.

    Args:
        ground: what the session stands on.
        walls: the walls.
        control_in: the pipe of orders.
        control_out: the pipe of reports.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # commands would inherit that it is ignored
    for descriptor in ground.joins:
        os.write(descriptor, b"0")
    # Kept open: behind the walls /proc is read-only, so no command can lower its own score.
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    walls.close_all_but(control_in, control_out, score, *ground.descriptors)
    walls.enter(ground.privileges, policy.USUAL_DISK_BYTES)
    _Session(ground, walls, control_in, control_out, score).serve()


class _Session:
    """The session, once its namespaces are made."""

    def __init__(
        self, ground: Ground, walls: Walls, control_in: int, control_out: int, score: int
    ) -> None:
        self._ground = ground
        self._privileges = ground.privileges
        self._walls = walls
        self._in, self._out, self._score = control_in, control_out, score
        self._poller = select.poll()
        self._received = bytearray()
        self._commands = Commands(self._poller, self._send, self._mark_victims, ground.counters)
        self._waking = -1

    def serve(self) -> NoReturn:
        """Opens the session when its limits arrive, and follows orders."""
        self._send(Report.READY, 0)
        _, number, payload = self._next_order()
        self._open(wire.from_json(payload))
        self._send(Report.OPENED, number)
        self._waking = _wake_for_children()
        os.set_blocking(self._in, False)
        for descriptor in (self._in, self._waking):
            self._poller.register(descriptor, select.POLLIN)
        while True:
            self._follow_orders()
            for descriptor, _ in self._poller.poll():
                if descriptor == self._in:
                    self._receive()
                elif descriptor == self._waking:
                    os.read(self._waking, _READ_BYTES)
                else:
                    self._commands.handle(descriptor)
            self._commands.reap()

    def _open(self, limits: dict[str, Any]) -> None:
        loopback, group_processes = bool(limits.pop("loopback")), limits.pop("group_processes")
        if limits["disk_bytes"] != policy.USUAL_DISK_BYTES:
            self._privileges.resize_box(limits["disk_bytes"])
        confine.mount_user_folder()
        if loopback:
            confine.raise_loopback()
        confine.limit_candidate(Start(kind=0, cpu_time_ns=_UNLIMITED_NS, **limits))
        if self._ground.guard is not None:
            self._ground.guard.limit(limits["memory_bytes"], group_processes)
        self._walls.close(self._privileges, loopback=loopback)
        kernel.make_undumpable()

    def _send(self, kind: Report, number: int, payload: bytes = b"") -> None:
        view = memoryview(wire.message(kind, number, payload))
        try:
            while view:
                view = view[os.write(self._out, view) :]
        except BrokenPipeError:
            os._exit(0)  # the server has gone

    def _receive(self) -> None:
        data = os.read(self._in, _READ_BYTES)
        if not data:
            os._exit(0)
        self._received += data

    def _next_order(self) -> tuple[Order, int, bytes]:
        while (order := self._take_order()) is None:
            self._receive()
        return order

    def _take_order(self) -> tuple[Order, int, bytes] | None:
        if len(self._received) < wire.HEAD.size:
            return None
        kind, number, length = wire.HEAD.unpack_from(self._received)
        end = wire.HEAD.size + length
        if len(self._received) < end:
            return None
        payload = bytes(self._received[wire.HEAD.size : end])
        del self._received[:end]
        return Order(kind), number, payload

    def _follow_orders(self) -> None:
        while order := self._take_order():
            self._follow(*order)

    def _follow(self, kind: Order, number: int, payload: bytes) -> None:
        commands = self._commands
        match kind:
            case Order.RUN:
                commands.run(number, wire.from_json(payload))
            case Order.INTERPRET:
                commands.run(number, {**_INTERPRETER, **wire.from_json(payload)})
            case Order.CREDIT:
                commands.add_credit(number, *wire.CREDIT.unpack(payload))
            case Order.INPUT:
                commands.put(number, payload)
            case Order.END_INPUT:
                commands.end_input(number)
            case Order.SIGNAL:
                commands.signal(number, *wire.SIGNAL.unpack(payload))
            case Order.KILL:
                commands.kill(number)
            case Order.WRITE:
                self._answer(number, files.write, payload)
            case Order.READ:
                self._answer(number, files.read, wire.from_json(payload))
            case Order.LIST:
                self._answer(number, files.entries, wire.from_json(payload))
            case Order.FREEZE:
                self._answer(number, self._freeze, payload)
            case Order.OPEN:
                raise ValueError("the session is open already")

    def _answer(self, number: int, do: Callable[[Any], bytes], order: object) -> None:
        try:
            done = do(order)
        except OSError as error:
            reason, text = files.reason_of(error), error.strerror or str(error)
            self._send(Report.FAILED, number, wire.as_json(reason=reason, message=text))
        except (ValueError, MemoryError) as error:
            reason = Reason.FILE_FAILED
            self._send(Report.FAILED, number, wire.as_json(reason=reason, message=str(error)))
        else:
            self._send(Report.DONE, number, done)

    def _freeze(self, _: object) -> bytes:
        """Kills all processes of the session but this one, and reaps them."""
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                return documents.pack({}, {})
            self._commands.reap()

    def _mark_victims(self, are_victims: bool) -> None:
        os.pwrite(self._score, _VICTIM if are_victims else _OWN_SCORE, 0)


def _wake_for_children() -> int:
    """Returns a descriptor that is readable when a child has ended."""
    readable, writable = os.pipe()
    for descriptor in (readable, writable):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return readable

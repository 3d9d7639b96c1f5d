"""The present state of a running server, as operators see it in addition to its counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reward_server.backends import Backend
from reward_server.scheduler import Scheduler
from reward_server.sessions.sessions import SessionCounts, Sessions
from reward_server.telemetry import Telemetry

_BEAT_SECONDS = 0.5


class Condition:
    """Whether a server works, and whether its event loop runs.

    Attributes:
        works: False during an outage of the sandboxes.
        is_draining: whether the server is shutting down.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.works = True
        self.is_draining = False
        self._clock = clock
        self._due = clock() + _BEAT_SECONDS

    @property
    def stalled_seconds(self) -> float:
        """How late the event loop is; any thread may ask."""
        return max(self._clock() - self._due, 0.0)

    def age(self, moment: float | None) -> float:
        """Returns the seconds since a moment on the loop's clock, zero for None."""
        return 0.0 if moment is None else max(self._clock() - moment, 0.0)

    async def feel(self, lagged: Callable[[float], None]) -> None:
        """Measures forever how late the event loop runs a task.

        Args:
            lagged: called with each delay in seconds.
        """
        while True:
            self._due = self._clock() + _BEAT_SECONDS
            await asyncio.sleep(_BEAT_SECONDS)
            lagged(self.stalled_seconds)


def watch(
    telemetry: Telemetry, scheduler: Scheduler, backend: Backend, condition: Condition
) -> None:
    """Exports the state of a server's parts; it is read at each scrape."""
    counts = backend.counts
    telemetry.watch("admitted", "Submissions that are admitted.", lambda: scheduler.admitted)
    telemetry.watch("running", "Executions that are running.", lambda: scheduler.running)
    telemetry.watch("slots", "Executions that can run at once.", lambda: scheduler.slots)
    telemetry.watch("queue_capacity", "Submissions that may wait.", lambda: scheduler.capacity)
    telemetry.watch("waiting", "Executions that wait for a slot.", lambda: scheduler.waiting)
    telemetry.watch(
        "oldest_waiting_seconds",
        "Time that the oldest waiting execution has waited for a slot.",
        lambda: condition.age(scheduler.first_arrival),
    )
    telemetry.watch_each(
        "obstacle",
        "1 for each reason why new work finds no room: outage, draining, queue_full.",
        "obstacle",
        lambda: {
            "outage": float(not condition.works),
            "draining": float(condition.is_draining),
            "queue_full": float(scheduler.is_full),
        },
    )
    telemetry.watch(
        "event_loop_stalled_seconds",
        "How late the event loop is; a liveness probe fails above 30 seconds.",
        lambda: condition.stalled_seconds,
    )
    telemetry.watch_each(
        "wall_standing",
        "1 for each protection that stands, and 0 for each that was waived.",
        "wall",
        lambda: {wall.name: float(wall.standing) for wall in backend.walls},
    )
    telemetry.watch_each(
        "sandboxes",
        "Warm sandboxes, by state: idle, or lent to an execution.",
        "state",
        lambda: {"idle": counts().idle, "lent": counts().lent},
    )
    telemetry.watch_count(
        "sandboxes_started", "Sandboxes that were started.", lambda: counts().started
    )
    telemetry.watch_count(
        "sandbox_start_failures",
        "Failed attempts to start a sandbox.",
        lambda: counts().failed_starts,
    )
    telemetry.watch_counts(
        "sandboxes_closed",
        "Sandboxes closed, by reason; the server lost those that failed or died.",
        "reason",
        lambda: counts().closed,
    )
    telemetry.watch_counts(
        "retries",
        "Executions that ran again because a sandbox failed or a process was lost, by cause.",
        "cause",
        backend.retries,
    )


def watch_sessions(telemetry: Telemetry, sessions: Sessions | None) -> None:
    """Exports the figures of sessions; all are zero if the server offers none."""

    def counts() -> SessionCounts:
        return SessionCounts() if sessions is None else sessions.counts

    telemetry.watch_each(
        "sessions",
        "Sessions, by state: open, or warm sandboxes that wait for one.",
        "state",
        lambda: {"open": counts().open, "warm": counts().warm},
    )
    telemetry.watch(
        "session_memory_bytes",
        "Memory that open sessions take of what is set aside.",
        lambda: counts().memory_bytes,
    )
    telemetry.watch(
        "session_memory_capacity_bytes",
        "Memory that is set aside for sessions.",
        lambda: 0 if sessions is None else sessions.bounds.total_memory_bytes,
    )
    telemetry.watch(
        "session_commands_running", "Commands that run in sessions.", lambda: counts().commands
    )
    telemetry.watch_count(
        "session_commands",
        "Commands that were sent to sessions.",
        lambda: counts().commands_started,
    )
    telemetry.watch_count("sessions_opened", "Sessions that were opened.", lambda: counts().opened)
    telemetry.watch_counts(
        "sessions_ended",
        "Sessions that ended, by reason; the server or the session broke those that were lost.",
        "reason",
        lambda: counts().ended,
    )

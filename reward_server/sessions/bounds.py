"""The bounds on sessions, as the settings give them."""

from __future__ import annotations

from dataclasses import dataclass, field

from reward_server.domain import MEBIBYTE
from reward_server.runner.sessions.wire import COMMANDS, LEAST_OPEN_FILES
from reward_server.sandbox.sessions.values import SessionLimits

# Below these, the session's first process or its pipes have no room.
LEAST_LIMITS = SessionLimits(
    memory_bytes=64 * MEBIBYTE,
    processes=2,
    disk_bytes=64 * 1024,
    file_size_bytes=4096,
    open_files=LEAST_OPEN_FILES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBounds:
    """Bounds on the sessions of this server.

    Args:
        total_memory_bytes: memory of all open sessions together.
        sessions: open sessions.
        maximum_limits: the greatest limits of one session.
        default_limits: the limits of a session that sets none.
        default_lifetime_seconds: lifetime of a session that sets none.
        maximum_lifetime_seconds: greatest lifetime of a session.
        default_idle_seconds: idle limit of a session that sets none.
        maximum_idle_seconds: greatest idle limit of a session.
        commands: commands that run at once in a session.
        images: names of the images that a session can name.
    """

    total_memory_bytes: int
    sessions: int
    maximum_limits: SessionLimits
    default_limits: SessionLimits = field(default_factory=SessionLimits)
    default_lifetime_seconds: float = 1800.0
    maximum_lifetime_seconds: float = 14_400.0
    default_idle_seconds: float = 300.0
    maximum_idle_seconds: float = 3600.0
    commands: int = COMMANDS
    images: tuple[str, ...] = ()

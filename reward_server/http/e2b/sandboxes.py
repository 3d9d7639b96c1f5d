"""The sandboxes of E2B's callers: sessions, with what E2B tells of them besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from reward_server.domain import MEBIBYTE, Termination, TerminationKind
from reward_server.errors import InvalidRequestError, SessionEndedError
from reward_server.http.boundary import Call
from reward_server.http.e2b.processes import Processes
from reward_server.rpc.convert import Bounds
from reward_server.rpc.json.sessions import lifetime_wanted, session_wanted
from reward_server.sandbox.sessions.values import USER_FOLDER, Ended, Output
from reward_server.sessions.bounds import SessionBounds
from reward_server.sessions.session import CommandWanted, Session
from reward_server.sessions.sessions import Sessions, offered

ENVD_VERSION = "0.5.8"
HEADER = "E2b-Sandbox-Id"
DEFAULT_CONTEXT = "default"
DEFAULT_TEMPLATES = frozenset({"base", "code-interpreter-v1"})
_TOOL_SECONDS, _TOOL_BYTES = 60.0, MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command that has ended wrote.

    Args:
        succeeded: whether it exited with 0.
        stdout: its standard output.
        stderr: its standard error.
        is_cut: whether a part of the output was dropped.
    """

    succeeded: bool
    stdout: bytes
    stderr: bytes
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """An open sandbox.

    Args:
        session: the session that it is.
        processes: the commands that callers started.
        template: the name that the caller gave.
        metadata: what the caller wrote on it.
        started_at: when it was opened.
        contexts: the folder of each interpreter, by the name of its context.
    """

    session: Session
    processes: Processes
    template: str
    metadata: Mapping[str, str]
    started_at: datetime
    contexts: dict[str, str] = field(default_factory=lambda: {DEFAULT_CONTEXT: USER_FOLDER})

    def told(self) -> dict[str, Any]:
        """Returns its description."""
        limits = self.session.wanted.place.limits
        end = self.started_at + timedelta(seconds=self.session.lifetime_seconds)
        return {
            "sandboxID": self.session.id,
            "templateID": self.template,
            "clientID": "reward-server",
            "envdVersion": ENVD_VERSION,
            "startedAt": self.started_at.isoformat(),
            "endAt": end.isoformat(),
            "cpuCount": 1,
            "memoryMB": limits.memory_bytes // MEBIBYTE,
            "diskSizeMB": limits.disk_bytes // MEBIBYTE,
            "state": "running",
            "metadata": dict(self.metadata),
        }

    async def ran(self, *argv: str, output_bytes: int = _TOOL_BYTES) -> Done:
        """Runs a small command to its end.

        Raises:
            SessionEndedError: the session has ended.
        """
        wanted = CommandWanted(
            argv=argv,
            cwd="",
            environment={"LC_ALL": "C"},
            time_limit_seconds=_TOOL_SECONDS,
            output_bytes=output_bytes,
        )
        command = await self.session.run(wanted)
        await command.send_input(b"", ends=True)
        streams: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        async for event in command.events():
            if isinstance(event, Output):
                streams[event.is_error].extend(event.data)
            elif isinstance(event, Ended):
                return Done(
                    succeeded=not event.problem and _has_succeeded(event.termination),
                    stdout=bytes(streams[0]),
                    stderr=bytes(streams[1]) or event.problem.encode(),
                    is_cut=event.stdout_truncated,
                )
        raise AssertionError("a command's events end with its end")


class Sandboxes:
    """All sandboxes.

    Args:
        sessions: the server's sessions; None if it offers none.
        bounds: bounds on requests.
    """

    def __init__(self, sessions: Sessions | None, bounds: Bounds) -> None:
        self._offered = sessions
        self._bounds = bounds
        self._known: dict[str, Sandbox] = {}

    @property
    def bounds(self) -> SessionBounds:
        """Bounds on sessions."""
        return self._sessions.bounds

    async def open(
        self,
        owner: str,
        *,
        template: str,
        lifetime_seconds: float,
        environment: Mapping[str, str],
        metadata: Mapping[str, str],
    ) -> Sandbox:
        """Opens a sandbox.

        Raises:
            RewardServerError: it is refused; see `Sessions.open`.
        """
        asked = {
            "language": "" if template in DEFAULT_TEMPLATES else template,
            "environment": {"HOME": USER_FOLDER, **environment},
            "lifetime_seconds": lifetime_seconds,
            # E2B has no idle limit.
            "idle_seconds": self.bounds.maximum_idle_seconds,
        }
        wanted = session_wanted(asked, owner, self._bounds, self.bounds)
        session = await self._sessions.open(wanted)
        return self._kept(_sandbox(session, template, metadata))

    def find(self, owner: str, sandbox_id: str) -> Sandbox:
        """Returns an open sandbox of an owner; each open session of the owner is one.

        Raises:
            SessionEndedError: the owner has no such session, or it has ended.
        """
        session = self._sessions.find(owner, sandbox_id)
        known = self._known.get(sandbox_id)
        return self._kept(_sandbox(session, "base", {})) if known is None else known

    @contextmanager
    def of(self, call: Call) -> Iterator[Sandbox]:
        """Returns the sandbox that a call names in its headers, in use for the block.

        Raises:
            InvalidRequestError: the call names none.
            SessionEndedError: the owner has no such session, or it has ended.
        """
        sandbox_id = call.request.headers.get(HEADER)
        if not sandbox_id:
            raise InvalidRequestError(HEADER, "is absent")
        sandbox = self.find(call.owner, sandbox_id)
        with sandbox.session.used():
            yield sandbox

    def begin_command(self) -> None:
        """Counts a command.

        Raises:
            DrainingError: the server shuts down.
        """
        self._sessions.check_draining()
        self._sessions.commands_started += 1

    def of_owner(self, owner: str) -> list[Sandbox]:
        """Returns an owner's sandboxes."""
        return [
            one for one in self._known.values() if one.session.owner == owner and self._is_open(one)
        ]

    def live_for(self, sandbox: Sandbox, seconds: float) -> None:
        """Moves the end of a sandbox's lifetime.

        Raises:
            InvalidRequestError: the lifetime is out of bounds.
        """
        sandbox.session.live_for(lifetime_wanted(seconds, self.bounds))

    async def end(self, owner: str, sandbox_id: str) -> None:
        """Ends a sandbox.

        Raises:
            SessionEndedError: it is not open.
        """
        self.find(owner, sandbox_id)
        self._known.pop(sandbox_id, None)
        await self._sessions.end(owner, sandbox_id)

    def _kept(self, sandbox: Sandbox) -> Sandbox:
        """Remembers a sandbox, and forgets those that have ended."""
        self._known = {one: known for one, known in self._known.items() if self._is_open(known)}
        self._known[sandbox.session.id] = sandbox
        return sandbox

    @property
    def _sessions(self) -> Sessions:
        return offered(self._offered)

    def _is_open(self, sandbox: Sandbox) -> bool:
        try:
            self._sessions.find(sandbox.session.owner, sandbox.session.id)
        except SessionEndedError:
            return False
        return True


def _has_succeeded(ended: Termination) -> bool:
    return ended.kind is TerminationKind.EXITED and ended.value == 0


def _sandbox(session: Session, template: str, metadata: Mapping[str, str]) -> Sandbox:
    return Sandbox(
        session=session,
        processes=Processes(session),
        template=template,
        metadata=metadata,
        started_at=datetime.now(UTC) - timedelta(seconds=session.age_seconds),
    )

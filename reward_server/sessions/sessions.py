"""All sessions of a server: admits them by memory, knows whose they are, and ends each.

What this stops:

- a caller that uses, lists or guesses the session of another credential: the answer about its id is
  the same as for an id that never existed;
- sessions without an end: each has a lifetime and an idle limit;
- sessions that take more memory than the server has set aside for them.

What it does not: it does not confine a session, see `sandbox.sessions`. It does not divide the
memory among tenants; a tenant's quota `sessions` only limits how many sessions it has open.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from reward_server.errors import (
    DrainingError,
    OverloadedError,
    QuotaError,
    SandboxError,
    SessionEnd,
    SessionEndedError,
    UnsupportedError,
)
from reward_server.sandbox.base import SessionSource
from reward_server.sessions.bounds import SessionBounds
from reward_server.sessions.session import Session, Wanted
from reward_server.sessions.warm_sandboxes import Numbered, WarmSandboxes
from reward_server.tenants.quotas import Meter
from reward_server.tenants.tenant import Tenants

ATTEMPTS = 2
REMEMBERED = 4096
RETRY_SECONDS = 2.0
QUOTA = "sessions"
_NONE_HERE = (
    "this server offers no sessions; start it on the local or the docker backend with "
    "`--set session_memory_bytes=BYTES`"
)
_ID_BYTES = 18
_LOOK_SECONDS = 0.05
_EXPLANATIONS: Mapping[SessionEnd, str] = {
    SessionEnd.NOT_FOUND: "no such session is open for this credential; open one",
    SessionEnd.CLOSED: "the session was closed",
    SessionEnd.EXPIRED: "the session's lifetime is over; open another, or ask for a longer one",
    SessionEnd.IDLE: "the session was idle for its idle limit; open another, and keep it alive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCounts:
    """Sessions now and since the start, for operators.

    Attributes:
        open: those that are open, or being opened or destroyed.
        warm: sandboxes that wait for a session.
        commands: commands that run.
        memory_bytes: the memory that open sessions take of what is set aside.
        opened: how many were opened.
        commands_started: how many commands were sent to sessions.
        ended: how many ended, by reason.
    """

    open: int = 0
    warm: int = 0
    commands: int = 0
    memory_bytes: int = 0
    opened: int = 0
    commands_started: int = 0
    ended: Mapping[str, int] = field(default_factory=dict)


class Sessions:
    """The sessions of all owners.

    Args:
        sources: the sources of sandboxes, the most wanted first.
        warm: how many sandboxes of the first source are kept warm.
        bounds: bounds on sessions.
        tenants: quotas of the owners.
        meter: counts refusals.
    """

    def __init__(
        self,
        sources: Sequence[SessionSource],
        *,
        warm: int,
        bounds: SessionBounds,
        tenants: Tenants,
        meter: Meter,
    ) -> None:
        self.bounds = bounds
        self._sources = [
            (source, WarmSandboxes(source.start, 0 if number else warm))
            for number, source in enumerate(sources)
        ]
        self._tenants = tenants
        self._meter = meter
        self._open: dict[str, Session] = {}
        self._taken: Counter[str] = Counter()
        self._memory_bytes = 0
        self._ended: OrderedDict[str, tuple[str, SessionEndedError]] = OrderedDict()
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._opened = 0
        self._ends = Counter[SessionEnd]()
        self._is_draining = False
        self.commands_started = 0

    @property
    def counts(self) -> SessionCounts:
        """The counts that operators see."""
        return SessionCounts(
            open=self._taken.total(),
            warm=sum(sandboxes.warm for _, sandboxes in self._sources),
            commands=sum(one.running_commands for one in self._open.values()),
            memory_bytes=self._memory_bytes,
            opened=self._opened,
            commands_started=self.commands_started,
            ended={
                end.removeprefix("SESSION_").lower(): self._ends[end]
                for end in SessionEnd
                if end is not SessionEnd.NOT_FOUND
            },
        )

    async def start(self) -> None:
        """Starts the sandboxes that are kept warm.

        Raises:
            SandboxError: one did not start.
        """
        for _, sandboxes in self._sources:
            await sandboxes.start()

    async def open(self, wanted: Wanted) -> Session:
        """Opens a session.

        Raises:
            DrainingError: the server is shutting down.
            UnsupportedError: no image has the language, or not the one that was named.
            QuotaError: its owner has as many as its quota allows.
            OverloadedError: the memory for sessions, or their number, is taken.
            SessionFileError: a file cannot be written.
            SandboxError: no sandbox works.
        """
        sandboxes = self._sandboxes_for(wanted)
        self._admit(wanted)
        self._take(wanted, 1)
        try:
            return await self._opened_in_sandbox(wanted, sandboxes)
        except BaseException:
            self._take(wanted, -1)
            raise

    def find(self, owner: str, session_id: str) -> Session:
        """Returns an open session of an owner.

        Raises:
            SessionEndedError: the owner has no such session, or it has ended.
        """
        session = self._open.get(session_id)
        if session is not None and session.owner == owner:
            return session
        whose, error = self._ended.get(session_id, ("", None))
        if error is not None and whose == owner:
            raise SessionEndedError(error.reason, str(error))
        raise _ended_for(SessionEnd.NOT_FOUND)

    def check_draining(self) -> None:
        """Refuses further work while the server shuts down.

        Raises:
            DrainingError: the server shuts down.
        """
        if self._is_draining:
            raise DrainingError("the server is shutting down")

    async def end(self, owner: str, session_id: str) -> None:
        """Ends a session of an owner, and returns when nothing of it is left.

        Raises:
            SessionEndedError: the owner never had such a session.
        """
        try:
            session = self.find(owner, session_id)
        except SessionEndedError as error:
            if error.reason is SessionEnd.NOT_FOUND:
                raise
        else:
            self._begin_end(session, _ended_for(SessionEnd.CLOSED))
        if ending := self._ending.get(session_id):
            await asyncio.shield(ending)

    def begin_drain(self) -> None:
        """Refuses further sessions and commands."""
        self._is_draining = True

    async def drain(self, seconds: float) -> None:
        """Waits, for some seconds at most, until no command runs."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self.counts.commands and loop.time() < deadline:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(min(_LOOK_SECONDS, seconds))

    async def close(self) -> None:
        """Ends all sessions, and returns when nothing of them is left."""
        self._is_draining = True
        for session in tuple(self._open.values()):
            self._begin_end(session, _ended_for(SessionEnd.CLOSED))
        await asyncio.gather(*self._ending.values(), return_exceptions=True)
        for _, sandboxes in self._sources:
            await sandboxes.close()

    # ----------------------------------------------------------------------------------- admission

    def _admit(self, wanted: Wanted) -> None:
        self.check_draining()
        tenant = self._tenants.of(wanted.owner)
        most = tenant.quotas.sessions
        if most is not None and self._taken[wanted.owner] >= most:
            self._meter.tenant_refused(tenant.name, QUOTA)
            raise QuotaError(tenant.name, QUOTA, str(most), retry_after_seconds=RETRY_SECONDS)
        needed, total = wanted.place.limits.memory_bytes, self.bounds.total_memory_bytes
        if self._memory_bytes + needed > total:
            raise OverloadedError(
                f"the session needs {needed} bytes of memory; open sessions have "
                f"{self._memory_bytes} of session_memory_bytes, which is {total}",
                retry_after_seconds=RETRY_SECONDS,
            )
        if self._taken.total() >= self.bounds.sessions:
            raise OverloadedError(
                f"{self._taken.total()} sessions are open; session_count is {self.bounds.sessions}",
                retry_after_seconds=RETRY_SECONDS,
            )

    def _take(self, wanted: Wanted, sign: int) -> None:
        self._taken[wanted.owner] += sign
        self._memory_bytes += sign * wanted.place.limits.memory_bytes
        if not self._taken[wanted.owner]:
            del self._taken[wanted.owner]

    def _sandboxes_for(self, wanted: Wanted) -> WarmSandboxes:
        named = [
            (source, sandboxes)
            for source, sandboxes in self._sources
            if wanted.image in ("", source.image, *source.aliases)
        ]
        for source, sandboxes in named:
            if wanted.language in source.languages:
                return sandboxes
        if named:
            which = f"{wanted.image} has no" if wanted.image else "no image has"
            raise UnsupportedError(f"image: {which} {wanted.language}")
        known = ", ".join(self.bounds.images) or "none to choose from"
        raise UnsupportedError(f"image: {wanted.image!r} is not on offer here: {known}")

    async def _opened_in_sandbox(self, wanted: Wanted, sandboxes: WarmSandboxes) -> Session:
        numbered = await self._placed(wanted, sandboxes)
        try:
            for file in wanted.files:
                await numbered.sandbox.write(file)
            self.check_draining()
        except SessionEndedError as error:
            await sandboxes.end(numbered)
            raise SandboxError(str(error)) from error
        except BaseException:
            await sandboxes.end(numbered)
            raise
        session = Session(
            secrets.token_urlsafe(_ID_BYTES),
            wanted,
            numbered,
            longest_seconds=self.bounds.maximum_lifetime_seconds,
            end=lambda session, end: self._begin_end(session, _ended_for(end)),
        )
        self._open[session.id] = session
        self._opened += 1
        numbered.sandbox.tell_lost = lambda error: self._begin_end(session, error)
        if not numbered.sandbox.is_alive:
            self._begin_end(session, SessionEndedError(SessionEnd.LOST, "the session is lost"))
        return session

    async def _placed(self, wanted: Wanted, sandboxes: WarmSandboxes) -> Numbered:
        """Returns a sandbox with the session's limits; tries another one if it breaks."""
        for _ in range(ATTEMPTS - 1):
            with suppress(SandboxError):
                return await self._placed_once(wanted, sandboxes)
        return await self._placed_once(wanted, sandboxes)

    async def _placed_once(self, wanted: Wanted, sandboxes: WarmSandboxes) -> Numbered:
        numbered = await sandboxes.take()
        try:
            await numbered.sandbox.open(wanted.place)
        except BaseException:
            await sandboxes.end(numbered)
            raise
        return numbered

    # -------------------------------------------------------------------------------------- ending

    def _begin_end(self, session: Session, error: SessionEndedError) -> None:
        if self._open.pop(session.id, None) is None:
            return
        session.stop_watching()
        self._ends[error.reason] += 1
        self._ended[session.id] = session.owner, error
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        self._ending[session.id] = asyncio.create_task(self._destroy(session, error))

    async def _destroy(self, session: Session, error: SessionEndedError) -> None:
        try:
            await session.numbered.home.end(session.numbered, error)
        finally:
            self._take(session.wanted, -1)
            del self._ending[session.id]


def offered(sessions: Sessions | None) -> Sessions:
    """Returns the server's sessions.

    Raises:
        UnsupportedError: it offers none.
    """
    if sessions is None:
        raise UnsupportedError(_NONE_HERE)
    return sessions


def _ended_for(end: SessionEnd) -> SessionEndedError:
    return SessionEndedError(end, _EXPLANATIONS[end])

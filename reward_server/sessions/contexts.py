"""The interpreters of a session: one in each context, which stays from call to call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from reward_server.errors import UnsupportedError
from reward_server.sandbox.sessions.interpreter import Interpreter
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import Code, CodeEnded, CodeEvent

MOST_CONTEXTS = 8


@dataclass(slots=True, kw_only=True, eq=False)
class _Context:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    interpreter: Interpreter | None = None


class Contexts:
    """The contexts of a session.

    Args:
        start: starts an interpreter in a folder.
    """

    def __init__(self, start: Callable[[str], Awaitable[Interpreter]]) -> None:
        self._start = start
        self._by_name: dict[str, _Context] = {}

    @property
    def idle(self) -> int:
        """Number of interpreters that run no code."""
        return sum(
            not (one.turn.locked() or one.interpreter is None or one.interpreter.has_ended)
            for one in self._by_name.values()
        )

    def has(self, command: RunningCommand) -> bool:
        """Returns True if a command is an interpreter of a context."""
        return any(
            one.interpreter is not None and one.interpreter.command is command
            for one in self._by_name.values()
        )

    async def run(
        self, name: str, code: Code, *, restart: bool, cwd: str
    ) -> AsyncGenerator[CodeEvent]:
        """Runs code in a context, after the calls that wait before it.

        Args:
            name: the context's name.
            code: the code.
            restart: whether its interpreter is replaced first.
            cwd: the folder in which a new interpreter starts.

        Raises:
            UnsupportedError: there are too many contexts.
            SessionEndedError: the session has ended.
        """
        context = self._named(name)
        async with context.turn:
            earlier = context.interpreter
            if earlier is not None:
                if restart:
                    earlier.end()
                await earlier.settled()
            if earlier is None or earlier.has_ended:
                context.interpreter = await self._start(cwd)
            assert context.interpreter is not None
            is_other = earlier is not None and context.interpreter is not earlier
            async with aclosing(context.interpreter.run(code)) as events:
                async for event in events:
                    if isinstance(event, CodeEnded):
                        yield replace(event, restarted=is_other)
                    else:
                        yield event

    def end(self, name: str) -> None:
        """Ends a context's interpreter; the context's place is free for another."""
        context = self._by_name.pop(name, None)
        if context is not None and context.interpreter is not None:
            context.interpreter.end()

    def _named(self, name: str) -> _Context:
        if name not in self._by_name and len(self._by_name) >= MOST_CONTEXTS:
            raise UnsupportedError(
                f"context: a session has at most {MOST_CONTEXTS} contexts; use one again, with "
                "`restart` for an interpreter without state"
            )
        return self._by_name.setdefault(name, _Context())

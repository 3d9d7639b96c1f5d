"""A sandbox for many checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reward_server.sandbox.runner_sandbox import ContainedSandbox
from tests.conformance.suite.checks import Check, output_of
from tests.conformance.suite.host import Host


class Shelf:
    """Keeps one sandbox for many checks, and starts another where one was broken."""

    def __init__(self, start: Callable[[], Awaitable[ContainedSandbox]]) -> None:
        self._start = start
        self._sandbox: ContainedSandbox | None = None

    async def take(self) -> ContainedSandbox:
        """Returns the sandbox."""
        if self._sandbox is None:
            self._sandbox = await self._start()
        return self._sandbox

    async def clear(self) -> None:
        """Closes the sandbox; the next is another."""
        if self._sandbox is not None:
            await self._sandbox.close()
            self._sandbox = None

    async def pass_check(self, check: Check, host: Host) -> None:
        """Has a sandbox pass a check and live on."""
        sandbox = await self.take()
        try:
            await check(sandbox, host)
            assert await output_of(sandbox, "print('alive')") == "alive\n"
        except BaseException:
            await self.clear()
            raise

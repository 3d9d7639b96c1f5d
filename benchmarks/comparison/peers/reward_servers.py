"""A reward server: the one of this command, and others by address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from benchmarks.comparison.cases import Case
from benchmarks.comparison.peer import About, Answer, Outcome
from benchmarks.comparison.processes import LOOPBACK, cpu_of, listener, memory_of
from benchmarks.measure.load import Client, client
from benchmarks.measure.served import ENGINE_NAMES, served
from reward_server.version import server_version

_OUTCOMES = {
    "PASSED": Outcome.ACCEPTED,
    "TIME_LIMIT_EXCEEDED": Outcome.TIMED_OUT,
    "INVALID_TASK": Outcome.FAILED,
}


class RewardServer:
    """A server that runs already, at a port without TLS.

    Args:
        target: host and port.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._pid: int | None = None
        self._names: frozenset[str] = frozenset()
        self.about = About(
            name=target,
            isolation="as it is configured",
            version="reward server",
            runs_already=True,
            counted="the process that listens at the port and all its descendants",
        )

    async def start(self) -> None:
        """Connects to the server."""
        self._client = await self._stack.enter_async_context(client(self._target))
        host, _, port = self._target.rpartition(":")
        self._pid = listener(int(port)) if host.strip("[]") in LOOPBACK else None

    async def judge(self, case: Case, number: int) -> Answer:
        """Sends a request, without retries."""
        assert self._client is not None
        reply = await self._client.score(case.request(number).SerializeToString())
        if reply.status:
            return Answer(outcome=Outcome.FAILED, detail=reply.status)
        outcome = _OUTCOMES.get(reply.verdict, Outcome.REJECTED)
        return Answer(outcome=outcome, detail=reply.verdict)

    async def stop(self) -> None:
        """Closes the connection."""
        self._pid = None
        await self._stack.aclose()

    def cpu_seconds(self) -> float | None:
        """Returns the CPU time of the server's tree, and of its engine if it has one."""
        return None if self._pid is None else cpu_of(self._pid, self._names)

    def memory_bytes(self) -> int | None:
        """Returns the memory of the same processes."""
        return None if self._pid is None else memory_of(self._pid, self._names)


class OwnServer(RewardServer):
    """This server, in a process of its own.

    Args:
        arguments: arguments of `reward-server serve`.
        backend: the backend's name, for the description.
    """

    def __init__(self, arguments: Sequence[str], backend: str) -> None:
        super().__init__("")
        self._arguments = arguments
        self.about = About(
            name="reward-server",
            isolation=f"backend {backend}, judge in another process",
            version=f"reward-server {server_version()}",
            counted="the server's process and all its descendants",
        )

    async def start(self) -> None:
        """Starts the server, and connects to it.

        Raises:
            StartError: it did not start.
        """
        server = await self._stack.enter_async_context(served(self._arguments))
        self._target = server.address
        await super().start()
        self._pid = server.pid
        if server.has_engine:
            self._names = ENGINE_NAMES
            counted = f"{self.about.counted}, and the engine with all that it runs"
            self.about = replace(self.about, counted=counted)

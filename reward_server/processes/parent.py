"""Starts the serving processes, restarts those that die, and joins their metrics and health.

A process that ends without an order is started again after a pause. The pause grows as long as the
process dies soon after its start. A process that sends nothing for `SILENT_SECONDS` is killed, and
then started again in the same way. Meanwhile the others serve.

The parent forwards no requests. If a process dies, the calls that it had accepted are lost, and
their clients try them again.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict

import structlog
from prometheus_client import CollectorRegistry

from reward_server.errors import StartError
from reward_server.processes.description import Description
from reward_server.processes.handle import SCRAPE_SECONDS, Handle
from reward_server.processes.line import Message
from reward_server.processes.metrics import MetricsOfProcesses
from reward_server.processes.ports import Ports, reserved_ports
from reward_server.processes.shares import Share, shares
from reward_server.rpc.answers import Membership
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.settings import Settings
from reward_server.telemetry import serve_metrics

# Without -P, a folder of this package's name in the working folder would be imported.
COMMAND = (sys.executable, "-P", "-m", "reward_server.processes.child")
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30.0
SETTLED_SECONDS = 60.0
SILENT_SECONDS = 30.0
_LOOK_SECONDS = 1.0
# A process needs this time to close its sandboxes, after the time in which it drains.
_CLOSE_SECONDS = 30.0

_log = structlog.get_logger("processes")


@asynccontextmanager
async def running_processes(
    settings: Settings, count: int, *, json_logs: bool = False, command: Sequence[str] = COMMAND
) -> AsyncIterator[Processes]:
    """Runs several serving processes for the length of the block, and drains them at its end.

    Args:
        settings: the settings of the server, of which each process gets its share.
        count: number of processes.
        json_logs: whether their log lines are JSON.
        command: starts a process. The number of the descriptor on which the process talks to the
            parent is added as the last argument.

    Raises:
        SettingsError: a setting cannot be applied on this host.
        StartError: an address cannot be used, or a process does not start.
    """
    if settings.backend == "local":
        # On version 2 of control groups this moves the parent into a leaf cgroup, and the processes
        # then start in this leaf too. Slots can only be made in a cgroup that holds no process. The
        # processes cannot move the parent out of it, so the parent moves first.
        CgroupParent.look(settings.cgroup_parent)
    parts = shares(settings, count)
    http = None if settings.http_port is None else (settings.http_host, settings.http_port)
    with (
        reserved_ports(settings.host, settings.port, settings.process_port, count, http) as ports,
        ExitStack() as stack,
    ):
        processes = Processes(parts, ports, json_logs=json_logs, command=command)
        try:
            await processes.start()
            if settings.metrics_port is not None:
                stack.callback(
                    serve_metrics(
                        settings.metrics_port,
                        processes.registry(),
                        host=settings.metrics_host,
                        status_page=settings.status_page,
                    )
                )
            yield processes
            await processes.drain(settings.drain_seconds + _CLOSE_SECONDS)
        finally:
            await processes.stop()


class Processes:
    """The serving processes; made by `running_processes`."""

    def __init__(
        self, parts: Sequence[Share], ports: Ports, *, json_logs: bool, command: Sequence[str]
    ) -> None:
        self._shares = parts
        self._ports = ports
        self._json_logs = json_logs
        self._command = command
        self._instance = secrets.token_hex(8)
        self._handles: dict[int, Handle] = {}
        self._starts = dict.fromkeys(range(len(parts)), 0)
        self._tasks: list[asyncio.Task[None]] = []
        self._works = True
        self._facts: Description = {}
        self._restarting = asyncio.Lock()
        self._is_ending = False

    @property
    def facts(self) -> Description:
        """The server's description of itself, and its processes."""
        processes = [
            {"number": number, "pid": pid, "port": self._ports.own[number]}
            for number, pid in sorted(self.pids.items())
        ]
        return {**self._facts, "processes": processes}

    @property
    def pids(self) -> Mapping[int, int]:
        """Process ids, by number."""
        return {number: handle.pid for number, handle in self._handles.items()}

    @property
    def starts(self) -> Mapping[int, int]:
        """Number of times that each process was started, by number."""
        return dict(self._starts)

    async def start(self) -> None:
        """Starts all processes; returns when each serves.

        Raises:
            SettingsError: a setting cannot be applied on this host.
            StartError: a process does not start.
        """
        numbers = range(len(self._shares))
        try:
            async with asyncio.TaskGroup() as group:
                for number in numbers:
                    group.create_task(self._start(number))
        except* StartError as errors:
            raise _first(errors) from None
        self._facts = self._handles[0].facts
        self._tasks = [asyncio.create_task(self._keep(number)) for number in numbers]
        self._tasks.append(asyncio.create_task(self._kill_silent()))

    def reload(self) -> None:
        """Lets every process read the files of tokens and certificates again."""
        self._send_all({"do": "reload"})

    async def restart(self) -> None:
        """Drains the processes and starts each again, one after the other.

        If one does not start again, the remaining ones are left alone.
        """
        async with self._restarting:
            for number in range(len(self._shares)):
                if not await self._replaced(number):
                    _log.error("the other processes are not restarted", process=number)
                    return
            _log.info("all processes were restarted")

    def begin_restart(self) -> None:
        """Begins `restart`, unless the processes are being drained."""
        if not self._is_ending:
            self._tasks.append(asyncio.create_task(self.restart()))

    async def drain(self, seconds: float) -> None:
        """Drains all processes; returns when they have ended, or after `seconds` at most."""
        self._end_tasks()
        self._send_all({"do": "drain"})
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(one.ended() for one in self._handles.values()))

    async def stop(self) -> None:
        """Ends all processes at once; returns when they have ended."""
        self._end_tasks()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(one.stop() for one in self._handles.values()))

    def registry(self) -> CollectorRegistry:
        """Returns a registry of the metrics of all processes, which other threads may read."""
        loop = asyncio.get_running_loop()

        def ask() -> Mapping[int, str]:
            future = asyncio.run_coroutine_threadsafe(self.metrics(), loop)
            return future.result(2 * SCRAPE_SECONDS)

        registry = CollectorRegistry()
        registry.register(MetricsOfProcesses(ask=ask, starts=lambda: self.starts))
        return registry

    async def metrics(self) -> Mapping[int, str]:
        """Asks all processes for their metrics; returns the answers by number."""
        handles = dict(self._handles)
        answers = await asyncio.gather(*(one.metrics() for one in handles.values()))
        pairs = zip(handles, answers, strict=True)
        return {number: text for number, text in pairs if text is not None}

    async def _start(self, number: int) -> None:
        """Starts a process; returns when it serves.

        Raises:
            SettingsError, StartError: it does not start.
        """
        self._starts[number] += 1
        try:
            handle = await Handle.spawn(self._command, self._order(number), self._tell_health)
        except OSError as error:
            raise StartError(f"cannot start a process: {error.strerror}") from None
        self._handles[number] = handle
        await handle.serving()
        handle.send({"do": "health", "serving": self._works})

    def _order(self, number: int) -> Message:
        part = self._shares[number]
        settings = part.settings.model_copy(
            update={"port": self._ports.shared, "http_port": self._ports.http}
        )
        membership = Membership(
            instance=self._instance,
            number=number,
            ports=self._ports.own,
            slots=sum(one.settings.workers for one in self._shares),
            queue_capacity=sum(one.settings.queue_capacity for one in self._shares),
        )
        return {
            "settings": settings.model_dump(mode="json"),
            "membership": asdict(membership),
            "cpus": part.cpus,
            "json_logs": self._json_logs,
        }

    async def _keep(self, number: int) -> None:
        """Starts a process again whenever it has ended."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            handle = self._handles[number]
            code = await handle.ended()
            if handle.age_seconds >= SETTLED_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            if handle.replaced is None:
                _log.error("a process ended and is started again", process=number, code=code)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            await handle.stop()
            while not await self._starts_again(number):
                _tell(handle.replaced, done=False)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            _tell(handle.replaced, done=True)

    async def _starts_again(self, number: int) -> bool:
        try:
            await self._start(number)
        except StartError as error:
            _log.error("a process does not start", process=number, error=str(error))
            await self._handles[number].stop()
            return False
        _log.info("a process was started again", process=number, pid=self._handles[number].pid)
        return True

    async def _replaced(self, number: int) -> bool:
        """Drains a process and waits for its successor; returns True if the successor serves."""
        handle = self._handles[number]
        handle.replaced = asyncio.get_running_loop().create_future()
        handle.send({"do": "drain"})
        return await handle.replaced

    async def _kill_silent(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for number, handle in self._handles.items():
                if handle.silent_seconds > SILENT_SECONDS:
                    _log.error("a process hangs and is killed", process=number, pid=handle.pid)
                    handle.kill()

    def _tell_health(self) -> None:
        works = any(one.works for one in self._handles.values())
        if works is not self._works:
            self._works = works
            self._send_all({"do": "health", "serving": works})

    def _send_all(self, message: Message) -> None:
        for handle in self._handles.values():
            handle.send(message)

    def _end_tasks(self) -> None:
        self._is_ending = True
        for task in self._tasks:
            task.cancel()


def _first(errors: BaseExceptionGroup[StartError]) -> StartError:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _tell(waiter: asyncio.Future[bool] | None, *, done: bool) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(done)

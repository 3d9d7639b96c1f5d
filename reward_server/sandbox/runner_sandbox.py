"""A sandbox that is a container with a warm runner, for every kind of container.

What this stops: nothing by itself; the container and the runner do. It exchanges messages with the
runner's zygote: it sends limits and a request, and receives a record of numbers and the judge's
report.

What it does not: it does not trust the runner's messages beyond their schema; see `classify`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from reward_server.domain import (
    Commands,
    Ending,
    Execution,
    Job,
    Limits,
    Pair,
    Program,
    Wall,
)
from reward_server.errors import SandboxError, cause_of
from reward_server.runner import wire
from reward_server.runner.walls import policy
from reward_server.runner.wire import Finish, Kind
from reward_server.sandbox.classify import classify
from reward_server.sandbox.runner_documents import (
    cancel_record,
    greatest_report_bytes,
    read_report,
    request_document,
    start_record,
)

START_TIMEOUT_SECONDS = 30.0
CANCEL_TIMEOUT_SECONDS = 5.0
MACHINERY_MARGIN_SECONDS = 15.0
_CHECK_SOURCE = "print('sandbox works')"
_CHECK_OUTPUT = b"sandbox works\n"
_FAILURES = (TimeoutError, OSError, asyncio.IncompleteReadError, ValueError)


class Container(Protocol):
    """One container, as the server sees it."""

    @property
    def output(self) -> asyncio.StreamReader:
        """The stream that the runner writes."""

    async def send(self, data: bytes) -> None:
        """Writes to the runner.

        Raises:
            OSError: the container is gone.
        """

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Limits what the container as a whole may use during the next execution.

        Args:
            limits: limits of the execution.
            runner_bytes: memory of the warm runner itself.
        """

    async def destroy(self) -> str:
        """Ends the container with everything in it; returns the end of its error output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerDescription:
    """A runner's description of itself, in its first message."""

    language_version: str
    memory_bytes: int = 0
    walls: tuple[Wall, ...] = ()


class ContainedSandbox:
    """One warm container; see `sandbox.base.Sandbox`."""

    def __init__(self, container: Container, description: RunnerDescription) -> None:
        self._container = container
        self.description = description
        self._is_fit = True

    @classmethod
    async def start(cls, container: Container) -> ContainedSandbox:
        """Waits until a container's runner is warm and has run a first program.

        Raises:
            SandboxError: the runner did not start; the message quotes its error output, and the
                container is destroyed.
        """
        try:
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                description = await _hear_hello(container.output)
        except BaseException as error:
            said = await container.destroy()
            if isinstance(error, _FAILURES):
                raise SandboxError(
                    f"the sandbox did not start: {said or cause_of(error)}"
                ) from error
            raise
        sandbox = cls(container, description)
        await sandbox._check()
        return sandbox

    async def _check(self) -> None:
        """Runs a first program, so that the start fails if a wall cannot be built."""
        try:
            execution = await self.run(Job(work=Program(source=_CHECK_SOURCE)))
        except BaseException:
            await self.close()
            raise
        if execution.ending is not Ending.COMPLETED or execution.stdout.data != _CHECK_OUTPUT:
            await self.close()
            said = execution.stderr.data.decode("utf-8", "replace")
            raise SandboxError(f"the sandbox runs nothing: {execution.message} {said}".rstrip())

    @property
    def is_alive(self) -> bool:
        """Whether the runner's output is open and executions left little behind in the container.

        See `sandbox.base.Sandbox.is_alive`.
        """
        return self._is_fit and not self._container.output.at_eof()

    async def run(self, job: Job) -> Execution:
        """Runs one execution; see `sandbox.base.Sandbox.run`."""
        limits = _with_room(job)
        try:
            await self._container.set_limits(limits, self.description.memory_bytes)
        except _FAILURES as error:
            raise await self._failed(error) from error
        document = request_document(job)
        programs = 2 if isinstance(job.work, Pair) else 1
        record = start_record(
            limits,
            len(document),
            report_bytes=greatest_report_bytes(job),
            programs=programs,
            network=job.network,
            has_files=isinstance(job.work, Program | Commands),
        )
        reader = asyncio.ensure_future(self._read_finish())
        try:
            async with asyncio.timeout(job.limits.wall_time_seconds + MACHINERY_MARGIN_SECONDS):
                await self._container.send(record + document)
                finish, report = await asyncio.shield(reader)
        except asyncio.CancelledError:
            await self._cancel(reader)
            raise
        except _FAILURES as error:
            reader.cancel()
            raise await self._failed(error) from error
        self._is_fit = finish.residue_bytes <= policy.RESIDUE_BYTES
        return classify(finish, read_report(report), job)

    async def close(self) -> None:
        """Destroys the container."""
        await self._container.destroy()

    async def _failed(self, error: Exception) -> SandboxError:
        said = await self._container.destroy()
        return SandboxError(f"the sandbox failed: {cause_of(error)}; {said}")

    async def _read_finish(self) -> tuple[Finish, bytes]:
        output = self._container.output
        finish = Finish(*wire.FINISH.unpack(await output.readexactly(wire.FINISH.size)))
        if finish.kind != Kind.FINISH:
            raise ValueError(f"unexpected record of kind {finish.kind}")
        return finish, await output.readexactly(finish.report_bytes)

    async def _cancel(self, reader: asyncio.Future[tuple[Finish, bytes]]) -> None:
        """Kills the execution and waits until the zygote is ready for another."""
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_SECONDS):
                await self._container.send(cancel_record())
                await reader
        except _FAILURES:
            reader.cancel()
            await self.close()


def _with_room(job: Job) -> Limits:
    """Returns a job's limits, with room for the process that runs commands and waits for them.

    With two programs, the trusted one may have as many processes as the solution's, so that it
    starts even if the solution's program uses all of its own.
    """
    processes = job.limits.processes + 1
    if isinstance(job.work, Commands):
        return replace(job.limits, processes=processes)
    if isinstance(job.work, Pair):
        return replace(job.limits, processes=2 * processes)
    return job.limits


async def _hear_hello(output: asyncio.StreamReader) -> RunnerDescription:
    hello = Finish(*wire.FINISH.unpack(await output.readexactly(wire.FINISH.size)))
    if hello.kind != Kind.HELLO:
        raise ValueError(f"unexpected record of kind {hello.kind}")
    description, _ = wire.unpack(await output.readexactly(hello.report_bytes))
    if description["protocol_version"] != wire.PROTOCOL_VERSION:
        raise ValueError(f"runner speaks protocol {description['protocol_version']}")
    walls = description["walls"]
    assert isinstance(walls, dict)
    return RunnerDescription(
        language_version=str(description["language_version"]),
        memory_bytes=int(str(description["memory_bytes"])),
        walls=tuple(Wall(name=name, **wall) for name, wall in walls.items()),
    )

"""Mixed executions while the server, and what it is made of, is killed, stopped and starved.

Three tenants send the requests, and open sessions beside them. `make soak` makes many such runs
(`benchmarks/soak`).
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from tests.scale.soak_kinds import KINDS, execution, names, request
from tests.scale.soak_server import (
    TOKENS,
    Answer,
    Server,
    files,
    mounts,
    open_channel,
    sandbox_processes,
    start_server,
    tokens_beside,
)
from trainer_client import AsyncRewardClient, CallError, SessionEndedError

IN_FLIGHT = 8
BATCHES = (1, 1, 2, 5)  # requests of an RPC
CALLS_OF_LEAVER = 4
OF_PROCESSES = "process killed"  # every second fault of a server with several processes
SESSION_MEMORY_BYTES = 64 << 20
SESSION_SECONDS = 60.0
RETRIES = 8
KILLS_IN_FIRST = 0.5  # all servers but the last live in this part of the executions
SAMPLES = 20
TELLINGS = 100
STOPPED_SECONDS = 1.0
RECOVERY_SECONDS = 1.0
MOST_ERRORS = 20  # that are told


# ------------------------------------------------------------------------------------ faults


async def _kill_machinery(server: Server) -> None:
    os.kill(random.choice(server.machinery()), signal.SIGKILL)


async def _kill_judge(server: Server) -> None:
    os.kill(random.choice(server.judges()), signal.SIGKILL)


async def _stop_machinery(server: Server) -> None:
    await _stop(random.choice(server.machinery()))


async def _stop_server(server: Server) -> None:
    await _stop(server.process.pid)


async def _stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(STOPPED_SECONDS)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def _fill_temporary_folder(server: Server) -> None:
    filler = server.temporary / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    await asyncio.sleep(STOPPED_SECONDS)
    filler.unlink()


async def _remove_cgroups(server: Server) -> None:
    """Ends all that one container consists of, and removes its groups."""
    container = random.choice(server.cgroups()).name.rpartition(".")[0]
    groups = [path for path in server.cgroups() if path.name.startswith(f"{container}.")]
    for group in groups:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    for group in groups:
        with suppress(OSError):  # somebody is in it still, or it is gone
            group.rmdir()


async def _kill_process(server: Server) -> None:
    os.kill(random.choice(server.serving()), signal.SIGKILL)


async def _leave(server: Server) -> None:
    """Sends requests, and closes the connection after the first answer, or before it."""
    channel = open_channel(server.address)
    stub = pb_grpc.RewardServiceStub(channel)
    metadata = (("authorization", f"Bearer {random.choice(TOKENS)}"),)
    left = [
        request(random.choice(("right", "asleep")), -random.getrandbits(32))
        for _ in range(CALLS_OF_LEAVER)
    ]
    calls = [asyncio.ensure_future(_answered(stub.Score(one, metadata=metadata))) for one in left]
    await asyncio.wait(calls, timeout=STOPPED_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    await channel.close()
    await asyncio.gather(*calls)


async def _answered(call: Awaitable[pb.ScoreResponse]) -> None:
    with suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
        await call


FAULTS: Mapping[str, Callable[[Server], Awaitable[None]]] = {
    "machinery killed": _kill_machinery,
    "judge killed": _kill_judge,
    OF_PROCESSES: _kill_process,
    "client left": _leave,
    "machinery stopped": _stop_machinery,
    "server stopped": _stop_server,
    "temporary folder full": _fill_temporary_folder,
    "cgroups removed": _remove_cgroups,
}


@contextmanager
def small_folder() -> Iterator[Path]:
    """Yields a folder of a file system of its own, of 1 MiB."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m", "soak", folder), check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(("umount", "--lazy", folder), check=True)
            tokens_beside(Path(folder)).unlink(missing_ok=True)


# ---------------------------------------------------------------------------------- the soak


@dataclass(kw_only=True)
class Figures:
    """What a soak saw.

    Args:
        judged: how many of each kind.
        wrong: answers with another verdict.
        refused: failed calls, by status; each was made again.
        sessions: how many sessions ended in each way; "right" is a command with its right output.
        faults: how many of each kind there were; kinds that found nothing to hit are not counted.
        memory_bytes: of the last server, at even distances.
        descriptors: the same.
        seconds: that it took.
        errors: what the servers logged as an error, the first of it.
    """

    judged: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    memory_bytes: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


class Sent(NamedTuple):
    """A request of a soak: its number and the name of its kind."""

    number: int
    name: str

    @property
    def id(self) -> str:
        """What its answer is told by."""
        return f"{self.name}-{self.number}"


class Soak:
    """Sends every request until it is judged, whatever happens to servers.

    Args:
        executions: how many requests.
        servers: how many servers serve them one after another; all but the last are killed.
        faults: how many faults there are.
        sessions: how many sessions are opened, used and closed meanwhile.
        light: whether kinds that take long are rare.
        in_flight: how many requests wait for an answer at once.
        log: what the servers write to.
        tell: what is told how far it is, `TELLINGS` times.
        figures: is filled as it goes on, so that it tells what was seen before a failure.
    """

    def __init__(
        self,
        *,
        executions: int,
        servers: int,
        faults: int,
        sessions: int = 0,
        light: bool = False,
        in_flight: int = IN_FLIGHT,
        log: IO[bytes],
        tell: Callable[[str], object],
        figures: Figures,
    ) -> None:
        self._log = log
        self._tell = tell
        self._executions = executions
        self._servers = servers
        self._faults_every = executions // (faults + 1)
        self._pending = list(enumerate(names(executions, light=light)))
        self._sessions = sessions
        self._in_flight = in_flight
        self._server: Server | None = None
        self._up = asyncio.Event()
        self._sessions_offered = asyncio.Event()
        self._sessions_ended = asyncio.Event()
        self._progress = asyncio.Condition()
        self.figures = figures

    async def run(self, temporary: Path) -> None:
        """Runs all of it.

        Raises:
            AssertionError: a request was never judged, or something was left behind.
        """
        async with self._timed(), asyncio.TaskGroup() as group:
            for _ in range(self._in_flight):
                group.create_task(self._work())
            group.create_task(self._use_sessions())
            faults = group.create_task(self._break_things())
            try:
                await self._serve(temporary)
            finally:
                faults.cancel()

    @asynccontextmanager
    async def _timed(self) -> AsyncIterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.figures.seconds = time.monotonic() - begun

    async def _serve(self, temporary: Path) -> None:
        for number in range(1, self._servers + 1):
            is_last = number == self._servers
            share = 1.0 if is_last else KILLS_IN_FIRST * number / (self._servers - 1)
            processes = 2 if number == 1 and not is_last else 1
            server = await start_server(temporary, self._log, processes=processes)
            self._server = server
            try:
                self._up.set()
                if processes == 1:
                    self._sessions_offered.set()
                if is_last:
                    await self._sample(server)
                await self._wait_for(int(self._executions * share))
                if is_last:
                    await self._sessions_ended.wait()
                self._up.clear()
                self._sessions_offered.clear()
                await server.end(signal.SIGTERM if is_last else signal.SIGKILL)
            finally:
                if server.process.returncode is None:
                    await server.end(signal.SIGKILL)
            assert server.process.returncode == (0 if is_last else -signal.SIGKILL)
            await gone(server)

    async def _sample(self, server: Server) -> None:
        first = self._done
        for step in range(1, SAMPLES + 1):
            await self._wait_for(first + (self._executions - first) * step // SAMPLES)
            self.figures.memory_bytes.append(server.memory_bytes())
            self.figures.descriptors.append(server.descriptors())

    async def _break_things(self) -> None:
        for number in range(1, self._executions // self._faults_every):
            await self._wait_for(number * self._faults_every)
            await self._up.wait()
            server = self._server
            assert server is not None
            name = random.choice([one for one in FAULTS if one != OF_PROCESSES])
            if server.processes > 1 and number % 2:
                name = OF_PROCESSES
            with suppress(OSError, IndexError):  # what it was to hit is gone
                await FAULTS[name](server)
                self.figures.faults[name] += 1
            await asyncio.sleep(RECOVERY_SECONDS)

    @property
    def _done(self) -> int:
        return self.figures.judged.total()

    async def _work(self) -> None:
        while self._pending:
            await self._judge(self._take())
            async with self._progress:
                self._progress.notify_all()

    def _take(self) -> list[Sent]:
        """Takes what one RPC sends: a request, or a batch of them, or a program for Execute."""
        size = random.choice(BATCHES)
        taken: list[Sent] = []
        while self._pending and len(taken) < size:
            if taken and KINDS[self._pending[-1][1]].tests is None:
                break
            taken.append(Sent(*self._pending.pop()))
            if KINDS[taken[0].name].tests is None:
                break
        return taken

    async def _judge(self, sent: Sequence[Sent]) -> None:
        """Sends requests, and those that got no answer again, until each has one.

        Raises:
            AssertionError: a request was never judged.
        """
        waiting = {one.id: one for one in sent}
        for _ in range(RETRIES):
            await self._up.wait()
            server = self._server
            assert server is not None
            try:
                async for answer in _answers(server, list(waiting.values())):
                    self.note(answer, waiting.get(answer.id))
                    if not answer.status:
                        waiting.pop(answer.id, None)
            except grpc.aio.AioRpcError as error:
                # This side closed the channels of a server that was killed.
                is_closed = server.process.returncode is not None
                if error.code() is not grpc.StatusCode.CANCELLED or not is_closed:
                    self._refused(error.code().name, ", ".join(waiting), error.details() or "")
            except asyncio.CancelledError:
                # The same, where the call had not begun.
                if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # a task runs this
                    raise
            if not waiting:
                return
        raise AssertionError(f"{list(waiting)} were not judged: {self.figures.refused}")

    def note(self, answer: Answer, sent: Sent | None) -> None:
        """Compares an answer with what its request has to get."""
        if sent is None:
            self.figures.wrong.append(f"{answer.id}: an answer for what was not sent")
        elif answer.status:
            self._refused(answer.status, answer.id, answer.message)
        else:
            self.figures.judged[sent.name] += 1
            if answer.verdict != KINDS[sent.name].verdict:
                self.figures.wrong.append(f"{answer.id}: {answer.verdict}: {answer.message}")
            if self._done % max(1, self._executions // TELLINGS) == 0:
                self._tell(f"{self._done} judged, {len(self.figures.wrong)} wrong")

    def _refused(self, status: str, ids: str, message: str) -> None:
        self.figures.refused[status] += 1
        if status != "UNAVAILABLE":
            self.figures.wrong.append(f"{ids}: {status}: {message}")

    async def _use_sessions(self) -> None:
        for number in range(self._sessions):
            await self._wait_for(number * self._executions // self._sessions)
            await self._sessions_offered.wait()
            assert self._server is not None
            ended = await session_end(self._server.address, TOKENS[number % len(TOKENS)])
            self.figures.sessions[ended] += 1
        self._sessions_ended.set()

    async def _wait_for(self, count: int) -> None:
        """Waits until so many are judged."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._done >= count)


async def _answers(server: Server, sent: Sequence[Sent]) -> AsyncIterator[Answer]:
    token = TOKENS[sent[0].number % len(TOKENS)]
    if KINDS[sent[0].name].tests is None:
        yield await server.execute(execution(sent[0].name, sent[0].number), token)
    elif len(sent) == 1:
        yield await server.score(request(sent[0].name, sent[0].number), token)
    else:
        requests = [request(one.name, one.number) for one in sent]
        async for answer in server.score_batch(requests, token):
            yield answer


async def session_end(address: str, token: str) -> str:
    """Opens a session, runs a command and closes it; returns how that ended."""
    options = {"outage_seconds": 1.0, "timeout_seconds": SESSION_SECONDS}
    try:
        async with (
            AsyncRewardClient(address, token=token, **options) as client,
            client.session(memory_bytes=SESSION_MEMORY_BYTES) as session,
        ):
            result = await session.exec(["bash", "-c", "echo $((6 * 7))"], time_limit_seconds=30)
    except SessionEndedError as error:
        return error.reason
    except CallError as error:
        return error.status
    if result.signal is not None:
        return "command killed"
    return "right" if (result.exit_code, result.stdout) == (0, b"42\n") else "wrong"


async def gone(server: Server) -> None:
    """Waits until nothing of a server is left, for as long as its janitor may take."""
    for _ in range(1000):
        if not server.cgroups() and not sandbox_processes():
            return
        await asyncio.sleep(0.01)
    raise AssertionError((server.cgroups(), sandbox_processes()))


def _errors(log: IO[bytes]) -> list[str]:
    log.seek(0)
    return [line.decode() for line in log if b'"level": "error"' in line][:MOST_ERRORS]


def _quiet(_: str) -> None:
    pass


async def soak(
    *,
    executions: int,
    servers: int,
    faults: int,
    sessions: int = 0,
    light: bool = False,
    in_flight: int = IN_FLIGHT,
    tell: Callable[[str], object] = _quiet,
    figures: Figures | None = None,
) -> Figures:
    """Runs a soak, and sees to it that nothing is left; see `Soak` for the arguments.

    Raises:
        AssertionError: something is, or a request was never judged.
    """
    mounts_before, files_before = mounts(), files()
    assert sandbox_processes() == []
    with small_folder() as temporary, tempfile.TemporaryFile() as log:
        made = Soak(
            executions=executions,
            servers=servers,
            faults=faults,
            sessions=sessions,
            light=light,
            in_flight=in_flight,
            log=log,
            tell=tell,
            figures=figures or Figures(),
        )
        await made.run(temporary)
        assert os.listdir(temporary) == []
        made.figures.errors = _errors(log)
    assert mounts() == mounts_before
    assert files() <= files_before
    assert made.figures.judged.total() == executions
    assert made.figures.sessions.total() == sessions
    return made.figures

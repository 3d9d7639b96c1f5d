"""A server to be soaked, what it is made of, and what it must not leave behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.owner import owner_id
from tests.scale.soak_kinds import execution_end

SLOTS = 4
TOKENS = ("red-secret", "green-secret", "blue-secret")
_TENANTS = "".join(f'[[tenants]]\nname = "{one}"\ntokens = ["{one}"]\n' for one in TOKENS)
_SESSION_MEMORY_BYTES = 512 << 20
# A range of users of its own: whoever has such a uid is a process of this soak's sandboxes.
UID = 1_970_000_000 + 128 * secrets.randbelow(100_000)  # another run may go on beside this one
UIDS = range(UID, UID + 128)
DEADLINE_SECONDS = 60
_MACHINERY_DEPTH = 2  # in pid namespaces: the host's and the container's
_JUDGE_DEPTH = 3
_STATUSES = {one.value[0]: one.name for one in grpc.StatusCode}
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a call answered for a request: a verdict, or the name of a status."""

    id: str
    verdict: str = ""
    status: str = ""
    message: str = ""


@dataclass(kw_only=True)
class Server:
    """A server in a process of its own, or in several.

    Args:
        process: the process that was started; if there are several, the parent of the others.
        address: where it serves.
        processes: how many processes serve.
        folders: the control groups in which it makes its own.
        temporary: its folder for temporary files.
        channels: to it, one for each tenant.
        owners: the names of its processes, also of those that are dead.
    """

    process: asyncio.subprocess.Process
    address: str
    processes: int
    folders: tuple[Path, ...]
    temporary: Path
    channels: dict[str, grpc.aio.Channel] = field(init=False)
    owners: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.channels = {token: open_channel(self.address) for token in TOKENS}
        self.owners.add(owner_id(self.process.pid))

    async def score(self, request: pb.ScoreRequest, token: str) -> Answer:
        """Sends a request in a call of its own."""
        stub = pb_grpc.RewardServiceStub(self.channels[token])
        return _answer(await stub.Score(request, **_options(token)))

    async def score_batch(
        self, requests: Sequence[pb.ScoreRequest], token: str
    ) -> AsyncIterator[Answer]:
        """Sends requests in one call."""
        stub = pb_grpc.RewardServiceStub(self.channels[token])
        batch = pb.ScoreBatchRequest(requests=requests)
        async for answer in stub.ScoreBatch(batch, **_options(token)):
            if answer.id != requests[answer.index].id:
                yield Answer(id=f"{answer.id} for {requests[answer.index].id}")
            elif answer.HasField("error"):
                status = _STATUSES[answer.error.code]
                yield Answer(id=answer.id, status=status, message=answer.error.message)
            else:
                yield _answer(answer.response)

    async def execute(self, request: pb.ExecuteRequest, token: str) -> Answer:
        """Runs a program."""
        stub = pb_grpc.RewardServiceStub(self.channels[token])
        response = await stub.Execute(request, **_options(token))
        return Answer(id=response.id, verdict=execution_end(response))

    def serving(self) -> list[int]:
        """Finds its serving processes but the first, and notes their names."""
        pid = self.process.pid
        if self.processes == 1:
            return []
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            pids = [int(child) for child in children if _is_serving(int(child))]
            self.owners.update(map(owner_id, pids))
            return pids
        return []

    def cgroups(self) -> list[Path]:
        """Finds the control groups that it made."""
        self.serving()
        names = [f"{OUR_PREFIX}{owner}-*" for owner in self.owners]
        return [path for folder in self.folders for name in names for path in folder.glob(name)]

    def machinery(self) -> list[int]:
        """Finds bubblewraps, zygotes and fork servers."""
        return [pid for pid in self._supervisors() if _namespace_depth(pid) <= _MACHINERY_DEPTH]

    def judges(self) -> list[int]:
        """Finds judges."""
        return [pid for pid in self._supervisors() if _namespace_depth(pid) == _JUDGE_DEPTH]

    def _supervisors(self) -> list[int]:
        texts = []
        for group in self.cgroups():
            if group.name.endswith(".supervisor"):
                with contextlib.suppress(OSError):
                    texts.append((group / "cgroup.procs").read_text())
        return [int(pid) for text in texts for pid in text.split()]

    def descriptors(self) -> int:
        """Counts its open files."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory_bytes(self) -> int:
        """Returns the memory that it has in use."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE_BYTES

    async def end(self, number: signal.Signals) -> None:
        """Ends it with a signal and waits until it is gone."""
        self.serving()
        self.process.send_signal(number)
        await self.process.wait()
        for channel in self.channels.values():
            await channel.close()


def open_channel(address: str) -> grpc.aio.Channel:
    """Opens a connection of its own, shared with no other channel."""
    return grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])


def _options(token: str) -> dict[str, Any]:
    metadata = (("authorization", f"Bearer {token}"),)
    return {"timeout": DEADLINE_SECONDS, "metadata": metadata, "wait_for_ready": True}


def _answer(response: pb.ScoreResponse) -> Answer:
    verdict = pb.Verdict.Name(response.verdict).removeprefix("VERDICT_")
    return Answer(id=response.id, verdict=verdict, message=response.message)


def _is_serving(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"reward_server.processes.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _namespace_depth(pid: int) -> int:
    """Returns in how many pid namespaces a process lives: a container is the second."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return sys.maxsize


def tokens_beside(temporary: Path) -> Path:
    """Returns the file of the tenants' tokens of a server with this folder."""
    return temporary.with_suffix(".tokens")


async def start_server(temporary: Path, log: IO[bytes], *, processes: int = 1) -> Server:
    """Starts a server, which ends with this process.

    Args:
        temporary: its folder for temporary files.
        log: what it writes to.
        processes: how many processes serve; with one, it offers sessions.
    """
    command = ["serve", "--json", "--until-stdin-ends", "--port", "0", "--workers", str(SLOTS)]
    command += ["--processes", str(processes)]
    tokens = tokens_beside(temporary)
    tokens.touch(0o600)
    tokens.write_text(_TENANTS)
    settings = [f"sandbox_uid={UID}", "recycle_after_executions=200", f"token_file={tokens}"]
    if processes == 1:
        settings += [f"session_memory_bytes={_SESSION_MEMORY_BYTES}", "session_warm=1"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    code = "from reward_server.cli import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, *command, *arguments),
        stdin=asyncio.subprocess.PIPE,  # closed with this process, even after `kill -9`
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stdout is not None
    told = json.loads(await process.stdout.readline())
    return Server(
        process=process,
        address=told["address"],
        processes=processes,
        folders=tuple(map(Path, CgroupParent.detect().directories.values())),
        temporary=temporary,
    )


def sandbox_processes() -> list[str]:
    """Finds processes of these users, by their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid in UIDS:
                found.append(f"{path.name} {(path / 'cmdline').read_bytes()!r}")
    return found


def mounts() -> set[str]:
    """Finds the mounts of this process's namespace, but those of an engine's containers."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {path for line in lines if "/overlay2/" not in (path := line.split(" ", 5)[4])}


def files() -> set[str]:
    """Finds what lies in the folders that programs and servers may write."""
    return {
        str(path)
        for folder in ("/tmp", "/dev/shm", "/run")
        for path in Path(folder).glob("*")
        if path.lstat().st_uid in UIDS or "codereward" in path.name
    }

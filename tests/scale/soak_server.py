"""A server to be soaked, what it is made of, and what it must not leave behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.owner import owner_id

SLOTS = 4
TOKENS = ("red-secret", "green-secret", "blue-secret")
_TENANTS = "".join(f'[[tenants]]\nname = "{one}"\ntokens = ["{one}"]\n' for one in TOKENS)
_SESSION_MEMORY_BYTES = 512 << 20
# A range of users of its own: whoever has such a uid is a process of this soak's sandboxes.
UID = 1_970_000_000 + 64 * secrets.randbelow(100_000)  # another run may go on beside this one
UIDS = range(UID, UID + 64)
DEADLINE_SECONDS = 60
_MACHINERY_DEPTH = 2  # in pid namespaces: the host's and the container's
_JUDGE_DEPTH = 3
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(kw_only=True)
class Server:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    address: str
    prefixes: tuple[str, ...]
    temporary: Path
    channel: grpc.aio.Channel = field(init=False)

    def __post_init__(self) -> None:
        self.channel = grpc.aio.insecure_channel(self.address)

    async def score(self, request: pb.ScoreRequest, token: str) -> pb.ScoreResponse:
        stub = pb_grpc.RewardServiceStub(self.channel)
        response: pb.ScoreResponse = await stub.Score(
            request, timeout=DEADLINE_SECONDS, metadata=(("authorization", f"Bearer {token}"),)
        )
        return response

    def cgroups(self) -> list[Path]:
        """Finds the control groups that it made."""
        found = []
        for prefix in map(Path, self.prefixes):
            found += prefix.parent.glob(f"{prefix.name}*")
        return found

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
        self.process.send_signal(number)
        await self.process.wait()
        await self.channel.close()


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


async def start_server(temporary: Path, log: IO[bytes]) -> Server:
    """Starts one that has a folder for temporary files of its own, and writes to a log."""
    command = ["serve", "--json", "--port", "0", "--workers", str(SLOTS)]
    tokens = tokens_beside(temporary)
    tokens.touch(0o600)
    tokens.write_text(_TENANTS)
    settings = [f"sandbox_uid={UID}", "recycle_after_executions=200", f"token_file={tokens}"]
    settings += [f"session_memory_bytes={_SESSION_MEMORY_BYTES}", "session_warm=1"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    code = "from reward_server.cli import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, *command, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stdout is not None
    told = json.loads(await process.stdout.readline())
    parent = CgroupParent.detect()
    prefixes = tuple(
        f"{place}/{OUR_PREFIX}{owner_id(process.pid)}-" for place in parent.directories.values()
    )
    return Server(process=process, address=told["address"], prefixes=prefixes, temporary=temporary)


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

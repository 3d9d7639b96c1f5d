"""A server in its own process, and the CPU time of its process tree."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reward_server.errors import StartError

_START = "from reward_server.cli import main; main()"
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
_STOP_SECONDS = 30.0
# The kernel cuts names. Containers run below the last; the engine itself uses the others too.
ENGINE_NAMES = frozenset({"dockerd", "containerd", "containerd-shim"})
# Fields of /proc/PID/stat after the name, which may contain any character.
_PARENT, _USER, _CHILDREN_SYSTEM = 1, 11, 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """CPU seconds of the gRPC server's process, and of the sandboxes including the engine."""

    server: float
    sandboxes: float

    @property
    def total(self) -> float:
        """The sum of both."""
        return self.server + self.sandboxes

    def since(self, earlier: Used) -> Used:
        """Returns the CPU time used since an earlier point."""
        return Used(
            server=self.server - earlier.server, sandboxes=self.sandboxes - earlier.sandboxes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that is running."""

    pid: int
    address: str
    slots: int
    has_engine: bool = False

    def used(self) -> Used:
        """Returns the CPU time of the server and all its descendants, including those that ended.

        If containers of an engine run, it includes the whole engine and everything that it runs.

        The kernel shows ticks of 10 ms for each live process, but counts precisely: measure over
        seconds.
        """
        return tree_usage(self.pid, ENGINE_NAMES if self.has_engine else frozenset())


@asynccontextmanager
async def served(arguments: Sequence[str], checkout: Path | None = None) -> AsyncIterator[Served]:
    """Runs `reward-server serve` on a free port for the length of the block.

    Args:
        arguments: arguments of the command.
        checkout: a checkout of another commit, with its own `.venv`; None for this one.

    Raises:
        StartError: the server did not start.
    """
    python = sys.executable if checkout is None else str(checkout / ".venv/bin/python")
    serve = ("serve", "--until-stdin-ends", "--port", "0", "--json")
    command = (python, "-c", _START, *serve, *arguments)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, cwd=checkout)
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        if not line:
            raise StartError("the server to be measured did not start; it says why above")
        said = json.loads(line)
        yield Served(
            pid=process.pid,
            address=said["address"],
            slots=said["slots"],
            has_engine=said["backend"] == "docker",
        )
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()  # its janitor removes what it made
            await process.wait()


def serve_arguments(
    config: Path | None,
    assignments: list[str] | None,
    allow_missing: list[str] | None,
    flags: dict[str, Any],
) -> tuple[str, ...]:
    """Returns the options as arguments for a server in another process."""
    given = [f"--{name}={value}" for name, value in flags.items() if value is not None]
    given += [f"--config={config}"] if config else []
    given += [f"--allow-missing={name}" for name in allow_missing or ()]
    given += [f"--set={assignment}" for assignment in assignments or ()]
    return (*given, "--host=127.0.0.1", "--set=log_level=ERROR")


def tree_usage(root: int, names: Collection[str] = (), pids: Collection[int] = ()) -> Used:
    """Sums the CPU time of a process and of its descendants.

    Args:
        root: the process.
        names: names of processes that are counted below it, with their descendants.
        pids: further processes that are counted so.
    """
    found = tree(root, names, pids)
    # What the server waited for was a sandbox.
    server = sum(found[root][_USER : _USER + 2])
    total = sum(sum(fields[_USER:]) for fields in found.values())
    return Used(server=server * _TICK_SECONDS, sandboxes=(total - server) * _TICK_SECONDS)


def parent_of(pid: int) -> int:
    """Returns the parent of a process; 0 if the process has ended."""
    fields = _stat(Path(f"/proc/{pid}"))
    return fields[_PARENT] if fields else 0


def waited_for(pid: int) -> float:
    """Returns the CPU seconds of the ended children of a process."""
    return sum(_stat(Path(f"/proc/{pid}"))[_USER + 2 :]) * _TICK_SECONDS


def tree(
    root: int, names: Collection[str] = (), pids: Collection[int] = ()
) -> dict[int, list[int]]:
    """Returns the numbers of a process and of its descendants in the kernel's table.

    Args:
        root: the process.
        names: names of processes that are included, with their descendants.
        pids: further processes that are included so.

    Returns:
        For each process id the numbers from the parent's id on.
    """
    read: dict[int, list[int]] = {}
    children: dict[int, list[int]] = {}
    wanted = [root, *pids]
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and (fields := _stat(folder)):
            if names and _name(folder) in names:
                wanted.append(int(folder.name))
            read[int(folder.name)] = fields
            children.setdefault(fields[_PARENT], []).append(int(folder.name))
    found: dict[int, list[int]] = {}
    while wanted:
        pid = wanted.pop()
        if pid in read and pid not in found:
            found[pid] = read[pid]
            wanted.extend(children.get(pid, ()))
    return found


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text("utf-8", "replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _stat(folder: Path) -> list[int]:
    """Returns the numbers from the parent's pid on, or none if the process is gone."""
    try:
        text = (folder / "stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    fields = text.rpartition(")")[2].split()
    return [0, *(int(field) for field in fields[1 : _CHILDREN_SYSTEM + 1])]

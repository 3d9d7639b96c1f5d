"""The rights with which the runner builds an execution's walls.

`LentNamespaces`: the kernel gives each process a user namespace. Inside it the process may mount.
Outside of it the process is the same unprivileged user as the runner.

`SandboxKernel`: the container runs under gVisor, which is a separate kernel, and the runner is its
root. The gVisor of 2022 accepts the request for a mount namespace and makes none, so nothing can be
mounted in a user namespace. There each process gets a separate root folder, to which the
container's root is bound without the mounts inside it. Then it permanently becomes a user that no
other process has. Root's rights are only valid in that kernel; the container has none on the host.

What this stops: under gVisor, these root folders and users have the effect of user and mount
namespaces: judge and candidate cannot read each other's files and memory, and cannot signal each
other.

What it does not do: it does not limit the number of files, because gVisor cannot. Files count as
memory there; see `cgroup_usage`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from . import confine, kernel, policy

_NAMESPACES = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_SIGNAL_BYTES = 4096
_DEVICES = "/dev"


class ExitWatch(Protocol):
    """Waits for a child's exit."""

    @property
    def descriptor(self) -> int:
        """A descriptor that is readable once the child may have ended; its owner closes it."""

    def has_ended(self) -> bool:
        """Returns True if the child has ended; called when `descriptor` is readable."""


class Privileges(Protocol):
    """The way in which a process gets the right to build walls, and gives it up."""

    @property
    def namespaces(self) -> int:
        """The namespaces into which a process is cloned."""

    def clear(self) -> None:
        """Removes the mounts of the previous process, before a process is cloned."""

    def watch(self, pid: int) -> ExitWatch:
        """Watches a child; called in its parent."""

    def enter(self) -> None:
        """Gets a file tree and the right to mount in it; a child's first step."""

    def cover(self, folders: Iterable[str]) -> None:
        """Hides folders of the container."""

    def mount_box(self, disk_bytes: int) -> None:
        """Mounts the execution's own folders and, if the host would share its own, terminals."""

    def resize_box(self, disk_bytes: int) -> None:
        """Changes the size of the execution's folders, while they are empty."""

    def become_victim(self) -> None:
        """Makes this process and its children the kernel's first victims when memory runs out."""

    def leave(self) -> None:
        """Becomes permanently the user that programs run as."""


@dataclass(frozen=True, slots=True)
class _ProcessWatch:
    descriptor: int

    def has_ended(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class LentNamespaces:
    """A user namespace for each process.

    Args:
        uid: the runner's user.
        gid: the runner's group.
        hides_cgroup: whether to hide the name of the host's cgroup that a process has entered,
            because the name describes the server.
    """

    uid: int
    gid: int
    hides_cgroup: bool = False

    @property
    def namespaces(self) -> int:
        """See `Privileges.namespaces`."""
        return kernel.CLONE_NEWUSER | _NAMESPACES

    def clear(self) -> None:
        """Does nothing: mounts end with their namespace."""

    def watch(self, pid: int) -> ExitWatch:
        """See `Privileges.watch`."""
        return _ProcessWatch(os.pidfd_open(pid))

    def enter(self) -> None:
        """Maps the only user and group of the new user namespace, which are unprivileged."""
        confine.map_ids(self.uid, self.gid)
        if self.hides_cgroup:
            kernel.unshare(kernel.CLONE_NEWCGROUP)

    def cover(self, folders: Iterable[str]) -> None:
        """See `Privileges.cover`."""
        confine.cover(folders)

    def mount_box(self, disk_bytes: int) -> None:
        """See `Privileges.mount_box`."""
        confine.mount_box(self._options(disk_bytes))
        confine.mount_terminals()

    def resize_box(self, disk_bytes: int) -> None:
        """See `Privileges.resize_box`."""
        confine.remount_box(self._options(disk_bytes))

    def become_victim(self) -> None:
        """See `Privileges.become_victim`."""
        confine.become_victim()

    def leave(self) -> None:
        """Does nothing: this process became that user in `enter`."""

    @staticmethod
    def _options(disk_bytes: int) -> str:
        return f"mode=755,size={disk_bytes},nr_inodes={policy.MAXIMUM_INODES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SignalWatch:
    """An exit watch for a kernel without process descriptors.

    Pending signals of one kind become one signal, so it may stand for the ends of several children.
    """

    pid: int
    descriptor: int

    def has_ended(self) -> bool:
        os.read(self.descriptor, _SIGNAL_BYTES)
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxKernel:
    """Root of a container that has a separate kernel.

    Args:
        user: number of the user and group that a process becomes.
        root: root of its file tree, a folder on `policy.STAGE`.
    """

    user: int
    root: str

    @staticmethod
    def prepare() -> None:
        """Blocks SIGCHLD in the zygote, so that `watch` can read it, and mounts the stage.

        A container whose runner listens has had other zygotes, whose stage is removed.

        Raises:
            RuntimeError: this kernel is not gVisor but the host's, on which the runner must not be
                root.
        """
        if os.uname().version != policy.SANDBOX_KERNEL_VERSION:
            raise RuntimeError(f"root of a kernel that is no sandbox: {os.uname().version}")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        if os.path.ismount(policy.STAGE):
            kernel.unmount(policy.STAGE)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("tmpfs", policy.STAGE, "tmpfs", flags, "mode=700")

    @property
    def namespaces(self) -> int:
        """See `Privileges.namespaces`."""
        return _NAMESPACES

    def clear(self) -> None:
        """See `Privileges.clear`."""
        os.makedirs(self.root, exist_ok=True)
        if os.path.ismount(self.root):
            kernel.unmount(self.root)

    def watch(self, pid: int) -> ExitWatch:
        """See `Privileges.watch`."""
        return _SignalWatch(pid=pid, descriptor=kernel.child_signals())

    def enter(self) -> None:
        """See `Privileges.enter`; the process has the right already."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for folder in ("/", _DEVICES):
            kernel.mount(folder, self.root + folder, None, kernel.MS_BIND)
        os.chroot(self.root)

    def cover(self, folders: Iterable[str]) -> None:
        """Does nothing: this file tree does not contain the container's other mounts."""

    def mount_box(self, disk_bytes: int) -> None:
        """See `Privileges.mount_box`."""
        confine.mount_box(f"mode=755,size={disk_bytes}")
        for folder in (policy.BOX, *policy.BOX_FOLDERS):
            os.chown(folder, self.user, self.user)
        kernel.mount(policy.TMP_FOLDER, "/tmp", None, kernel.MS_BIND)  # over gVisor's own

    def resize_box(self, disk_bytes: int) -> None:
        """Mounts new ones over them, because gVisor cannot remount."""
        self.mount_box(disk_bytes)

    def become_victim(self) -> None:
        """Does nothing: this kernel cannot choose a process to end when memory runs out."""

    def leave(self) -> None:
        """See `Privileges.leave`."""
        kernel.drop_bounding_capabilities()
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)
        kernel.die_with_parent()  # a change of ids has undone it

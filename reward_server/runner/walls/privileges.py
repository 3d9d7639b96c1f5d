"""What the runner stands on when it builds an execution's walls.

`LentNamespaces`: the kernel lends each process a user namespace, in which it may mount, and outside
of which it is the nobody that the runner is.

`SandboxKernel`: the container is a kernel of its own, gVisor, of which the runner is root. The
gVisor of 2022 takes the request for a mount namespace and gives none, so nothing can be mounted
in a user namespace. There each process gets a root folder of its own, in which the container's is
bound without what else is mounted in it, and then becomes a user of its own for good. Root's
rights end at that kernel; towards the host, the container has none.

What this stops: with a root folder and a user for the judge and others for the candidate, what
user and mount namespaces stop otherwise: looks at each other's files and memory, and signals.

What it does not: bound the number of files where gVisor cannot; they count as memory there, see
`cgroup_usage`.
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
        """Readable once the child may have ended; its owner closes it."""

    def has_ended(self) -> bool:
        """Returns True if it has, once `descriptor` was readable."""


class Privileges(Protocol):
    """How a process gets the right to build walls, and gives it up."""

    @property
    def namespaces(self) -> int:
        """Those that a process is cloned into."""

    def clear(self) -> None:
        """Removes, before a process is cloned, what the one before has mounted."""

    def watch(self, pid: int) -> ExitWatch:
        """Watches a child, from the zygote."""

    def enter(self) -> None:
        """Gets a file tree to mount in, and the right to do it; a child's first step."""

    def cover(self, folders: Iterable[str]) -> None:
        """Hides folders of the container's."""

    def mount_box(self, disk_bytes: int) -> None:
        """Mounts the execution's own folders and, where a host shares them, terminals."""

    def resize_box(self, disk_bytes: int) -> None:
        """Gives them another size, while they are empty."""

    def become_victim(self) -> None:
        """Makes this process and its children the first to go when memory runs out."""

    def leave(self) -> None:
        """Becomes the user that programs run as, for good."""


@dataclass(frozen=True, slots=True)
class _ProcessWatch:
    descriptor: int

    def has_ended(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class LentNamespaces:
    """A user namespace for each process.

    Args:
        uid: the runner's own.
        gid: the runner's own.
        hides_cgroup: whether a process that has entered a control group of the host's is kept from
            its name, which tells of the server.
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
        """Maps the one unprivileged user and group that exist inside."""
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
        """Does nothing: this process is that user since `enter`."""

    @staticmethod
    def _options(disk_bytes: int) -> str:
        return f"mode=755,size={disk_bytes},nr_inodes={policy.MAXIMUM_INODES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SignalWatch:
    """For a kernel without descriptors of processes.

    Signals of the same kind are one while they wait: a child's may have come with another's.
    """

    pid: int
    descriptor: int

    def has_ended(self) -> bool:
        os.read(self.descriptor, _SIGNAL_BYTES)
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxKernel:
    """Root of a kernel that is the sandbox itself.

    Args:
        user: number of the user and group that a process becomes.
        root: of its file tree, a folder on `policy.STAGE`.
    """

    user: int
    root: str

    @staticmethod
    def prepare() -> None:
        """Has the zygote keep signals of its children's ends for `watch`, and mounts the stage.

        Raises:
            RuntimeError: this is not that kernel, but one of the host's, whose root nobody may be.
        """
        if os.uname().version != policy.SANDBOX_KERNEL_VERSION:
            raise RuntimeError(f"root of a kernel that is no sandbox: {os.uname().version}")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
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
        """See `Privileges.enter`; the right is there already."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for folder in ("/", _DEVICES):
            kernel.mount(folder, self.root + folder, None, kernel.MS_BIND)
        os.chroot(self.root)

    def cover(self, folders: Iterable[str]) -> None:
        """Does nothing: what is mounted in the container is not in this file tree."""

    def mount_box(self, disk_bytes: int) -> None:
        """See `Privileges.mount_box`."""
        confine.mount_box(f"mode=755,size={disk_bytes}")
        for folder in (policy.BOX, *policy.BOX_FOLDERS):
            os.chown(folder, self.user, self.user)
        kernel.mount(policy.TMP_FOLDER, "/tmp", None, kernel.MS_BIND)  # which gVisor mounts itself

    def resize_box(self, disk_bytes: int) -> None:
        """Covers them with others: gVisor remounts nothing."""
        self.mount_box(disk_bytes)

    def become_victim(self) -> None:
        """Does nothing: memory runs out for this kernel as a whole, which has no such order."""

    def leave(self) -> None:
        """See `Privileges.leave`."""
        kernel.drop_bounding_capabilities()
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)
        kernel.die_with_parent()  # a change of ids had undone it

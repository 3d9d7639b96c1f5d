"""Builds the inner walls of a process, from inside, before the process reads anything untrusted.

What this stops: access to other processes, and to files except the container's read-only files and
the execution's own empty folders; capabilities; new namespaces; sockets except AF_UNIX; use beyond
the limits. `policy` states the reason for each rule.

What it does not do: it does not limit memory, CPU time and processes of the whole process tree. The
cgroup does, which the process joins before it receives anything. The zygote keeps the clocks.

The order matters. The process is cloned into its namespaces. Then it makes the mounts, which need
the capabilities that `privileges` gives. Then it sets the limits and Landlock, and gives up all
capabilities. The last step is the seccomp filter, which forbids to get capabilities again.
"""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from ..wire import Start
from . import kernel, policy

_BOX_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV
_READ_EXECUTE = 0b1101  # execute, read file, read folder
_ALL_FILES_V1 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_TCP_BIND_CONNECT = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def close_all_but(kept: set[int]) -> None:
    """Closes every descriptor except 0, 1, 2 and `kept`."""
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = max(low, descriptor + 1)
    os.closerange(low, 1 << 30)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def map_ids(outer_uid: int, outer_gid: int) -> None:
    """Maps the only user and group of the new user namespace, which are unprivileged."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{policy.INNER_ID} {outer_uid} 1")
    _write("/proc/self/gid_map", f"{policy.INNER_ID} {outer_gid} 1")


def mount_box(options: str) -> None:
    """Mounts the execution's own working folder, /tmp and /dev/shm.

    Args:
        options: options of the tmpfs that holds them.
    """
    kernel.mount("tmpfs", policy.BOX, "tmpfs", _BOX_FLAGS, options)
    for folder in policy.BOX_FOLDERS:
        os.mkdir(folder, 0o755)
    source, target = policy.SHM
    kernel.mount(source, target, None, kernel.MS_BIND)
    os.chdir(policy.WORK_FOLDER)


def mount_user_folder() -> None:
    """Shows the working folder at `policy.USER_FOLDER` too."""
    kernel.mount(policy.WORK_FOLDER, policy.USER_FOLDER, None, kernel.MS_BIND)


def remount_box(options: str) -> None:
    """Changes the options of the tmpfs that holds the execution's folders."""
    kernel.mount("tmpfs", policy.BOX, "tmpfs", kernel.MS_REMOUNT | _BOX_FLAGS, options)


def mount_proc() -> None:
    """Mounts the execution's own /proc."""
    read_only = kernel.MS_RDONLY if policy.PROC.read_only else 0
    kernel.mount("proc", "/proc", "proc", _BOX_FLAGS | kernel.MS_NOEXEC | read_only)


def mount_terminals() -> None:
    """Mounts the execution's own pseudo-terminals, whose number is limited."""
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount("devpts", policy.PTS.target, "devpts", flags, policy.PTS_OPTIONS)


def cover(folders: Iterable[str]) -> None:
    """Hides folders of the container, such as that of the socket on which the runner listens."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC | kernel.MS_RDONLY
    for folder in folders:
        kernel.mount("tmpfs", folder, "tmpfs", flags, "mode=000,nr_inodes=1")


def become_victim() -> None:
    """Makes this process and its children the kernel's first victims when memory runs out."""
    _write("/proc/self/oom_score_adj", str(policy.VICTIM_SCORE))


def _set_limits(limits: dict[int, tuple[int, int]]) -> None:
    for kind, (soft, hard) in limits.items():
        present = resource.getrlimit(kind)
        ceiling = present[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        if (soft, hard) != present:  # gVisor refuses even unchanged values of some
            resource.setrlimit(kind, (soft, hard))


def limit_candidate(start: Start) -> None:
    """Applies the limits that the kernel keeps for each process.

    The limits of CPU time and processes are above those of the whole process tree, and are only a
    second protection. The zygote and the cgroup enforce the limits of the tree, and report when
    they are reached; see `CgroupUsage.user_processes`.
    """
    cpu_seconds = -(-start.cpu_time_ns // 1_000_000_000) + 1
    _set_limits(
        {
            resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds),
            resource.RLIMIT_FSIZE: (start.file_size_bytes, start.file_size_bytes),
            resource.RLIMIT_NOFILE: (start.open_files, start.open_files),
            resource.RLIMIT_NPROC: (start.processes, start.processes),
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_STACK: (policy.STACK_BYTES, policy.STACK_BYTES),
            resource.RLIMIT_MEMLOCK: (0, 0),
            resource.RLIMIT_MSGQUEUE: (policy.MESSAGE_QUEUE_BYTES, policy.MESSAGE_QUEUE_BYTES),
            resource.RLIMIT_SIGPENDING: (policy.PENDING_SIGNALS, policy.PENDING_SIGNALS),
        }
    )


def limit_judge() -> None:
    """Limits the resources that hostile answers can make the judge use."""
    _set_limits(
        {
            resource.RLIMIT_CPU: (policy.JUDGE_CPU_SECONDS, policy.JUDGE_CPU_SECONDS),
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_NPROC: (policy.JUDGE_PROCESSES, policy.JUDGE_PROCESSES),
            resource.RLIMIT_STACK: (policy.STACK_BYTES, policy.STACK_BYTES),
        }
    )


def _landlock_handled(abi: int) -> tuple[int, int, int]:
    files = _ALL_FILES_V1
    files |= _REFER if abi >= 2 else 0
    files |= _TRUNCATE if abi >= 3 else 0
    files |= _IOCTL_DEVICE if abi >= 5 else 0
    return (
        files,
        _TCP_BIND_CONNECT if abi >= 4 else 0,
        _SCOPE_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The permanent restrictions of an execution.

    Args:
        ruleset: descriptor of the Landlock ruleset, or None without Landlock.
        seccomp_filter: the seccomp filter, empty if it was waived.
    """

    ruleset: int | None = None
    seccomp_filter: bytes = b""


def raise_loopback() -> None:
    """Moves this process into a new network namespace, with a loopback interface."""
    kernel.unshare(kernel.CLONE_NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def build_ruleset(abi: int, *, loopback: bool = False) -> int:
    """Builds the Landlock ruleset of `policy`, once for all executions; returns its descriptor.

    Args:
        abi: the kernel's version of Landlock.
        loopback: whether it is for executions with a network of their own.
    """
    handled = _landlock_handled(abi)
    if loopback:
        handled = (handled[0], 0, handled[2])
    writable = [(path, handled[0]) for path in policy.WRITABLE]
    return kernel.landlock_ruleset(handled, [("/", _READ_EXECUTE), *writable])


def apply(seal: Seal) -> None:
    """Gives up all rights that the setup needed; none of these steps can be undone."""
    kernel.no_new_privileges()
    if seal.ruleset is not None:
        kernel.restrict_self(seal.ruleset)
    kernel.drop_capabilities()
    if seal.seccomp_filter:
        kernel.install_seccomp(seal.seccomp_filter)

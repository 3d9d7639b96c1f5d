"""The fields that a pod of Kubernetes lacks, so that the server in it can build sandboxes.

They follow from what the pod shows of itself: its users, its system call filter, and what covers
its /proc. `doctor` prints them; a test adds the printed fields to pods that lack them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reward_server.runner.walls import policy
from reward_server.sandbox.container_options import LIMITS

# What gives a container a control group that it may write, by container runtime.
WRITABLE_CGROUP = (
    "have the node's container runtime give it one that it may write (containerd 2.1: "
    "`cgroup_writable = true` of the runtime; CRI-O: the annotation "
    "`io.kubernetes.cri-o.cgroup2-mount-hierarchy-rw`), and start it as an ordinary user"
)
_HOSTS_USERS = "0 0 4294967295"
_FILTERED = "Seccomp:\t2"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOptions:
    """The way to make a pod of the profile `local`.

    In the profile `restricted` runner containers make the sandboxes. So these containers need the
    lines, and the server's container needs none.

    Args:
        profile: the profile that this pod allows if nothing is changed except that limits are
            waived.
        lines: fields that the pod's specification, or that of the server's container, lacks.
        allow_missing: limits to waive, unless the runtime gives containers a writable cgroup.
    """

    profile: str
    lines: tuple[str, ...]
    allow_missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The fields and the setting, a line each."""
        waived = ", ".join(f'"{name}"' for name in self.allow_missing)
        comment = "in server.toml, unless the runtime gives containers a writable cgroup"
        setting = [f"allow_missing = [{waived}]   # {comment}"] if waived else []
        return "\n".join((*self.lines, *setting))


def pod_options(
    refused: Sequence[str], root: Path = Path("/"), uid: int | None = None
) -> PodOptions | None:
    """Returns what this server's pod lacks; None outside of Kubernetes or if no wall is missing.

    Args:
        refused: names of the walls whose absence keeps the server from starting.
        root: the root folder to examine.
        uid: the server's user; the process's own if absent.
    """
    if not refused or not is_pod(root):
        return None
    if "kernel" in refused and _is_gvisor():
        return PodOptions(profile="gvisor", lines=())
    missing = [name for name in refused if name not in LIMITS]
    lines = _lines(missing, root, os.geteuid() if uid is None else uid) if missing else ()
    return PodOptions(
        profile="restricted" if missing else "local",
        lines=tuple(lines),
        allow_missing=tuple(name for name in refused if name in LIMITS),
    )


def is_pod(root: Path = Path("/")) -> bool:
    """Returns True if a kubelet wrote this container's table of hosts."""
    return "Kubernetes-managed hosts file" in _text(root / "etc/hosts")


def _is_gvisor() -> bool:
    return platform.version() == policy.SANDBOX_KERNEL_VERSION


def _lines(missing: Sequence[str], root: Path, uid: int) -> Iterator[str]:
    is_covered = covers_proc(root)
    if is_covered and " ".join(_text(root / "proc/self/uid_map").split()) == _HOSTS_USERS:
        yield "hostUsers: false"
    if uid == 0:
        yield "securityContext.runAsUser: 1000"
    if "user-namespace" in missing and _FILTERED in _text(root / "proc/self/status"):
        yield "securityContext.seccompProfile: {type: Unconfined}"
    if is_covered:
        yield "securityContext.procMount: Unmasked"


def covers_proc(root: Path = Path("/")) -> bool:
    """Returns True if something is mounted over a part of /proc, which forbids a fresh one."""
    lines = _text(root / "proc/self/mountinfo").splitlines()
    return any(line.split(" ")[4].startswith("/proc/") for line in lines)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""

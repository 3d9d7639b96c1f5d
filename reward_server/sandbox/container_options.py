"""The options with which to start a container that holds the server, so that it can build
sandboxes.

A sandbox needs namespaces, mounts and cgroups of its own, which a container engine forbids by
default. `doctor` prints these options; a test starts containers with the printed options.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIMITS = ("memory-limit", "process-limit", "cpu-limit")
_MARKS = (".dockerenv", "run/.containerenv")
# Docker's seccomp filter forbids namespaces, and its masks of /proc forbid a fresh /proc.
_UNMASKED = ("--security-opt seccomp=unconfined", "--security-opt systempaths=unconfined")
_UNPROFILED = "--security-opt apparmor=unconfined"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerOptions:
    """The way to start the container.

    Args:
        options: options of `docker run`.
        allow_missing: walls that cannot stand there, for the server's `--allow-missing`.
    """

    options: tuple[str, ...]
    allow_missing: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command that starts the server in such a container."""
        waived = f" --allow-missing {','.join(self.allow_missing)}" if self.allow_missing else ""
        return f"docker run {' '.join(self.options)} IMAGE reward-server serve{waived}"


def container_options(
    refused: Sequence[str], root: Path = Path("/"), uid: int | None = None
) -> ContainerOptions | None:
    """Returns how to start this server's container; None outside a container or if no wall is
    missing.

    Args:
        refused: names of the walls whose absence keeps the server from starting.
        root: the root folder to examine.
        uid: the server's user; the process's own if absent.
    """
    if not refused or not any((root / mark).exists() for mark in _MARKS):
        return None
    profile = (_UNPROFILED,) if _is_profiled(root) else ()
    if (os.geteuid() if uid is None else uid) != 0:
        return ContainerOptions(options=(*_UNMASKED, *profile), allow_missing=LIMITS)
    # On version 2 a container sees its own cgroup as the root unless it has this option.
    host_groups = ("--cgroupns host",) if _has_cgroup_2_alone(root) else ()
    groups = (*host_groups, "-v /sys/fs/cgroup:/sys/fs/cgroup:rw")
    return ContainerOptions(options=("--cap-add SYS_ADMIN", *_UNMASKED, *profile, *groups))


def _has_cgroup_2_alone(root: Path) -> bool:
    return (root / "sys/fs/cgroup/cgroup.controllers").exists()


def _is_profiled(root: Path) -> bool:
    """Returns True if AppArmor enforces its profile for containers, which forbids mounts."""
    try:
        return "(enforce)" in (root / "proc/self/attr/current").read_text()
    except OSError:
        return False

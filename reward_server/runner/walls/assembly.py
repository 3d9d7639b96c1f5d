"""Assembles the walls and the environment that a runner's settings ask for.

What this stops: a kind of runner that reads the settings in its own way and leaves a wall out.

What it does not: it builds no wall itself; see `layers`. `__main__` describes the settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from . import confine, kernel, policy, seccomp
from .confine import Seal
from .layers import Walls
from .privileges import LentNamespaces


def set_environment(own: Mapping[str, str]) -> None:
    """Replaces this process's environment by that of programs, with further variables."""
    folders = dict.fromkeys((os.path.dirname(sys.executable), *policy.PATH))
    os.environ.clear()
    os.environ.update({**policy.ENVIRONMENT, "PATH": ":".join(folders), **own})


def landlock_abi(settings: Mapping[str, Any]) -> int:
    """Returns the version of Landlock to use, 0 for none."""
    return kernel.landlock_abi() if settings["landlock"] else 0


def walls(settings: Mapping[str, Any], landlock_abi: int) -> Walls:
    """Returns the walls of this container's processes.

    Args:
        settings: the runner's settings.
        landlock_abi: the version of Landlock to use, 0 for none.
    """
    filtered = bool(settings["seccomp"])
    return Walls(
        covered=tuple(settings["covered"]),
        private_proc=settings["private_proc"],
        seal=_seal(landlock_abi, filtered=filtered),
        loopback_seal=_seal(landlock_abi, filtered=filtered, loopback=True),
    )


def lent_namespaces(settings: Mapping[str, Any]) -> LentNamespaces:
    """Returns the privileges of a process that gets a user namespace of its own."""
    return LentNamespaces(uid=os.getuid(), gid=os.getgid(), hides_cgroup=bool(settings["joins"]))


def _seal(landlock_abi: int, *, filtered: bool, loopback: bool = False) -> Seal:
    return Seal(
        ruleset=confine.build_ruleset(landlock_abi, loopback=loopback) if landlock_abi else None,
        seccomp_filter=(
            seccomp.build_filter(kernel.MACHINE, loopback=loopback) if filtered else b""
        ),
    )

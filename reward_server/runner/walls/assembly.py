"""Assembles the walls and the environment that a runner's settings ask for.

What this stops: a kind of runner that reads the settings in its own way and leaves a wall out.

What it does not: it builds no wall itself; see `layers`. `__main__` describes the settings.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from . import confine, kernel, policy, seccomp
from .confine import Seal
from .layers import Walls
from .privileges import LentNamespaces

# A file beside the runner's folder, in images with additional packages.
_RUNNER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_IMAGE_FILE = os.path.join(os.path.dirname(_RUNNER), "image.json")
_SEED = "PYTHONHASHSEED"  # see `start`


def image_settings() -> dict[str, Any]:
    """Returns what the container's image declares.

    It is an object with `packages` and `preload`, as in the settings, and `environment`, which are
    variables in addition to the policy's.
    """
    nothing: dict[str, Any] = {"packages": [], "preload": [], "environment": {}}
    try:
        with open(_IMAGE_FILE, "rb") as file:
            return {**nothing, **json.load(file)}
    except FileNotFoundError:
        return nothing


def set_environment(own: Mapping[str, str]) -> None:
    """Replaces this process's environment by that of programs, with further variables.

    It keeps the hash seed.
    """
    folders = dict.fromkeys((os.path.dirname(sys.executable), *policy.PATH))
    seed = {_SEED: os.environ[_SEED]} if _SEED in os.environ else {}
    os.environ.clear()
    os.environ.update({**policy.ENVIRONMENT, "PATH": ":".join(folders), **seed, **own})


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

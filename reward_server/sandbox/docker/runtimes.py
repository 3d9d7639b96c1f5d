"""Describes an engine's runtimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

_GVISOR = "runsc"
_IGNORING = {"--ignore-cgroups", "--ignore-cgroups=true", "-ignore-cgroups"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A runtime.

    Args:
        is_sandbox_kernel: whether the container gets a kernel of its own, gVisor's.
        ignores_limits: whether it is configured to ignore the container's limits.
    """

    is_sandbox_kernel: bool = False
    ignores_limits: bool = False


def describe(info: Mapping[str, Any], name: str) -> Runtime:
    """Describes a runtime by the engine's `info`; without a name, the default one.

    The engine itself refuses an unknown runtime when it makes a container.
    """
    known = (info.get("Runtimes") or {}).get(name or info.get("DefaultRuntime")) or {}
    program = PurePath(known.get("path") or "").name
    return Runtime(
        is_sandbox_kernel=_GVISOR in (program, *_shim_parts(known)),
        ignores_limits=not _IGNORING.isdisjoint(known.get("runtimeArgs") or ()),
    )


def _shim_parts(known: Mapping[str, Any]) -> list[str]:
    """Splits the name of a containerd shim, such as io.containerd.runsc.v1."""
    return str(known.get("runtimeType") or "").split(".")

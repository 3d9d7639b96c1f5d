"""What gVisor's shim makes of a pod: one sandbox, in which the pod's containers share a kernel.

The options of `runsc` are those with which Debian's version runs on a machine without
virtualisation: programs are stopped at each system call (`ptrace`), the pod has no network but its
loopback, and no cgroup limits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

COMMAND = ("runsc", "--platform=ptrace", "--network=none", "--ignore-cgroups")
_CRI = "io.kubernetes.cri"
_HINT = "dev.gvisor.spec.mount"

Config = dict[str, Any]


def adapted(config: Config, holder: str | None, hints: Mapping[str, str], volumes: Path) -> Config:
    """Returns a container's configuration as gVisor's shim changes it.

    Args:
        config: what `runc` would get.
        holder: the identifier of the pod's first container; None for itself.
        hints: the pod's annotations.
        volumes: the folder of the pod's volumes.
    """
    kinds = ("pid", "network", "ipc", "uts", "mount")
    return {
        **config,
        "mounts": list(_mounts(config["mounts"], hints, volumes)),
        "linux": {"namespaces": [{"type": kind} for kind in kinds]},
        "annotations": {
            **dict(_hints(hints, volumes)),
            f"{_CRI}.container-type": "sandbox" if holder is None else "container",
            **({} if holder is None else {f"{_CRI}.sandbox-id": holder}),
        },
    }


def _hints(hints: Mapping[str, str], volumes: Path) -> Iterator[tuple[str, str]]:
    for key, value in hints.items():
        if key.startswith(_HINT):
            yield key, value
            yield f"{key.rpartition('.')[0]}.source", str(volumes / key.split(".")[-2])


def _mounts(mounts: list[Config], hints: Mapping[str, str], volumes: Path) -> Iterator[Config]:
    shared = {source for key, source in _hints(hints, volumes) if key.endswith(".source")}
    for mount in mounts:
        if mount["type"] == "cgroup":
            continue
        if mount["source"] in shared:
            yield {**mount, "type": "tmpfs", "options": ["rw"]}
        else:
            yield mount

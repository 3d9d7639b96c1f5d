"""The runner of a container for one session: it makes the session's first process and waits for it.

What this stops: a session that shares memory with anything. This process has read nothing but its
settings when it makes the first process, which is a copy of its memory. It hands its control pipes
over and keeps none: what the server sends reaches the session alone.

What it does not: it does not watch the session; the kernel limits it, and the server ends it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from ..supervisor import children, preloading
from ..supervisor.cgroup_usage import CgroupUsage, find_own, make_own
from ..walls import assembly, policy
from ..walls.privileges import SandboxKernel
from . import first_process
from .first_process import Ground
from .memory_guard import MemoryGuard

_CONTROL_IN, _CONTROL_OUT = 0, 1
_MODULE_PATH = "PYTHONPATH"


def main(settings_json: str) -> NoReturn:
    """Runs one session; the settings are those of the zygote, see `__main__`."""
    settings = json.loads(settings_json)
    preloading.prepare()
    image = assembly.image_settings()
    folders = [*settings["packages"], *image["packages"]]
    packages = {_MODULE_PATH: ":".join(folders)} if folders else {}
    assembly.set_environment({**settings["environment"], **packages, **image["environment"]})
    walls = assembly.walls(settings, assembly.landlock_abi(settings))
    ground = _ground(settings)
    pipes = os.dup(_CONTROL_IN), os.dup(_CONTROL_OUT)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (_CONTROL_IN, _CONTROL_OUT):
        os.dup2(nothing, number)
    gc.freeze()
    body = partial(first_process.run, ground, walls, *pipes)
    pid = children.spawn(body, ground.privileges)
    for descriptor in (*pipes, nothing):
        os.close(descriptor)
    status = os.waitpid(pid, 0)[1] if ground.guard is None else ground.guard.watch(pid)
    sys.exit(os.waitstatus_to_exitcode(status) != 0)


def _ground(settings: Mapping[str, Any]) -> Ground:
    if settings["sandbox_kernel"]:
        SandboxKernel.prepare()
        meters, join = make_own()
        privileges = SandboxKernel(user=policy.INNER_ID, root=f"{policy.STAGE}/session")
        guard = MemoryGuard(meters)
        return Ground(privileges=privileges, joins=(join,), meters=meters, guard=guard)
    meters_given = settings["meters"]
    return Ground(
        privileges=assembly.lent_namespaces(settings),
        joins=tuple(settings["joins"]),
        meters=find_own() if meters_given is None else CgroupUsage(meters_given),
    )

"""Starts the zygote and the fork server inside a container, with settings as one JSON argument."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

from . import wire
from .candidate import warm_up
from .supervisor import preloading, zygote
from .supervisor import warm_up as children_warm_up
from .supervisor.candidates import CANDIDATE, TESTS, Candidates
from .supervisor.cgroup_usage import CgroupUsage, find_own, make_own
from .supervisor.judges import ForkServer
from .walls import assembly, confine, kernel, policy
from .walls.layers import Walls
from .walls.privileges import Privileges, SandboxKernel

_LAYOUT = "a judge's memory is laid out apart from a program's"
_NO_LAYOUT = (
    "every process has the interpreter's own code and types at the same addresses; use an "
    "interpreter that is a position-independent executable, on a kernel with randomize_va_space"
)
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _describe_walls(walls: Walls, landlock_abi: int, *, own_layout: bool) -> dict[str, object]:
    return {
        "seccomp": {"standing": bool(walls.seal.seccomp_filter), "detail": "system call filter"},
        "landlock": {
            "standing": landlock_abi > 0,
            "detail": f"ABI {landlock_abi}" if landlock_abi else "not in this kernel",
        },
        "private-proc": {
            "standing": walls.private_proc,
            "detail": "a fresh /proc for each execution",
        },
        "judge-layout": {"standing": own_layout, "detail": _LAYOUT if own_layout else _NO_LAYOUT},
    }


def _judge_privileges(settings: Mapping[str, Any]) -> Privileges:
    if settings["sandbox_kernel"]:
        return SandboxKernel(user=policy.JUDGE_ID, root=f"{policy.STAGE}/judge")
    return assembly.lent_namespaces(settings)


def _ground(settings: Mapping[str, Any], walls: Walls) -> tuple[CgroupUsage, Candidates]:
    if settings["sandbox_kernel"]:
        return _ground_of_sandbox_kernel(walls)
    privileges = assembly.lent_namespaces(settings)
    meters = find_own() if settings["meters"] is None else CgroupUsage(settings["meters"])
    privileges_of = {CANDIDATE: privileges, TESTS: privileges}
    joins = tuple(settings["joins"])
    return meters, Candidates(privileges_of=privileges_of, walls=walls, joins=joins)


def _ground_of_sandbox_kernel(walls: Walls) -> tuple[CgroupUsage, Candidates]:
    SandboxKernel.prepare()
    meters, join = make_own()
    users = {CANDIDATE: (policy.INNER_ID, "candidate"), TESTS: (policy.TESTS_ID, "tests")}
    privileges_of = {
        kind: SandboxKernel(user=user, root=f"{policy.STAGE}/{name}")
        for kind, (user, name) in users.items()
    }
    return meters, Candidates(privileges_of=privileges_of, walls=walls, joins=(join,))


def _prepare(settings: Mapping[str, Any]) -> None:
    preloading.prepare()
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(_FOLDER)]
    image = assembly.image_settings()
    assembly.set_environment({**settings["environment"], **image["environment"]})
    preloading.add_packages((*settings["packages"], *image["packages"]))
    preloading.preload((*settings["preload"], *image["preload"]))


def serve_judges(settings_json: str) -> None:
    """Runs the fork server, with the same settings as the zygote."""
    kernel.die_with_parent()
    confine.close_all_but(set())
    settings = json.loads(settings_json)
    _prepare(settings)
    from .supervisor import fork_server  # imports the judge's code, which the zygote must not load

    walls = assembly.walls(settings, assembly.landlock_abi(settings))
    fork_server.serve(_judge_privileges(settings), walls)


def main(settings_json: str, judges: list[str]) -> None:
    """Runs the zygote.

    Args:
        settings_json: an object with `meters` (name to descriptor), `joins` (descriptors),
            `private_proc`, `seccomp` and `landlock` (whether to use each), `packages` (folders to
            put on the module path), `preload` (modules to import in addition to those of
            `preloading`), `environment` (variables added to the policy's), `covered` (folders that
            executions do not see) and `sandbox_kernel` (whether the container has a kernel of its
            own, gVisor, with this process as its root). If `meters` is null, the zygote reads the
            container's own cgroup.
        judges: the command that starts the fork server.

    The settings that the image declares are added to these; see `assembly.image_settings`.
    """
    settings = json.loads(settings_json)
    server = ForkServer(judges)  # it warms up in parallel
    _prepare(settings)
    warm_up.run(server.begin_warm_up())
    landlock_abi = assembly.landlock_abi(settings)
    walls = assembly.walls(settings, landlock_abi)
    meters, candidates = _ground(settings, walls)
    if not settings["sandbox_kernel"]:
        children_warm_up.run(candidates)
    preloading.freeze()
    greeting = server.await_warm()
    description = {
        "protocol_version": wire.PROTOCOL_VERSION,
        "language_version": platform.python_version(),
        "memory_bytes": preloading.memory_bytes() + greeting.memory_bytes,
        "walls": _describe_walls(walls, landlock_abi, own_layout=not greeting.shares_landmarks),
    }
    zygote.run(meters, candidates, server, description)

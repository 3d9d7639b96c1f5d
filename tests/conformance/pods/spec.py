"""Makes of a container's manifest the configuration of an OCI runtime, as a node does.

Namespaces, user, capabilities, system call filter, masks of /proc and limits follow from the fields
of the manifest. What differs from a node: the root folder has this machine's /usr and this checkout
instead of an image's programs.
"""

from __future__ import annotations

import glob
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reward_server.runner.walls import policy
from reward_server.sandbox.runner_command import RUNNER_FOLDER

REPOSITORY = Path(__file__).parents[3]
FIRST, IDS = 1_700_000_000, 65_536  # the pod's users on the host
PODS_NAMESPACES = ("user", "network", "ipc", "uts")
OWN_NAMESPACES = ("pid", "mount", "cgroup")
POD_PIDS = 4096  # a kubelet's podPidsLimit
# What a container runtime covers in /proc, unless `procMount` is Unmasked.
MASKED = ("/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi")
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
DEFAULT_CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID"),
    *("SETFCAP", "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"),
)
# What the profile RuntimeDefault allows only to a container with CAP_SYS_ADMIN.
_ADMINS_CALLS = (
    *("bpf", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "lookup_dcookie"),
    *("mount", "mount_setattr", "move_mount", "open_tree", "perf_event_open", "pivot_root"),
    *("quotactl", "setdomainname", "sethostname", "setns", "umount", "umount2", "unshare"),
)
_NEW_NAMESPACES = 0x7E020000
_EPERM, _ENOSYS = 1, 38
_SYSTEM = ("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/passwd", "/etc/group")
_FOLDERS = ("etc", "home", "mnt", "opt", "root", "run", "srv", "var", "var/lib")  # of an image
_SHADOW = "etc/shadow"
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

Manifest = Mapping[str, Any]
Made = dict[str, Any]


def has_sandbox_image(container: Manifest) -> bool:
    """Returns True if a container's image is one that `reward-server images build` makes."""
    return str(container["image"]).startswith("codereward-")


def user_of(pod: Manifest, container: Manifest) -> int:
    """Returns the uid of a container's processes; the container's field wins over the pod's."""
    own = _context(container).get("runAsUser")
    return int(_context(pod).get("runAsUser", 0) if own is None else own)


def on_host(pod: Manifest, uid: int) -> int:
    """Returns the number that one of a pod's users has on this machine."""
    return uid if pod.get("hostUsers", True) else FIRST + uid


def process(pod: Manifest, container: Manifest, command: Sequence[str], env: Sequence[str]) -> Made:
    """Describes a process of a container."""
    context = _context(container)
    capabilities = [f"CAP_{name}" for name in _capabilities(context.get("capabilities", {}))]
    path = f"{sys.prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    group = _context(pod).get("fsGroup")
    return {
        "args": list(command),
        "cwd": "/",
        "env": [
            f"PATH={path}",
            "PYTHONDONTWRITEBYTECODE=1",
            f"PYTHONPATH={REPOSITORY}:{REPOSITORY}/proto",
            *env,
        ],
        "user": {
            "uid": user_of(pod, container),
            "gid": int(context.get("runAsGroup", _context(pod).get("runAsGroup", 0))),
            "additionalGids": [] if group is None else [group],
        },
        "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), capabilities),
        "noNewPrivileges": not context.get("allowPrivilegeEscalation", True),
    }


def _capabilities(asked: Manifest) -> list[str]:
    kept = [] if "ALL" in asked.get("drop", ()) else list(DEFAULT_CAPABILITIES)
    return [*kept, *asked.get("add", ())]


def linux(pod: Manifest, container: Manifest, holder: int | None) -> Made:
    """Describes namespaces, limits, filter and masks.

    Args:
        pod: the pod's specification.
        container: the container's.
        holder: a process in the pod's namespaces; None to make them.
    """
    return {
        "namespaces": list(_namespaces(pod, holder)),
        **_mappings(pod),
        "resources": _resources(container.get("resources", {}).get("limits", {})),
        **_filter({**_context(pod), **_context(container)}.get("seccompProfile", {})),
        **_masks(_context(container).get("procMount", "Default")),
    }


def _namespaces(pod: Manifest, holder: int | None) -> Iterator[Made]:
    shared = PODS_NAMESPACES if not pod.get("hostUsers", True) else PODS_NAMESPACES[1:]
    for kind in shared:
        place = "net" if kind == "network" else kind
        yield {"type": kind} | ({"path": f"/proc/{holder}/ns/{place}"} if holder else {})
    yield from ({"type": kind} for kind in OWN_NAMESPACES)


def _mappings(pod: Manifest) -> Made:
    if pod.get("hostUsers", True):
        return {}
    mapping = [{"containerID": 0, "hostID": FIRST, "size": IDS}]
    return {"uidMappings": mapping, "gidMappings": mapping}


def _resources(limits: Manifest) -> Made:
    made: Made = {"pids": {"limit": POD_PIDS}}
    if "memory" in limits:
        made["memory"] = {"limit": int(quantity(limits["memory"]))}
    if "cpu" in limits:
        made["cpu"] = {"quota": int(quantity(limits["cpu"]) * 100_000), "period": 100_000}
    return made


def quantity(text: object) -> float:
    """Reads a quantity of a manifest, such as 500m or 3Gi."""
    number, unit = re.fullmatch(r"([\d.]+)(\w*)", str(text)).groups()  # type: ignore[union-attr]  # the chart's
    return float(number) / 1000 if unit == "m" else float(number) * _UNITS[unit]


def _filter(profile: Manifest) -> Made:
    kind = profile.get("type", "Unconfined")
    if kind == "Unconfined":
        return {}
    if kind == "RuntimeDefault":
        return {"seccomp": runtime_default()}
    given = json.loads((REPOSITORY / "deploy" / profile["localhostProfile"]).read_text())
    calls = [{key: one[key] for key in one if key != "comment"} for one in given["syscalls"]]
    return {"seccomp": {"defaultAction": given["defaultAction"], "syscalls": calls}}


def runtime_default() -> Made:
    """Returns a filter that forbids what RuntimeDefault forbids to a sandbox's making."""
    denied = {"action": "SCMP_ACT_ERRNO", "errnoRet": _EPERM}
    flags = {"index": 0, "op": "SCMP_CMP_MASKED_EQ"}
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            {"names": list(_ADMINS_CALLS), **denied},
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
            *(
                {"names": ["clone"], **denied, "args": [{**flags, "value": bit, "valueTwo": bit}]}
                for bit in _bits(_NEW_NAMESPACES)
            ),
        ],
    }


def _bits(number: int) -> Iterator[int]:
    yield from (1 << place for place in range(32) if number >> place & 1)


def _masks(proc_mount: str) -> Made:
    masked = proc_mount == "Default"
    return {
        "maskedPaths": list(MASKED) if masked else [],
        "readonlyPaths": list(READ_ONLY) if masked else [],
    }


def _context(one: Manifest) -> Manifest:
    return one.get("securityContext") or {}


# ------------------------------------------------------------------------------------- files


def make_root(root: Path, owner: int, *, sandboxes: bool) -> None:
    """Makes the root folder of an image; the runtime makes mount points in it as the pod's root.

    Args:
        root: where it is made.
        owner: the pod's root on this machine.
        sandboxes: whether it is laid out for a runner, as `sandbox_images/prepare.sh` does.
    """
    homes = (root / "home" / name for name in ("sandbox", "user"))
    folders = [root, *(root / name for name in _FOLDERS), *homes]
    for path in folders if sandboxes else [*folders[:-2], root / "tmp"]:
        path.mkdir()
        os.chown(path, owner, owner)
    if sandboxes:
        (root / "tmp").symlink_to(policy.TMP_FOLDER.lstrip("/"))
    (root / _SHADOW).touch(mode=0o640)
    os.chown(root / _SHADOW, owner, owner)
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))


def system_mounts(*, writable_cgroup: bool) -> Iterator[Made]:
    """Yields what every container has."""
    yield {"destination": "/proc", "type": "proc", "source": "proc"}
    yield _mount("tmpfs", "/dev", "nosuid", "mode=755", "size=65536k")
    yield _mount("tmpfs", "/dev/shm", "nosuid", "nodev", "mode=1777", "size=65536k")
    options = ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")
    yield _mount("devpts", "/dev/pts", *options)
    options = ("nosuid", "noexec", "nodev")
    yield _mount("sysfs", "/sys", *options, "ro")
    access = "rw" if writable_cgroup else "ro"
    yield _mount("cgroup", "/sys/fs/cgroup", *options, "relatime", access)


def image_mounts(*, sandboxes: bool) -> Iterator[Made]:
    """Yields what stands for an image: this machine's programs with the runner or this checkout."""
    if sandboxes:
        yield bound(REPOSITORY / "reward_server/runner", RUNNER_FOLDER, "ro", "nosuid")
    added = () if sandboxes else _checkout()
    for path in dict.fromkeys((*_SYSTEM, *glob.glob("/etc/java-*"), *added)):
        if os.path.exists(path) and not (path != "/usr" and path.startswith("/usr/")):
            yield bound(Path(path), path, "ro", "nosuid")


def _checkout() -> tuple[str, ...]:
    return (sys.base_prefix, sys.prefix, str(REPOSITORY), *_added_paths())


def _mount(kind: str, path: str, *options: str) -> Made:
    return {"destination": path, "type": kind, "source": kind, "options": [*options]}


def bound(source: Path, destination: str, *options: str) -> Made:
    """Describes a folder or file of this machine in a container."""
    return {
        "destination": destination,
        "type": "bind",
        "source": str(source),
        "options": ["rbind", *options],
    }


def _added_paths() -> list[str]:
    """Returns the folders that a file of this environment adds to its packages."""
    found = Path(sysconfig.get_path("purelib")).glob("*.pth")
    lines = [line for file in found for line in file.read_text().splitlines()]
    return [line for line in lines if line.startswith("/") and line.endswith("site-packages")]

"""Limits each slot by a cgroup of its own, on version 1 and version 2 of the kernel's interface.

What this stops: a process tree that uses more memory (swap included), more processes or more cores
than its share. It also measures what the tree used.

What it does not: it does not limit the tree's share of disk, network or uncharged kernel memory.

    parent     the cgroup in which the slots' cgroups are made: the server's own cgroup, or the one
               named by `cgroup_parent`. It must be writable (root, or delegated by systemd).
    slot       parent/codereward-<owner>-<nonce>.<slot>, in every hierarchy on version 1

The owner names the server process (pid namespace, pid, start time). So a later server can
distinguish what a dead server left from what a living server uses.

On version 2, a cgroup whose children have controllers may not contain a process. If the server's
own cgroup contains only the server, the server moves into a leaf beside the slots. If it contains
other processes too, the slots become siblings of the server's own cgroup. There is a special case:
in a container, the server's cgroup is the root of all cgroups that it sees. Every process in it
belongs to the container, such as a health probe that runs while the server starts. These processes
move together with the server.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reward_server.domain import Wall
from reward_server.errors import MissingWallError, SandboxError
from reward_server.sandbox.local.janitor import (
    OUR_PREFIX,
    kill_cgroup,
    remove_cgroup,
    write_control,
)
from reward_server.sandbox.owner import owner_id, owner_lives
from reward_server.sandbox.pod_options import WRITABLE_CGROUP, is_pod

LEAF = OUR_PREFIX + "server"
REMOVE_SECONDS = 5.0
AGAIN_SECONDS = 0.1
CPU_PERIOD_MICROSECONDS = 100_000

MEMORY, PIDS, CPU, CPUACCT = "memory", "pids", "cpu", "cpuacct"
# The hierarchy of pids is the first: in it a kill first forbids forks, and the other hierarchies
# hold the same processes.
CONTROLLERS = {1: (PIDS, MEMORY, CPU, CPUACCT), 2: (PIDS, MEMORY, CPU)}
WALLS = {"memory-limit": (MEMORY,), "process-limit": (PIDS,), "cpu-limit": (CPU, CPUACCT)}

_NAMED = "or name a cgroup that you may write with --set cgroup_parent=PATH"
_FOR_ROOT = (
    "give root a cgroup file system that it may write (in Docker: `-v "
    f"/sys/fs/cgroup:/sys/fs/cgroup:rw`), {_NAMED}"
)
_FOR_USERS = (
    "start the server with `systemd-run --user --scope -p Delegate=yes reward-server serve`, as "
    f"root, {_NAMED}"
)

# The files that the zygote reads: key, version, controller, file, flags for opening it.
_READ_FILES = (
    ("cpu_v1", 1, CPUACCT, "cpuacct.usage", os.O_RDONLY),
    ("cpu_v2", 2, "", "cpu.stat", os.O_RDONLY),
    ("memory_current", 1, MEMORY, "memory.usage_in_bytes", os.O_RDONLY),
    ("memory_current", 2, MEMORY, "memory.current", os.O_RDONLY),
    # Writing resets the peak. Version 2 allows it since Linux 6.12. Before, a peak would cover the
    # container's whole life instead of one execution, so the file is not opened.
    ("memory_peak_v1", 1, MEMORY, "memory.max_usage_in_bytes", os.O_RDWR),
    ("memory_peak_v2", 2, MEMORY, "memory.peak", os.O_RDWR),
    ("memory_events_v1", 1, MEMORY, "memory.oom_control", os.O_RDONLY),
    ("memory_events_v2", 2, MEMORY, "memory.events", os.O_RDONLY),
    ("pids_events", 1, PIDS, "pids.events", os.O_RDONLY),
    ("pids_events", 2, PIDS, "pids.events", os.O_RDONLY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotCgroup:
    """One slot's cgroup. A limit whose controller is absent is not set: see `CgroupParent`."""

    version: int
    directories: Mapping[str, Path]

    @property
    def procs_paths(self) -> tuple[str, ...]:
        """Files to which a process writes "0" to join."""
        return tuple(str(path / "cgroup.procs") for path in _distinct(self.directories))

    def set_memory(self, limit_bytes: int) -> None:
        """Limits memory, and forbids swap beyond it.

        Raises:
            SandboxError: the kernel refused, such as for a limit below what is in use.
        """
        if MEMORY not in self.directories:
            return
        directory = self.directories[MEMORY]
        if self.version == 2:
            _set(directory / "memory.max", str(limit_bytes))
            _set_where_present(directory / "memory.swap.max", "0")
            return
        _set_where_present(directory / "memory.swappiness", "0")
        files = [directory / "memory.limit_in_bytes", directory / "memory.memsw.limit_in_bytes"]
        # The limit of memory with swap may never be below that of memory alone, even temporarily.
        if limit_bytes > int(files[0].read_text()):
            files.reverse()
        for file in files:
            _set_where_present(file, str(limit_bytes))

    def set_processes(self, limit: int) -> None:
        """Limits the number of living processes and threads.

        Raises:
            SandboxError: the kernel refused.
        """
        if PIDS in self.directories:
            _set(self.directories[PIDS] / "pids.max", str(limit))

    def set_cpu(self, cores: float) -> None:
        """Limits CPU time per wall time.

        Raises:
            SandboxError: the kernel refused.
        """
        if CPU not in self.directories:
            return
        directory, quota = self.directories[CPU], int(cores * CPU_PERIOD_MICROSECONDS)
        if self.version == 2:
            _set(directory / "cpu.max", f"{quota} {CPU_PERIOD_MICROSECONDS}")
            return
        _set(directory / "cpu.cfs_period_us", str(CPU_PERIOD_MICROSECONDS))
        _set(directory / "cpu.cfs_quota_us", str(quota))

    def open_fds(self) -> dict[str, int]:
        """Opens the files that the zygote reads, by key; the caller passes them on and closes them.

        `memory_peak_v1` and `memory_peak_v2` are reset by writing; they are absent if the kernel
        cannot do that; see the table of this module.

        Raises:
            SandboxError: a file cannot be opened.
        """
        opened: dict[str, int] = {}
        for key, version, controller, name, flags in _READ_FILES:
            directory = self._directory_of(controller)
            if version != self.version or directory is None:
                continue
            try:
                # Root may open a file for writing even if the kernel does not implement writing it.
                if flags == os.O_RDWR and not (directory / name).stat().st_mode & stat.S_IWUSR:
                    continue
                opened[key] = os.open(directory / name, flags | os.O_CLOEXEC)
            except OSError as error:
                _close_all(opened)
                raise SandboxError(f"cannot open {directory / name}: {error.strerror}") from error
        return opened

    def kill_all(self, seconds: float = REMOVE_SECONDS) -> None:
        """Kills every process in the cgroup and waits some seconds for them to be gone."""
        deadline = time.monotonic() + seconds
        for directory in _distinct(self.directories):
            kill_cgroup(str(directory), deadline)

    def remove(self, seconds: float = REMOVE_SECONDS) -> None:
        """Removes the cgroup; its processes must be gone or dying.

        Raises:
            SandboxError: it is still there after some seconds.
        """
        deadline = time.monotonic() + seconds
        for directory in _distinct(self.directories):
            try:
                remove_cgroup(str(directory), deadline)
            except OSError as error:
                raise SandboxError(f"cannot remove {directory}: {error.strerror}") from error

    def _directory_of(self, controller: str) -> Path | None:
        if controller:
            return self.directories.get(controller)
        return next(iter(self.directories.values()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupParent:
    """The cgroup in which slots are made, and the controllers that it lacks.

    Args:
        version: 1 or 2; 0 if there are no cgroups at all.
        directories: parent folder by controller; on version 2 all are the same.
        absent: why a controller cannot be used, by controller.
        owner: the process to which the cgroups made here belong.
        nonce: distinguishes them from those of another server in the same process.
        left: cgroups that could not be removed yet.
    """

    version: int
    directories: Mapping[str, Path]
    absent: Mapping[str, str]
    owner: str = field(default_factory=owner_id)
    nonce: str = field(default_factory=lambda: secrets.token_hex(3), compare=False)
    left: deque[SlotCgroup] = field(default_factory=deque, compare=False)

    @classmethod
    def detect(
        cls,
        parent: str | None = None,
        *,
        allow_missing: frozenset[str] = frozenset(),
        process: Path = Path("/proc/self"),
    ) -> CgroupParent:
        """Finds where this process may make cgroups, and prepares that cgroup.

        Args:
            parent: path of an existing cgroup: from the root of its hierarchy or of the file
                system, or, without a leading slash, from this process's own; None for this
                process's own or its parent.
            allow_missing: names of walls that may be missing.
            process: folder with the `cgroup` and `mountinfo` files to use.

        Raises:
            MissingWallError: a limit is unavailable and not in `allow_missing`.
        """
        found = cls.look(parent, process=process)
        missing = tuple(
            (wall.name, wall.detail)
            for wall in found.walls()
            if not wall.standing and wall.name not in allow_missing
        )
        if missing:
            raise MissingWallError(missing, waivable=[name for name, _ in missing])
        return found

    @classmethod
    def look(cls, parent: str | None, *, process: Path = Path("/proc/self")) -> CgroupParent:
        """Finds the cgroup like `detect`, but accepts any missing limit."""
        mounts = mounts_of(process)
        own = own_paths(process)
        if 2 in mounts and MEMORY in _offered(mounts[2][""].point):
            return _look_v2(mounts[2][""], own.get("", "/"), parent)
        if 1 in mounts:
            return _look_v1(mounts[1], own, parent)
        reason = f"no cgroup file system is mounted here; {_remedy()}"
        return cls(version=0, directories={}, absent=dict.fromkeys(CONTROLLERS[1], reason))

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Prefixes of the paths of all cgroups made here, for the janitor."""
        return tuple(str(path / self._prefix) for path in _distinct(self.directories))

    def walls(self) -> tuple[Wall, ...]:
        """Returns the limits as walls; a wall is in effect if its limit can be set."""
        return tuple(self._wall(name, needed) for name, needed in WALLS.items())

    def create(self, name: str) -> SlotCgroup:
        """Makes the cgroup of a slot.

        Raises:
            SandboxError: the kernel refused.
        """
        slot = SlotCgroup(
            version=self.version,
            directories={
                key: path / f"{self._prefix}{name}" for key, path in self.directories.items()
            },
        )
        made: list[Path] = []
        for directory in _distinct(slot.directories):
            try:
                directory.mkdir()
            except OSError as error:
                for empty in made:
                    empty.rmdir()
                raise SandboxError(f"cannot make {directory}: {error.strerror}") from error
            made.append(directory)
        self.remove(())
        return slot

    def remove(self, slots: Iterable[SlotCgroup]) -> None:
        """Kills what is in cgroups, and removes them; retries later those that cannot be removed.

        It retries in the next call, or when the next cgroup is made: by then the obstacle, such as
        a full table of files, may be gone.
        """
        chances = [(slot, AGAIN_SECONDS) for slot in _taken(self.left)]
        for slot, seconds in (*((slot, REMOVE_SECONDS) for slot in slots), *chances):
            try:
                slot.kill_all(seconds)
                slot.remove(seconds)
            except (OSError, SandboxError):
                self.left.append(slot)

    @property
    def _prefix(self) -> str:
        return f"{OUR_PREFIX}{self.owner}-{self.nonce}."

    def _wall(self, name: str, needed: tuple[str, ...]) -> Wall:
        for controller in needed:
            if controller in self.absent:
                return Wall(name=name, standing=False, detail=self.absent[controller])
        return Wall(name=name, standing=True, detail=f"cgroup v{self.version}")


def _taken(slots: deque[SlotCgroup]) -> Iterator[SlotCgroup]:
    """Removes and yields the present elements; another thread may do the same."""
    for _ in range(len(slots)):
        with contextlib.suppress(IndexError):
            yield slots.popleft()


def remove_stale(parent: CgroupParent) -> tuple[str, ...]:
    """Kills and removes what dead servers left under `parent`.

    Returns:
        The paths removed.
    """
    deadline = time.monotonic() + REMOVE_SECONDS
    stale = [path for place in _distinct(parent.directories) for path in _stale_in(place)]
    removed = []
    for path in stale:
        with contextlib.suppress(OSError):
            kill_cgroup(str(path), deadline)
    for path in stale:
        with contextlib.suppress(OSError):
            remove_cgroup(str(path), deadline)
            removed.append(str(path))
    return tuple(removed)


def _stale_in(place: Path) -> Iterator[Path]:
    for path in place.glob(OUR_PREFIX + "*-*"):
        owner = path.name.removeprefix(OUR_PREFIX).partition("-")[0]
        if not owner_lives(owner):
            yield path


# ------------------------------------------------------------------------- finding the place


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted hierarchy: the part of it that is mounted (`root`), and its mount point
    (`point`)."""

    root: str
    point: Path

    def directory(self, path: str) -> Path:
        """Returns the folder of a cgroup, from its name in /proc/self/cgroup."""
        inside = path.removeprefix(self.root.rstrip("/")) if path.startswith(self.root) else path
        return self.point / inside.lstrip("/")

    def named(self, setting: str, own: str) -> Path:
        """Returns the folder that a `cgroup_parent` setting names."""
        if not setting.startswith("/"):
            return self.directory(own) / setting
        return self.point / setting.removeprefix(str(self.point)).lstrip("/")


def mounts_of(process: Path) -> dict[int, dict[str, Mount]]:
    """Lists the mounted hierarchies by version, then by controller ("" on version 2)."""
    found: dict[int, dict[str, Mount]] = {}
    for line in (process / "mountinfo").read_text().splitlines():
        front, _, back = line.partition(" - ")
        kind, _, options = back.split(" ", 2)
        fields = front.split(" ")
        mount = Mount(root=fields[3], point=Path(fields[4].replace("\\040", " ")))
        if kind == "cgroup2":
            found.setdefault(2, {})[""] = mount
        elif kind == "cgroup":
            for controller in set(options.split(",")) & set(CONTROLLERS[1]):
                found.setdefault(1, {})[controller] = mount
    return found


def own_paths(process: Path) -> dict[str, str]:
    """Returns this process's cgroup by controller ("" on version 2)."""
    paths: dict[str, str] = {}
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _look_v1(
    mounts: Mapping[str, Mount], own: Mapping[str, str], parent: str | None
) -> CgroupParent:
    directories: dict[str, Path] = {}
    absent: dict[str, str] = {}
    for controller in CONTROLLERS[1]:
        if controller not in mounts or controller not in own:
            absent[controller] = f"the kernel has no {controller} controller; {_remedy()}"
            continue
        mount = mounts[controller]
        path = own[controller]
        directory = mount.directory(path) if parent is None else mount.named(parent, path)
        if problem := _unusable(directory):
            absent[controller] = problem
        else:
            directories[controller] = directory
    return CgroupParent(version=1, directories=directories, absent=absent)


def _look_v2(mount: Mount, own: str, parent: str | None) -> CgroupParent:
    # If the server is in the leaf already, the cgroup is the leaf's parent.
    own = own.removesuffix("/" + LEAF) or "/"
    is_containers = parent is None and own == "/"
    if parent is not None:
        places = [mount.named(parent, own)]
    else:
        places = [mount.directory(own)]
        if places[0] != mount.point:
            places.append(places[0].parent)
    found = []
    for place in places:
        absent = _enable(place, is_containers=is_containers)
        usable = {name: place for name in CONTROLLERS[2] if name not in absent}
        found.append(CgroupParent(version=2, directories=usable, absent=absent))
        if not absent:
            break
    return min(found, key=lambda candidate: len(candidate.absent))


def _enable(place: Path, *, is_containers: bool) -> dict[str, str]:
    """Enables the controllers for a cgroup's children; returns those that fail, with the reason."""
    if problem := _unusable(place):
        return dict.fromkeys(CONTROLLERS[2], problem)
    absent: dict[str, str] = {}
    for controller in CONTROLLERS[2]:
        if controller in _enabled(place):
            continue
        if controller not in _offered(place):
            absent[controller] = f"{place} does not offer the {controller} controller; {_remedy()}"
        elif problem := _vacate(place, is_containers) or _hand_down(place, controller):
            absent[controller] = problem
    return absent


def _hand_down(place: Path, controller: str) -> str:
    try:
        write_control(str(place / "cgroup.subtree_control"), f"+{controller}")
    except OSError as error:
        return f"{place} does not hand down {controller} ({error.strerror}); {_remedy()}"
    return ""


def _vacate(place: Path, is_containers: bool) -> str:
    """Moves this process out of `place` into a leaf, if no other process is there.

    Only the root of the hierarchy may hold processes and have children with controllers; it is the
    only cgroup without a `cgroup.type`.

    Args:
        place: the cgroup.
        is_containers: whether it is this container's own; its other processes move, too.
    """
    if not (place / "cgroup.type").exists():
        return ""
    inside = (place / "cgroup.procs").read_text().split()
    if set(inside) - {str(os.getpid())} and not is_containers:
        return f"{place} holds other processes than the server; {_remedy()}"
    try:
        for pid in inside:
            (place / LEAF).mkdir(exist_ok=True)
            with contextlib.suppress(ProcessLookupError):
                write_control(str(place / LEAF / "cgroup.procs"), pid)
    except OSError as error:
        return f"cannot move into {place / LEAF} ({error.strerror}); {_remedy()}"
    return ""


def _remedy() -> str:
    if is_pod():
        return WRITABLE_CGROUP
    return _FOR_USERS if os.geteuid() else _FOR_ROOT


def _unusable(directory: Path) -> str:
    if not directory.is_dir():
        return f"{directory} is not a cgroup here; {_remedy()}"
    if not os.access(directory, os.W_OK):
        return f"{directory} is not writable by uid {os.geteuid()}; {_remedy()}"
    return ""


def _offered(place: Path) -> list[str]:
    return (place / "cgroup.controllers").read_text().split()


def _enabled(place: Path) -> list[str]:
    return (place / "cgroup.subtree_control").read_text().split()


def _distinct(directories: Mapping[str, Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(directories.values()))


# ---------------------------------------------------------------------------------- writing


def _set(file: Path, text: str) -> None:
    try:
        write_control(str(file), text)
    except OSError as error:
        raise SandboxError(f"cannot write {text} to {file}: {error.strerror}") from error


def _set_where_present(file: Path, text: str) -> None:
    try:
        write_control(str(file), text)
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise SandboxError(f"cannot write {text} to {file}: {error.strerror}") from error


def _close_all(descriptors: Mapping[str, int]) -> None:
    for descriptor in descriptors.values():
        os.close(descriptor)

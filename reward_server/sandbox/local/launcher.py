"""Starts one container: a program that the server runs once for each container.

What this stops: a container that gets the server's own identity, descriptors or environment, or
that sees the host's files directly. The launcher enters the slot's cgroup, stages the files that
the container may see, changes from root to an ordinary user without other processes, and executes
bubblewrap.

What it does not: it confines nothing itself; bubblewrap's arguments, made in `container`, do.

Files are staged below `STAGE` in a mount namespace that ends with the container, each folder as an
overlay of its own. An overlay's files have inodes of their own: a lock on one blocks only this
container, and the kernel shows no folder of the host as the origin of a mount. Hidden files are
covered by *whiteouts* (devices 0:0, which an overlay treats as deleted files) in a layer above.
"""

from __future__ import annotations

import errno
import json
import marshal
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence

from reward_server.runner.walls import kernel

STAGE = "/mnt"
DEVICES = f"{STAGE}/dev"
RUNNER = f"{STAGE}/runner"

_PROGRAMS = f"{STAGE}/programs"
_LAYERS, _ADDED = f"{STAGE}/layers", f"{STAGE}/added"
_PARENTS, _NOTHING = f"{STAGE}/parents", f"{STAGE}/nothing"
_READ_ONLY = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
_UMASK = 0o022  # replaces the server's: the container's user must be able to read staged files
_NODES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


def stage(
    views: Sequence[tuple[str, Sequence[str], str]], programs: str, runner: Mapping[str, bytes]
) -> None:
    """Makes each view at `STAGE`/index, invisible to other processes.

    Args:
        views: folders or files of the host, each with the paths hidden in it and a folder whose
            files are shown in it as well, or "".
        programs: the folder of bubblewrap and its libraries, often inside a closed home folder.
        runner: the contents of the runner's files, by path.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755")
    for folder in (_LAYERS, _ADDED, _PARENTS, _NOTHING, _PROGRAMS):
        os.mkdir(folder)
    kernel.mount(programs, _PROGRAMS, None, kernel.MS_BIND)
    parents: dict[str, str | None] = {}
    for index, (source, hidden, added) in enumerate(views):
        if os.path.isdir(source):
            _stage_folder(source, str(index), hidden, added)
        else:
            _stage_file(source, f"{STAGE}/{index}", parents)
    _stage_runner(runner)
    _stage_devices()


def _stage_folder(source: str, name: str, hidden: Iterable[str], added: str) -> None:
    layer = f"{_LAYERS}/{name}"
    os.mkdir(layer)
    for path in hidden:
        os.makedirs(f"{layer}/{os.path.dirname(path)}", exist_ok=True)
        os.mknod(f"{layer}/{path}", stat.S_IFCHR, os.makedev(0, 0))
    os.mkdir(f"{STAGE}/{name}")
    layers = [layer]
    if added:
        # Its own name would show in the container as an origin of the mount.
        layers.append(f"{_ADDED}/{name}")
        os.mkdir(layers[-1])
        kernel.mount(added, layers[-1], None, kernel.MS_BIND)
    try:
        _overlay(layers, source, f"{STAGE}/{name}")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise OSError(
            errno.EINVAL,
            f"{source} cannot be shown without what is mounted in it: unmount that, or start the "
            "server as root",
        ) from None


def _stage_file(source: str, target: str, parents: dict[str, str | None]) -> None:
    """Shows one file through an overlay of its folder, or a copy if the overlay is impossible."""
    real = os.path.realpath(source)
    folder = os.path.dirname(real)
    if folder not in parents:
        parents[folder] = _stage_parent(folder, f"{_PARENTS}/{len(parents)}")
    if parents[folder] is None:
        shutil.copyfile(real, target)
    else:
        _bind(f"{parents[folder]}/{os.path.basename(real)}", target)


def _stage_parent(folder: str, place: str) -> str | None:
    """Makes an overlay of a folder, and returns its path.

    The kernel refuses an overlay to a user if another user mounted something in that folder, as
    container engines do in /etc. The reason is that the user must not see the files under the
    mount. The result is None then.
    """
    os.mkdir(place)
    try:
        _overlay([_NOTHING], folder, place)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return None
    return place


def _overlay(layers: Sequence[str], source: str, target: str) -> None:
    os.chdir(source)  # the kernel shows the name given here to others, so it is relative
    kernel.mount("overlay", target, "overlay", _READ_ONLY, f"lowerdir={':'.join(layers)}:.")
    os.chdir("/")


def _stage_runner(contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        path = f"{RUNNER}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def _bind(source: str, target: str) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(source, target, None, kernel.MS_BIND)


def _stage_devices() -> None:
    """Makes device files for the container, or shows the host's if the kernel refuses that."""
    os.mkdir(DEVICES)
    kernel.mount("tmpfs", DEVICES, "tmpfs", kernel.MS_NOSUID, "mode=755")
    for name in ("shm", "pts"):
        os.mkdir(f"{DEVICES}/{name}")
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{DEVICES}/{name}")
    for name, numbers in _NODES.items():
        path = f"{DEVICES}/{name}"
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*numbers))
            os.chmod(path, 0o666)
        except PermissionError:
            _bind(f"/dev/{name}", path)
    read_only = kernel.MS_REMOUNT | kernel.MS_RDONLY | kernel.MS_NOSUID
    kernel.mount("tmpfs", DEVICES, None, read_only, "mode=755")


def become(uid: int) -> None:
    """Changes permanently from root to an ordinary user."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    kernel.make_dumpable()


def enter_namespaces(*, is_root: bool) -> None:
    """Enters a new mount namespace and, as an ordinary user, a user namespace that allows
    mounts."""
    if is_root:
        kernel.unshare(kernel.CLONE_NEWNS)
        return
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
    maps = {"setgroups": "deny", "uid_map": f"{uid} {uid} 1", "gid_map": f"{gid} {gid} 1"}
    for name, text in maps.items():
        _write(f"/proc/self/{name}", text)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def main(plan_descriptor: int, runner_descriptor: int) -> None:
    """Starts the container.

    Args:
        plan_descriptor: descriptor of a JSON object with `procs` (cgroups to enter), `views` and
            `programs` (see `stage`), `uid` (null if the server is an ordinary user already) and
            `command`, whose first word is a path relative to `programs`.
        runner_descriptor: descriptor of the runner's files, see `stage`, in the format of
            `marshal`.
    """
    with open(plan_descriptor, encoding="utf-8") as file:
        plan = json.load(file)
    with open(runner_descriptor, "rb") as file:
        runner = marshal.load(file)
    os.umask(_UMASK)
    for path in plan["procs"]:
        _write(path, "0")
    enter_namespaces(is_root=plan["uid"] is not None)
    stage(plan["views"], plan["programs"], runner)
    if plan["uid"] is not None:
        become(plan["uid"])
    command = plan["command"]
    os.execve(f"{_PROGRAMS}/{command[0]}", command, {})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

"""Runs every check as an ordinary user, with a control group that root delegated.

    python ordinary_user.py UID CGROUP

Started as root: makes a mount namespace in which interpreter and checkout can be reached even where
they lie under somebody's closed home, becomes UID, and prints one JSON object of problems by check.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE, _MS_BIND = 0x00020000, 16384, 1 << 18, 4096
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _mount(source: str, target: str, kind: bytes | None, flags: int) -> None:
    _check(_libc.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), None))


def _closed_ancestor(path: Path) -> Path | None:
    for ancestor in reversed(path.parents):
        if not ancestor.stat().st_mode & 0o001:
            return ancestor
    return None


def open_the_way(paths: Iterable[Path]) -> None:
    """Covers each closed folder above a path with an open one that holds these paths alone."""
    closed = {path: _closed_ancestor(path) for path in sorted(paths)}
    kept = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in closed if closed[path]}
    for ancestor in {closed[path] for path in kept}:
        _mount("none", str(ancestor), b"tmpfs", 0)
    for path, descriptor in kept.items():
        if not path.exists():  # it lies in none that came before
            path.mkdir(parents=True)
            _mount(f"/proc/self/fd/{descriptor}", str(path), None, _MS_BIND | _MS_REC)
        os.close(descriptor)


def become(uid: int) -> None:
    """Turns root into an ordinary user with its own view of the mounts."""
    _check(_libc.unshare(_CLONE_NEWNS))
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    needed = (sys.base_prefix, sys.prefix, REPOSITORY)
    open_the_way(Path(os.path.realpath(path)) for path in needed)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def main(uid: int, cgroup_parent: str) -> None:
    """Does what the module says."""
    become(uid)
    os.environ["HOME"] = "/nonexistent"
    with tempfile.TemporaryDirectory() as folder:
        # Imported as the user who has to be able to.
        from reward_server.sandbox.local.cgroup import CgroupParent
        from tests.conformance.suite.all_checks import problems, starting

        start = starting(CgroupParent.detect(cgroup_parent))
        found = asyncio.run(problems(start, Path(folder)))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

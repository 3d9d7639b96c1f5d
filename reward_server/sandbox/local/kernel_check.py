"""Tries, in a separate process, what a container needs from the kernel; prints one JSON object.

    python -I -S kernel_check.py UID

The object has two members. Each is null, or the reason for a failure. `user` is about becoming the
ordinary user UID (0 means no change). `namespaces` is about mounting something in new user and
mount namespaces, because a kernel may create a namespace and still refuse every use of it. It uses
the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_PR_SET_DUMPABLE = 4

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _become(uid: int) -> None:
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # A change of ids closes a process's own /proc files, including the maps below.
        _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def _enter_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _check(_libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None), "mount")


def main(uid: int) -> None:
    """Tries one after the other; the second is null if the first failed."""
    results: dict[str, str | None] = {}
    try:
        _become(uid)
        results["user"] = None
        _enter_namespaces()
        results["namespaces"] = None
    except OSError as error:
        results["namespaces" if "user" in results else "user"] = str(error)
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main(int(sys.argv[1]))

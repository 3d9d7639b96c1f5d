"""Starts one container: the program that the server runs, afresh, for each slot.

What this stops: the server's own identity, descriptors and environment reaching the container.
It enters the slot's control group, gives up root for an ordinary user that exists nowhere else,
and becomes bubblewrap.

What it does not: confine by itself; bubblewrap's arguments, made in `local`, do.

When the server is root, the interpreter often lies under a closed home. So while it still is
root, the launcher binds each source folder below `STAGE` in a mount namespace of its own, which
ends with the container, and bubblewrap reads them from there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from reward_server.runner import kernel

STAGE = "/mnt"


def stage(sources: Sequence[str]) -> None:
    """Binds each source, a folder or a file, at `STAGE`/index, out of everyone else's sight."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755")
    for index, source in enumerate(sources):
        target = f"{STAGE}/{index}"
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        kernel.mount(source, target, None, kernel.MS_BIND | kernel.MS_REC)


def become(uid: int) -> None:
    """Turns root into an ordinary user, for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    kernel.make_dumpable()


def main(specification: str) -> None:
    """Starts the container.

    Args:
        specification: a JSON object with `procs` (control groups to enter), `sources` and `uid`
            (null where the server is an ordinary user already: then nothing is staged) and
            `command`.
    """
    plan = json.loads(specification)
    for path in plan["procs"]:
        with open(path, "w", encoding="ascii") as procs:
            procs.write("0")
    if plan["uid"] is not None:
        stage(plan["sources"])
        become(plan["uid"])
    command = plan["command"]
    os.execve(command[0], command, {})


if __name__ == "__main__":
    main(sys.argv[1])

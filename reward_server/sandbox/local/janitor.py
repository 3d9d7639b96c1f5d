"""Cleans up after the server's death, whatever its cause.

The server starts `python -I -S janitor.py` in a separate session, and holds the writing end of the
janitor's standard input. It writes lines there:

    cgroup PREFIX   every cgroup whose path begins with PREFIX

End of file means that the server has ended. If it ended normally, it has removed everything itself.
Otherwise, for example after `kill -9`, the janitor kills and removes what it finds. It does this
for at most `TIME_LIMIT_SECONDS`, and then exits.

What this stops: processes and cgroups that outlive the server that owned them.

What it does not: it does not survive a `kill -9` of itself. The next server that starts under the
same cgroup removes what remains; see `cgroup.remove_stale`.

It uses the standard library only, because it runs without site-packages.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

OUR_PREFIX = "codereward-"
READY = b"ready\n"
TIME_LIMIT_SECONDS = 10.0
RETRY_SECONDS = 0.005


class Janitor:
    """The server's handle of its janitor process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(cls) -> Janitor:
        """Starts the process and returns when it is ready.

        Raises:
            OSError: the process cannot be started.
        """
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
            bufsize=0,
        )
        assert process.stdout is not None
        with process.stdout as guard:
            if guard.readline() != READY:
                raise OSError("the janitor did not start")
        return cls(process)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def watch_cgroups(self, prefixes: Iterable[str]) -> None:
        """Adds all cgroups whose paths have one of these prefixes."""
        for prefix in prefixes:
            self._watch(prefix)

    def close(self) -> None:
        """Ends the janitor, after everything that it watches has been removed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(2 * TIME_LIMIT_SECONDS)

    def _watch(self, prefix: str) -> None:
        if not os.path.basename(prefix).startswith(OUR_PREFIX) or "\n" in prefix:
            raise ValueError(f"not a path of ours: {prefix!r}")
        assert self._process.stdin is not None
        self._process.stdin.write(f"cgroup {prefix}\n".encode())


def kill_cgroup(directory: str, deadline: float) -> None:
    """Kills every process in a cgroup and waits, until `deadline` (monotonic), for it to be empty.

    Without `cgroup.kill` (version 1) it forbids forks first, so that repeated killing ends.

    Raises:
        OSError: the cgroup exists but cannot be read.
    """
    by_kernel = _try(directory, "cgroup.kill", "1")
    if not by_kernel:
        _try(directory, "pids.max", "0")
    while pids := _processes(directory):
        for pid in () if by_kernel else pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(RETRY_SECONDS)


def _try(directory: str, name: str, text: str) -> bool:
    try:
        write_control(os.path.join(directory, name), text)
    except OSError:
        return False
    return True


def remove_cgroup(directory: str, deadline: float) -> None:
    """Removes a cgroup, waiting until `deadline` (monotonic) for killed processes to be gone.

    Raises:
        OSError: the cgroup still exists.
    """
    while True:
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)


def write_control(path: str, text: str) -> None:
    """Writes to a file of a cgroup.

    Raises:
        OSError: the kernel refused, or the file does not exist.
    """
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _processes(directory: str) -> list[int]:
    try:
        with open(os.path.join(directory, "cgroup.procs")) as file:
            pids = [int(line) for line in file]
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENODEV):
            return []
        raise
    # 0 stands for a process of another pid namespace, and kill(0) would kill this process group.
    return [pid for pid in pids if pid > 0]


def _clean(lines: Iterable[str]) -> None:
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    cgroups: list[str] = []
    for line in lines:
        kind, _, prefix = line.partition(" ")
        if kind == "cgroup":
            cgroups.extend(glob.glob(glob.escape(prefix) + "*"))
    for directory in cgroups:
        with contextlib.suppress(OSError):
            kill_cgroup(directory, deadline)
    for directory in cgroups:
        with contextlib.suppress(OSError):
            remove_cgroup(directory, deadline)


def main() -> None:
    """Waits for the end of the server, then cleans up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.write(1, READY)
    os.close(1)
    lines = sys.stdin.buffer.read().decode(errors="surrogateescape").splitlines()
    _clean(line for line in lines if os.path.basename(line).startswith(OUR_PREFIX))


if __name__ == "__main__":
    main()

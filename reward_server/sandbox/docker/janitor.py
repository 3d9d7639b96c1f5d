"""Removes an engine's containers after a server that died, whatever it died of.

A container whose runner is up ends with the server's connection to it. One that was made and not
started yet would stay until the next server comes: so the server starts this as a process in a
session of its own, and holds the writing end of its standard input. The line "done" there means
that the server has removed everything itself; end of file without it, that it was killed.

What this stops: containers outliving their server.
What it does not: a kill of this process as well, or an engine that does not answer for
`TIME_LIMIT_SECONDS`. The next server removes what both left; see `container.remove_stale`.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time

from reward_server.errors import SandboxError

READY = b"ready\n"
DONE = b"done\n"
TIME_LIMIT_SECONDS = 60.0
# A request that the engine took before the server died is carried out some time after.
SETTLED_SECONDS = 3.0
LOOK_SECONDS = 0.2


class EngineJanitor:
    """The server's hold on the process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(cls, owner: str) -> EngineJanitor:
        """Starts the process and returns when it is on guard.

        Args:
            owner: as of `owner.owner_id`; containers labelled with it are removed.

        Raises:
            SandboxError: it cannot be started.
        """
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, owner],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert process.stdout is not None
        with process.stdout as guard:
            if guard.readline() != READY:
                process.wait()
                raise SandboxError("the janitor of containers did not start")
        return cls(process)

    def close(self) -> None:
        """Lets the process go, once everything was removed."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(DONE)
        self._process.stdin.close()
        self._process.wait()


def _clean(owner: str) -> None:
    """Removes containers until none has come for a while."""
    from reward_server.sandbox.docker.container import connect
    from reward_server.sandbox.docker.inventory import (
        ENGINE_FAILURES,
        OWNER_LABEL,
        remove,
        trying_each,
    )

    mine = {"label": f"{OWNER_LABEL}={owner}"}
    end = time.monotonic() + TIME_LIMIT_SECONDS
    settled = time.monotonic() + SETTLED_SECONDS
    while time.monotonic() < min(end, settled):
        try:
            with contextlib.closing(connect()) as engine, trying_each() as attempt:
                for container in engine.containers(all=True, filters=mine):
                    settled = time.monotonic() + SETTLED_SECONDS
                    with attempt():
                        remove(engine, container["Id"])
        except (*ENGINE_FAILURES, SandboxError):
            settled = time.monotonic() + SETTLED_SECONDS
        time.sleep(LOOK_SECONDS)


def main(owner: str) -> None:
    """Waits for the server to be gone, then cleans."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    if sys.stdin.buffer.read() != DONE:
        _clean(owner)


if __name__ == "__main__":
    main(sys.argv[1])

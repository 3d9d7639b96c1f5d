"""Removes an engine's containers after the server's death, whatever its cause.

A container whose runner has started ends with the server's connection to it. One that was created
but not started would remain until the next server starts. So the server starts this module as a
process in a session of its own, and holds the writing end of its standard input. The line "done" on
it means that the server has removed everything itself; end of file without it means that the server
was killed.

What this stops: containers that outlive their server.

What it does not: it does not survive a kill of its own process, and it gives up if the engine does
not answer for `TIME_LIMIT_SECONDS`. The next server removes what remains; see
`container.remove_stale`.
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
# The engine may execute a request some time after the death of the server that sent it.
SETTLED_SECONDS = 3.0
LOOK_SECONDS = 0.2


class EngineJanitor:
    """The server's handle of the janitor process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(cls, owner: str) -> EngineJanitor:
        """Starts the process and returns when it is ready.

        Args:
            owner: a name by `owner.owner_id`; containers labelled with it are removed.

        Raises:
            SandboxError: the process cannot be started.
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
        """Ends the process, after everything was removed."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(DONE)
        self._process.stdin.close()
        self._process.wait()


def _clean(owner: str) -> None:
    """Removes containers until none has appeared for a while."""
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
    """Waits for the end of the server, then removes its containers."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    if sys.stdin.buffer.read() != DONE:
        _clean(owner)


if __name__ == "__main__":
    main(sys.argv[1])

"""A process of `reward-server serve`, which ends with the process that started it.

It reads from a pipe that the kernel closes when its owner ends, even by `kill -9`.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reward_server.errors import StartError

_COMMAND = (sys.executable, "-P", "-c", "from reward_server.cli import main; main()")
# Time in which a server that has drained kills its executions and closes its sandboxes.
_STOP_SECONDS = 15.0
_PROBE_SECONDS = 30.0
_SHOWN_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A server that serves."""

    process: subprocess.Popen[str]
    port: int

    @property
    def lives(self) -> bool:
        """Returns True if it has not ended."""
        return self.process.poll() is None


@contextmanager
def serving(
    arguments: Sequence[str], start_seconds: float, drain_seconds: float
) -> Iterator[Serving]:
    """Starts a server, yields it when it is in good health, and ends it after the block.

    Args:
        arguments: arguments of `serve`, only of the form `--set NAME=VALUE`, which a probe accepts
            too.
        start_seconds: time in which it must have started to serve.
        drain_seconds: time that its running work has to finish.

    Raises:
        StartError: it does not serve; the message holds the end of its log.
    """
    written = _log_size()
    process = subprocess.Popen(
        [*_COMMAND, "serve", "--json", "--until-stdin-ends", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # A signal to the group of its owner is not for it: it would have no time to drain.
        start_new_session=True,
    )
    try:
        port = _port(process, start_seconds, written)
        _check_health([*arguments, "--set", f"port={port}"])
        yield Serving(process=process, port=port)
    finally:
        _end(process, drain_seconds + _STOP_SECONDS)


def _port(process: subprocess.Popen[str], start_seconds: float, written: int) -> int:
    """Waits until the server says that it serves."""
    assert process.stdout is not None
    late = threading.Timer(start_seconds, process.kill)
    late.start()
    try:
        line = process.stdout.readline()
    finally:
        late.cancel()
    if not line:
        code = process.wait()
        raise StartError(f"the server ended with {code}\n{_log_end(written)}".rstrip())
    facts: dict[str, Any] = json.loads(line)
    return int(facts["port"])


def _check_health(arguments: Sequence[str]) -> None:
    command = [*_COMMAND, "probe", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        raise StartError(f"its health is not known within {_PROBE_SECONDS:.0f} s") from None
    if done.returncode:
        raise StartError(f"it is not in good health: {done.stdout}{done.stderr}".rstrip())


def _end(process: subprocess.Popen[str], seconds: float) -> None:
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()  # closes the pipes


def _log_size() -> int:
    """Returns the size of this process's standard error if that is a file, as it is in Ray."""
    found = os.fstat(sys.__stderr__.fileno() if sys.__stderr__ else 2)
    return found.st_size if stat.S_ISREG(found.st_mode) else -1


def _log_end(written: int) -> str:
    if written < 0:
        return "its log tells more"
    with open("/proc/self/fd/2", "rb") as log:
        log.seek(written)
        lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-_SHOWN_LINES:])

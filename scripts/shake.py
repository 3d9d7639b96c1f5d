"""Runs a command whose processes are stopped at random, as on a machine that is busy elsewhere.

    python -m scripts.shake COMMAND...

Again and again, all processes of the command or one of them stand still for up to two seconds. A
test that fails here alone depends on how fast the machine is. The exit status is the command's.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

MOST_STOPPED_SECONDS = 2.0
# Programs have seconds of wall time: two stops close together would end an honest one too.
LEAST_RUNNING_SECONDS, MOST_RUNNING_SECONDS = 2.0, 8.0


def processes_of(root: int) -> list[int]:
    """Returns a process and its descendants, without those that something else has stopped."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            children[int(parent)].append((int(stat.parent.name), state))
    found, unseen = [root], [root]
    while unseen:
        for pid, state in children[unseen.pop()]:
            unseen.append(pid)
            if state not in "TtZX":
                found.append(pid)
    return found


@contextmanager
def stopped(pids: Sequence[int]) -> Iterator[None]:
    """Keeps processes stopped; they go on afterwards, whatever happens meanwhile."""
    with ExitStack() as stack:
        for pid in pids:
            with suppress(OSError):  # it has ended
                process = os.pidfd_open(pid)
                stack.callback(_let_go, process)
                signal.pidfd_send_signal(process, signal.SIGSTOP)
        yield


def _let_go(process: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGCONT)
    os.close(process)


def shake(command: subprocess.Popen[bytes]) -> Iterator[float]:
    """Stops processes of a command again and again until it ends; yields the seconds of each."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            command.wait(random.uniform(LEAST_RUNNING_SECONDS, MOST_RUNNING_SECONDS))
            return
        found, seconds = processes_of(command.pid), random.uniform(0, MOST_STOPPED_SECONDS)
        with stopped(found if random.random() < 0.5 else [random.choice(found)]):
            time.sleep(seconds)
        yield seconds


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(arguments: Sequence[str]) -> int:
    """Runs a command to its end, also if it is interrupted; returns its exit status."""
    signal.signal(signal.SIGTERM, _end)
    with subprocess.Popen(arguments) as command:
        try:
            stops = list(shake(command))
        except (KeyboardInterrupt, SystemExit):
            command.terminate()
            raise
    print(f"shake: {len(stops)} stops, {sum(stops):.0f} seconds in all", file=sys.stderr)
    return command.returncode if command.returncode >= 0 else 128 - command.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

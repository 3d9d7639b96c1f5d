"""`make shake` stops the processes of a command, and lets all of them go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scripts.shake import processes_of, stopped

BROOD = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(flush=True); input()'])"
)


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """Yields a process that waits for a child, which waits for input."""
    command = [sys.executable, "-c", BROOD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"\n"
        yield parent
        assert parent.stdin is not None
        parent.stdin.close()
        assert parent.wait() == 0


def changed(pid: int, how: int) -> int:
    """Waits until a child is stopped, or continued; returns the signal that did it."""
    result = os.waitid(os.P_PID, pid, how)
    assert result is not None
    return result.si_status


def test_a_stopped_process_stands_still_and_goes_on_afterwards(
    family: subprocess.Popen[bytes],
) -> None:
    with stopped([family.pid]):
        assert changed(family.pid, os.WSTOPPED) == signal.SIGSTOP
    assert changed(family.pid, os.WCONTINUED) == signal.SIGCONT


def test_processes_go_on_if_the_stop_itself_fails(family: subprocess.Popen[bytes]) -> None:
    with suppress(KeyboardInterrupt), stopped([family.pid]):
        changed(family.pid, os.WSTOPPED)
        raise KeyboardInterrupt
    assert changed(family.pid, os.WCONTINUED) == signal.SIGCONT


def test_a_process_that_has_ended_is_passed_over() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    with stopped([ended.pid]):
        pass


def test_descendants_are_found(family: subprocess.Popen[bytes]) -> None:
    assert len(processes_of(family.pid)) == 2
    assert family.pid in processes_of(os.getpid())


def test_what_something_else_stopped_stays_stopped(family: subprocess.Popen[bytes]) -> None:
    os.kill(family.pid, signal.SIGSTOP)
    changed(family.pid, os.WSTOPPED)
    assert family.pid not in processes_of(os.getpid())
    os.kill(family.pid, signal.SIGCONT)


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("exit 0", 0), ("kill -9 $$", 137)])
def test_the_exit_status_is_the_commands(script: str, status: int, repository: Path) -> None:
    command = [sys.executable, "-m", "scripts.shake", "sh", "-c", script]
    assert subprocess.run(command, cwd=repository, check=False).returncode == status

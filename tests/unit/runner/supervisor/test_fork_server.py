"""The process that judges are forked from has a memory of its own, and ends with the zygote."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.runner import start, wire
from reward_server.runner.candidate import streams, warm_up
from reward_server.runner.supervisor import fork_server, zygote
from reward_server.runner.supervisor.judges import (
    GREETING,
    LANDMARKS,
    ForkServer,
    ForkServerLostError,
    Greeting,
)
from reward_server.sandbox.runner_command import OWN_CONTAINER
from tests.unit.runner.harness import REPOSITORY

COMMAND = [sys.executable, "-P", "-s", "-S", start.__file__, "--judges", json.dumps(OWN_CONTAINER)]
MOVABLE = 3  # ET_DYN, of an ELF file's header
STARTER = f"""
import sys, time
sys.path.insert(0, {str(REPOSITORY)!r})
from reward_server.runner.candidate import warm_up
from reward_server.runner.supervisor.judges import ForkServer
server = ForkServer({COMMAND!r})
warm_up.run(server.begin_warm_up())
server.await_warm()
print(server._pid, flush=True)
time.sleep(60)
"""


def warm(server: ForkServer) -> Greeting:
    warm_up.run(server.begin_warm_up())
    return server.await_warm()


@pytest.fixture(autouse=True)
def own_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "open_streams", lambda: None)


@pytest.fixture
def server() -> Iterator[ForkServer]:
    made = ForkServer(COMMAND)
    yield made
    made.close()


def test_its_memory_is_laid_out_anew_or_it_says_that_it_is_not(server: ForkServer) -> None:
    greeting = warm(server)
    is_movable = Path(sys.executable).read_bytes()[16] == MOVABLE
    assert greeting.shares_landmarks is not is_movable
    assert greeting.memory_bytes > 1 << 20


def test_one_that_shares_a_landmark_says_so() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        fork_server._greet(theirs, LANDMARKS.pack(id(type), 0))
        assert GREETING.unpack(ours.recv(99))[1]


def test_one_that_does_not_come_up_is_told() -> None:
    lost = ForkServer(["/bin/true"])
    with pytest.raises(ForkServerLostError, match="was lost"):
        warm(lost)
    lost.close()


def test_one_that_was_killed_is_told(server: ForkServer) -> None:
    warm(server)
    os.kill(server._pid, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(ForkServerLostError):
            server.fork()


def test_a_judge_that_gives_its_word_as_it_is_killed_judges_no_more(server: ForkServer) -> None:
    warm(server)
    judge = server.fork()
    judge.line.close()
    judge.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.send(wire.WORD.pack(stays := True, 0))
    judge.kill()
    assert zygote._take_word(judge, may_stay=stays) == (0, 0)
    theirs.close()
    assert not judge.alive


@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped"])
def test_it_ends_with_the_process_that_started_it(is_stopped: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        if is_stopped:
            os.kill(pid, signal.SIGSTOP)
        starter.kill()
    watch = f"/proc/{pid}/stat"
    for _ in range(500):
        try:
            if Path(watch).read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except FileNotFoundError:
            return
        time.sleep(0.01)
    pytest.fail(f"{pid} lives on")

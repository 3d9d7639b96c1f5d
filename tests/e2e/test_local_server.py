"""A server of one's own, and that it never outlives its program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.conformance.suite.host import processes_marked
from trainer_client import RewardClient, local_server
from trainer_client.local_server import LocalServer, ServerStartError

PROGRAM = """
import sys, time
from pathlib import Path
from trainer_client.local_server import LocalServer

with LocalServer(Path(sys.argv[1])) as server:
    print(server.pid, flush=True)
    time.sleep(100)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    # Where nobody waits for it, it may stay as a zombie.
    return state != "Z"


def until_ended(pid: int) -> None:
    while is_alive(pid):
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_the_program_that_started_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "server.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        program.send_signal(number)
        program.wait(60)
    try:
        until_ended(pid)
    finally:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


def processes_below(pid: int) -> list[int]:
    """Returns the children of a process, their children, and so on."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [below for child in map(int, children) for below in (child, *processes_below(child))]


def files_of(pid: int) -> set[str]:
    return {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}


def test_nothing_that_a_server_starts_inherits_the_pipe_of_its_program(tmp_path: Path) -> None:
    with LocalServer(tmp_path / "server.log") as server, RewardClient(server.target) as client:
        marker = f"asleep-{uuid.uuid4().hex}"
        source = f"import os; os.execv('/usr/bin/sleep', [{marker!r}, '5'])"
        asleep = pb.ExecuteRequest(language="python", source=source)
        with ThreadPoolExecutor(1) as pool:
            ran = pool.submit(client.execute, asleep)
            while not processes_marked(marker):
                time.sleep(0.01)
            pipe = os.readlink(f"/proc/{server.pid}/fd/0")
            started = processes_below(server.pid)
            holders = [pid for pid in started if pipe in files_of(pid)]
            assert ran.result().termination.kind == pb.TERMINATION_KIND_EXITED
    assert pipe.startswith("pipe:")
    assert len(started) > 2
    assert holders == []


def test_a_server_is_stopped_and_started_again_on_its_port_whatever_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with LocalServer(tmp_path / "server.log") as server:
        target, first = server.target, server.pid
        server.stop()
        assert not is_alive(first)
        server.start()
        assert server.target == target
        assert server.pid != first


def test_a_missing_command_is_a_server_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_server.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ServerStartError, match="reward-server: No such file"):
        LocalServer(tmp_path / "server.log").start()


def test_no_other_connection_is_given_the_port_of_a_server_before_it_binds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = map(int, local_server._EPHEMERAL_PORTS.read_text().split())
    assert not first <= local_server.free_port() <= last

    # Where the kernel's own range leaves none, a port of that range has to do.
    everything = tmp_path / "ip_local_port_range"
    everything.write_text("1024\t65535\n")
    monkeypatch.setattr(local_server, "_EPHEMERAL_PORTS", everything)
    assert local_server.free_port() > 0

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX, Janitor, kill_cgroup

REPOSITORY = Path(__file__).parents[4]

SERVER = """
import subprocess, sys, tempfile, time
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import Janitor
parent = CgroupParent.detect()
janitor = Janitor.start()
janitor.watch_cgroups(parent.prefixes)
slot = parent.create("slot")
slot.set_processes(16)
join = "import sys\\nfor path in sys.argv[1:]: open(path, 'w').write('0')\\n"
spin = "import os, time\\nos.setsid()\\nos.fork()\\nprint(flush=True)\\ntime.sleep(600)"
child = subprocess.Popen(
    [sys.executable, "-I", "-S", "-c", join + spin, *slot.procs_paths], stdout=subprocess.PIPE
)
child.stdout.readline(), child.stdout.readline()
print(janitor.pid, *(str(path) for path in dict.fromkeys(slot.directories.values())), flush=True)
if sys.argv[1] == "close":
    slot.kill_all()
    slot.remove()
    janitor.close()
    print("closed", flush=True)
time.sleep(600)
"""


def start_server(what: str = "hang") -> tuple[subprocess.Popen[str], int, list[Path]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, what],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert process.stdout is not None
    pid, *directories = process.stdout.readline().split()
    return process, int(pid), [Path(directory) for directory in directories]


def wait_for_end(pid: int) -> None:
    """Waits for a process that is not our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with os.fdopen(descriptor) as file:
        assert select.select([file], [], [], 60)[0], "the janitor lives on"


def processes_in(directories: list[Path]) -> list[str]:
    return [pid for one in directories for pid in (one / "cgroup.procs").read_text().split()]


@pytest.mark.promise("After `kill -9` of the server, none of its sandboxes is left.", "Confinement")
def test_after_a_kill_nothing_of_the_server_is_left() -> None:
    process, janitor, directories = start_server()
    assert len(processes_in(directories[:1])) == 2
    process.kill()
    process.communicate()
    wait_for_end(janitor)
    assert not any(directory.exists() for directory in directories)


def test_the_janitor_outlives_the_signals_that_end_the_server() -> None:
    process, janitor, directories = start_server()
    assert os.getsid(janitor) == janitor
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(janitor, number)
    process.terminate()
    process.communicate()
    wait_for_end(janitor)
    assert not any(directory.exists() for directory in directories)


def test_a_server_that_closes_cleanly_lets_its_janitor_go() -> None:
    process, janitor, directories = start_server("close")
    assert process.stdout is not None
    assert process.stdout.readline() == "closed\n"
    with pytest.raises(ProcessLookupError):
        os.kill(janitor, 0)
    assert not any(directory.exists() for directory in directories)
    process.kill()
    process.communicate()


def test_cgroups_of_other_servers_are_left_alone() -> None:
    slot = CgroupParent.detect().create("bystander")
    try:
        process, janitor, _ = start_server()
        process.kill()
        process.communicate()
        wait_for_end(janitor)
        assert all(directory.exists() for directory in slot.directories.values())
    finally:
        slot.remove()


def test_only_paths_of_ours_are_taken() -> None:
    janitor = Janitor.start()
    try:
        for path in ("/", "/etc", "/tmp/other", f"/tmp/{OUR_PREFIX}x\ncgroup /etc"):
            with pytest.raises(ValueError, match="not a path of ours"):
                janitor.watch_cgroups([path])
    finally:
        janitor.close()


def test_a_line_that_is_not_of_ours_is_ignored(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("x")
    program = Path(sys.modules[Janitor.__module__].__file__ or "")
    lines = f"path {kept}\ncgroup {tmp_path}/\nnonsense\n\n".encode()
    subprocess.run([sys.executable, "-I", "-S", program], input=lines, check=True, timeout=60)
    assert kept.exists()


def test_killing_never_reaches_processes_of_another_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
    (tmp_path / "cgroup.procs").write_text("0\n0\n4194303\n")
    kill_cgroup(str(tmp_path), time.monotonic())
    assert set(killed) == {4194303}

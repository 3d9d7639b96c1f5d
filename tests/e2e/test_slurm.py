"""The scripts for Slurm, without Slurm and systemd: both need daemons that a test cannot have.

`srun` and `scontrol`, and for the prolog `systemd-run` and `systemctl`, are stand-ins. Two nodes
are network namespaces of this machine, so that each has a loopback of its own. Servers, probes,
tokens and certificates are real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.tools import needs

pytestmark = needs("root")  # which makes the nodes

FAST = ("--workers", "1", "--set", "languages=python")
FAKE_SRUN = Path(__file__).parent / "support" / "fake_srun.py"
HOLD = (
    "import fcntl, os, socket, struct, sys\n"
    "with socket.socket() as any: fcntl.ioctl(any, 0x8914, struct.pack('16sH14x', b'lo', 1))\n"
    "print(flush=True); sys.stdin.read()\n"
)
# What a trainer does: it reads the variables, and scores one completion.
TRAIN = """
import os, sys
from pathlib import Path
from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardClient, Tls
authority = os.environ.get("CODEREWARD_CA_FILE")
tls = Tls(root_certificates=Path(authority).read_bytes()) if authority else None
token = Path(os.environ["CODEREWARD_TOKEN_FILE"]).read_text().strip()
tests = pb.FunctionTests(entry_point="double", asserts=["assert double(3) == 6"])
request = pb.ScoreRequest(completion="def double(x): return x + x", function=tests)
with RewardClient(os.environ["CODEREWARD_TARGET"], tls=tls, token=token) as client:
    [score] = client.score([request])
print(os.environ["SLURMD_NODENAME"], score.verdict.name, flush=True)
sys.exit(7)
"""

SYSTEMD_RUN = """#!/bin/sh
# Starts what follows the options in the background.
while [ "${1#--}" != "$1" ]; do shift; done
setsid "$@" >/dev/null 2>&1 </dev/null &
echo $! >"$HOME/unit"
"""
SYSTEMCTL = """#!/bin/sh
kill "$(cat "$HOME/unit")"
while kill -0 "$(cat "$HOME/unit")" 2>/dev/null; do sleep 0.1; done
"""


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job of a cluster that does not exist."""

    number: int
    folder: Path
    environment: dict[str, str]

    @property
    def processes(self) -> list[int]:
        """The processes that have the environment of the job."""
        mark = f"SLURM_JOB_ID={self.number}".encode()
        return [
            pid
            for pid in map(int, filter(str.isdecimal, os.listdir("/proc")))
            if self._has(pid, mark)
        ]

    @staticmethod
    def _has(pid: int, mark: bytes) -> bool:
        try:
            return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def started(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts a command of the job."""
        return subprocess.Popen(
            arguments,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )


@pytest.fixture
def nodes() -> Iterator[dict[str, int]]:
    """Makes two nodes, each with a loopback of its own; gives a process of each."""
    command = ["unshare", "--net", sys.executable, "-I", "-c", HOLD]
    holders = {
        name: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name in ("node1", "node2")
    }
    for holder in holders.values():
        assert holder.stdout is not None
        holder.stdout.readline()
    yield {name: holder.pid for name, holder in holders.items()}
    for holder in holders.values():
        holder.communicate()


@pytest.fixture
def job(tmp_path: Path, repository: Path) -> Job:
    number = uuid.uuid4().int % 10**9
    programs = tmp_path / "programs"
    programs.mkdir()
    python = f"{sys.executable} -c 'from reward_server.cli import main; main()'"
    write_program(programs / "reward-server", f'#!/bin/sh\nexec {python} "$@"\n')
    shutil.copy(FAKE_SRUN, programs / "srun")
    (programs / "srun").chmod(0o755)
    write_program(programs / "scontrol", '#!/bin/sh\necho "$3" | tr , "\\n"\n')
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": f"{repository}:{repository / 'proto'}",
        "SLURM_JOB_ID": str(number),
    }
    return Job(number=number, folder=tmp_path, environment=environment)


@pytest.fixture
def script(repository: Path) -> str:
    return str(repository / "deploy/slurm/with-reward-server")


def on(job: Job, nodes: dict[str, int]) -> None:
    job.environment.update(FAKE_NODES=json.dumps(nodes), SLURM_JOB_NODELIST=",".join(nodes))


def assert_nothing_is_left(job: Job) -> None:
    while job.processes:
        time.sleep(0.05)
    assert list((job.folder / ".reward-server").iterdir()) == []


def test_each_node_has_a_server_for_the_length_of_the_command(
    job: Job, nodes: dict[str, int], script: str
) -> None:
    on(job, nodes)
    ran = job.started(script, *FAST, "--", "srun", sys.executable, "-c", TRAIN)
    output, log = ran.communicate(timeout=150)
    assert sorted(output.splitlines()) == ["node1 PASSED", "node2 PASSED"], log
    assert ran.returncode == 7
    assert log.count("stopped") == 2
    assert_nothing_is_left(job)


def test_a_node_of_its_own_serves_with_a_certificate_until_slurm_signals(
    job: Job, script: str
) -> None:
    on(job, {"node1": 0, "localhost": 0})
    train = (
        f'echo $REWARD_SERVER_NODE; srun --nodelist=node1 {sys.executable} -c "$1"; exec sleep 600'
    )
    ran = job.started(script, "--own-node", *FAST, "--", "bash", "-c", train, "train", TRAIN)
    assert ran.stdout is not None
    assert [ran.stdout.readline() for _ in range(2)] == ["localhost\n", "node1 PASSED\n"]
    ran.send_signal(signal.SIGTERM)
    _, log = ran.communicate(timeout=60)
    assert ran.returncode in (0, 128 + signal.SIGTERM), log
    assert "stopped" in log
    assert_nothing_is_left(job)


def test_a_server_that_does_not_start_keeps_the_command_from_running(job: Job, script: str) -> None:
    on(job, {"node1": 0})
    ran = job.started(script, "--no-such-option", "--", "echo", "ran")
    output, log = ran.communicate(timeout=60)
    assert (ran.returncode, output) == (1, "")
    assert "no server is ready" in log
    assert_nothing_is_left(job)


def test_the_prolog_starts_a_server_and_the_epilog_stops_it(job: Job, repository: Path) -> None:
    scripts = repository / "deploy/slurm"
    programs, run = job.folder / "programs", job.folder / "run"
    write_program(programs / "systemd-run", SYSTEMD_RUN)
    write_program(programs / "systemctl", SYSTEMCTL)
    settings = job.folder / "jobs.conf"
    settings.write_text(
        f"program={programs}/reward-server user=root run={run} start_seconds=60\n"
        f"PATH={programs}:$PATH\n"
    )
    job.environment.update(
        REWARD_SERVER_JOBS_CONF=str(settings),
        REWARD_SERVER_LANGUAGES="python",
        REWARD_SERVER_WORKERS="1",
        SLURM_JOB_UID=str(os.getuid()),
    )

    def called(name: str, **more: str) -> str:
        return subprocess.run(
            [str(scripts / name)],
            env={**job.environment, **more},
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        ).stdout

    called("prolog.sh")
    called("prolog.sh", SLURM_JOB_CONSTRAINTS="big&no-reward-server")
    assert called("taskprolog.sh") == ""
    called("prolog.sh", SLURM_JOB_CONSTRAINTS="big&reward-server")
    exported = dict(
        line.removeprefix("export ").split("=", 1) for line in called("taskprolog.sh").splitlines()
    )
    job.environment.update(exported, SLURMD_NODENAME="node1")
    output, log = job.started(sys.executable, "-c", TRAIN).communicate(timeout=60)
    assert output == "node1 PASSED\n", log
    assert Path(exported["CODEREWARD_TOKEN_FILE"]).stat().st_mode & 0o777 == 0o400
    called("epilog.sh")
    assert job.processes == []
    assert list(run.iterdir()) == []
    called("epilog.sh")

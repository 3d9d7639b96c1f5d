"""What is out of reach from inside every sandbox: the probes of `tests.attacks`, as checks.

That each reaches something where nothing holds it back is shown there.
"""

from __future__ import annotations

from reward_server.domain import Ending
from reward_server.sandbox.base import Sandbox
from tests.attacks.corpus.probes import PROBES, Probe
from tests.conformance.suite.checks import Check, run
from tests.conformance.suite.host import Host


def cannot_reach(probe: Probe) -> Check:
    """Makes a check of a probe."""

    async def checked(sandbox: Sandbox, host: Host) -> None:
        execution = await run(sandbox, probe.completion)
        if probe.violates:
            assert execution.ending is Ending.VIOLATION, execution
        else:
            assert execution.stdout.data == b"held\n", execution

    checked.__name__ = _name(probe.name)
    return checked


def _name(probe: str) -> str:
    return f"no_reach_to_{probe.replace(' ', '_')}"


async def no_core_is_dumped(sandbox: Sandbox, host: Host) -> None:
    source = """
import os, resource, signal
print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)
try: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
except (OSError, ValueError): print('held', flush=True)
child = os.fork()
if child == 0: os.kill(os.getpid(), signal.SIGSEGV)
print(os.WCOREDUMP(os.waitpid(child, 0)[1]), os.listdir())
"""
    execution = await run(sandbox, source)
    assert execution.stdout.data == b"(0, 0)\nheld\nFalse ['solution.py']\n", execution


async def no_engine_can_be_spoken_to(sandbox: Sandbox, host: Host) -> None:
    source = """
import socket
for path in ('/run/docker.sock', '/var/run/docker.sock', '/run/containerd/containerd.sock'):
    try: socket.socket(socket.AF_UNIX).connect(path)
    except OSError: continue
    print('spoke to', path)
"""
    assert (await run(sandbox, source)).stdout.data == b""


async def nothing_of_the_kernels_can_be_written(sandbox: Sandbox, host: Host) -> None:
    source = """
import os
for top in ('/sys', '/proc/sys', '/proc/irq', '/proc/bus', '/proc/fs'):
    for folder, folders, files in os.walk(top):
        folders[:] = folders if folder.count('/') < 6 else []
        for name in files:
            try: os.close(os.open(f'{folder}/{name}', os.O_WRONLY | os.O_NONBLOCK))
            except OSError: continue
            print(folder, name)
"""
    execution = await run(sandbox, source)
    assert (execution.ending, execution.stdout.data) == (Ending.COMPLETED, b""), execution


# What an image has of its own is not this machine's, under whatever path.
OF_THE_IMAGE = frozenset(
    {
        "accounts of this machine",
        "folders of this machine's services",
        "settings of the kernel",
        "sockets of this machine's services",
        "control groups",
    }
)
# gVisor's kernel has no files of namespaces and tells no bounding set, so that these say nothing; a
# node of a device can be made there, and opens nothing: see `test_runsc`.
PROBES_OF_ANOTHER_KERNEL = frozenset(
    ("another process's namespace", "capabilities", "a device of its own")
)
OF_ANOTHER_KERNEL = frozenset(map(_name, PROBES_OF_ANOTHER_KERNEL))
REACH: tuple[Check, ...] = (
    *(cannot_reach(probe) for probe in PROBES if probe.name not in OF_THE_IMAGE),
    no_core_is_dumped,
    no_engine_can_be_spoken_to,
    nothing_of_the_kernels_can_be_written,
)

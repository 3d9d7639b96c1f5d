"""The steps of a program's process, which the zygote runs without effect before it forks."""

from __future__ import annotations

import builtins
import gc
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reward_server.runner.candidate import process, streams
from reward_server.runner.supervisor import warm_up
from reward_server.runner.supervisor.candidates import CANDIDATE, TESTS, Candidates
from reward_server.runner.walls import confine, kernel
from reward_server.runner.walls.confine import Seal
from reward_server.runner.walls.layers import Walls
from reward_server.runner.walls.privileges import LentNamespaces

_LIMITS = (resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)
_NAMESPACES = ("user", "mnt", "pid", "ipc", "uts", "net", "cgroup")
_WALLS = ("Seccomp", "NoNewPrivs", "CapEff", "Uid")


def candidates(seal: Seal) -> Candidates:
    privileges = LentNamespaces(uid=os.getuid(), gid=os.getgid(), hides_cgroup=True)
    walls = Walls(seal=seal, loopback_seal=seal)
    return Candidates(privileges_of={CANDIDATE: privileges, TESTS: privileges}, walls=walls)


def state() -> dict[str, object]:
    """Everything that the steps change in the child of a zygote."""
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    return {
        "functions": [dict(vars(module)) for module in (os, resource, kernel, process, builtins)],
        "modules": dict(sys.modules),
        "path": [*sys.path],
        "depth": sys.getrecursionlimit(),
        "interrupt": signal.getsignal(signal.SIGINT),
        "folder": os.getcwd(),
        "session": os.getsid(0),
        "limits": [resource.getrlimit(limit) for limit in _LIMITS],
        "namespaces": [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES],
        "walls": [line for line in status if line.startswith(_WALLS)],
        "descriptors": os.listdir("/proc/self/fd"),
        "score": Path("/proc/self/oom_score_adj").read_text(),
    }


def run_and_compare() -> None:
    vars(streams)["open_streams"] = lambda: None
    seal = Seal(ruleset=confine.build_ruleset(kernel.landlock_abi()), seccomp_filter=8 * b"\0")
    warm_up.run(candidates(seal))  # imports what is imported at the first use
    before = state()
    warm_up.run(candidates(seal))
    after = state()
    for name, value in before.items():
        assert after[name] == value, name


def fail_and_compare() -> None:
    vars(streams)["open_streams"] = lambda: None
    vars(process)["streams"] = None  # so that a step in the middle fails
    before = state()["functions"]
    with pytest.raises(AttributeError):
        warm_up.run(candidates(Seal()))
    assert state()["functions"] == before


def say_nothing() -> None:
    vars(streams)["open_streams"] = lambda: None
    vars(process)["_serve"] = lambda *_: None  # sends no LOADED
    with pytest.raises(RuntimeError, match="warm-up of a program's process failed"):
        warm_up.run(candidates(Seal()))


@pytest.mark.parametrize("check", [run_and_compare, fail_and_compare, say_nothing])
def test_the_steps_leave_nothing_behind_and_a_failure_is_found(check: Callable[[], None]) -> None:
    """In a process of its own: the steps would change the streams and signals of this one."""
    script = f"from {__name__} import {check.__name__} as check; check()"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)

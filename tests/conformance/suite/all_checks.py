"""Puts sandboxes to checks in a process of its own, and prints problems by check as JSON.

    python -m tests.conformance.suite.all_checks ALLOW_MISSING SOCKETS CHECKS

Sandboxes are local ones, for which the walls in ALLOW_MISSING may be missing, or, if SOCKETS names
any, those of runners. CHECKS names checks; if it is empty, all are made.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions, start_local
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from reward_server.sandbox.socket import SocketSandboxes
from tests.conformance.suite.checks import CHECKS, Check
from tests.conformance.suite.host import Host, inhabited

Start = Callable[[], Awaitable[ContainedSandbox]]


def starting(parent: CgroupParent) -> Start:
    """Starts local sandboxes whose control groups have this parent."""
    return lambda: start_local(0, LocalOptions(), parent, "checked")


async def problems(start: Start, folder: Path, checks: Sequence[Check] = CHECKS) -> dict[str, str]:
    """Returns what went wrong in each check, "" for nothing.

    A sandbox that failed a check is replaced.
    """
    found = {}
    with inhabited(folder) as host:
        sandbox = await start()
        for check in checks:
            found[check.__name__] = problem = await _problem(check, sandbox, host)
            if problem:
                await sandbox.close()
                sandbox = await start()
        await sandbox.close()
    return found


async def _problem(check: Check, sandbox: ContainedSandbox, host: Host) -> str:
    try:
        await check(sandbox, host)
    except Exception:  # noqa: BLE001 - told to the tests that wait for it
        return traceback.format_exc()[-2000:]
    return ""


def _names(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.split(",")))


def main(allow_missing: str, sockets: str, names: str) -> None:
    """Does what the module says."""
    paths = [Path(path) for path in sorted(_names(sockets))]
    runners = SocketSandboxes(paths)
    if paths:
        start: Start = lambda: runners(0)  # noqa: E731 - one of two ways to start
    else:
        start = starting(CgroupParent.detect(allow_missing=_names(allow_missing)))
    chosen = [check for check in CHECKS if not names or check.__name__ in _names(names)]
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(problems(start, Path(folder), chosen))
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])

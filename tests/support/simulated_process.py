"""A serving process over simulated sandboxes: `python -m tests.support.simulated_process FD`.

SIMULATED_SECONDS is the time of an execution, which does not end while the file SIMULATED_HOLD
exists. A solution passes unless its text has the word "wrong". The process cannot start while the
file SIMULATED_OBSTACLE exists. SIGUSR2 tells it that no sandbox can be started.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reward_server.backends import Backend
from reward_server.domain import Execution, FunctionJudgement, Job, TestOutcome, Wall
from reward_server.errors import StartError
from reward_server.processes.child import main
from reward_server.settings import Settings
from tests.rpc.fakes import passing

COMMAND = (sys.executable, "-m", "tests.support.simulated_process")
_SECONDS = float(os.environ.get("SIMULATED_SECONDS", "0"))
_HOLD = Path(os.environ.get("SIMULATED_HOLD", "/nonexistent"))
_OBSTACLE = Path(os.environ.get("SIMULATED_OBSTACLE", "/nonexistent"))


@dataclass(kw_only=True)
class Machine:
    """An executor whose jobs take a known time and no computing."""

    slots: int

    async def run(self, job: Job) -> Execution:
        await asyncio.sleep(_SECONDS)
        while await asyncio.to_thread(_HOLD.exists):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return _judged(job)


def _judged(job: Job) -> Execution:
    execution = passing(job)
    if not isinstance(job.work, FunctionJudgement) or "wrong" not in job.work.source:
        return execution
    failed = [replace(one, outcome=TestOutcome.FAILED) for one in execution.tests]
    return replace(execution, tests=tuple(failed))


@asynccontextmanager
async def simulated_backend(settings: Settings) -> AsyncIterator[Backend]:
    """Opens the backend."""
    if await asyncio.to_thread(_OBSTACLE.exists):
        raise StartError("an obstacle is in the way")
    backend = Backend(
        name="simulated",
        executor=Machine(slots=settings.workers),
        walls=(Wall(name="kernel", standing=True, detail="Linux"),),
        language_versions={"python": "3.11.7"},
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR2, backend.outages.put_nowait, False)
    yield backend


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), simulated_backend))

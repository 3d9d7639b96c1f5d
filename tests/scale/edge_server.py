"""A server with credentials over simulated sandboxes, in a process of its own; tells its port."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace

from reward_server.app import serving
from reward_server.backends import Backend
from reward_server.domain import CapturedStream, Execution, Job, Wall
from reward_server.settings import load_settings
from tests.rpc.fakes import passing

JOB_SECONDS = 0.02
_OUTPUT = CapturedStream(data=b"x" * (64 << 10), size_bytes=64 << 10)


@dataclass(kw_only=True)
class Machine:
    """An executor whose jobs take a known time, no computing, and write much."""

    slots: int = 4

    async def run(self, job: Job) -> Execution:
        await asyncio.sleep(JOB_SECONDS)
        return replace(passing(job), stdout=_OUTPUT, stderr=_OUTPUT)


async def main(token_file: str) -> None:
    backend = Backend(
        name="fake",
        executor=Machine(),
        walls=(Wall(name="kernel", standing=True, detail="Linux"),),
        language_versions={"python": "3.11.7"},
    )
    settings = load_settings({"port": 0, "drain_seconds": 0, "token_file": token_file})
    async with serving(settings, backend) as app:
        print(app.port, flush=True)  # noqa: T201  # what it is started for
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

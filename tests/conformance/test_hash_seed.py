"""All interpreters of a server have one hash seed: warm ones, judges, children and sessions."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Extraction,
    FunctionTests,
    Job,
    Program,
    Submission,
    Verdict,
)
from reward_server.settings import Settings
from tests.support.common import PYTHON, on_the_servers_loop
from trainer_client import AsyncRewardClient

pytestmark = on_the_servers_loop

RUNS = 16
ORDER = "print(hash('abc'), list({'b', 'a', 'c'}))"
IN_CHILDREN = f"""
import subprocess, sys
{ORDER}
subprocess.run([sys.executable, "-c", {ORDER!r}])
"""


def said_here(seed: int) -> bytes:
    """Returns what an ordinary interpreter prints that is given the seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", ORDER]
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout


async def printed(app: App, source: str = ORDER) -> bytes:
    execution, _ = await app.evaluation.execute(Job(work=Program(source=source)))
    return execution.stdout.data


@asynccontextmanager
async def served(**changes: object) -> AsyncIterator[App]:
    settings = Settings(**{"port": 0, "workers": 2, "languages": PYTHON, **changes})
    async with running_app(settings) as app:
        yield app


async def test_one_server_has_one_order_in_all_its_containers() -> None:
    async with served(recycle_after_executions=3) as app:
        found = {*await asyncio.gather(*(printed(app, f"{ORDER} # {n}") for n in range(RUNS)))}
    assert len(found) == 1


async def test_another_start_has_another_seed_unless_one_is_set() -> None:
    assert Settings().hash_seed != Settings().hash_seed
    for seed in (7, 0, (1 << 32) - 1):
        async with served(workers=1, hash_seed=seed) as app:
            assert await printed(app) == said_here(seed)
            assert await printed(app, IN_CHILDREN) == b"".join(2 * [said_here(seed)])


async def test_a_judge_has_the_seed_and_its_answer_names_it() -> None:
    expected = int(said_here(7).split()[0])
    submission = Submission(
        completion="def f(): return 'abc'",
        extraction=Extraction.NONE,
        tests=FunctionTests(asserts=(f"assert hash(f()) == {expected}",)),
    )
    async with served(workers=1, hash_seed=7) as app:
        said = await app.evaluation.score(submission)
    assert said.verdict is Verdict.PASSED
    assert said.provenance.hash_seed == 7


async def test_a_session_has_the_seed_in_commands_and_in_its_interpreter() -> None:
    async with (
        served(workers=1, hash_seed=7, session_memory_bytes=256 * MEBIBYTE) as app,
        AsyncRewardClient(app.address) as client,
        client.session(memory_bytes=128 * MEBIBYTE) as session,
    ):
        ran = await session.exec([sys.executable.rpartition("/")[2], "-c", ORDER])
        told = await session.run_code(ORDER)
    assert (ran.stdout, told.stdout) == (said_here(7), said_here(7))


async def test_a_container_of_an_engine_has_the_seed(python_image: str) -> None:
    async with served(backend="docker", images=(python_image,), hash_seed=7) as app:
        found = {*await asyncio.gather(*(printed(app, f"{ORDER} # {n}") for n in range(RUNS)))}
        assert len(found) == 1
        assert await printed(app, IN_CHILDREN) == 2 * found.pop()

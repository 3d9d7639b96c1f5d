"""What tests of judging share: a real server on real sandboxes, one for each module.

Tests that use it run on the session's event loop, as the server does:
`pytestmark = on_the_servers_loop`. The loop stands still while tests on other loops run. A server
that waited for them would take a sandbox for hung that starts meanwhile, so none outlives a folder.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.app import running_app
from reward_server.domain import (
    MEBIBYTE,
    Assessment,
    Extraction,
    Integrity,
    Limits,
    RewardPolicy,
    Submission,
    Tests,
    Verdict,
)
from reward_server.evaluation import Evaluation
from reward_server.settings import Settings

SLOTS = 2
PYTHON = ("python",)  # a start tries each language that a server offers
SMALL_LIMITS = Limits(
    cpu_time_seconds=2.0,
    wall_time_seconds=3.0,
    memory_bytes=256 * MEBIBYTE,
    processes=32,
    disk_bytes=32 * MEBIBYTE,
    file_size_bytes=16 * MEBIBYTE,
    output_bytes=8 * MEBIBYTE,
)
# Time for pytest to be imported, which other tests do not need.
FILE_LIMITS = replace(SMALL_LIMITS, cpu_time_seconds=8.0, wall_time_seconds=20.0)
PACKAGES = (Path(pytest.__file__).parents[1],)

on_the_servers_loop = pytest.mark.asyncio(loop_scope="session")


class Judge:
    """Judges completions as the server does, past the RPC layer.

    Args:
        evaluation: a server's.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    async def __call__(
        self,
        completion: str,
        tests: Tests,
        *,
        prompt: str = "",
        limits: Limits = SMALL_LIMITS,
        extraction: Extraction = Extraction.NONE,
        policy: RewardPolicy | None = None,
        integrity: Integrity = Integrity.ISOLATED,
    ) -> Assessment:
        """Judges a completion; unless told otherwise, by a judge of its own domain."""
        submission = Submission(
            completion=completion,
            tests=tests,
            prompt=prompt,
            limits=limits,
            extraction=extraction,
            require_integrity=integrity,
        )
        if policy is not None:
            submission = replace(submission, reward_policy=policy)
        return await self._evaluation.score(submission)

    async def score(self, submission: Submission) -> Assessment:
        """Judges a whole submission."""
        return await self._evaluation.score(submission)


def is_refused(assessment: Assessment) -> bool:
    """Returns True if a completion got nothing, by its own fault."""
    unfit = (Verdict.PASSED, Verdict.INVALID_TASK)
    return assessment.verdict not in unfit and assessment.reward == 0.0


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def judge() -> AsyncIterator[Judge]:
    """Yields a judge with one slot, so that consecutive completions meet in one container."""
    async with running_app(Settings(port=0, workers=1, languages=PYTHON)) as app:
        yield Judge(app.evaluation)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def judge_of_two() -> AsyncIterator[Judge]:
    """Yields a judge with two slots, so that completions have neighbours."""
    async with running_app(Settings(port=0, workers=SLOTS, languages=PYTHON)) as app:
        yield Judge(app.evaluation)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def judge_of_files() -> AsyncIterator[Judge]:
    """Yields a judge whose sandboxes can import what this interpreter's packages are, as pytest."""
    settings = Settings(
        port=0,
        workers=SLOTS,
        languages=PYTHON,
        sandbox_packages=PACKAGES,
        sandbox_preload=("pytest",),
    )
    async with running_app(settings) as app:
        yield Judge(app.evaluation)

"""The checks that inspect_ai has for sandboxes, run on a session of a reward server.

`tests/e2e/sessions/test_inspect_ai.py` runs this file by pytest in a process of its own, which has
inspect_ai's packages. The environment variable CODEREWARD_TARGET has the server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv
from inspect_ai.util._sandbox.self_check import *  # noqa: F403


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def opened() -> AsyncIterator[object]:
    kind = registry_find_sandboxenv("codereward")
    environments = await kind.sample_init("checks", None, {})
    yield environments["default"]
    await kind.sample_cleanup("checks", None, environments, False)
    await kind.task_cleanup("checks", None, True)


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox_env(opened: object) -> object:
    return opened

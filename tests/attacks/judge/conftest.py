"""A server whose sandboxes have what test files import, for all attacks on judges."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.settings import Settings
from tests.support.common import PACKAGES, PYTHON


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server with one slot, so that consecutive completions meet in one container."""
    settings = Settings(
        port=0,
        workers=1,
        languages=PYTHON,
        sandbox_packages=PACKAGES,
        sandbox_preload=("pytest",),
    )
    async with running_app(settings) as running:
        yield running

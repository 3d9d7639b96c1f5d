"""What tests of languages share: a server that has them all."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.settings import Settings


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(language_images: tuple[str, ...]) -> AsyncIterator[App]:
    """Yields a server that has every language, each in containers of its image."""
    settings = Settings(port=0, workers=2, backend="docker", images=language_images, http_port=0)
    async with running_app(settings) as app:
        yield app

"""What tests of languages share: a server that has them all, and one with those of this host."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.languages import load_languages
from reward_server.settings import Settings

# The first variant of each; a start tries each language that a server offers.
HOST_LANGUAGES = tuple(
    {
        one.source: one
        for one in reversed(load_languages().all)
        if one.toolchain is None or all(map(shutil.which, one.toolchain.executables))
    }.values()
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(language_images: tuple[str, ...]) -> AsyncIterator[App]:
    """Yields a server that has every language, each in containers of its image."""
    settings = Settings(port=0, workers=2, backend="docker", images=language_images, http_port=0)
    async with running_app(settings) as app:
        yield app


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def host() -> AsyncIterator[App]:
    """Yields a server with the languages of this host."""
    names = tuple(language.name for language in HOST_LANGUAGES)
    async with running_app(Settings(port=0, workers=2, languages=names, http_port=0)) as app:
        yield app

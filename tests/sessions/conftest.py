"""A real server with sessions, and a client of it, for each module that asks for them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import MEBIBYTE
from reward_server.sandbox.local import cgroup
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.owner import owner_id
from reward_server.settings import Settings
from tests.support.common import PYTHON
from trainer_client import AsyncRewardClient, AsyncSession

RED, BLUE = "red-secret", "blue-secret"
TENANTS = f"""
[[tenants]]
name = "red"
tokens = ["{RED}"]
sessions = 2

[[tenants]]
name = "blue"
tokens = ["{BLUE}"]
"""
MEMORY_BYTES = 128 * MEBIBYTE
SMALL = {"memory_bytes": MEMORY_BYTES, "processes": 32}


class Cgroups:
    """The cgroups of the servers that start in a test, and of no other server in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._nonce = secrets.token_hex(3)
        made = mock.Mock(token_hex=lambda _: self._nonce)
        monkeypatch.setattr(cgroup, "secrets", made)

    def left(self) -> list[Path]:
        """Returns those that exist."""
        places = set(CgroupParent.detect().directories.values())
        name = f"{OUR_PREFIX}{owner_id()}-{self._nonce}.*"
        return [path for place in places for path in place.glob(name)]


@pytest.fixture
def cgroups(monkeypatch: pytest.MonkeyPatch) -> Cgroups:
    return Cgroups(monkeypatch)


def settings(folder: Path, **changes: object) -> Settings:
    """Returns settings of a server with two tenants and room for a few sessions."""
    tokens = folder / "tokens.toml"
    tokens.write_text(TENANTS)
    return Settings(
        **{
            "port": 0,
            "workers": 1,
            "languages": PYTHON,
            "token_file": tokens,
            "session_memory_bytes": 1024 * MEBIBYTE,
            "drain_seconds": 0,
            **changes,
        }
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes a sample of the tests with an engine, of those that apply; see `test_docker`."""
    left_out = [item for item in items if not _is_taken(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _is_taken(item: pytest.Item) -> bool:
    module = item.getparent(pytest.Module)
    if module is None or module.path != Path(__file__).parent / "test_docker.py":
        return True
    taken: bool = module.obj.is_taken(item.name)
    return taken


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    async with running_app(settings(tmp_path_factory.mktemp("server"))) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: App) -> AsyncIterator[AsyncRewardClient]:
    """Yields a client of the tenant without quotas."""
    async with AsyncRewardClient(app.address, token=BLUE, timeout_seconds=60) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def session(client: AsyncRewardClient) -> AsyncIterator[AsyncSession]:
    async with client.session(**SMALL) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_session(app: App) -> AsyncIterator[AsyncSession]:
    """Yields a session for tests that leave nothing behind in it."""
    client = AsyncRewardClient(app.address, token=BLUE)
    async with client, client.session(**SMALL) as opened:
        yield opened

"""The local sandbox of an ordinary user keeps the same promises as root's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.sandbox.local.cgroup import CgroupParent
from tests.conformance.suite import ordinary_user
from tests.conformance.suite.checks import CHECKS
from tests.support.tools import needs

UID = 1_980_000_001
REPOSITORY = Path(__file__).parents[2]
DELEGATED = f"delegated-{os.getpid()}"

pytestmark = [pytest.mark.unprivileged, needs("root")]


@pytest.fixture(scope="module")
def delegated() -> Iterator[str]:
    """A cgroup that belongs to the ordinary user, as systemd would delegate one."""
    parent = CgroupParent.detect()
    folders = [path / DELEGATED for path in dict.fromkeys(parent.directories.values())]
    for folder in folders:
        folder.mkdir()
        for path in (folder, *folder.glob("cgroup.*"), *folder.glob("tasks")):
            os.chown(path, UID, UID)
    yield DELEGATED
    left = [str(path) for folder in folders for path in folder.iterdir() if path.is_dir()]
    for folder in folders:
        folder.rmdir()
    assert left == []


@pytest.fixture(scope="module")
def problems(delegated: str) -> dict[str, str]:
    """What went wrong as an ordinary user, by check."""
    told = subprocess.run(
        [sys.executable, ordinary_user.__file__, str(UID), delegated],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert told.returncode == 0, told.stderr.decode()
    found: dict[str, str] = json.loads(told.stdout)
    return found


@pytest.mark.promise(
    "Local sandboxes, containers of runc, and runners at sockets pass the conformance suite.",
    "Confinement",
)
@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_an_ordinary_users_sandbox_keeps(name: str, problems: dict[str, str]) -> None:
    assert problems[name] == "", problems[name]

"""Exercise folders in their published shape, judged by a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.rows.folders import GO, PYTHON, RUST, Folder
from tests.support.common import PACKAGES
from tests.support.tools import needs, offered
from trainer_client import RewardClient, Verdict, tasks
from trainer_client.local_server import LocalServer

COMPILERS = {"go": "go", "rust": "rustc"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RewardClient]:
    languages = ",".join(offered("python", "go", "rust"))
    settings = [f"languages={languages}", f"sandbox_packages={PACKAGES[0]}"]
    arguments = [part for one in settings for part in ("--set", one)]
    log = tmp_path_factory.mktemp("server") / "server.log"
    with LocalServer(log, arguments) as server, RewardClient(server.target) as connected:
        yield connected


@pytest.mark.parametrize(
    ("language", "folder"),
    [
        ("python", PYTHON),
        *(
            pytest.param(
                *(name, folder),
                marks=needs(COMPILERS[name]),
            )
            for name, folder in (("go", GO), ("rust", RUST))
        ),
    ],
)
def test_the_authors_solution_passes_and_the_stub_does_not(
    client: RewardClient, tmp_path: Path, language: str, folder: Folder
) -> None:
    task = tasks.exercise(folder.write(tmp_path / "leap"))
    assert task.template.language == language
    good, bad = client.score(
        [tasks.fill(task.template, one) for one in (task.reference, task.stub)]
    )
    assert (good.verdict, good.reward) == (Verdict.PASSED, 1.0), good
    assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad

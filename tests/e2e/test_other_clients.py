"""Programs that ask for scores by themselves: plain asyncio, and Node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from examples import asyncio_client
from tests.support.tools import require
from trainer_client.local_server import LocalServer


@pytest.fixture(scope="module")
def outcome(lasting_server: LocalServer) -> asyncio_client.Outcome:
    """Returns what the asyncio example came to."""
    import asyncio

    return asyncio.run(asyncio_client.run(lasting_server.target))


def test_groups_are_scored_and_what_was_not_judged_is_none(outcome):
    assert outcome.rewards == {
        "double": [1.0, 0.0, 0.0],
        "square": [1.0, 0.0, 0.0],
        "cube": [None, None],
    }


def test_what_was_not_judged_has_no_advantage_and_no_part_in_the_mean(outcome):
    assert outcome.advantages["double"] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    assert outcome.advantages["cube"] == [None, None]
    assert asyncio_client.advantages([1.0, None, 0.0]) == [0.5, None, -0.5]


def test_a_deadline_gives_a_score_without_a_reward(outcome):
    assert (outcome.late.reward, outcome.late.error.status) == (None, "DEADLINE_EXCEEDED")


def test_a_call_is_cancelled_by_other_work_of_its_loop(outcome):
    assert outcome.cancelled


@pytest.fixture(scope="module")
def node(repository: Path) -> Path:
    """Returns the example in Node with its packages; skips where they are absent."""
    folder = repository / "examples" / "node"
    require("node")
    if not (folder / "node_modules").is_dir():  # which `make test` fills, if there is npm
        pytest.skip("no packages in examples/node")
    return folder


def score_with_node(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # gRPC obeys a proxy that the environment names, even for loopback.
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return subprocess.run(
        ["node", "score.js", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_node_scores_a_right_and_a_wrong_completion(node, lasting_server):
    done = score_with_node(node, lasting_server.target)
    lines = ["right: VERDICT_PASSED, reward 1", "wrong: VERDICT_FAILED, reward 0"]
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (lines, "", 0)


def test_node_tells_what_was_not_judged_by_its_exit_status(node):
    done = score_with_node(node, "127.0.0.1:1")
    assert done.returncode == 1
    assert [line.split(":")[1] for line in done.stdout.splitlines()] == [
        " not judged, UNAVAILABLE"
    ] * 2


def test_node_refuses_what_it_does_not_know(node):
    done = score_with_node(node, "127.0.0.1:1", "more")
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: node score.js" in done.stderr


def test_the_lockfile_names_no_host(repository):
    for name in ("package.json", "package-lock.json"):
        assert "://" not in (repository / "examples" / "node" / name).read_text()

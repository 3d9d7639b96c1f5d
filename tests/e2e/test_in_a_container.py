"""A server in a Docker container, started with the options that `doctor` prints in there."""

from __future__ import annotations

import json
import shlex
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.e2e.support.rows import solved_task

USERS = {"root": 0, "an ordinary user": 1000}
TASKS = 164


class Container:
    """Runs commands of this checkout in containers of a plain image.

    Args:
        image: with an interpreter of the version that the tests run on.
        repository: the checkout.
        folder: what the containers share with the test.
        uid: the user in the containers.
    """

    def __init__(self, image: str, repository: Path, folder: Path, uid: int) -> None:
        packages = [Path(path) for path in (sysconfig.get_path("purelib"), *_added_paths())]
        mounts = [f"{repository}:/repository:ro", f"{folder}:/shared:rw"]
        mounts += [f"{path}:/packages/{number}:ro" for number, path in enumerate(packages)]
        paths = ["/repository", "/repository/proto"]
        paths += [f"/packages/{number}" for number in range(len(packages))]
        self._image = image
        self._options = [
            *("--rm", "--network", "none", "--user", str(uid)),
            *(part for mount in mounts for part in ("-v", mount)),
            *("-e", f"PYTHONPATH={':'.join(paths)}", "-e", "PYTHONDONTWRITEBYTECODE=1"),
        ]

    def run(self, options: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs `reward-server` in a container."""
        code = "from reward_server.cli import main; main()"
        command = ["docker", "run", *self._options, *options, self._image, "python3", "-c", code]
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=300, check=False
        )


def _added_paths() -> list[str]:
    """Returns the folders that a file of this environment adds to its packages."""
    found = Path(sysconfig.get_path("purelib")).glob("*.pth")
    lines = [line for file in found for line in file.read_text().splitlines()]
    return [line for line in lines if line.startswith("/") and line.endswith("site-packages")]


def doctor(container: Container, options: Sequence[str], *arguments: str) -> dict[str, Any]:
    return dict(json.loads(container.run(options, "doctor", "--json", *arguments).stdout))


@pytest.mark.parametrize("uid", USERS.values(), ids=USERS.keys())
def test_what_doctor_prints_in_a_container_makes_it_serve_and_judge(
    engine: docker.APIClient,
    base_image: str,
    repository: Path,
    tmp_path: Path,
    data_folder: Path,
    uid: int,
) -> None:
    tmp_path.chmod(0o777)
    container = Container(base_image, repository, tmp_path, uid)
    told = doctor(container, [])
    assert not told["ok"]
    options = [part for option in told["container"]["options"] for part in shlex.split(option)]
    waived = ",".join(told["container"]["allow_missing"])
    more = ["--allow-missing", waived] if waived else []
    assert doctor(container, options, *more)["ok"]

    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    with (tmp_path / "tasks.jsonl").open("w") as file:
        file.writelines(json.dumps(solved_task(json.loads(line))) + "\n" for line in lines)
    graded = container.run(
        options, "grade", "/shared/tasks.jsonl", "--out", "/shared/out.jsonl", "--json", *more
    )
    assert graded.returncode == 0, graded.stderr
    summary = json.loads(graded.stdout)
    assert summary["verdicts"] == {"PASSED": TASKS}
    results = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert {result["integrity"] for result in results} == {"ISOLATED"}

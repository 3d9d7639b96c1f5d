"""The environment for OpenEnv meets OpenEnv's validator and clients, and verifiers' taskset."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.programs import completed, run
from tests.support.tools import require_package
from trainer_client.local_server import LocalServer, free_port

SUPPORT = Path(__file__).parents[1] / "support"
DOUBLE = {"entry_point": "double", "asserts": ["assert double(3) == 6"]}
TASKS = [
    {"id": "double", "prompt": "Write double(x).", "function": DOUBLE},
    {"id": "broken", "function": {"entry_point": "double", "asserts": ["assert double("]}},
]


# The import of OpenEnv takes most of a command's time.
VALIDATOR = """
import json, sys
from openenv.cli.__main__ import app
for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments)
    except SystemExit as ended:
        if ended.code:
            raise
"""


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of OpenEnv's packages; skips where it is absent."""
    return require_package("openenv", "openenv")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    file.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return file


@contextmanager
def served(packages: Path, tasks: Path, target: str, **variables: str) -> Iterator[str]:
    """Serves the environment, and yields its URL."""
    port = free_port()
    paths = [path for path in sys.path if path and "site-packages" not in path]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CODEREWARD_")}
    environment |= {
        "CODEREWARD_TARGET": target,
        "CODEREWARD_TASKS": str(tasks),
        "PYTHONPATH": os.pathsep.join([*paths, str(packages)]),
        **variables,
    }
    command = [sys.executable, "-m", "codereward_env.server.app", "--port", str(port)]
    log = tasks.with_suffix(f".{port}.log")
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process,
    ):
        url = f"http://127.0.0.1:{port}"
        try:
            while answer(f"{url}/health") is None:
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()


def answer(url: str, body: object = None) -> Any:
    """Returns the status and the JSON that a URL answers with; None if nobody listens."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return None


@pytest.fixture(scope="module")
def url(packages: Path, tasks: Path, lasting_server: LocalServer) -> Iterator[str]:
    with served(packages, tasks, lasting_server.target) as found:
        yield found


def test_openenvs_validator_accepts_the_server_and_the_folder(
    packages: Path, url: str, lasting_server: LocalServer, repository: Path
) -> None:
    targets = (["--url", url], [str(repository / "codereward_env"), "--level", "static"])
    arguments = [["validate", *target, "--json"] for target in targets]
    done = completed(["-c", VALIDATOR, json.dumps(arguments)], lasting_server, packages)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"fail"' not in done.stdout
    assert done.stdout.count('"pass"') > 1


def test_episodes_are_played_by_openenvs_generic_client(
    packages: Path, url: str, lasting_server: LocalServer
) -> None:
    found = run([str(SUPPORT / "openenv_episodes.py"), url], lasting_server, packages)
    for number, (printed, reward, done) in enumerate(found["episodes"]):
        assert (printed, reward, done) == (f"{number}\n", float(number % 2 == 0), True)
    unknown, far, strange, over = found["refusals"]
    assert "'none' is none of the 2 tasks" in unknown
    assert "99 is none of the 2 tasks" in far
    assert "no argument 'colour'" in strange
    assert "the episode is over" in over
    assert found["prompt"] == "Write double(x)."
    assert found["failed"] == ["abc\n", 3, None]
    assert found["looped"] in (["CPU_TIME"], ["WALL_TIME"])  # by what else the machine does
    assert found["state"] == ["episode-7", 2]
    reward, done, metadata = found["broken"]
    assert (reward, done) == (None, True)
    assert metadata["not_judged"].startswith("INVALID_TASK")


def test_tasks_are_listed_without_their_tests(url: str) -> None:
    assert answer(f"{url}/codereward_env/splits") == (200, [{"name": "train", "type": "train"}])
    asked = {"split": "train", "index": 0}
    told = {"id": "double", "index": 0, "prompt": "Write double(x).", "language": "python"}
    assert answer(f"{url}/codereward_env/task", asked) == (200, {"task": told})
    assert answer(f"{url}/codereward_env/task", {"split": "train", "index": 7})[0] == 400


def test_a_single_call_is_an_episode_and_a_wrong_one_is_refused(url: str) -> None:
    action = {"code": "def double(x): return 2 * x", "submit": True}
    status, found = answer(f"{url}/step", {"action": action, "task_id": "double"})
    assert (status, found["reward"], found["done"]) == (200, 1.0, True)
    status, found = answer(f"{url}/step", {"action": action})
    assert status == 400
    assert "no episode has begun" in found["detail"]
    assert answer(f"{url}/step", {"action": {"program": "x"}})[0] == 422


@pytest.mark.exhaustive
def test_each_step_is_judged_if_the_settings_say_so_and_an_outage_is_no_zero(
    packages: Path, tasks: Path, lasting_server: LocalServer
) -> None:
    with served(packages, tasks, lasting_server.target, CODEREWARD_JUDGED="step") as url:
        action = {"code": "def double(x): return 2 * x\nprint(double(4))"}
        status, found = answer(f"{url}/step", {"action": action, "task_id": "double"})
    assert (status, found["reward"], found["done"]) == (200, 1.0, True)
    assert found["observation"]["stdout"] == "8\n"
    outage = {"CODEREWARD_OUTAGE_SECONDS": "0.2"}
    with served(packages, tasks, "127.0.0.1:1", **outage) as url:
        status, found = answer(f"{url}/step", {"action": action, "task_id": "double"})
    assert (status, found["reward"], found["done"]) == (200, None, True)
    assert "UNAVAILABLE" in found["metadata"]["not_judged"]
    with served(packages, tasks, "127.0.0.1:1", CODEREWARD_UNJUDGED="raise", **outage) as url:
        status, found = answer(f"{url}/step", {"action": action, "task_id": "double"})
    assert status == 503
    assert "not judged" in found["detail"]


def test_verifiers_plays_an_episode_at_the_servers_address(
    packages: Path, url: str, lasting_server: LocalServer
) -> None:
    adapters = require_package("adapters", "verifiers")
    # Clients of models and of clouds.
    stand_ins = "anthropic,mcp.server.mcpserver,openai,prime_sandboxes,renderers,tenacity"
    program = [str(SUPPORT / "stand_ins.py"), stand_ins, "openenv_verifiers"]
    found = run([*program, url], lasting_server, packages, adapters, SUPPORT)
    assert found["right"] == [{"openenv_reward": 1.0}, ["", "42\n"]]
    assert found["wrong"] == [{"openenv_reward": 0.0}, ["", "42\n"]]

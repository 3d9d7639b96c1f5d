"""The server's own image, started as the documentation and the compose file start it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
import pytest
import requests
import yaml
from packaging.requirements import Requirement

from tests.e2e.support.rows import solved_task

pytestmark = pytest.mark.timeout(600)

TAG = "codereward-server:test"
NAME = "codereward-server"
TASKS = 164
PARTS = ("deploy", "proto", "reward_server", "sandbox_images", "trainer_client")
FILES = (".dockerignore", "pyproject.toml", "README.md", "LICENSE")
WAYS = ("a user", "root", "compose")
EPERM = 1


def run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    return done.stdout


@pytest.fixture(scope="module")
def server_image(
    engine: docker.APIClient,
    base_image: str,
    repository: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """Builds the image as the documentation does, with the authorities that this host trusts."""
    context = tmp_path_factory.mktemp("context")
    for part in PARTS:
        shutil.copytree(repository / part, context / part)
    for name in FILES:
        shutil.copy(repository / name, context / name)
    host = ssl.get_default_verify_paths().cafile or requests.utils.DEFAULT_CA_BUNDLE_PATH
    shutil.copy(host, context / "deploy" / "authorities.pem")
    run(
        *("docker", "build", "--network", "host", "-f", "deploy/Dockerfile", "-t", TAG),
        *("--build-arg", f"BASE_IMAGE={base_image}", "."),
        cwd=context,
    )
    return TAG


def documented(repository: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Returns the options and the command of each documented way to start the image."""
    text = (repository / "docs/how-to/deploy.md").read_text("utf-8")
    lines = re.findall(r"^docker run (?:.*\\\n)*.*$", text, re.MULTILINE)
    split = [shlex.split(line.replace("\\\n", " "))[2:] for line in lines]
    found = [(line[: line.index(NAME)], line[line.index(NAME) + 1 :]) for line in split]
    service = yaml.safe_load((repository / "deploy/compose.yaml").read_text("utf-8"))
    return dict(zip(WAYS, [*found, composed(service["services"]["server"])], strict=True))


def composed(service: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Returns what compose gives to the engine for a service."""
    named = {"cap_drop": "--cap-drop", "security_opt": "--security-opt", "tmpfs": "--tmpfs"}
    options = [part for key, flag in named.items() for one in service[key] for part in (flag, one)]
    options += ["--network", service["network_mode"], "--memory", service["mem_limit"]]
    options += ["--pids-limit", str(service["pids_limit"])]
    options += ["--read-only"] if service["read_only"] else []
    handled = {"image", "command", "network_mode", "read_only", "mem_limit", "pids_limit"}
    assert set(service) <= {*handled, *named, "stop_grace_period", "restart"}
    assert service["image"] == NAME
    paths = [one.replace("seccomp=seccomp", "seccomp=deploy/seccomp") for one in options]
    return paths, service["command"]


def test_compose_mounts_files_that_exist_and_prometheus_scrapes_the_image(
    repository: Path, engine: docker.APIClient, server_image: str
) -> None:
    services = yaml.safe_load((repository / "deploy/compose.yaml").read_text())["services"]
    mounts = [one for service in services.values() for one in service.get("volumes", [])]
    assert len(mounts) == 3
    for mount in mounts:
        assert (repository / "deploy" / mount.partition(":")[0]).exists(), mount
    scraped = yaml.safe_load((repository / "deploy/prometheus/prometheus.yml").read_text())
    [job] = scraped["scrape_configs"]
    port = job["static_configs"][0]["targets"][0].rpartition(":")[2]
    variables = engine.inspect_image(server_image)["Config"]["Env"]
    assert f"REWARD_SERVER_METRICS_PORT={port}" in variables


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def started(
    repository: Path, image: str, options: Sequence[str], command: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """Starts a container; gives its name and the server's port."""
    options = list(options)
    if "--name" in options:
        del options[options.index("--name") : options.index("--name") + 2]
    port, metrics = free_ports(2)
    name = f"codereward-test-{uuid.uuid4().hex}"
    more = ["-e", f"REWARD_SERVER_METRICS_PORT={metrics}", "--health-interval", "1s"]
    run(
        *("docker", "run", "-d", "--name", name, *more, *options, image),
        *(*command, "--port", str(port)),
        cwd=repository,
    )
    try:
        yield name, port
    finally:
        run("docker", "rm", "-f", name)


@pytest.mark.parametrize("way", WAYS)
def test_a_documented_container_judges_all_of_humaneval(
    way: str, server_image: str, repository: Path, data_folder: Path, tmp_path: Path
) -> None:
    options, command = documented(repository)[way]
    rows = map(json.loads, (data_folder / "HumanEval.jsonl").read_text().splitlines())
    tasks, results = tmp_path / "tasks.jsonl", tmp_path / "results.jsonl"
    tasks.write_text("".join(json.dumps(solved_task(row)) + "\n" for row in rows))
    with started(repository, server_image, options, command) as (name, port):
        code = "from reward_server.cli import main; main()"
        graded = subprocess.run(
            [
                *(sys.executable, "-c", code, "grade", str(tasks), "--out", str(results)),
                *("--json", "--target", f"127.0.0.1:{port}"),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        logs = subprocess.run(["docker", "logs", name], capture_output=True, text=True, check=True)
        assert graded.returncode == 0, graded.stderr + logs.stdout + logs.stderr
        assert json.loads(graded.stdout)["verdicts"] == {"PASSED": TASKS}
        health = ["docker", "inspect", "-f", "{{json .State.Health}}", name]
        assert json.loads(run(*health))["Status"] == "healthy"
        run("docker", "stop", "-t", "60", name)
        assert run("docker", "inspect", "-f", "{{.State.ExitCode}}", name).strip() == "0"


def test_the_image_is_an_ordinary_users_and_has_no_file_that_changes_users(
    server_image: str, engine: docker.APIClient
) -> None:
    assert engine.inspect_image(server_image)["Config"]["User"] == "1000:1000"
    look = "find / -xdev -perm /6000 -type f; find / -name 'authorities.pem' -not -path '/proc/*'"
    search = ["docker", "run", "--rm", "--network", "none", "--user", "0", server_image]
    assert run(*search, "sh", "-c", look) == ""


@pytest.mark.parametrize("way", ["a user", "root"])
def test_the_seccomp_profile_refuses_what_would_work_without_it(
    way: str, server_image: str, repository: Path
) -> None:
    options, _ = documented(repository)[way]
    del options[options.index("--name") : options.index("--name") + 2]
    keyctl = "import ctypes as c; l = c.CDLL(None, use_errno=True); "
    keyctl += "print(l.syscall(250, 0, -3, 1), c.get_errno())"  # x86-64: the session's keyring
    start = ["docker", "run", "--rm"]
    without = [one.replace("deploy/seccomp.json", "unconfined") for one in options]
    refused = run(*start, *options, server_image, "python", "-c", keyctl, cwd=repository)
    assert refused.split() == ["-1", str(EPERM)]
    allowed = run(*start, *without, server_image, "python", "-c", keyctl, cwd=repository)
    assert int(allowed.split()[0]) > 0


@pytest.mark.parametrize(
    ("lock", "table", "key"),
    [
        ("requirements.txt", "project", "dependencies"),
        ("build-requirements.txt", "build-system", "requires"),
    ],
)
def test_each_lock_holds_what_the_package_asks_for_with_hashes(
    lock: str, table: str, key: str, repository: Path
) -> None:
    text = (repository / "deploy" / lock).read_text()
    entries = re.split(r"\n(?=[a-z])", text)
    assert all("--hash=sha256:" in entry for entry in entries)
    pinned = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
    wanted = tomllib.loads((repository / "pyproject.toml").read_text())[table][key]
    for one in map(Requirement, wanted):
        assert one.specifier.contains(pinned[one.name]), one


@pytest.mark.parametrize("unit", ["reward-server.service", "reward-server@.service"])
def test_the_units_delegate_a_control_group_and_start_the_servers_command(
    unit: str, repository: Path
) -> None:
    text = (repository / "deploy/systemd" / unit).read_text()
    assert "\nDelegate=yes\n" in text
    assert "\nNoNewPrivileges=yes\n" in text
    assert re.search(r"^ExecStart=/opt/reward-server/bin/reward-server serve --config", text, re.M)

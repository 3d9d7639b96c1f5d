"""The server's own image, started as the documentation and the compose file start it.

Prometheus is Debian's, since its image comes from a registry. It runs with the same files.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
import tomllib
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest
import requests
import yaml
from packaging.requirements import Requirement
from typer.testing import CliRunner

from reward_server.cli.images import images_app
from tests.e2e.support.rows import solved_task
from tests.rpc.operation.prometheus import configured
from tests.support.bills import complaint_of_schema
from tests.support.engine import own_tag
from tests.support.tools import needs, require

TAG = own_tag("server")
NAME = "codereward-server"
TASKS = 164
PARTS = ("deploy", "proto", "reward_server", "sandbox_images", "trainer_client")
FILES = (".dockerignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
WAYS = ("a user", "root")
COMPOSE = ("docker", "compose", "-f", "deploy/compose.yaml")
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
    require("docker")
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
    return dict(zip(WAYS, found, strict=True))


def test_prometheus_scrapes_the_port_of_the_image(
    repository: Path, engine: docker.APIClient, server_image: str
) -> None:
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


def judged(port: int, data_folder: Path, folder: Path) -> dict[str, int]:
    """Judges HumanEval by a server; returns how often each verdict occurs."""
    rows = map(json.loads, (data_folder / "HumanEval.jsonl").read_text().splitlines())
    tasks, results = folder / "tasks.jsonl", folder / "results.jsonl"
    tasks.write_text("".join(json.dumps(solved_task(row)) + "\n" for row in rows))
    said = run(
        *(sys.executable, "-c", "from reward_server.cli import main; main()", "grade", str(tasks)),
        *("--out", str(results), "--json", "--target", f"127.0.0.1:{port}"),
    )
    return dict(json.loads(said)["verdicts"])


@pytest.mark.parametrize("way", WAYS)
def test_a_documented_container_judges_all_of_humaneval(
    way: str, server_image: str, repository: Path, data_folder: Path, tmp_path: Path
) -> None:
    options, command = documented(repository)[way]
    with started(repository, server_image, options, command) as (name, port):
        assert judged(port, data_folder, tmp_path) == {"PASSED": TASKS}
        health = ["docker", "inspect", "-f", "{{json .State.Health}}", name]
        assert json.loads(run(*health))["Status"] == "healthy"
        run("docker", "stop", "-t", "60", name)
        assert run("docker", "inspect", "-f", "{{.State.ExitCode}}", name).strip() == "0"


@needs("docker compose")
def test_compose_starts_a_server_that_judges_and_leaves_nothing(
    server_image: str, repository: Path, data_folder: Path, tmp_path: Path
) -> None:
    port, metrics = free_ports(2)
    service = {
        "image": server_image,
        "environment": {"REWARD_SERVER_PORT": port, "REWARD_SERVER_METRICS_PORT": metrics},
        "healthcheck": {"interval": "1s"},
    }
    override = tmp_path / "override.yaml"
    override.write_text(yaml.safe_dump({"services": {"server": service}}))
    project = f"codereward-test-{uuid.uuid4().hex}"
    compose = (*COMPOSE, "-f", str(override), "-p", project)
    try:
        run(*compose, "up", "--detach", "--wait", cwd=repository)
        assert judged(port, data_folder, tmp_path) == {"PASSED": TASKS}
        assert verdicts_of_prometheus(repository, metrics, tmp_path) == TASKS
    finally:
        run(*compose, "down", "--timeout", "60", cwd=repository)
    label = f"label=com.docker.compose.project={project}"
    assert run("docker", "ps", "--all", "--quiet", "--filter", label) == ""


def verdicts_of_prometheus(repository: Path, metrics: int, folder: Path) -> float:
    """Returns the verdicts that Prometheus finds, if it is configured as in the compose file."""
    text = (repository / "deploy/prometheus/prometheus.yml").read_text()
    assert text.count("15s") == 2
    assert text.count("127.0.0.1:9464") == 1
    text = text.replace("15s", "250ms").replace("127.0.0.1:9464", f"127.0.0.1:{metrics}")
    with configured(folder, text) as prometheus:
        while not (found := prometheus.query("sum(reward_server_verdicts_total)")):
            time.sleep(0.1)
    [(_, count)] = found
    return count


@needs("docker compose")
def test_compose_reads_the_services_that_watch(repository: Path) -> None:
    shown = run(*COMPOSE, "--profile", "watch", "config", "--format", "json", cwd=repository)
    services = json.loads(shown)["services"]
    assert sorted(services) == ["grafana", "prometheus", "server"]
    sources = [one["source"] for each in services.values() for one in each.get("volumes", ())]
    assert len(sources) == 3
    assert all(Path(one).exists() for one in sources)


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


def test_the_image_has_a_bill_of_materials_with_a_hash_of_each_package(
    server_image: str, repository: Path
) -> None:
    result = CliRunner().invoke(images_app, ["sbom", server_image])
    assert result.exit_code == 0, result.output
    assert complaint_of_schema(result.stdout) is None
    components = json.loads(result.stdout)["components"]
    hashes = {one["purl"]: one["hashes"][0]["content"] for one in components if "hashes" in one}
    unhashed = [one["name"] for one in components if one["purl"] not in hashes]
    assert unhashed == ["codereward"]
    lock = (repository / "deploy/requirements.txt").read_text()
    python = {url: digest for url, digest in hashes.items() if url.startswith("pkg:pypi/")}
    assert len(python) == len(re.findall(r"^[a-z].*==", lock, re.MULTILINE))
    assert all(f"--hash=sha256:{digest}" in lock for digest in python.values())
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes.values())
    assert any(url.startswith("pkg:deb/debian/libc6@") for url in hashes)


@pytest.mark.parametrize("way", WAYS)
def test_the_judge_of_a_documented_container_has_a_memory_layout_of_its_own(
    way: str, server_image: str, repository: Path
) -> None:
    options, command = documented(repository)[way]
    del options[options.index("--name") : options.index("--name") + 2]
    doctor = ("reward-server", "doctor", "--json", *command[2:])
    walls = json.loads(
        run("docker", "run", "--rm", *options, server_image, *doctor, cwd=repository)
    )
    assert {one["name"] for one in walls["walls"] if not one["standing"]} <= {
        *("memory-limit", "process-limit", "cpu-limit"),
    }

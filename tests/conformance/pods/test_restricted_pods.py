"""A pod of the Kubernetes profile `restricted`: a server's container and two runners' beside it.

A run takes a sample of tasks, attacks and checks; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.pods import requests
from tests.conformance.pods.inside import failed_checks, told_by_doctor
from tests.conformance.pods.pod import NEEDS_RUNC, Pod, running_pod
from tests.conformance.pods.service import Service
from tests.conformance.suite.host import processes_marked

pytestmark = [pytest.mark.timeout(900), *NEEDS_RUNC]

RUNNERS = ("runner-0", "runner-1")
SOCKETS = tuple(f"/run/codereward/{number}/runner.sock" for number in range(len(RUNNERS)))
VALUES = {
    "profile": "restricted",
    "settings": f"languages = {json.dumps(requests.LANGUAGES)}\n",
}
WAIT_SECONDS = 120.0


@pytest.fixture(scope="module")
def pod() -> Iterator[Pod]:
    """The pod with its runners started, and no server yet."""
    with running_pod(VALUES) as made:
        for runner in RUNNERS:
            made.start(runner)
        yield made


def test_runners_beside_others_keep_every_promise(tmp_path: Path) -> None:
    """They share a network and users with the server's container, where the host is."""
    with running_pod(VALUES) as pod:
        Service(pod, tmp_path)
        for runner in RUNNERS:
            pod.start(runner)
        report = told_by_doctor(pod, "server", "--config", "/etc/reward-server/server.toml")
        assert report["ok"], report
        assert failed_checks(pod, "server", (), SOCKETS[:1]) == set()


@pytest.fixture(scope="module")
def service(pod: Pod, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The pod's server."""
    made = Service(pod, tmp_path_factory.mktemp("service"))
    pod.start("server")
    return made


def test_the_pod_judges_humaneval(service: Service, data_folder: Path) -> None:
    tasks = requests.humaneval(data_folder)
    results = service.grade(tasks)
    assert len(results) == len(tasks)
    assert requests.not_passed(results) == []


def test_the_pod_rewards_no_attack(service: Service) -> None:
    tasks = requests.attacks()
    results = service.grade(tasks)
    assert len(results) == len(tasks)
    assert requests.rewarded(results) == []


def test_memory_beyond_a_runners_is_refused_and_a_bomb_leaves_the_runner(
    pod: Pod, service: Service
) -> None:
    beyond = requests.memory_bomb(mebibytes=1, limit_mebibytes=4096)
    within = requests.memory_bomb(mebibytes=2500, limit_mebibytes=2048)
    refused, bomb = service.grade([beyond, within])
    assert refused["error"]["status"] == "INVALID_ARGUMENT", refused
    assert (bomb["verdict"], bomb["reward"]) == ("MEMORY_LIMIT_EXCEEDED", 0.0)
    assert all(map(pod.is_running, RUNNERS))


def in_container(pod: Pod, name: str, marker: str) -> bool:
    """Returns True if a marked process runs in a container."""
    return not pod.processes(name).isdisjoint(processes_marked(marker))


def test_a_killed_runner_loses_no_verdict_and_works_again(pod: Pod, service: Service) -> None:
    """The kill comes while an execution of that runner's is under way."""
    marker = f"sleeping-{secrets.token_hex(8)}"
    tasks = [requests.sleeper(marker, seconds=1, number=number) for number in range(6)]
    grading = service.begin(tasks)
    until(lambda: in_container(pod, "runner-1", marker))
    pod.kill("runner-1")
    until(lambda: not pod.is_running("runner-1"))
    results = grading.results()
    assert len(results) == len(tasks)
    assert requests.not_passed(results) == []
    pod.restart("runner-1")
    until(lambda: len(pod.processes("runner-1")) > 1)  # the server came back to it
    again = service.begin(tasks)
    try:
        until(lambda: in_container(pod, "runner-1", marker))
    finally:
        assert requests.not_passed(again.results()) == []


def test_without_a_runner_completions_are_not_judged_instead_of_zero(
    pod: Pod, service: Service
) -> None:
    for runner in RUNNERS:
        pod.kill(runner)
    (result,) = service.grade([requests.sleeper("nobody", seconds=0)], patience_seconds=1.0)
    assert (result["verdict"], result["reward"]) == (None, None)
    assert result["error"]["status"] in ("UNAVAILABLE", "DEADLINE_EXCEEDED")
    assert pod.is_running("server")
    for runner in RUNNERS:
        pod.restart(runner)
    assert requests.not_passed(service.grade([requests.sleeper("again", seconds=0)])) == []


def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, within `WAIT_SECONDS`."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)

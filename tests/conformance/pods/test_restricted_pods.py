"""A pod of the Kubernetes profile `restricted`: a server's container and two runners' beside it.

A run takes a sample of tasks, attacks and checks; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.pods import requests
from tests.conformance.pods.inside import failed_checks, reached, told_by_doctor
from tests.conformance.pods.pod import NEEDS_RUNC, Pod, running_pod
from tests.conformance.pods.reaching import ATTEMPTS
from tests.conformance.pods.service import Service
from tests.conformance.suite.host import processes_marked
from tests.conformance.suite.reach import OF_THE_IMAGE
from tests.support.tools import needs

pytestmark = [pytest.mark.timeout(900), NEEDS_RUNC, needs("g++")]

RUNNERS = ("runner-0", "runner-1")
FOLDER = "/run/codereward"
SOCKETS = tuple(f"{FOLDER}/{number}/runner.sock" for number in range(len(RUNNERS)))
VALUES = {
    "profile": "restricted",
    "settings": f"languages = {json.dumps(requests.LANGUAGES)}\n",
}


@pytest.fixture(scope="module")
def pod() -> Iterator[Pod]:
    """The pod with its runners started, and no server yet."""
    with running_pod(VALUES) as made:
        for runner in RUNNERS:
            made.start(runner)
        yield made


@pytest.fixture(scope="module")
def made(pod: Pod, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The pod's secrets, and the clients of its server."""
    return Service(pod, tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="module")
def unserved(pod: Pod, made: Service) -> tuple[dict[str, Any], set[str]]:
    """What `doctor` says of the runners before the server uses them, and the checks that fail."""
    report = told_by_doctor(pod, "server", "--config", "/etc/reward-server/server.toml")
    return report, failed_checks(pod, "server", (), SOCKETS[:1])


@pytest.fixture(scope="module")
def service(pod: Pod, made: Service, unserved: object) -> Service:
    """The pod's server, started when all is known about runners without one."""
    pod.start("server")
    return made


def test_runners_beside_others_keep_every_promise(
    unserved: tuple[dict[str, Any], set[str]],
) -> None:
    """They share a network and users with the server's container, where the host is."""
    report, failed = unserved
    assert report["ok"], report
    assert failed == set()


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What the pod's server made of tasks that one client sent."""

    humaneval: Sequence[requests.Result]
    attacks: Sequence[requests.Result]
    beyond: requests.Result
    bomb: requests.Result
    running: Mapping[str, bool]


@pytest.fixture(scope="module")
def graded(pod: Pod, service: Service, data_folder: Path) -> Graded:
    """HumanEval, attacks, and programs with much memory; the last fills its runner's."""
    humaneval, attacks = requests.humaneval(data_folder), requests.attacks(unfit=OF_THE_IMAGE)
    beyond = requests.memory_bomb(mebibytes=1, limit_mebibytes=4096)
    bomb = requests.memory_bomb(mebibytes=2500, limit_mebibytes=2048)
    results = service.grade([*humaneval, *attacks, beyond, bomb])
    assert len(results) == len(humaneval) + len(attacks) + 2
    return Graded(
        humaneval=results[: len(humaneval)],
        attacks=results[len(humaneval) : -2],
        beyond=results[-2],
        bomb=results[-1],
        running={runner: pod.is_running(runner) for runner in RUNNERS},
    )


def test_the_pod_judges_humaneval(graded: Graded) -> None:
    assert requests.not_passed(graded.humaneval) == []


def test_the_pod_rewards_no_attack(graded: Graded) -> None:
    assert requests.rewarded(graded.attacks) == []


def test_memory_beyond_a_runners_is_refused_and_a_bomb_leaves_the_runner(graded: Graded) -> None:
    refused, bomb = graded.beyond["error"], graded.bomb
    assert refused["status"] == "INVALID_ARGUMENT", graded.beyond
    assert (bomb["verdict"], bomb["reward"]) == ("MEMORY_LIMIT_EXCEEDED", 0.0)
    assert graded.running == dict.fromkeys(RUNNERS, True)


def add_runner(pod: Pod, added: str, rules: Mapping[str, object]) -> str:
    """Starts one more runner, with all runners' sockets in its file tree; returns its own socket.

    Args:
        pod: the pod.
        added: the container's name.
        rules: settings of the runner that differ from those of the chart's runners.
    """
    socket = f"{FOLDER}/{added}/runner.sock"
    *command, _, settings = pod.container(RUNNERS[0])["command"]
    changes = {
        "command": [*command, socket, json.dumps({**json.loads(settings), **rules})],
        "startupProbe": {"exec": {"command": ["test", "-S", socket]}},
        "volumeMounts": [{"name": "sockets", "mountPath": FOLDER}],
    }
    pod.add(RUNNERS[0], added, changes)
    pod.make_folder("sockets", added)
    pod.start(added)
    return socket


@pytest.mark.usefixtures("service")
def test_a_program_reaches_nothing_of_the_network_that_runners_share(pod: Pod) -> None:
    """The rules are what holds it: without them the same program reaches everything."""
    confined = add_runner(pod, "confined", {"covered": [FOLDER]})
    assert reached(pod, confined, FOLDER) == set()
    loose = add_runner(pod, "loose", {"covered": [], "seccomp": False, "landlock": False})
    assert reached(pod, loose, FOLDER) == set(ATTEMPTS)
    pod.stop("confined")
    pod.stop("loose")


def in_container(pod: Pod, name: str, marker: str) -> bool:
    """Returns True if a marked process runs in a container."""
    return not pod.processes(name).isdisjoint(processes_marked(marker))


def test_a_killed_runner_loses_no_verdict_and_works_again(pod: Pod, service: Service) -> None:
    """The kill comes while an execution of that runner's is under way."""
    marker = f"sleeping-{secrets.token_hex(8)}"
    tasks = [requests.sleeper(marker, seconds=1, number=number) for number in range(4)]
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
    """Returns once a condition holds."""
    while not condition():
        time.sleep(0.02)

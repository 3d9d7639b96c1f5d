"""Pods of the Kubernetes profile `local`, made from the chart, with and without a writable cgroup.

A run takes a sample of tasks, attacks and checks; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from reward_server.sandbox.container_options import LIMITS
from reward_server.sandbox.walls import KINDS, Need
from tests.conformance.pods import requests
from tests.conformance.pods.inside import attack_tests_not_passed, failed_checks, standing_walls
from tests.conformance.pods.pod import NEEDS_RUNC, Pod, running_pod
from tests.conformance.pods.service import Service
from tests.conformance.pods.spec import REPOSITORY
from tests.conformance.suite.checks import NEEDING
from tests.support.sampling import TAKES_ALL, sampled
from tests.support.tools import needs

pytestmark = [pytest.mark.timeout(900), NEEDS_RUNC, needs("g++")]

SETTINGS = f"languages = {json.dumps(requests.LANGUAGES)}\n"
CPUS = {"cpu": "2", "memory": "12Gi"}  # a slot for each
VALUES = {
    "profile": "local",
    "settings": SETTINGS,
    "resources": {"requests": CPUS, "limits": CPUS},
}
DELEGATED = {**VALUES, "writableCgroup": True}
NEEDS_AN_ENGINE = "tests/attacks/programs/test_program_rewards.py"  # all of it
ATTACKS = sorted(
    {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "tests/attacks").rglob("test_*.py")
    }
    - {NEEDS_AN_ENGINE}
)
EXTRA = {kind.name for kind in KINDS.values() if kind.need is Need.EXTRA}


@contextmanager
def serving(pod: Pod, folder: Path) -> Iterator[Service]:
    """Runs the pod's server as the manifest says."""
    service = Service(pod, folder)
    pod.start("server")
    yield service
    pod.stop("server")


@pytest.fixture(scope="module")
def pod() -> Iterator[Pod]:
    """A pod that cannot write its control groups, as most nodes start one."""
    with running_pod(VALUES) as made:
        yield made


@pytest.fixture(scope="module")
def delegated() -> Iterator[Pod]:
    """A pod that may write its control groups, as containerd's `cgroup_writable` gives them."""
    with running_pod(DELEGATED) as made:
        yield made


@pytest.fixture(scope="module")
def walls(pod: Pod) -> dict[str, bool]:
    """Which walls stand in the pod that cannot write its control groups."""
    return standing_walls(pod, "server", LIMITS)


def test_all_walls_but_the_limits_stand_in_a_pod_without_a_capability(
    walls: dict[str, bool],
) -> None:
    assert {name for name, stands in walls.items() if not stands} <= {*LIMITS, *EXTRA}


def test_with_a_writable_cgroup_all_walls_stand_and_none_is_waived(delegated: Pod) -> None:
    walls = standing_walls(delegated, "server", ())
    assert {name for name, stands in walls.items() if not stands} <= EXTRA


def test_exactly_the_promises_of_waived_walls_are_lost(pod: Pod, walls: dict[str, bool]) -> None:
    lost = {check.__name__ for name in NEEDING if not walls[name] for check in NEEDING[name]}
    assert failed_checks(pod, "server", LIMITS) == lost
    assert len(lost) == sum(map(len, NEEDING.values()))


def test_with_a_writable_cgroup_no_promise_is_lost(delegated: Pod) -> None:
    assert failed_checks(delegated, "server", ()) == set()


def test_the_projects_system_call_filter_lets_sandboxes_be_made() -> None:
    profile = {"type": "Localhost", "localhostProfile": "seccomp.json"}
    with running_pod({**DELEGATED, "seccompProfile": profile}) as pod:
        walls = standing_walls(pod, "server", ())
    assert {name for name, stands in walls.items() if not stands} <= EXTRA


def test_a_pod_without_a_capability_judges_humaneval_and_rewards_no_attack(
    pod: Pod, data_folder: Path, tmp_path: Path
) -> None:
    with serving(pod, tmp_path) as service:
        assert_judged(service, requests.humaneval(data_folder), requests.attacks())


def test_a_pod_with_a_writable_cgroup_serves_without_a_waived_wall(
    delegated: Pod, data_folder: Path, tmp_path: Path
) -> None:
    humaneval = sampled(requests.humaneval(data_folder), 4)
    attacks = requests.attacks() if TAKES_ALL else []
    bomb = requests.memory_bomb(mebibytes=900)
    with serving(delegated, tmp_path) as service:
        (result,) = assert_judged(service, humaneval, attacks, bomb)
    assert (result["verdict"], result["limits_hit"]) == ("MEMORY_LIMIT_EXCEEDED", ["MEMORY"])


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", ATTACKS if TAKES_ALL else ["tests/attacks/test_signals.py"])
def test_the_attacks_of_this_project_run_inside_the_pod(pod: Pod, path: str) -> None:
    """All that needs no engine; one file of them in an ordinary run."""
    assert attack_tests_not_passed(pod, "server", LIMITS, path) == []


def assert_judged(
    service: Service,
    honest: Sequence[requests.Task],
    attacks: Sequence[requests.Task],
    *others: requests.Task,
) -> list[requests.Result]:
    """Grades tasks with one client; honest ones pass, no attack is rewarded. Returns the others'
    results."""
    tasks = [*honest, *attacks, *others]
    results = service.grade(tasks)
    assert len(results) == len(tasks)
    assert requests.not_passed(results[: len(honest)]) == []
    of_attacks = results[len(honest) : len(honest) + len(attacks)]
    if attacks:
        assert requests.rewarded(of_attacks) == []
    return results[len(honest) + len(attacks) :]

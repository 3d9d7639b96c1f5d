"""A pod of the Kubernetes profile `gvisor`: a server and a runner in one kernel of gVisor's.

A run takes a sample of tasks; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.conformance.pods import requests
from tests.conformance.pods.inside import told_by_doctor
from tests.conformance.pods.pod import NEEDS_RUNC, Pod, running_pod
from tests.conformance.pods.service import TOKEN, Service
from tests.conformance.suite.reach import OF_THE_IMAGE, PROBES_OF_ANOTHER_KERNEL
from tests.support.sampling import sampled
from tests.support.tools import needs

pytestmark = [
    pytest.mark.timeout(900),
    NEEDS_RUNC,
    needs("runsc"),
]

SAMPLE = 6
VALUES = {
    "profile": "gvisor",
    "runners": {"count": 1},
    "settings": 'languages = ["python"]\n',
}


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """The pod, serving."""
    folder = tmp_path_factory.mktemp("service")
    with running_pod(VALUES) as made:
        Service(made, folder)
        shutil.copy(folder / "authority.pem", made.shared)
        (made.shared / "token").write_text(TOKEN)
        made.start("runner-0")
        made.start("server")
        yield made


def grade(pod: Pod, tasks: Sequence[requests.Task]) -> list[requests.Result]:
    """Grades tasks with a client in the server's container, since nothing else has its network."""
    given = pod.shared / "tasks.jsonl"
    given.write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
    own = ("--token-file", "/shared/token", "--tls-ca", "/shared/authority.pem")
    place = ("--target", "127.0.0.1:50051", "--out", "/shared/out.jsonl")
    told = pod.execute("server", "reward-server", "grade", "/shared/tasks.jsonl", *place, *own)
    lines = (pod.shared / "out.jsonl").read_text().splitlines()
    assert len(lines) == len(tasks), told.stdout + told.stderr
    return [json.loads(line) for line in lines]


def test_a_pod_in_gvisor_judges_humaneval_and_rewards_no_attack(
    pod: Pod, data_folder: Path
) -> None:
    """One client does both: a client takes seconds to start there."""
    humaneval = sampled(requests.humaneval(data_folder), SAMPLE)
    unfit = OF_THE_IMAGE | PROBES_OF_ANOTHER_KERNEL
    attacks = sampled(requests.attacks(compiled=False, unfit=unfit), SAMPLE)
    results = grade(pod, [*humaneval, *attacks])
    assert requests.not_passed(results[: len(humaneval)]) == []
    assert requests.rewarded(results[len(humaneval) :]) == []


def test_doctor_says_that_the_local_backend_needs_another_kernel(pod: Pod) -> None:
    told = told_by_doctor(pod, "server", "--backend", "local")
    assert not told["ok"]
    (kernel,) = (wall for wall in told["walls"] if wall["name"] == "kernel")
    assert "gVisor" in kernel["detail"]
    assert (told["pod"]["profile"], told["pod"]["lines"]) == ("gvisor", [])

"""The fields that a pod lacks follow from what it shows of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.sandbox.container_options import LIMITS
from reward_server.sandbox.pod_options import PodOptions, pod_options

ORDINARY = 1000
HOSTS_USERS = "         0          0 4294967295\n"
OWN_USERS = "         0 1700000000      65536\n"
MASK = "42 30 0:5 /null /proc/kcore rw - devtmpfs devtmpfs rw\n"
ALL = (
    "hostUsers: false",
    "securityContext.runAsUser: 1000",
    "securityContext.seccompProfile: {type: Unconfined}",
    "securityContext.procMount: Unmasked",
)


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    """A pod that has all that sandboxes need."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hosts").write_text("# Kubernetes-managed hosts file.\n127.0.0.1 localhost\n")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/uid_map").write_text(OWN_USERS)
    (tmp_path / "proc/self/mountinfo").write_text("30 1 0:5 / /proc rw - proc proc rw\n")
    (tmp_path / "proc/self/status").write_text("Seccomp:\t0\n")
    return tmp_path


def options(pod: Path, *refused: str, uid: int = ORDINARY) -> PodOptions:
    found = pod_options(refused, pod, uid)
    assert found is not None
    return found


def test_a_pod_that_lacks_limits_alone_allows_the_local_profile(pod: Path) -> None:
    found = options(pod, *LIMITS)
    assert (found.profile, found.lines, found.allow_missing) == ("local", (), LIMITS)
    assert 'allow_missing = ["memory-limit", "process-limit", "cpu-limit"]' in found.text


def test_a_pod_as_kubernetes_makes_one_lacks_all_fields(pod: Path) -> None:
    (pod / "proc/self/uid_map").write_text(HOSTS_USERS)
    (pod / "proc/self/mountinfo").write_text(MASK)
    (pod / "proc/self/status").write_text("Seccomp:\t2\n")
    found = options(pod, "user-namespace", "container", uid=0)
    assert (found.profile, found.lines) == ("restricted", ALL)


def test_only_what_is_lacking_is_named(pod: Path) -> None:
    assert options(pod, "container", uid=0).lines == ALL[1:2]
    (pod / "proc/self/mountinfo").write_text(MASK)
    assert options(pod, "container").lines == ALL[3:]


def test_a_filter_that_allows_namespaces_is_not_to_blame(pod: Path) -> None:
    (pod / "proc/self/status").write_text("Seccomp:\t2\n")
    assert options(pod, "container").lines == ()
    assert options(pod, "user-namespace").lines == ALL[2:3]


def test_a_wall_that_no_field_mends_does_not_allow_the_local_profile(pod: Path) -> None:
    assert options(pod, "bubblewrap").profile == "restricted"


def test_outside_of_kubernetes_there_is_no_pod_to_mend(tmp_path: Path) -> None:
    assert pod_options(("container",), tmp_path) is None


def test_a_pod_without_a_missing_wall_needs_nothing(pod: Path) -> None:
    assert pod_options((), pod) is None

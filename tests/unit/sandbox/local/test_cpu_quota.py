"""The CPUs that a container may use follow from its quota, not from the node's cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.sandbox.local.cpu_quota import usable_cpus


@pytest.fixture
def process(tmp_path: Path) -> Path:
    made = tmp_path / "proc"
    made.mkdir()
    return made


def mount(process: Path, kind: str, root: str, own: str) -> Path:
    point = process.parent / "cgroup"
    point.mkdir()
    options = "rw,cpu,cpuacct" if kind == "cgroup" else "rw"
    (process / "mountinfo").write_text(f"30 23 0:26 {root} {point} rw - {kind} cgroup {options}\n")
    (process / "cgroup").write_text(f"4:cpu,cpuacct:{own}\n" if kind == "cgroup" else f"0::{own}\n")
    return point


@pytest.mark.parametrize(
    ("quota", "cpus"),
    [
        ("max 100000", 64),
        ("400000 100000", 4),
        ("350000 100000", 3),
        ("20000 100000", 1),
        ("9900000 100000", 64),
    ],
)
def test_a_pod_on_version_2_counts_whole_cores_of_its_quota(
    process: Path, quota: str, cpus: int
) -> None:
    (mount(process, "cgroup2", "/", "/") / "cpu.max").write_text(f"{quota}\n")
    assert usable_cpus(process, affinity=64) == cpus


def test_the_quota_of_a_cgroup_above_counts_too(process: Path) -> None:
    point = mount(process, "cgroup2", "/", "/pod/container")
    (point / "pod/container").mkdir(parents=True)
    (point / "pod/container/cpu.max").write_text("max 100000\n")
    (point / "pod/cpu.max").write_text("200000 100000\n")
    assert usable_cpus(process, affinity=64) == 2


@pytest.mark.parametrize(("quota", "cpus"), [("-1", 64), ("600000", 6)])
def test_a_pod_on_version_1_counts_its_quota(process: Path, quota: str, cpus: int) -> None:
    point = mount(process, "cgroup", "/kubepods/pod/container", "/kubepods/pod/container")
    (point / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (point / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_cpus(process, affinity=64) == cpus


def test_without_cgroups_the_affinity_counts(process: Path) -> None:
    assert usable_cpus(process, affinity=5) == 5

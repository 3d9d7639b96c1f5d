"""What a container is started with depends on who runs the server and on what the host has."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.sandbox.container_options import LIMITS, container_options

ALL = ("user-namespace", "container", "memory-limit")


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    (tmp_path / ".dockerenv").touch()
    return tmp_path


def test_outside_of_a_container_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert container_options(ALL, tmp_path, 0) is None


def test_where_nothing_is_refused_there_is_nothing_to_say(inside: Path) -> None:
    assert container_options((), inside, 0) is None


def test_root_gets_the_right_to_mount_and_the_control_groups(inside: Path) -> None:
    found = container_options(ALL, inside, 0)
    assert found is not None
    assert found.allow_missing == ()
    assert found.command == (
        "docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt "
        "systempaths=unconfined -v /sys/fs/cgroup:/sys/fs/cgroup:rw IMAGE reward-server serve"
    )


def test_a_user_waives_the_limits_and_needs_no_capability(inside: Path) -> None:
    found = container_options(ALL, inside, 1000)
    assert found is not None
    assert found.allow_missing == LIMITS
    assert not any("cap-add" in option for option in found.options)
    assert found.command.endswith("serve --allow-missing memory-limit,process-limit,cpu-limit")


def test_podman_is_known_too(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".containerenv").touch()
    assert container_options(ALL, tmp_path, 0) is not None


def test_version_2_of_control_groups_needs_the_hosts(inside: Path) -> None:
    (inside / "sys/fs/cgroup").mkdir(parents=True)
    (inside / "sys/fs/cgroup/cgroup.controllers").touch()
    found = container_options(ALL, inside, 0)
    assert found is not None
    assert "--cgroupns host" in found.options


def test_apparmors_profile_is_switched_off(inside: Path) -> None:
    (inside / "proc/self/attr").mkdir(parents=True)
    (inside / "proc/self/attr/current").write_text("docker-default (enforce)\n")
    for uid in (0, 1000):
        found = container_options(ALL, inside, uid)
        assert found is not None
        assert "--security-opt apparmor=unconfined" in found.options

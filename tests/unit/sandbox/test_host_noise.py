from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.sandbox.host_noise import (
    check_boost,
    check_cores,
    check_governor,
    check_huge_pages,
    check_interpreter,
    check_load,
    check_memory,
    check_siblings,
    check_stolen,
    check_swap,
    circumstances,
)

CPUS = "sys/devices/system/cpu"


def host(root: Path, **files: str) -> Path:
    """Writes files; a name's `__` stands for `/`, and `cpus` for the folder of the cores."""
    for name, content in files.items():
        path = root / name.replace("cpus__", f"{CPUS}/").replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return root


def test_more_slots_than_cores_are_noise() -> None:
    assert check_cores(2, 2).fine
    crowded = check_cores(2, 3)
    assert (crowded.fine, crowded.remedy) == (False, "use --workers 2, one slot a core")


def test_memory_has_to_do_for_all_slots_at_once(tmp_path: Path) -> None:
    host(tmp_path, proc__meminfo="MemTotal: 99 kB\nMemAvailable: 3145728 kB")
    assert check_memory(2 << 30, tmp_path).fine
    assert not check_memory((2 << 30) + 1, tmp_path).fine


def test_a_busy_host_is_noise(tmp_path: Path) -> None:
    host(tmp_path, proc__loadavg="1.00 0.50 0.10 1/100 4242")
    assert check_load(2, tmp_path).fine
    assert not check_load(1, tmp_path).fine


@pytest.mark.parametrize(("stolen", "fine"), [(2, True), (30, False)])
def test_stolen_time_is_noise(tmp_path: Path, stolen: int, fine: bool) -> None:
    host(tmp_path, proc__stat=f"cpu  500 0 100 300 0 0 0 {stolen} 0 0\ncpu0 1 1 1")
    found = check_stolen(tmp_path)
    assert found.fine is fine
    assert bool(found.remedy) is not fine


@pytest.mark.parametrize(
    ("governors", "fine"),
    [((), True), (("performance", "performance"), True), (("performance", "powersave"), False)],
)
def test_a_governor_that_saves_power_is_noise(
    tmp_path: Path, governors: tuple[str, ...], fine: bool
) -> None:
    for number, governor in enumerate(governors):
        host(tmp_path, **{f"cpus__cpu{number}__cpufreq__scaling_governor": governor})
    assert check_governor(tmp_path).fine is fine


@pytest.mark.parametrize(
    ("files", "fine", "switch"),
    [
        ({}, True, ""),
        ({"cpus__intel_pstate__no_turbo": "1"}, True, ""),
        ({"cpus__intel_pstate__no_turbo": "0"}, False, "intel_pstate/no_turbo"),
        ({"cpus__cpufreq__boost": "1"}, False, "cpufreq/boost"),
        ({"cpus__cpufreq__boost": "0"}, True, ""),
    ],
)
def test_a_boost_is_noise(tmp_path: Path, files: dict[str, str], fine: bool, switch: str) -> None:
    found = check_boost(host(tmp_path, **files))
    assert found.fine is fine
    assert switch in found.remedy


@pytest.mark.parametrize(("active", "fine"), [("0", True), ("1", False)])
def test_cores_that_share_their_units_are_noise(tmp_path: Path, active: str, fine: bool) -> None:
    assert check_siblings(host(tmp_path, cpus__smt__active=active)).fine is fine
    assert check_siblings(tmp_path / "without").fine


def test_swap_is_noise(tmp_path: Path) -> None:
    header = "Filename Type Size Used Priority"
    assert check_swap(host(tmp_path, proc__swaps=header)).fine
    found = check_swap(host(tmp_path, proc__swaps=f"{header}\n/dev/sda2 partition 8 0 -2"))
    assert (found.fine, found.detail) == (False, "on: /dev/sda2")


@pytest.mark.parametrize(
    ("setting", "fine"),
    [("[always] madvise never", False), ("always [madvise] never", True), ("", True)],
)
def test_huge_pages_for_everyone_are_noise(tmp_path: Path, setting: str, fine: bool) -> None:
    host(tmp_path, sys__kernel__mm__transparent_hugepage__enabled=setting)
    assert check_huge_pages(tmp_path).fine is fine


def test_this_host_is_looked_at_as_a_whole() -> None:
    found = circumstances(cores=1, slots=2, memory_bytes=1 << 50)
    names = [one.name for one in found]
    assert len(names) == len(set(names)) == 10
    assert [one.fine for one in found[:2]] == [False, False]
    assert all(one.fine or one.remedy for one in found)


def test_a_host_that_shows_nothing_is_still_described(tmp_path: Path) -> None:
    found = circumstances(cores=1, slots=1, memory_bytes=1, root=tmp_path)
    assert [one.name for one in found if not one.fine and one.name != "interpreter"] == ["memory"]


@pytest.mark.parametrize(
    ("variables", "fine"),
    [
        ({"CONFIG_ARGS": "'--enable-optimizations' '--with-lto'"}, True),
        ({"CONFIG_ARGS": "'--enable-shared'", "PY_CORE_CFLAGS": "-O3 -fprofile-use"}, True),
        ({"CONFIG_ARGS": "'--enable-shared' '--prefix=/usr'", "installed_base": "/usr"}, True),
        (
            {
                "CONFIG_ARGS": "'--prefix=/root/.pyenv/versions/3.11.7' '--enable-shared'",
                "PY_CFLAGS": "-DNDEBUG -g -fwrapv -O3 -Wall",
                "PGO_PROF_USE_FLAG": "-fprofile-use -fprofile-correction",
                "installed_base": "/root/.pyenv/versions/3.11.7",
            },
            False,
        ),
    ],
    ids=["configured", "compiled", "debian", "pyenv"],
)
def test_an_interpreter_without_a_profile_is_slow(variables: dict[str, str], fine: bool) -> None:
    found = check_interpreter(variables)
    assert found.fine is fine
    assert ("--enable-optimizations" in found.remedy) is not fine

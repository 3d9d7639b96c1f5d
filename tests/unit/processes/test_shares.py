"""Each process's share of slots, queue, identities and CPUs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reward_server.errors import SettingsError
from reward_server.processes.shares import process_count, shares
from reward_server.settings import load_settings


def settings(**flags: Any) -> Any:
    return load_settings(flags)


@pytest.mark.parametrize(("workers", "count"), [(1, 1), (5, 1), (6, 2), (64, 13), (192, 39)])
def test_automatic_is_one_process_for_five_slots(workers: int, count: int) -> None:
    assert process_count(settings(workers=workers, processes="auto")) == count


def test_one_process_is_the_default() -> None:
    assert process_count(settings(workers=64)) == 1


def test_more_processes_than_slots_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"processes: 3 processes .* 2 slots"):
        process_count(settings(workers=2, processes=3))


def test_more_processes_than_cpus_are_refused_where_each_has_its_own() -> None:
    count = len(os.sched_getaffinity(0)) + 1
    flags = {"workers": count, "processes": count}
    assert process_count(settings(**flags)) == count
    with pytest.raises(SettingsError, match="process_cpus"):
        process_count(settings(**flags, process_cpus="own"))


def test_a_wrong_number_of_processes_names_the_setting() -> None:
    with pytest.raises(SettingsError, match=r"processes: .* valid integer"):
        settings(processes="many")


def test_slots_are_divided_without_rest() -> None:
    parts = shares(settings(workers=14, queue_capacity=100), 4)
    assert sorted(one.settings.workers for one in parts) == [3, 3, 4, 4]
    assert [one.settings.queue_capacity for one in parts] == [25] * 4
    assert all(one.cpus is None and one.settings.metrics_port is None for one in parts)


def test_all_processes_have_one_hash_seed() -> None:
    whole = settings(workers=4)
    assert {one.settings.hash_seed for one in shares(whole, 4)} == {whole.hash_seed}


def test_no_two_processes_have_an_identity_in_common() -> None:
    parts = shares(settings(workers=6, sandbox_uid=5000), 3)
    first = [one.settings.sandbox_uid for one in parts]
    assert first[0] == 5000
    assert first[1] - first[0] == first[2] - first[1] >= 4 * 2


def test_each_runner_has_one_process() -> None:
    sockets = [Path(f"/run/{number}.sock") for number in range(5)]
    parts = shares(settings(backend="socket", sockets=sockets), 2)
    assert [path for one in parts for path in one.settings.sockets] == sockets
    assert process_count(settings(backend="socket", sockets=sockets, processes=5)) == 5


def test_cpus_are_divided_where_asked() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    parts = shares(settings(workers=len(cpus), process_cpus="own"), len(cpus))
    assert [one.cpus for one in parts] == [(cpu,) for cpu in cpus]


def test_sessions_need_one_process() -> None:
    chosen = load_settings({"session_memory_bytes": 1 << 30, "processes": 2, "workers": 4})
    with pytest.raises(SettingsError, match="a session lives in one process; set processes to 1"):
        process_count(chosen)

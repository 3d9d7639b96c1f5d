"""Each process's share of the slots, the queue, the user ids and, if requested, the CPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from reward_server.errors import SettingsError
from reward_server.sandbox.local.container import LocalOptions
from reward_server.sandbox.local.identities import first_identity
from reward_server.settings import Settings

_T = TypeVar("_T")

SLOTS_PER_PROCESS = 5
"""Slots that one process feeds; `docs/how-to/bottleneck.md` has the arithmetic."""
# Numbers of a pool's containers: those of the slots, spares, and those that are being closed.
_IDENTITIES_PER_SLOT, _FURTHER_IDENTITIES = 4, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The settings of one process, and its CPUs; None for all."""

    settings: Settings
    cpus: tuple[int, ...] | None


def process_count(settings: Settings) -> int:
    """Returns the number of processes that the settings ask for.

    Raises:
        SettingsError: there are fewer slots or CPUs than processes.
    """
    slots = _slots(settings)
    count = settings.processes or max(-(-slots // SLOTS_PER_PROCESS), 1)
    if count == 1:
        return count
    if settings.session_memory_bytes:
        raise SettingsError(
            "session_memory_bytes: a session lives in one process; set processes to 1, or "
            "session_memory_bytes to 0"
        )
    if count > slots:
        raise SettingsError(
            f"processes: {count} processes need a slot each, and there are {slots} slots"
        )
    cpus = len(os.sched_getaffinity(0))
    if settings.process_cpus == "own" and count > cpus:
        raise SettingsError(
            f"process_cpus: {count} processes need a CPU each, and the server may use {cpus}"
        )
    return count


def shares(settings: Settings, count: int) -> list[Share]:
    """Divides the resources in the server's settings between its processes.

    Args:
        settings: the settings of the server.
        count: number of processes.
    """
    cpus = sorted(os.sched_getaffinity(0))
    return [
        Share(
            settings=_settings_of(number, settings, count),
            cpus=(tuple(_part(cpus, number, count)) if settings.process_cpus == "own" else None),
        )
        for number in range(count)
    ]


def _settings_of(number: int, settings: Settings, count: int) -> Settings:
    slots = _slots(settings)
    changes: dict[str, object] = {
        "processes": 1,
        "workers": len(_part(range(slots), number, count)),
        "sockets": tuple(_part(settings.sockets, number, count)),
        "queue_capacity": -(-settings.queue_capacity // count),
        "id_window_size": -(-settings.id_window_size // count),
        # A credential stores its tasks in each process that it uses.
        "stored_tasks_total_bytes": max(
            -(-settings.stored_tasks_total_bytes // count),
            min(settings.stored_tasks_bytes, settings.stored_tasks_total_bytes),
        ),
        "metrics_port": None,
    }
    if settings.backend == "local":
        each = _IDENTITIES_PER_SLOT * -(-slots // count) + _FURTHER_IDENTITIES
        first = settings.sandbox_uid
        if first is None:
            first = first_identity(LocalOptions().uid, each * count)
        changes["sandbox_uid"] = first + number * each
    return settings.model_copy(update=changes)


def _slots(settings: Settings) -> int:
    return len(settings.sockets) if settings.backend == "socket" else settings.workers


def _part(whole: Sequence[_T], number: int, count: int) -> Sequence[_T]:
    """Returns one of `count` consecutive parts, whose lengths differ by at most one."""
    return whole[number * len(whole) // count : (number + 1) * len(whole) // count]

"""The roles of a run's processes, and messages between them.

The launcher sets the role in the environment, so that it is known before torch is imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

_RANKS = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
_LOCAL_RANKS = (
    *("LOCAL_RANK", "MPI_LOCALRANKID"),
    *("OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"),
)


def is_main_process() -> bool:
    """Returns True in exactly one process of the run."""
    return _rank(_RANKS) == 0


def is_local_main_process() -> bool:
    """Returns True in exactly one process on each machine."""
    return _rank(_LOCAL_RANKS) == 0


def told_by_main(names: Sequence[str]) -> list[str]:
    """Returns the names that the main process has, in every process; the processes must be
    connected."""
    from accelerate.utils import broadcast_object_list

    told = [list(names)]
    broadcast_object_list(told)
    return told[0]


def _rank(variables: Sequence[str]) -> int:
    given = (os.environ.get(name, "") for name in variables)
    return next((int(value) for value in given if value.isdecimal()), 0)

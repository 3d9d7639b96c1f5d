"""The limit that the kernel keeps for a candidate's user stands behind the control group's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from reward_server.runner.supervisor.cgroup_usage import CgroupUsage, SharedCgroupUsage
from reward_server.runner.walls.policy import PROCESS_MARGIN

PROCESSES = 64
TIGHT = PROCESSES + PROCESS_MARGIN
OUT_OF_THE_WAY = 2 * PROCESSES + PROCESS_MARGIN


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        pytest.param(
            CgroupUsage, {"pids_events": "max 0\n"}, OUT_OF_THE_WAY, id="a group of its own"
        ),
        pytest.param(CgroupUsage, {"memory_usage": "1\n"}, TIGHT, id="a group that bounds none"),
        pytest.param(CgroupUsage, {}, TIGHT, id="no group"),
        pytest.param(
            SharedCgroupUsage,
            {"pids_events": "max 0\n", "pids_max": f"{PROCESSES + 3}\n"},
            OUT_OF_THE_WAY,
            id="a container bounded for the execution, the runner included",
        ),
        pytest.param(
            SharedCgroupUsage,
            {"pids_events": "max 0\n", "pids_max": f"{PROCESSES + 4}\n"},
            TIGHT,
            id="a container that allows more",
        ),
        pytest.param(
            SharedCgroupUsage,
            {"pids_events": "max 0\n", "pids_max": "max\n"},
            TIGHT,
            id="a container without a bound",
        ),
    ],
)
def test_the_users_limit_is_out_of_the_way_only_where_a_group_bounds_the_execution(
    kind: type[CgroupUsage], files: Mapping[str, str], expected: int, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        opened: dict[str, int] = {}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            opened[name] = os.open(tmp_path / name, os.O_RDONLY)
            stack.callback(os.close, opened[name])
        assert kind(opened).user_processes(PROCESSES) == expected

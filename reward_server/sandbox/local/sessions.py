"""Local containers for sessions; see `container` for what they stop."""

from __future__ import annotations

import itertools
from pathlib import Path

from reward_server.sandbox.local.cgroup import MEMORY, PIDS, CgroupParent
from reward_server.sandbox.local.container import LocalContainer, LocalOptions
from reward_server.sandbox.sessions.sandbox import SessionSandbox
from reward_server.sandbox.sessions.values import Counters

# The files with counters: controller, name by version, and the counter's name in them.
_OOM_FILES = {1: "memory.oom_control", 2: "memory.events"}
_OOM_COUNTER, _FORK_COUNTER = "oom_kill", "max"
_FORKS_FILE = "pids.events"


class LocalSessionContainer(LocalContainer):
    """A bubblewrap container for one session; see `sandbox.sessions.sandbox.SessionContainer`."""

    def counters(self, told: Counters) -> Counters:
        """Reads the counters of the session's cgroup; they are 0 if cgroups were waived."""
        group = self.candidate_group
        if group is None:
            return Counters()
        memory, pids = (group.directories.get(name) for name in (MEMORY, PIDS))
        return Counters(
            oom_kills=_counter(memory, _OOM_FILES[group.version], _OOM_COUNTER),
            process_limit_hits=_counter(pids, _FORKS_FILE, _FORK_COUNTER),
        )


class LocalSessions:
    """Starts local containers for sessions.

    Args:
        options: the way to make them; `uid` is the first of the users of sessions.
        parent: the cgroup in which cgroups are made; None if they were waived.
    """

    def __init__(self, options: LocalOptions, parent: CgroupParent | None) -> None:
        self._options = options
        self._parent = parent
        self._starts = itertools.count()

    async def __call__(self, number: int) -> SessionSandbox:
        """Starts the container of a session.

        Args:
            number: one that no other living session has; decides the container's user.

        Raises:
            SandboxError: the container or its runner did not start.
        """
        name = f"session{number}.{next(self._starts)}"
        container = await LocalSessionContainer.start(
            number, self._options, self._parent, name, session=True
        )
        return await SessionSandbox.start(container)


def _counter(folder: Path | None, file: str, name: str) -> int:
    """Returns a counter of a cgroup, 0 if it is not there."""
    if folder is None:
        return 0
    try:
        lines = (folder / file).read_text().splitlines()
    except OSError:
        return 0  # the cgroup was removed
    found = [line.split() for line in lines]
    return next((int(words[1]) for words in found if words[0] == name), 0)

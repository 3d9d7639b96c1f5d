"""The walls of an execution's processes, and the order in which a process builds them.

Judge and candidate are confined by the same code, so that no step can be forgotten for one of them.
The steps themselves are in `confine` and `privileges`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import confine
from .confine import Seal
from .privileges import Privileges


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """The walls of this container's processes, as determined when it started.

    Args:
        seal: the permanent restrictions of an execution without a loopback interface.
        loopback_seal: those of an execution with a loopback interface.
        covered: folders of the container that an execution does not see.
        private_proc: whether an execution gets a /proc of its own.
    """

    seal: Seal
    loopback_seal: Seal
    covered: tuple[str, ...] = ()
    private_proc: bool = True

    def close_all_but(self, *kept: int) -> None:
        """Closes every descriptor except 0, 1, 2, `kept`, and those that `close` still needs."""
        confine.close_all_but({*kept, *self._rulesets})

    def enter(self, privileges: Privileges, disk_bytes: int) -> None:
        """Moves this process to its own file tree, folders and session."""
        privileges.enter()
        privileges.cover(self.covered)
        privileges.mount_box(disk_bytes)
        if self.private_proc:
            confine.mount_proc()
        os.setsid()

    def close(self, privileges: Privileges, *, loopback: bool = False) -> None:
        """Gives up permanently the rights that building the walls needed."""
        privileges.leave()
        confine.apply(self.loopback_seal if loopback else self.seal)
        for ruleset in self._rulesets:
            os.close(ruleset)

    @property
    def _rulesets(self) -> tuple[int, ...]:
        seals = (self.seal, self.loopback_seal)
        return tuple(seal.ruleset for seal in seals if seal.ruleset is not None)

"""What stands around an execution's processes, and in which order a process builds it.

What this stops: a judge and a candidate that are confined by two hands, one of which forgets a
step.

What it does not: the steps themselves, see `confine` and `privileges`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import confine
from .confine import Seal
from .privileges import Privileges


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """How processes of this container are confined, as found out at its start.

    Args:
        seal: what lies on every execution but those with a loopback.
        loopback_seal: what lies on these.
        covered: folders of the container's that an execution does not see.
        private_proc: whether an execution gets a /proc of its own.
    """

    seal: Seal
    loopback_seal: Seal
    covered: tuple[str, ...] = ()
    private_proc: bool = True

    def close_all_but(self, *kept: int) -> None:
        """Closes every descriptor but 0, 1, 2, some, and those that `close` still needs."""
        confine.close_all_but({*kept, *self._rulesets})

    def enter(self, privileges: Privileges, disk_bytes: int) -> None:
        """Gives this process files, folders and a session of its own."""
        privileges.enter()
        privileges.cover(self.covered)
        privileges.mount_box(disk_bytes)
        if self.private_proc:
            confine.mount_proc()
        os.setsid()

    def close(self, privileges: Privileges, *, loopback: bool = False) -> None:
        """Gives up, for good, what building needed."""
        privileges.leave()
        confine.apply(self.loopback_seal if loopback else self.seal)
        for ruleset in self._rulesets:
            os.close(ruleset)

    @property
    def _rulesets(self) -> tuple[int, ...]:
        seals = (self.seal, self.loopback_seal)
        return tuple(seal.ruleset for seal in seals if seal.ruleset is not None)

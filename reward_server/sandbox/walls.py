"""The walls, and whether a server starts without them."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from reward_server.domain import Wall
from reward_server.errors import MissingWallError, SettingsError
from reward_server.sandbox.base import WallOptions

Options = TypeVar("Options", bound=WallOptions)


class Need(enum.Enum):
    """Whether a server starts without a wall."""

    ALWAYS = "cannot be waived: nothing runs without it"
    WAIVABLE = "the server refuses to start without it unless --allow-missing names it"
    EXTRA = "a second lock where the kernel has it; never a reason to refuse"


class WallKind(NamedTuple):
    """A wall: whether it is needed, and what it protects from."""

    name: str
    need: Need
    protects: str


WALLS = (
    WallKind("kernel", Need.ALWAYS, "the other walls can be built"),
    WallKind(
        "bubblewrap", Need.ALWAYS, "programs see no network, no file and no variable of the host"
    ),
    WallKind("unprivileged-user", Need.ALWAYS, "programs never run as root"),
    WallKind(
        "user-namespace", Need.ALWAYS, "each execution has users, files and processes of its own"
    ),
    WallKind("container", Need.ALWAYS, "programs run at all"),
    WallKind("memory-limit", Need.WAIVABLE, "a program cannot take the host's memory"),
    WallKind("process-limit", Need.WAIVABLE, "a fork bomb ends at its limit"),
    WallKind("cpu-limit", Need.WAIVABLE, "a program cannot take its neighbours' cores"),
    WallKind("seccomp", Need.WAIVABLE, "kernel code that only attackers need stays out of reach"),
    WallKind("private-proc", Need.WAIVABLE, "a program sees its own processes and no others"),
    WallKind("landlock", Need.EXTRA, "files stay out of reach even past the mounts"),
    WallKind("judge-layout", Need.EXTRA, "a program knows no address of the judge's memory"),
)
KINDS = {kind.name: kind for kind in WALLS}


def require(walls: Iterable[Wall], allow_missing: Collection[str] = ()) -> None:
    """Refuses a host on which a needed wall is missing.

    Raises:
        MissingWallError: walls are missing that were not waived, or that cannot be waived; it names
            them.
        SettingsError: `allow_missing` names something that is not a wall or cannot be waived.
    """
    waivable = [kind.name for kind in WALLS if kind.need is not Need.ALWAYS]
    if unknown := sorted(set(allow_missing) - set(waivable)):
        raise SettingsError(
            f"allow_missing: {', '.join(unknown)} cannot be waived; choose from "
            f"{', '.join(waivable)}"
        )
    missing = tuple((wall.name, wall.detail) for wall in walls if is_refused(wall, allow_missing))
    if missing:
        raise MissingWallError(missing, waivable=waivable)


def is_refused(wall: Wall, allow_missing: Collection[str] = ()) -> bool:
    """Returns True if a wall's absence keeps a server from starting."""
    if wall.standing or KINDS[wall.name].need is Need.EXTRA:
        return False
    return wall.name not in allow_missing


def without_missing(options: Options, walls: Iterable[Wall]) -> Options:
    """Returns the options of a container without the walls that this host cannot build."""
    missing = {wall.name for wall in walls if not wall.standing}
    return replace(
        options,
        use_seccomp=options.use_seccomp and "seccomp" not in missing,
        use_landlock=options.use_landlock and "landlock" not in missing,
        private_proc=options.private_proc and "private-proc" not in missing,
    )

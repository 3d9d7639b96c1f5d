"""Arguments of bubblewrap that show a test's box this machine's programs and libraries."""

from __future__ import annotations

from pathlib import Path

# Others mount and unmount in /run, /tmp and /var, as a container engine does when a container
# starts. Bubblewrap lists the mounts under a folder first and changes each of them afterwards, so
# one that is gone meanwhile ends it.
_LEFT_OUT = frozenset({"dev", "lost+found", "proc", "run", "sys", "tmp", "var"})


def programs_read_only() -> list[str]:
    """Returns the arguments that show each folder of the root but those where others mount."""
    shown = sorted(str(path) for path in Path("/").iterdir() if path.name not in _LEFT_OUT)
    return [argument for path in shown for argument in ("--ro-bind", path, path)]

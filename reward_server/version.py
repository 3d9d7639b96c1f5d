"""The version of the installed distribution, which a command can tell without other imports."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "codereward"


def server_version() -> str:
    """Returns the version of the installed distribution."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"

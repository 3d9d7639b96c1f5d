"""The version of the installed distribution; this module imports nothing else of the server."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "codereward"


def server_version() -> str:
    """Returns the version of the installed distribution."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"

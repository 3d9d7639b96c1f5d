"""The build of the server that runs; this module imports nothing else of the server."""

from __future__ import annotations

from codereward.build import commit, described
from codereward.build import version as server_version

__all__ = ["commit", "described", "server_version"]

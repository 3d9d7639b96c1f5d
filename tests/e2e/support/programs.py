"""Runs programs that need further packages, in processes of their own, in front of a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from trainer_client.local_server import LocalServer


def run(arguments: list[str], server: LocalServer, *folders: Path, **variables: str) -> Any:
    """Runs a program that sees further packages; gives the JSON that it printed last."""
    done = completed(arguments, server, *folders, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def completed(
    arguments: list[str], server: LocalServer, *folders: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program that sees further packages to its end."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CODEREWARD_")}
    environment |= {"CODEREWARD_TARGET": server.target, "HF_HUB_OFFLINE": "1", **variables}
    paths = [path for path in sys.path if path and "site-packages" not in path]
    environment["PYTHONPATH"] = os.pathsep.join([*paths, *map(str, folders)])
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=150
    )

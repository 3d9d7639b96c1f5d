"""Builds the command with which a container starts its runner, and checks that container."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from reward_server.errors import StartError
from reward_server.runner.walls import policy

RUNNER_FOLDER = "/opt/codereward/runner"
START = "start.py"
# Settings of a runner in a container that another tool made and limits.
OWN_CONTAINER: Mapping[str, object] = {
    "meters": None,
    "joins": (),
    "sandbox_kernel": False,
    "covered": (),
    "private_proc": True,
    "seccomp": True,
    "landlock": True,
    "packages": (),
    "preload": (),
    "environment": {},
}


def runner_command(
    interpreter: str,
    settings: Mapping[str, object],
    *,
    listen: str = "",
    session: bool = False,
    folder: str = RUNNER_FOLDER,
) -> list[str]:
    """Builds the command line of a runner.

    Args:
        interpreter: the path of Python in the container.
        settings: settings of the zygote, see `runner.__main__`.
        listen: path of a socket to listen on; if empty, the runner uses its standard input and
            output. Executions do not see its folder, where a program could reach other runners.
        session: whether it runs one session instead of executions.
        folder: the runner's folder in the container.
    """
    start = [interpreter, "-I", "-S", f"{folder}/{START}"]
    if session:
        return [*start, "--session", json.dumps(settings)]
    if not listen:
        return [*start, json.dumps(settings)]
    covered = (os.path.dirname(os.path.abspath(listen)),)
    return [*start, "--listen", listen, json.dumps({**settings, "covered": covered})]


def require_layout(root: Path = Path("/")) -> None:
    """Refuses a container in which an execution's own folders have no place.

    Raises:
        StartError: it names what is missing.
    """
    folders = (policy.BOX, policy.USER_FOLDER)
    has_folders = all((root / folder.lstrip("/")).is_dir() for folder in folders)
    if has_folders and (root / "tmp").is_symlink():
        return
    raise StartError(
        f"this container is not laid out for a runner: it needs {' and '.join(folders)}, "
        f"and /tmp as a link to {policy.TMP_FOLDER}. Images that `reward-server images build` "
        "makes are; they start their runner with "
        f"`python3 -I -S {RUNNER_FOLDER}/{START} --listen SOCKET SETTINGS`"
    )

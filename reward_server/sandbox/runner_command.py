"""How a container starts its runner."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

RUNNER_FOLDER = "/opt/codereward/runner"
START = "start.py"
# For a runner in a container that somebody else made and bounded.
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
    folder: str = RUNNER_FOLDER,
) -> list[str]:
    """Builds the command line of a runner.

    Args:
        interpreter: Python, as the container finds it.
        settings: of the zygote, see `runner.__main__`.
        listen: path of a socket to listen on; standard input and output are spoken on without.
            Executions do not see its folder, where a program could ask other runners.
        folder: of the runner, as the container finds it.
    """
    start = [interpreter, "-I", "-S", f"{folder}/{START}"]
    if not listen:
        return [*start, json.dumps(settings)]
    covered = (os.path.dirname(os.path.abspath(listen)),)
    return [*start, "--listen", listen, json.dumps({**settings, "covered": covered})]

"""`reward-server runner`: runs inside a container that other software started and hardened."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import reward_server.runner
from reward_server.errors import StartError
from reward_server.sandbox.runner_command import OWN_CONTAINER, require_layout, runner_command


def runner(
    listen: Annotated[Path, typer.Option(help="Socket on which the runner listens.")],
    preload: Annotated[
        list[str] | None, typer.Option(help="A module to preload for every execution.")
    ] = None,
) -> None:
    """Serves executions to a server that connects, one connection at a time.

    It isolates every execution by itself; all other isolation is up to the container, whose root
    folder is laid out as that of the sandbox images.
    """
    require_layout()
    folder = os.path.dirname(reward_server.runner.__file__)
    settings = {**OWN_CONTAINER, "packages": sys.path[1:], "preload": preload or ()}
    command = runner_command(sys.executable, settings, listen=str(listen), folder=folder)
    try:
        os.execv(command[0], command)
    except OSError as error:
        raise StartError(f"cannot start {command[0]}: {error}") from error

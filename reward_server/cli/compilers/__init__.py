"""`reward-server compilers`: files from which the compilers of the local backend start faster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import reward_server
from reward_server.sandbox.local.compilers import make

_PROGRAM = "sandbox_images/jvm/warm/Warm.java"


def compilers(
    folder: Annotated[Path, typer.Argument(help="Where the files are put; replaced if it is one.")],
) -> None:
    """Makes files from which the compilers of the local backend start faster.

    They are precompiled headers of C++ and an archive of Java's classes.

    Name the folder in the setting `compiler_folder`. Call the command again after an update of g++
    or Java; until then the server refuses to start.
    """
    root = Path(reward_server.__file__).resolve().parent.parent
    languages = make(folder.absolute(), root / _PROGRAM)
    typer.echo(f"made {folder} for {' and '.join(languages)}")

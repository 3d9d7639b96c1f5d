"""`reward-server compilers`: files from which the compilers of the local backend start faster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import reward_server
from reward_server.errors import SettingsError
from reward_server.sandbox.local.compilers import make, usual_folder

_PROGRAM = "sandbox_images/jvm/warm/Warm.java"


def compilers(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Where the files are put; replaced if it is one. By default where `serve` looks."
        ),
    ] = None,
) -> None:
    """Makes files from which the compilers of the local backend start faster.

    They are precompiled headers of C++ and an archive of Java's classes.

    Without FOLDER, they are put where a server of the same user finds them: in
    /var/cache/codereward/compilers for root, and in .cache/codereward/compilers in the user's home.
    Name another folder in the setting `compiler_folder`. Call the command again after an update of
    g++ or Java; until then the server does not use the files, or refuses to start if it names them.
    """
    target = folder or usual_folder()
    if target is None:
        raise SettingsError("this user has no home; name a folder")
    root = Path(reward_server.__file__).resolve().parent.parent
    languages = make(target.absolute(), root / _PROGRAM)
    typer.echo(f"made {target} for {' and '.join(languages)}")

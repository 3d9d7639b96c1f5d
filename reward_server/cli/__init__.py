"""The command `reward-server`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings, 3 (`audit`) not judged.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from reward_server.errors import RewardServerError, SettingsError
from reward_server.version import described

# A command's modules are imported only when it is called, since the list of commands needs none.
COMMANDS: Mapping[str, str] = {
    "serve": "Serves until SIGTERM or SIGINT, then drains; a second signal stops at once.",
    "doctor": "Prints which protections stand on this host; exits with 1 if a needed one is "
    "missing.",
    "probe": "Asks the configured server for its health; exits with 0 if it serves.",
    "grade": "Judges every task of a file; exits with 0 if all tasks were judged, otherwise with "
    "1.",
    "audit": "Examines tasks before training: reference solutions, cheats, leaks and limits.",
    "runner": "Serves executions to a server that connects, one connection at a time.",
    "images": "Builds, lists and tries the images of the docker backend.",
    "compilers": "Makes files from which the compilers of the local backend start faster.",
    "certificates": "Makes and renews certificates for TLS, signed by an authority of your own.",
}
# Commands that consist of others, each with the application that has them.
_GROUPS: Mapping[str, str] = {"images": "images_app", "certificates": "certificates_app"}


def main() -> None:
    """Runs the command line."""
    run(lambda: application(sys.argv[1:]))


def run(made: Callable[[], typer.Typer]) -> None:
    """Makes an application and runs it; reports a failure in words, without a traceback."""
    # The loop forks for each container, whose process at once runs another program. gRPC's handlers
    # of forks would write a line each time. gRPC reads this when it is imported.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    # What an import makes stays. A search for garbage in it would only delay commands and verdicts.
    gc.disable()
    try:
        command = made()
        gc.freeze()
        gc.enable()
        command()
    except SettingsError as error:
        _end(error, code=2)
    except RewardServerError as error:
        _end(error, code=1)


def application(arguments: list[str]) -> typer.Typer:
    """Returns the application, with the command that the arguments name, and the others' names."""
    app = typer.Typer(
        name="reward-server",
        help="Runs untrusted completions against hidden tests and returns rewards.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name, summary in COMMANDS.items():
        if name not in arguments[:1]:
            app.command(name, help=summary)(_unnamed)
        elif name in _GROUPS:
            app.add_typer(getattr(_module(name), _GROUPS[name]), name=name)
        else:
            app.command(name)(getattr(_module(name), name))
    return app


def _module(command: str) -> Any:
    return import_module(f"reward_server.cli.{command}")


def _unnamed() -> None:
    """Stands for a command that the arguments do not name."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reward-server {described()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None: ...


def _end(error: RewardServerError, code: int) -> NoReturn:
    typer.secho(f"error: {error}", err=True, fg=typer.colors.RED)
    raise SystemExit(code)

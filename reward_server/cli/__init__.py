"""The command `reward-server`.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings.
"""

from __future__ import annotations

from typing import NoReturn

import typer

from reward_server.cli.bench import bench
from reward_server.cli.doctor import doctor
from reward_server.cli.grade import grade
from reward_server.cli.images import images_app
from reward_server.cli.runner import runner
from reward_server.cli.serve import serve
from reward_server.errors import RewardServerError, SettingsError

app = typer.Typer(
    name="reward-server",
    help="Runs untrusted completions against hidden tests and answers with rewards.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serve)
app.command()(doctor)
app.command()(grade)
app.command()(bench)
app.command()(runner)
app.add_typer(images_app, name="images")


def main() -> None:
    """Runs the command line; a failure of ours is told in words and not as a traceback."""
    try:
        app()
    except SettingsError as error:
        _end(error, code=2)
    except RewardServerError as error:
        _end(error, code=1)


def _end(error: RewardServerError, code: int) -> NoReturn:
    typer.secho(f"error: {error}", err=True, fg=typer.colors.RED)
    raise SystemExit(code)

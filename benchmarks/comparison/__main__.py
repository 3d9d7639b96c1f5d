"""`python -m benchmarks.comparison`, with the exit codes of `reward-server`."""

from __future__ import annotations

import typer

from reward_server import cli


def application() -> typer.Typer:
    """Returns the application; what it imports loads gRPC, whose settings come first."""
    from benchmarks.comparison.command import comparison

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(comparison)
    return app


if __name__ == "__main__":
    cli.run(application)

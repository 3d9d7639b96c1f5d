"""`python -m benchmarks.measure`, with the exit codes of `reward-server`."""

from __future__ import annotations

import typer

from reward_server import cli


def application() -> typer.Typer:
    """Returns the application; what it imports loads gRPC, whose settings come first."""
    from benchmarks.measure.command import bench

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(bench)
    return app


if __name__ == "__main__":
    cli.run(application)

"""A whole server of one process over simulated sandboxes; see `simulated_process`.

    python -P -m tests.support.simulated_server SETTINGS

SETTINGS is JSON. It prints "serving" when it serves, and after SIGTERM the number of requests that
it drains.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import typer

from reward_server.app import serving
from reward_server.processes.stop import Stop
from reward_server.settings import load_settings
from reward_server.telemetry import configure_logging
from tests.support.simulated_process import simulated_backend


async def main(flags: dict[str, Any]) -> None:
    """Serves until a signal."""
    stop, settings = Stop(), load_settings(flags)
    configure_logging(settings.log_level, as_json=False)
    async with simulated_backend(settings) as backend, serving(settings, backend) as app:
        typer.echo("serving")
        await stop.asked()
        typer.echo(app.scheduler.admitted)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))

"""Serves until a stop is asked for, in this process or in several.

`reward-server serve` imports this module, and with it the larger part of the server, while its
containers start.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
from collections.abc import Callable

import structlog

from reward_server.app import reload_or_report, serving
from reward_server.backends import Backend, compiler_circumstances, shared_languages
from reward_server.processes.description import Description, describe, introduce
from reward_server.processes.parent import running_processes
from reward_server.processes.stop import Stop
from reward_server.settings import Settings

Tell = Callable[[Description], None]

_log = structlog.get_logger("serve")


def teller(write: Callable[[str], None], *, as_json: bool) -> Tell:
    """Returns what describes the running server, for programs or for people."""

    def tell(facts: Description) -> None:
        write(json.dumps(facts) if as_json else introduce(facts))

    return tell


async def serve_alone(settings: Settings, backend: Backend, stop: Stop, tell: Tell) -> None:
    """Serves in this process, and drains at the end.

    Raises:
        RewardServerError: the server cannot start; see `app.serving`.
    """
    async with serving(settings, backend) as app:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload_or_report, app.reload)
        gc.freeze()  # what was made until here stays; a search in it would only delay verdicts
        tell(describe(app))
        _advise(settings)
        await stop.asked()
        _log.info("draining", admitted=app.scheduler.admitted, seconds=settings.drain_seconds)


async def serve_with_processes(
    settings: Settings, count: int, stop: Stop, tell: Tell, *, json_logs: bool
) -> None:
    """Serves in several processes, and drains them at the end.

    Raises:
        RewardServerError: the server cannot start; see `parent.running_processes`.
    """
    loop = asyncio.get_running_loop()
    async with running_processes(settings, count, json_logs=json_logs) as processes:
        loop.add_signal_handler(signal.SIGHUP, processes.reload)
        loop.add_signal_handler(signal.SIGUSR1, processes.begin_restart)
        tell(processes.facts)
        _advise(settings)
        await stop.asked()
        _log.info("draining", processes=count, seconds=settings.drain_seconds)


def _advise(settings: Settings) -> None:
    """Logs what a command would gain, and which tests are SHARED because a package is absent."""
    for one in compiler_circumstances(settings):
        if not one.fine:
            _log.info(f"compilers: {one.detail}", remedy=one.remedy)
    if shared := shared_languages(settings):
        _log.warning(shared)

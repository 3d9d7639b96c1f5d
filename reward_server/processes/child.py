"""One of several serving processes: `python -m reward_server.processes.child DESCRIPTOR`."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import structlog
import uvloop
from prometheus_client import generate_latest

from reward_server.app import App, in_background, reload_or_report, serving
from reward_server.backends import Backend, running_backend
from reward_server.errors import RewardServerError, SettingsError
from reward_server.processes.description import describe
from reward_server.processes.line import Line, Message
from reward_server.processes.stop import Stop
from reward_server.rpc.answers import Membership
from reward_server.settings import Settings, load_settings
from reward_server.telemetry import configure_logging

BEAT_SECONDS = 1.0

OpenBackend = Callable[[Settings], AbstractAsyncContextManager[Backend]]

_log = structlog.get_logger("process")


def main(descriptor: int, open_backend: OpenBackend = running_backend) -> int:
    """Serves until the parent, or a signal, ends it.

    Args:
        descriptor: this end of the pair of sockets to the parent.
        open_backend: runs the backend that the settings name.

    Returns:
        The exit code.
    """
    gc.freeze()  # as `reward_server.cli.main` does
    try:
        return uvloop.run(_main(socket.socket(fileno=descriptor), open_backend))
    except asyncio.CancelledError:
        return 1


async def _main(end: socket.socket, open_backend: OpenBackend) -> int:
    line = await Line.open(end)
    order = await line.receive()
    if order is None:
        return 1
    child = _Child(line=line, stop=Stop())
    try:
        async with in_background(child.follow()), in_background(child.beat()):
            await child.serve(order, open_backend)
    except RewardServerError as error:
        is_setting = isinstance(error, SettingsError)
        line.send({"event": "failed", "error": str(error), "is_setting": is_setting})
        await line.flush()
        return 1
    finally:
        line.close()
    return 0


@dataclass(slots=True, kw_only=True)
class _Child:
    """The connection to the parent, and the server once it serves."""

    line: Line
    stop: Stop
    app: App | None = None
    works: bool = True

    async def serve(self, order: Message, open_backend: OpenBackend) -> None:
        """Serves until a stop is asked for.

        Raises:
            RewardServerError: the server cannot start; see `running_app`.
        """
        settings = load_settings(order["settings"])
        configure_logging(settings.log_level, as_json=order["json_logs"])
        if order["cpus"] is not None:
            os.sched_setaffinity(0, order["cpus"])
        place = order["membership"]
        membership = Membership(**{**place, "ports": tuple(place["ports"])})
        async with (
            open_backend(settings) as backend,
            serving(settings, backend, membership, self._work) as app,
        ):
            self.app = app
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGHUP, reload_or_report, app.reload
            )
            self.line.send({"event": "serving", "facts": describe(app)})
            await self.stop.asked()
            self._work(False)
            _log.info("draining", process=membership.number, admitted=app.scheduler.admitted)

    async def follow(self) -> None:
        """Obeys the parent's orders; if the parent has ended, ends at once."""
        while (message := await self.line.receive()) is not None:
            self._do(message)
        self.stop.now()

    async def beat(self) -> None:
        """Tells the parent each second that this process is alive."""
        while True:
            self._tell_state()
            await asyncio.sleep(BEAT_SECONDS)

    def _do(self, message: Message) -> None:
        match message["do"]:
            case "reload" if self.app is not None:
                reload_or_report(self.app.reload)
            case "metrics" if self.app is not None:
                text = generate_latest(self.app.telemetry.registry).decode()
                self.line.send({"event": "metrics", "text": text})
            case "health" if self.app is not None:
                self.app.tell_health(message["serving"])
            case "drain":
                self.stop.hear()
            case "stop":
                self.stop.now()

    def _work(self, works: bool) -> None:
        self.works = works
        self._tell_state()

    def _tell_state(self) -> None:
        if self.app is not None:
            scheduler = self.app.scheduler
            state = {"admitted": scheduler.admitted, "running": scheduler.running}
            self.line.send({"event": "alive", "serving": self.works, **state})
        else:
            self.line.send({"event": "alive", "serving": False, "admitted": 0, "running": 0})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))

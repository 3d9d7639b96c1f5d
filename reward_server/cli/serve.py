"""`reward-server serve`: runs a server until a signal stops it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer

from reward_server.app import App, reload_or_report, running_app
from reward_server.cli.options import (
    AllowMissingOption,
    BackendOption,
    ConfigOption,
    JsonOption,
    RuntimeOption,
    SetOption,
    WorkersOption,
    read_settings,
)
from reward_server.settings import Settings
from reward_server.telemetry import configure_logging

_log = structlog.get_logger("serve")


def serve(
    config: ConfigOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any.")] = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    tls_certificate: Annotated[
        Path | None, typer.Option(help="PEM file with the server's certificate chain.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file with its key.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file; clients must show a certificate signed by it.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with a bearer token on each line; clients need one.")
    ] = None,
    insecure_public: Annotated[
        bool | None,
        typer.Option(
            "--insecure-public",
            help="Listen on a public address without TLS or credentials: all who can reach it "
            "can run programs here and read what others send.",
        ),
    ] = None,
    queue_capacity: Annotated[
        int | None, typer.Option(help="Requests that may wait before others are refused.")
    ] = None,
    drain_seconds: Annotated[
        float | None, typer.Option(help="Time that running work has to finish after a stop signal.")
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Port of metrics, probes and the status page.")
    ] = None,
    metrics_host: Annotated[
        str | None, typer.Option(help="Address of that port; by default loopback.")
    ] = None,
    until_stdin_ends: Annotated[
        bool,
        typer.Option(
            "--until-stdin-ends",
            help="Also stop when standard input ends, as a pipe does when its program ends.",
        ),
    ] = False,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serves until SIGTERM or SIGINT, then drains; a second signal stops at once.

    SIGHUP reads the files of tokens and certificates again; so does a change of one of them.
    """
    settings = read_settings(
        config,
        assignments,
        host=host,
        port=port,
        backend=backend,
        runtime=runtime,
        workers=workers,
        allow_missing=allow_missing,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        tls_client_ca=tls_client_ca,
        token_file=token_file,
        insecure_public=insecure_public,
        queue_capacity=queue_capacity,
        drain_seconds=drain_seconds,
        metrics_port=metrics_port,
        metrics_host=metrics_host,
    )
    configure_logging(settings.log_level, as_json=as_json)
    try:
        asyncio.run(_serve(settings, as_json=as_json, until_stdin_ends=until_stdin_ends))
    except asyncio.CancelledError:
        raise typer.Exit(1) from None


async def _serve(settings: Settings, *, as_json: bool, until_stdin_ends: bool) -> None:
    stop = _Stop()
    if until_stdin_ends:
        stop.hear_the_end_of(sys.stdin.fileno())
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, _log.info, "nothing to reload yet")
    async with running_app(settings) as app:
        loop.add_signal_handler(signal.SIGHUP, reload_or_report, app.reload)
        typer.echo(json.dumps(describe(app)) if as_json else introduce(app))
        await stop.asked()
        _log.info("draining", admitted=app.scheduler.admitted, seconds=settings.drain_seconds)
    _log.info("stopped")


class _Stop:
    """Handles SIGTERM and SIGINT: the first one while serving is a request; others end the task."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._request: asyncio.Future[None] = loop.create_future()
        self._is_serving = False
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._hear)

    async def asked(self) -> None:
        """Returns when the server is asked to stop."""
        self._is_serving = True
        await self._request

    def hear_the_end_of(self, pipe: int) -> None:
        """Treats the end of a pipe as a signal; ignores data that arrives before it."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            if not os.read(pipe, 4096):
                loop.remove_reader(pipe)
                self._hear()

        loop.add_reader(pipe, read)

    def _hear(self) -> None:
        if self._is_serving and not self._request.done():
            self._request.set_result(None)
        elif self._task is not None:
            self._task.cancel()


def describe(app: App) -> dict[str, object]:
    """Returns a description of the running server for programs."""
    facts = app.facts
    return {
        "address": app.address,
        "host": app.host,
        "port": app.port,
        "version": facts.server_version,
        "backend": facts.backend,
        "slots": facts.slots,
        "walls": [
            {"name": wall.name, "standing": wall.standing, "detail": wall.detail}
            for wall in facts.walls
        ],
        "languages": [{"name": one.name, "version": one.version} for one in facts.languages],
    }


def introduce(app: App) -> str:
    """Returns a description of the running server for people."""
    facts = app.facts
    languages = ", ".join(f"{one.name} {one.version}" for one in facts.languages)
    walls = [
        f"  {'stands ' if wall.standing else 'MISSING'}  {wall.name}: {wall.detail}"
        for wall in facts.walls
    ]
    return "\n".join(
        (
            f"reward-server {facts.server_version} listens on {app.address}",
            f"  backend {facts.backend}, {facts.slots} slots, languages: {languages}",
            *walls,
        )
    )

"""`reward-server serve`: runs a server until a signal stops it.

This module imports only what starts containers. The rest of the server is imported in a thread
while they start.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvloop

from reward_server.backends import running_backend
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
from reward_server.processes.shares import process_count
from reward_server.processes.stop import Stop
from reward_server.settings import Settings
from reward_server.telemetry import configure_logging

_REST = "reward_server.processes.serving"

_log = structlog.get_logger("serve")


def serve(
    config: ConfigOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any.")] = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    processes: Annotated[
        str | None,
        typer.Option(help="Serving processes behind the one address, or `auto`; by default 1."),
    ] = None,
    allow_missing: AllowMissingOption = None,
    hash_seed: Annotated[
        int | None,
        typer.Option(help="Hash seed of all interpreters of Python; by default a random one."),
    ] = None,
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
    http_port: Annotated[
        int | None, typer.Option(help="Port of the HTTP doors; 0 for any. By default none.")
    ] = None,
    http_host: Annotated[
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
    SIGUSR1 restarts the processes one after the other, if there are several.
    """
    settings = read_settings(
        config,
        assignments,
        host=host,
        port=port,
        backend=backend,
        runtime=runtime,
        workers=workers,
        processes=processes,
        allow_missing=allow_missing,
        hash_seed=hash_seed,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        tls_client_ca=tls_client_ca,
        token_file=token_file,
        insecure_public=insecure_public,
        queue_capacity=queue_capacity,
        drain_seconds=drain_seconds,
        metrics_port=metrics_port,
        metrics_host=metrics_host,
        http_port=http_port,
        http_host=http_host,
    )
    configure_logging(settings.log_level, as_json=as_json)
    try:
        uvloop.run(_serve(settings, as_json=as_json, until_stdin_ends=until_stdin_ends))
    except asyncio.CancelledError:
        raise typer.Exit(1) from None


async def _serve(settings: Settings, *, as_json: bool, until_stdin_ends: bool) -> None:
    stop = Stop()
    if until_stdin_ends:
        stop.hear_the_end_of(sys.stdin.fileno())
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _log.info, "nothing to reload yet")
    count = process_count(settings)
    # By its name, and not by imports inside of functions: those hide what a module needs.
    importing = asyncio.create_task(asyncio.to_thread(import_module, _REST))
    if count > 1:
        rest = await importing
        tell = rest.teller(typer.echo, as_json=as_json)
        await rest.serve_with_processes(settings, count, stop, tell, json_logs=as_json)
    else:
        async with running_backend(settings) as backend:
            rest = await importing
            tell = rest.teller(typer.echo, as_json=as_json)
            await rest.serve_alone(settings, backend, stop, tell)
    _log.info("stopped")

"""The server that a command asks: one that runs already, or one for the command alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path

from reward_server.app import running_app
from reward_server.cli.calls import Address, remote
from reward_server.settings import Settings
from reward_server.telemetry import configure_logging


def reached(
    target: str | None,
    timeout_seconds: float,
    settings: Callable[[], Settings],
    *,
    token_file: Path | None,
    authorities: Path | None,
    certificate: Path | None,
    key: Path | None,
) -> AbstractAsyncContextManager[Address]:
    """Returns the address of the target, or a server that runs as long as the context.

    Args:
        target: host and port; None for a server of its own.
        timeout_seconds: greatest time of a call.
        settings: reads the settings of a server of its own.
        token_file: holds the target's bearer token.
        authorities: PEM file of those who may sign the target's certificate.
        certificate: PEM file to show to the target.
        key: PEM file of its key.

    Raises:
        SettingsError: the settings are wrong.
        typer.BadParameter: only a part of the client's certificate is given.
    """
    if target is None:
        found = settings()
        configure_logging("ERROR", as_json=False)
        return embedded(found, timeout_seconds)
    return nullcontext(
        remote(
            target,
            token_file=token_file,
            authorities=authorities,
            certificate=certificate,
            key=key,
            timeout_seconds=timeout_seconds,
        )
    )


@asynccontextmanager
async def embedded(settings: Settings, timeout: float) -> AsyncIterator[Address]:
    """Runs a server for this process alone, on a free loopback port."""
    private = settings.model_copy(
        update={
            "host": "127.0.0.1",
            "port": 0,
            "tls_certificate": None,
            "tls_key": None,
            "tls_client_ca": None,
            "token_file": None,
            "metrics_port": None,
            "http_port": None,
        }
    )
    async with running_app(private) as app:
        yield Address(target=app.address, timeout_seconds=timeout)

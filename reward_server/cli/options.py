"""Options that several commands share, and the settings made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reward_server.errors import SettingsError
from reward_server.settings import Settings, load_settings

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", help="TOML file with settings; the environment and flags override it."
    ),
]
BackendOption = Annotated[
    str | None,
    typer.Option("--backend", help="How programs are isolated: local, docker or socket."),
]
RuntimeOption = Annotated[
    str | None, typer.Option("--runtime", help="Container runtime of the backend.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", help="Executions at once; by default one for each core.")
]
AllowMissingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-missing",
        help="Protections that may be missing on this host, separated by commas; see `doctor`.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any setting, such as default_limits.processes=8."
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", help="HOST:PORT of a server; without it, one is embedded."),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file", exists=True, dir_okay=False, help="File with the target's bearer token."
    ),
]
TlsCaOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-ca", exists=True, dir_okay=False, help="PEM file of the target's authorities."
    ),
]
TlsCertificateOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-certificate", exists=True, dir_okay=False, help="PEM file to show to the target."
    ),
]
TlsKeyOption = Annotated[
    Path | None,
    typer.Option("--tls-key", exists=True, dir_okay=False, help="PEM file of its key."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def read_settings(
    config: Path | None,
    assignments: list[str] | None = None,
    *,
    allow_missing: list[str] | None = None,
    **flags: Any,
) -> Settings:
    """Reads the settings; flags that are None were not given.

    Raises:
        SettingsError: a setting is unknown or wrong.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if allow_missing:
        given["allow_missing"] = ",".join(allow_missing)
    named = set(given)
    flags = _assigned(given, assignments or [])
    return load_settings(flags, config, assigned=flags.keys() - named)


def _assigned(flags: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise SettingsError(f"--set {assignment}: write NAME=VALUE")
        table = flags
        *parents, last = name.strip().split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value.strip()
    return flags

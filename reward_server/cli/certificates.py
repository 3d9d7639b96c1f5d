"""`reward-server certificates`: certificates for TLS, signed by an authority of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_server.errors import StartError

if TYPE_CHECKING:
    from reward_server.cli.authority import Authority
    from reward_server.cli.certificate_files import Pair

certificates_app = typer.Typer(
    help="Makes and renews certificates for TLS, signed by an authority of your own.",
    no_args_is_help=True,
)

FolderOption = Annotated[
    Path, typer.Option("--folder", help="Folder of the certificates, with the authority's key.")
]
DaysOption = Annotated[
    int | None, typer.Option(help="How long they are valid; by default 397 days.")
]
_FOLDER = Path("certificates")
_RENEW_DAYS = 30


@certificates_app.command()
def server(
    hosts: Annotated[
        list[str], typer.Argument(help="Names and addresses under which clients reach the server.")
    ],
    name: Annotated[str, typer.Option(help="Name of the files.")] = "server",
    folder: FolderOption = _FOLDER,
    days: DaysOption = None,
) -> None:
    """Makes a server's certificate and key; prints the settings that use them.

    It makes the authority first if the folder has none.
    """
    pair = _issue(folder, name, tuple(hosts), days)
    authority = json.dumps(str(_authority(folder).pair.certificate_file.absolute()))
    typer.echo(
        "# in the file of `reward-server serve --config`\n"
        f"tls_certificate = {json.dumps(str(pair.certificate_file.absolute()))}\n"
        f"tls_key = {json.dumps(str(pair.key_file.absolute()))}\n"
        f"tls_client_ca = {authority}  # only holders of a client's certificate get in"
    )


@certificates_app.command()
def client(
    name: Annotated[str, typer.Argument(help="Name of the client, and of the files.")],
    folder: FolderOption = _FOLDER,
    days: DaysOption = None,
) -> None:
    """Makes a client's certificate and key; prints the settings that use them.

    It makes the authority first if the folder has none.
    """
    pair = _issue(folder, name, (), days)
    files = {
        "ca_file": _authority(folder).pair.certificate_file,
        "certificate_file": pair.certificate_file,
        "key_file": pair.key_file,
    }
    typer.echo("# in the configuration of `reward-train`\n[server]")
    for setting, file in files.items():
        typer.echo(f"{setting} = {json.dumps(str(file.absolute()))}")


@certificates_app.command()
def renew(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="What to renew; by default what ends within 30 days."),
    ] = None,
    folder: FolderOption = _FOLDER,
    days: Annotated[
        int | None, typer.Option(help="How long they are valid; by default as long as before.")
    ] = None,
) -> None:
    """Replaces certificates and their keys; a running server reads the new files by itself.

    The authority keeps its key, so certificates that it has signed stay valid.
    """
    authority = _authority(folder)
    due = [pair.name for pair in authority.pairs() if pair.expires_within(_RENEW_DAYS)]
    for name in names or due:
        typer.echo(_described(authority.renew(name, days)))


@certificates_app.command("list")
def list_certificates(folder: FolderOption = _FOLDER) -> None:
    """Lists the certificates; exits with 1 if one ends within 30 days."""
    pairs = _authority(folder).pairs()
    for pair in pairs:
        typer.echo(_described(pair))
    raise typer.Exit(1 if any(pair.expires_within(_RENEW_DAYS) for pair in pairs) else 0)


def _authority(folder: Path) -> Authority:
    try:
        from reward_server.cli.authority import Authority
    except ModuleNotFoundError as error:
        raise StartError(
            f"certificates need another package ({error}): pip install '.[certificates]' in a "
            "checkout"
        ) from error
    return Authority(folder)


def _issue(folder: Path, name: str, hosts: tuple[str, ...], days: int | None) -> Pair:
    authority = _authority(folder)
    from reward_server.cli.authority import PAIR_DAYS

    if made := authority.make():
        typer.echo(f"{_described(made)}; keep {made.key_file} where no server runs", err=True)
    pair = authority.issue(name, hosts, PAIR_DAYS if days is None else days)
    typer.echo(_described(pair), err=True)
    return pair


def _described(pair: Pair) -> str:
    hosts = f" for {', '.join(pair.hosts)}" if pair.hosts else ""
    return f"{pair.certificate_file}{hosts}, valid until {pair.end:%Y-%m-%d}"

"""Finds whether the HTTP doors that the settings ask for can be opened."""

from __future__ import annotations

from dataclasses import dataclass

from reward_server.app import check_access
from reward_server.errors import SettingsError
from reward_server.http.sockets import PortError, bound
from reward_server.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorFinding:
    """A part of the doors; `remedy` is empty if it is fine."""

    name: str
    fine: bool
    detail: str
    remedy: str = ""


def examine_doors(settings: Settings) -> tuple[DoorFinding, ...]:
    """Examines what the doors need; nothing is wrong if the settings ask for none."""
    if settings.http_port is None:
        return (
            DoorFinding(name="http_port", fine=True, detail="not set: there are no HTTP doors"),
        )
    return _extra(), _port(settings, settings.http_port), _access(settings)


def _extra() -> DoorFinding:
    try:
        import reward_server.http.doors  # noqa: F401  # tells whether it can be imported
    except ImportError as error:
        return DoorFinding(
            name="packages",
            fine=False,
            detail=str(error),
            remedy="pip install 'codereward[http]'",
        )
    return DoorFinding(name="packages", fine=True, detail="those of the extra [http] are there")


def _port(settings: Settings, port: int) -> DoorFinding:
    place = f"{settings.http_host}:{port}"
    try:
        for one in bound(settings.http_host, port, is_shared=False):
            one.close()
    except PortError as error:
        return DoorFinding(name="http_port", fine=False, detail=error.problem, remedy=error.remedy)
    return DoorFinding(name="http_port", fine=True, detail=f"{place} can be listened on")


def _access(settings: Settings) -> DoorFinding:
    """Checks the files of credentials; the settings were refused if an address needs more."""
    try:
        check_access(settings)
    except SettingsError as error:
        return DoorFinding(
            name="access",
            fine=False,
            detail=str(error),
            remedy="correct the file, or the setting that names it",
        )
    is_known = settings.token_file is not None or settings.tls_client_ca is not None
    whose = "callers with a credential" if is_known else "every program that reaches the address"
    how = "over TLS" if settings.tls_certificate is not None else "without TLS"
    return DoorFinding(name="access", fine=True, detail=f"{whose}, {how}")

"""What the actors of a name are told, and the arguments of `serve` that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reward_server.errors import SettingsError
from reward_server.settings import Settings

NAMESPACE = "reward_server"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
# With one of them the caller has decided how servers and clients know each other.
_CREDENTIALS = ("tls_certificate", "tls_key", "tls_client_ca", "token_file", "insecure_public")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was asked for.

    Args:
        name: the name by which clients find the servers.
        nodes: the number of servers, each of which gets a node of its own, or the addresses of the
            nodes.
        cpus: CPUs that Ray reserves for each server, which has as many slots.
        resources: further resources of Ray that a node must have.
        settings: settings of the servers, by name.
        token: the bearer token that was made for them; "" if the settings name credentials.
    """

    name: str
    nodes: int | tuple[str, ...]
    cpus: int
    resources: Mapping[str, float]
    settings: Mapping[str, Any]
    token: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise SettingsError(
                f"name: {self.name!r} must have 1 to 64 letters, digits, `_`, `.` and `-`, and "
                "begin with a letter or digit"
            )
        if self.cpus < 1:
            raise SettingsError(f"cpus: {self.cpus} is below 1")
        if self.count < 1:
            raise SettingsError("nodes: at least one is needed")
        if "host" in self.settings:
            raise SettingsError("settings: host cannot be set; a server listens on its node's own")

    @property
    def count(self) -> int:
        """How many servers there are."""
        return self.nodes if isinstance(self.nodes, int) else len(self.nodes)

    @property
    def bundles(self) -> list[dict[str, float]]:
        """The resources of each server, for a placement group."""
        needed = {"CPU": float(self.cpus), **self.resources}
        if isinstance(self.nodes, int):
            return [needed] * self.nodes
        # Ray gives each node a resource that is named after its address.
        return [{**needed, f"node:{address}": 0.001} for address in self.nodes]

    @property
    def drain_seconds(self) -> float:
        """Time that running work has to finish when a server is stopped."""
        return float(
            self.settings.get("drain_seconds", Settings.model_fields["drain_seconds"].default)
        )

    @property
    def arguments(self) -> list[str]:
        """The arguments of `serve` that are the same on every node."""
        settings = {"port": 0, "workers": self.cpus, **self.settings}
        pairs = (part for name, value in settings.items() for part in _assigned(name, value))
        return [argument for pair in pairs for argument in ("--set", pair)]


def names_credentials(settings: Mapping[str, Any]) -> bool:
    """Returns True if settings say how servers and clients know each other."""
    return any(settings.get(name) for name in _CREDENTIALS)


def actor_name(name: str, index: int | None = None) -> str:
    """Returns the name of the registry's actor, or of the actor of one server."""
    return f"reward-server:{name}" if index is None else f"reward-server:{name}:{index}"


def _assigned(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _assigned(f"{name}.{inner}", part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"{name}={','.join(map(str, value))}"
    elif value is not None:
        yield f"{name}={str(value).lower() if isinstance(value, bool) else value}"

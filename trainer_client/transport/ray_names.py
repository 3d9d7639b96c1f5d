"""Finds the servers of a name in a Ray cluster.

`reward_server.ray.start(NAME)` keeps an actor that knows where the servers are. Its name, its
namespace and the answer of its method `look_up` are what the two packages agree on:

    {"token": TOKEN or "", "servers": [{"address": HOST:PORT, "certificate": PEM or ""}, ...]}
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from dataclasses import dataclass, field
from typing import Any

from trainer_client.errors import missing_package

PREFIX = "ray://"
NAMESPACE = "reward_server"
ACTOR_PREFIX = "reward-server:"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_ANSWER_SECONDS = 10.0
# Clients of several threads may be the first in their process to need the cluster.
_joining = threading.Lock()


class NotFoundError(Exception):
    """The servers of a name cannot be found; a later attempt may find them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A server that is said to serve.

    Args:
        address: `host:port`.
        certificate: the server's own certificate in PEM form; "" if none was made for it.
        token: the bearer token that it requires; "" if none was made for it.
    """

    address: str
    certificate: str = ""
    token: str = field(default="", repr=False)


def checked_name(target: str) -> str:
    """Returns NAME of `ray://NAME`.

    Raises:
        ValueError: it is no name.
        ConfigError: Ray is not installed.
    """
    name = target.removeprefix(PREFIX)
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"target {target!r}: after {PREFIX} stands the name that `reward_server.ray.start` was "
            "given (at most 64 letters, digits, `_`, `.` and `-`), and no address of a Ray cluster"
        )
    if importlib.util.find_spec("ray") is None:
        raise missing_package(ImportError(f"target {target!r} needs the package ray"), "ray")
    return name


def look_up(name: str) -> tuple[Listed, ...]:
    """Asks the cluster for the servers of a name; blocks for seconds at most.

    A process that is in no Ray cluster joins the one of its machine, or of RAY_ADDRESS.

    Raises:
        NotFoundError: there is no cluster, no such name, or no answer; the message says which.
    """
    import ray

    with _joining:
        _join()
    try:
        actor: Any = ray.get_actor(ACTOR_PREFIX + name, namespace=NAMESPACE)
        answer: dict[str, Any] = ray.get(actor.look_up.remote(), timeout=_ANSWER_SECONDS)
    except ValueError:
        raise NotFoundError(
            f"no servers named {name!r} are in this Ray cluster: "
            f"`reward_server.ray.start({name!r}, ...)` starts them"
        ) from None
    except ray.exceptions.RayError as error:
        raise NotFoundError(f"the registry of {name!r} does not answer: {error}") from None
    if not answer["servers"]:
        raise NotFoundError(f"no server named {name!r} serves at present")
    return tuple(Listed(token=answer["token"], **server) for server in answer["servers"])


def _join() -> None:
    """Makes this process a driver of the cluster, unless it belongs to one.

    Raises:
        NotFoundError: there is no cluster.
    """
    import ray

    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS", "auto")
    try:
        # The public way to an actor, although it makes this process a driver of the cluster.
        # The trainer's logging stays as it is, without the output of other programs.
        ray.init(address, log_to_driver=False, configure_logging=False, ignore_reinit_error=True)
    except (OSError, RuntimeError, ValueError) as error:  # of which other versions are one
        raise NotFoundError(
            f"this process is in no Ray cluster, and cannot join one at {address!r}: start Ray on "
            f"this machine, set RAY_ADDRESS, or call `ray.init` first ({error})"
        ) from None

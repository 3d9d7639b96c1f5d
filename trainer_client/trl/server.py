"""The servers of a run: those in the settings, or one that the run starts on each machine."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainer_client.errors import ConfigError
from trainer_client.local_server import LocalServer, ServerStartError
from trainer_client.transport.channel import Target
from trainer_client.trl.processes import is_local_main_process
from trainer_client.trl.settings.sections import ServerSection


@contextmanager
def own_target(section: ServerSection, log: Path) -> Iterator[Target | None]:
    """Yields the servers' address, if this process knows it, for the length of the block.

    Without a target, the first process on each machine starts `reward-server serve` there.

    Args:
        section: the target, and the flags of a server that the run starts.
        log: the file for that server's output.

    Raises:
        ConfigError: that server does not start.
    """
    if section.target is not None or not is_local_main_process():
        yield section.target
        return
    server = LocalServer(log, section.arguments)
    try:
        with server:
            yield server.target
    except ServerStartError as error:
        raise ConfigError(f"server: it does not start: {error}") from error


@contextmanager
def shared_target(section: ServerSection, own: Target | None) -> Iterator[Target]:
    """Yields the servers' address to every process, for the length of the block.

    Args:
        section: the target.
        own: the result of `own_target` in this process.
    """
    if section.target is not None:
        yield section.target
        return
    from accelerate import PartialState
    from accelerate.utils import gather_object

    state, here = PartialState(), platform.node()
    found = dict(gather_object([(here, own)] if own is not None else []))
    yield found[here]
    # The other processes may still be sending requests.
    state.wait_for_everyone()

"""The servers of a run: those that it was told, or one of its own on each machine."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from trainer_client.channel import Target
from trainer_client.errors import ConfigError
from trainer_client.local_server import LocalServer, ServerStartError
from trainer_client.trl.sections import ServerSection


@contextmanager
def serving(section: ServerSection, log: Path) -> Iterator[Target]:
    """Gives the servers' address for the time of the block.

    Without a target, the first process on each machine starts `reward-server serve` there, and the
    others on that machine call it.

    Args:
        section: the target, and the flags of a server of one's own.
        log: the file that takes what that server says.

    Raises:
        ConfigError: that server does not start.
    """
    if section.target is not None:
        yield section.target
        return
    from accelerate import PartialState
    from accelerate.utils import gather_object

    state = PartialState()
    own = LocalServer(log, section.arguments) if state.is_local_main_process else None
    with _started(own):
        here = platform.node()
        found = dict(gather_object([(here, own.target)] if own is not None else []))
        yield found[here]
        # The others may still be asking.
        state.wait_for_everyone()


@contextmanager
def _started(server: LocalServer | None) -> Iterator[None]:
    try:
        context = nullcontext() if server is None else server
        with context:
            yield
    except ServerStartError as error:
        raise ConfigError(f"server: it does not start: {error}") from error

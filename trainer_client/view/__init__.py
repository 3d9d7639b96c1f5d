"""`reward-train view`: a live page of training runs, which grows while they go on.

    following    reads what runs append to their files
    progress     how far a run is, how fast, and where its time goes
    painting     draws the report's figures in another process
    index        completions, for lists and searches
    queries      filters, search and order of completions
    live         what the page asks for
    server       serves it on loopback

The page and the report share their figures, their style, and the script that shows completions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trainer_client.errors import ConfigError, missing_package


@contextmanager
def served_view(runs: Sequence[Path], port: int = 0) -> Iterator[str]:
    """Serves a live page of runs until the end of the block; yields its address.

    Args:
        runs: folders of runs. A folder may be absent if the run has not started yet.
        port: TCP port on 127.0.0.1; 0 for any free one.

    Raises:
        ConfigError: no run is named, a run is named twice, the port is taken, or a package is
            missing.
    """
    try:
        from trainer_client.view.live import LiveRuns
        from trainer_client.view.server import ViewServer
    except ImportError as error:
        raise missing_package(error, "trainer") from error
    if not runs:
        raise ConfigError("runs: name at least one run's folder")
    resolved = [path.resolve() for path in runs]
    for path in runs:
        if resolved.count(path.resolve()) > 1:
            raise ConfigError(f"runs: {path} is named twice")
        if path.exists() and not path.is_dir():
            raise ConfigError(f"runs: {path} is no folder")
    live = LiveRuns(runs)
    try:
        server = ViewServer(live, port)
        try:
            yield server.url
        finally:
            server.close()
    finally:
        live.close()

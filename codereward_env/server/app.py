"""The environment's web application, and the command `codereward-env` that serves it.

    codereward-env --host 127.0.0.1 --port 8000

Environment variables set the rest; see `settings`.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import (
    create_app,
)

from codereward import build
from codereward_env.models import CodeAction, CodeObservation
from codereward_env.server.environment import Backend, CodeRewardEnvironment
from codereward_env.server.settings import EnvironmentSettings
from trainer_client.adapters.common.settings import settings_of


def application() -> Any:
    """Returns the web application, for a server such as `uvicorn --factory`.

    Raises:
        ConfigError: an environment variable is wrong, or the tasks cannot be read.
    """
    backend = Backend.of(settings_of(EnvironmentSettings))
    return create_app(
        partial(CodeRewardEnvironment, backend),
        CodeAction,
        CodeObservation,
        env_name="codereward_env",
        max_concurrent_envs=backend.settings.episodes,
    )


def __getattr__(name: str) -> Any:
    """Returns the web application as `app`, for a server that has no factory."""
    if name == "app":
        return application()
    raise AttributeError(name)


def main() -> None:
    """Serves the environment until a signal ends it."""
    parser = argparse.ArgumentParser(prog="codereward-env", description=main.__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--port", type=int, default=8000, help="the port to listen at")
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {build.described()}", help="the version"
    )
    chosen = parser.parse_args()
    uvicorn.run(application, factory=True, host=chosen.host, port=chosen.port)


if __name__ == "__main__":
    main()

"""How a container starts its runner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath

RUNNER_FOLDER = "/opt/codereward/runner"

_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from runner.forking import hold_handlers; hold_handlers();"
    " from runner.__main__ import main; main(sys.argv[2])"
)


def runner_command(interpreter: str, settings: Mapping[str, object]) -> list[str]:
    """Builds the command line of a zygote, whose settings `runner.__main__` describes."""
    parent = str(PurePosixPath(RUNNER_FOLDER).parent)
    return [interpreter, "-I", "-S", "-c", _START_CODE, parent, json.dumps(settings)]

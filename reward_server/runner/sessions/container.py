"""The runner of a container for one session: it makes the session's first process and waits for it.

What this stops: a session that shares memory with anything. This process has read nothing but its
settings when it makes the first process, which is a copy of its memory. It hands its control pipes
over and keeps none: what the server sends reaches the session alone.

What it does not: it does not watch the session; the kernel limits it, and the server ends it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from functools import partial
from typing import NoReturn

from ..supervisor import children, preloading
from ..walls import assembly
from . import first_process

_CONTROL_IN, _CONTROL_OUT = 0, 1
_MODULE_PATH = "PYTHONPATH"


def main(settings_json: str) -> NoReturn:
    """Runs one session; the settings are those of the zygote, see `__main__`."""
    settings = json.loads(settings_json)
    preloading.prepare()
    packages = {_MODULE_PATH: ":".join(settings["packages"])} if settings["packages"] else {}
    assembly.set_environment({**settings["environment"], **packages})
    walls = assembly.walls(settings, assembly.landlock_abi(settings))
    privileges = assembly.lent_namespaces(settings)
    pipes = os.dup(_CONTROL_IN), os.dup(_CONTROL_OUT)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (_CONTROL_IN, _CONTROL_OUT):
        os.dup2(nothing, number)
    gc.freeze()
    body = partial(first_process.run, privileges, walls, tuple(settings["joins"]), *pipes)
    pid = children.spawn(body, privileges)
    for descriptor in (*pipes, nothing):
        os.close(descriptor)
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status) != 0)

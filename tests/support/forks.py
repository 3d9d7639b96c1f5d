"""What a forked child says, and what programs that fork print."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable


def said_in_a_fork(call: Callable[[], object]) -> str:
    """Returns the text of the RuntimeError that a call raises in a forked child, else nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call()
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


def printed_by(program: str, *arguments: str, seconds: float = 30) -> str:
    """Runs a Python program, and ends it with all that it forked when it takes too long."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise

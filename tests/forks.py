"""What a forked child says."""

from __future__ import annotations

import os
from collections.abc import Callable


def said_in_a_fork(call: Callable[[], object]) -> str:
    """Gives the text of the RuntimeError that a call raises in a forked child, else nothing."""
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

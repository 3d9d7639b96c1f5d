"""The candidate's part of one execution of a sample, before anything is forked.

An interpreter optimises its code and fills its caches while it runs. After one sample run, every
forked child starts with filled caches. It shares their memory with its parent, because it does not
have to write to them. The fork server takes the judge's part in the sample; see `judge.warm_up`.
The sample leaves nothing behind except the streams of `streams`.
"""

from __future__ import annotations

import builtins
import contextlib
import socket
import types

from ..channel.files import MODULE_NAME
from ..channel.frames import LOADED, READY, ChannelClosedError, Frames
from . import streams
from .answers import Answers

_LIMIT_BYTES = 1 << 20
_SOURCE = """
def f(x, y=None):
    if x is None:
        raise ValueError("none", 1)
    return x

def change(values):
    values.append(1)
"""


def run(channel: socket.socket) -> None:
    """Answers the judge until the judge closes the channel.

    Args:
        channel: a socket to the judge; it is closed.
    """
    streams.open_streams()
    own_input = builtins.input
    try:
        with channel, contextlib.suppress(ChannelClosedError, OSError, ValueError):
            _answer(Frames(channel))
    finally:
        builtins.input = own_input


def _answer(frames: Frames) -> None:
    frames.receive()
    frames.send(READY)
    module = types.ModuleType(MODULE_NAME)
    exec(compile(_SOURCE, "sample", "exec"), vars(module))
    frames.send(LOADED)
    Answers(frames, module, _LIMIT_BYTES).run()

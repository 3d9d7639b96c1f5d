"""Guards against the use of gRPC in a forked child.

`grpc.aio` has one completion queue for each process and one thread that empties it. If a child is
forked while channels are open, it inherits the queue and not the thread. Every call in the child
would then wait forever, even on a new channel. This also holds for a while after the last channel
was closed. If the child freed the last inherited channel, it would wait for that thread. It would
also remove the parent's event loop from the epoll set, which both processes share.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref

import grpc

# The state describes the process, like gRPC's own state, and so is global.
_open: weakref.WeakSet[grpc.aio.Channel] = weakref.WeakSet()
_forked = threading.Event()


def watch(channel: grpc.aio.Channel) -> None:
    """Records an open channel; a child that is forked before it is freed can use no client."""
    _register()
    _open.add(channel)


def check() -> None:
    """Checks that gRPC works in this process.

    Raises:
        RuntimeError: a client was used before this process was forked.
    """
    if _forked.is_set():
        raise RuntimeError(
            "a client was used before this process was forked, which gRPC does not survive: "
            "spawn processes, or let them be the first to use one"
        )


@functools.cache
def _register() -> None:
    os.register_at_fork(after_in_child=_keep)


def _keep() -> None:
    """Keeps the parent's channels alive, even when the interpreter frees everything at its end."""
    _forked.set()
    for channel in _open:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(channel))

"""The untrusted process: takes a program from the judge and runs it, or serves its functions.

What this stops: nothing; `confine` did before. All that is promised is that READY is sent before
any code of the program's runs, since it is the last word of this process that is believed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

from .. import wire
from ..channel import files
from ..channel.frames import LOADED, READY, Frames
from ..channel.signatures import Signature
from . import commands, depth, program, service, solution, streams

# `signal.signal` itself looks for each number and handler among enums.
_handle = importlib.import_module("_signal").signal
# Of the recursion limit, where tests live with a solution: for the framework that runs them.
_SHARED_FRAMES = 60
# Frames between `_serve` and a module of the solution's, and between it and a function of it.
_TO_MODULE, _TO_FUNCTION = 1, 4


def run(channel: socket.socket, step_aside: Callable[[], None]) -> NoReturn:
    """Serves one execution and never returns; the working folder is private and empty.

    Args:
        channel: to the judge.
        step_aside: makes this process one that its own signals end; see `namespace_init`. Commands
            are such processes anyway, and who runs them has to outlive them.
    """
    frames = Frames(channel)
    header, blobs = wire.unpack(frames.receive())
    streams.open_streams()
    _handle(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, os.getcwd())
    if header["mode"] != "commands":
        step_aside()
    frames.send(READY)
    if header["mode"] == "commands":
        commands.run(frames, header, blobs)
    files.write_files(blobs, cast("str", header.get("solution_path", files.FILE_NAME)))
    if header["mode"] == "program":
        _run_program(frames, blobs["source"], cast("list[str]", header["args"]))
    os.register_at_fork(after_in_child=frames.close)
    if header["mode"] == "shared":
        from . import test_files  # dear, and other tests do not need it

        sys.setrecursionlimit(sys.getrecursionlimit() + _SHARED_FRAMES)
        test_files.run(frames, header, blobs)
    _serve(frames, header, blobs["source"])


def _run_program(frames: Frames, source: bytes, args: list[str]) -> NoReturn:
    code = solution.compile_source(source)
    if isinstance(code, solution.LoadError):
        streams.flush_streams()
        with contextlib.suppress(OSError):
            solution.refuse(frames, code)
        os._exit(1)
    frames.close()
    program.run(code, args)


def _serve(frames: Frames, header: dict[str, object], source: bytes) -> NoReturn:
    usual = sys.getrecursionlimit()
    limit = depth.allow(usual, _TO_MODULE, 0)
    loaded = solution.load(source, predefined=bool(header["predefined"]))
    if sys.getrecursionlimit() == limit:  # the solution did not set another one
        depth.allow(usual, _TO_FUNCTION, 1)
    streams.flush_streams()
    with contextlib.suppress(OSError):
        if isinstance(loaded, solution.LoadError):
            solution.refuse(frames, loaded)
        else:
            frames.send(LOADED)
            shared = cast("list[str]", header.get("shared", []))
            result_bytes = cast("int", header["result_bytes"])
            signature = Signature(*cast("list[Any]", header.get("signature", [])))
            serving = service.Service(frames, loaded, result_bytes, shared, signature)
            if "identities" in header:
                serving.compare_identities()
            serving.run()
    os._exit(0)

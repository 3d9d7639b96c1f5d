"""The candidate process: receives a program from the judge and runs it, or serves its functions.

What this stops: nothing; `confine` has confined the process before. The only promise is that this
process sends READY before any code of the program runs, because READY is its last trusted message.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from .. import requests
from ..channel import files
from ..channel.frames import LOADED, READY, Frames
from ..channel.signatures import Signature
from ..requests import CommandsRequest, FilesProgram, ProgramRequest, SolutionProgram
from . import answers, commands, depth, solution, streams
from .program import run as run_program

# `signal.signal` itself would look up each number and handler in enums.
_handle = importlib.import_module("_signal").signal
# Added to the recursion limit for the test framework, if tests run in the solution's process.
_SHARED_FRAMES = 60
# Frames between `_serve` and the solution's module, and between `_serve` and its functions.
_TO_MODULE, _TO_FUNCTION = 1, 4


def run(channel: socket.socket, step_aside: Callable[[], None]) -> NoReturn:
    """Serves one execution and never returns; the working folder is private and empty.

    Args:
        channel: a socket to the judge.
        step_aside: makes this process one that its own signals can end; see `namespace_init`. It is
            not called for commands and for a program that reports, which are such processes anyway
            and whose parent must outlive them.
    """
    frames = Frames(channel)
    program, blobs = requests.unpack_program(frames.receive())
    streams.open_streams()
    _handle(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, os.getcwd())
    reports = isinstance(program, ProgramRequest) and program.reports
    if not isinstance(program, CommandsRequest) and not reports:
        step_aside()
    frames.send(READY)
    if isinstance(program, CommandsRequest):
        commands.run(frames, program, blobs)
    path = program.solution_path if isinstance(program, FilesProgram) else files.FILE_NAME
    files.write_files(blobs, path)
    if isinstance(program, ProgramRequest):
        _run_program(frames, blobs["source"], program)
    os.register_at_fork(after_in_child=frames.close)
    if isinstance(program, FilesProgram):
        from . import shared_test_files  # slow to import, and needed for test files only

        sys.setrecursionlimit(sys.getrecursionlimit() + _SHARED_FRAMES)
        shared_test_files.run(frames, program, blobs)
    _serve(frames, program, blobs["source"])


def _run_program(frames: Frames, source: bytes, program: ProgramRequest) -> NoReturn:
    code = solution.compile_source(source)
    if isinstance(code, solution.LoadError):
        streams.flush_streams()
        with contextlib.suppress(OSError):
            solution.refuse(frames, code)
        os._exit(1)
    if program.reports and (child := os.fork()):
        commands.report_end(frames, commands.await_end(child))
        os._exit(0)
    frames.close()
    run_program(code, program.args)


def _serve(frames: Frames, program: SolutionProgram, source: bytes) -> NoReturn:
    usual = sys.getrecursionlimit()
    limit = depth.allow(usual, _TO_MODULE, 0)
    loaded = solution.load(source, predefined=program.predefined)
    if sys.getrecursionlimit() == limit:  # the solution did not set another one
        depth.allow(usual, _TO_FUNCTION, 1)
    streams.flush_streams()
    with contextlib.suppress(OSError):
        if isinstance(loaded, solution.LoadError):
            solution.refuse(frames, loaded)
        else:
            frames.send(LOADED)
            signature = Signature(*program.signature)
            shared, most = program.shared, program.result_bytes
            answers.Answers(frames, loaded, most, shared, signature).run()
    os._exit(0)

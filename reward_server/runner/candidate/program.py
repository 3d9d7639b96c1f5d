"""Runs a whole program as `__main__`, as the interpreter's command line would."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import types
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from ..channel.files import FILE_NAME
from . import depth, streams

_FLUSH_FAILED = 120

_join_threads: Callable[[], None] = vars(threading)["_shutdown"]
_run_exit_functions: Callable[[], None] = vars(atexit)["_run_exitfuncs"]


def compile_source(source: bytes, source_path: str = FILE_NAME) -> types.CodeType:
    """Compiles the program, whose file is in the working folder.

    Raises:
        Exception: the program does not compile: SyntaxError, ValueError, RecursionError and others.
    """
    return compile(source, os.path.abspath(source_path), "exec", dont_inherit=True)


def run(code: types.CodeType, args: list[str]) -> NoReturn:
    """Runs the program and exits with its status."""
    sys.argv[:] = [FILE_NAME, *args]
    main = types.ModuleType("__main__")
    path = code.co_filename
    vars(main).update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    depth.allow(sys.getrecursionlimit(), 2, 0)
    status = _guarded(lambda: exec(code, vars(main)))
    status = _guarded(_join_threads) or status
    _run_exit_functions()
    _collect(main)
    os._exit(status if streams.flush_streams() else status or _FLUSH_FAILED)


def _guarded(action: Callable[[], None]) -> int:
    """Runs an action that may raise anything, and returns the resulting exit status."""
    try:
        action()
    except SystemExit as error:
        return _status_of(error)
    except BaseException as error:  # noqa: BLE001  # a program may raise anything
        print_uncaught(error)
        return 1
    return 0


def _status_of(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    streams.complain(error.code)
    return 1


def print_uncaught(error: BaseException) -> None:
    """Passes an exception to the exception hook, without the runner's frames."""
    try:
        error.__traceback__ = _without_own_frames(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:  # noqa: BLE001  # the solution's hook may raise anything
        streams.complain("the exception hook failed")


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    folder = os.path.dirname(os.path.dirname(__file__))  # the runner's
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    return traceback


def _collect(main: types.ModuleType) -> None:
    """Frees the program's objects, so that its open files are flushed."""
    vars(main).clear()
    gc.collect()

"""Loads a solution as the module `solution`."""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import NamedTuple

from ..channel import files
from ..channel.frames import MOST_SHOWN, Frames
from ..frameworks.outcomes import text_of
from . import leetcode_types, program


class LoadError(NamedTuple):
    """Why a solution did not load: "compile", "raise" or "exit", and the message."""

    kind: str
    message: str


def compile_source(source: bytes, source_path: str = files.FILE_NAME) -> types.CodeType | LoadError:
    """Compiles a solution or a program, whose file is in the working folder."""
    try:
        return program.compile_source(source, source_path)
    except Exception as error:  # noqa: BLE001  # SyntaxError, ValueError, RecursionError and more
        return _refused("compile", error)


def load(source: bytes, *, predefined: bool) -> types.ModuleType | LoadError:
    """Compiles a solution, whose file is in the working folder, and runs it as a module.

    Args:
        source: Python source.
        predefined: whether the solution may use LeetCode's names without importing them.
    """
    path = os.path.abspath(files.FILE_NAME)
    module = types.ModuleType(files.MODULE_NAME)
    module.__file__ = path
    if predefined:
        vars(module).update(leetcode_types.predefined())
    sys.modules[files.MODULE_NAME] = module
    sys.modules["__main__"] = types.ModuleType("__main__")
    code = compile_source(source)
    if isinstance(code, LoadError):
        return code
    try:
        exec(code, vars(module))
    except SystemExit as error:
        return LoadError("exit", f"SystemExit: {text_of(error)}")
    except BaseException as error:  # noqa: BLE001  # a solution may raise anything
        return _refused("raise", error)
    return module


def import_file(source: bytes, path: str) -> types.ModuleType | LoadError:
    """Imports a solution from its file in the working folder, as tests in its process do.

    Args:
        source: Python source, the content of the file.
        path: path of the file.
    """
    code = compile_source(source, path)
    if isinstance(code, LoadError):
        return code
    try:
        return importlib.import_module(files.module_of(path))
    except SystemExit as error:
        return LoadError("exit", f"SystemExit: {text_of(error)}")
    except BaseException as error:  # noqa: BLE001  # a solution may raise anything
        return _refused("raise", error)


def refuse(frames: Frames, error: LoadError) -> None:
    """Tells the judge why a solution did not load."""
    frames.send(json.dumps(["unloaded", error.kind, error.message[:MOST_SHOWN]]).encode())


def _refused(kind: str, error: BaseException) -> LoadError:
    program.print_uncaught(error)
    return LoadError(kind, f"{type(error).__name__}: {text_of(error)}")

"""The files that a request writes to a working folder, and the solution's file name there."""

from __future__ import annotations

import os
from collections.abc import Mapping

FILE_NAME, MODULE_NAME = "solution.py", "solution"
_MODES: Mapping[str, int] = {"data": 0o444, "exec": 0o755}


def module_of(path: str) -> str:
    """Returns the module name of a file, from its path in the working folder."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def write_files(blobs: Mapping[str, bytes], source_path: str = FILE_NAME) -> None:
    """Writes the source, and all blobs called KIND/NAME, to the working folder."""
    for blob, content in blobs.items():
        kind, _, name = blob.partition("/")
        name = name or source_path
        if folder := os.path.dirname(name):
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)
        if kind in _MODES:
            os.chmod(name, _MODES[kind])

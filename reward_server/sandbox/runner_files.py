"""The runner's files, for a sandbox or an image.

What this stops: a program that reads a folder name of the host in the runner. A compiled module of
an installation names the file from which it was compiled; the modules made here name the file in
the container.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from reward_server import runner
from reward_server.sandbox.runner_command import RUNNER_FOLDER

FOLDER = Path(runner.__file__).resolve().parent

_UNCHECKED_HASH = 0b01  # a flag of PEP 552: the module is loaded without a check against its source


def sources() -> Iterator[tuple[str, bytes]]:
    """Yields each module's path in the runner's folder, and its text."""
    for path in sorted(FOLDER.rglob("*.py")):
        yield path.relative_to(FOLDER).as_posix(), path.read_bytes()


@functools.cache
def packed() -> bytes:
    """Returns the marshalled contents of all files by path, both sources and compiled modules."""
    contents = dict(sources())
    for name, text in tuple(contents.items()):
        inside = f"{RUNNER_FOLDER}/{name}"
        cached = os.path.relpath(importlib.util.cache_from_source(inside), RUNNER_FOLDER)
        contents[cached] = _compiled(FOLDER / name, text, inside)
    return marshal.dumps(contents)


def _compiled(path: Path, text: bytes, inside: str) -> bytes:
    """Compiles a module, or reuses the installation's, under its file name in a container."""
    code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    assert isinstance(code, CodeType)
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH.to_bytes(4, "little")
    # Compiled here: a container that compiles at its start scatters the runner's objects over
    # more pages, and each candidate copies those that it writes to.
    return head + importlib.util.source_hash(text) + marshal.dumps(_moved(code, inside))


def _moved(code: CodeType, path: str) -> CodeType:
    constants = tuple(
        _moved(one, path) if isinstance(one, CodeType) else one for one in code.co_consts
    )
    return code.replace(co_filename=path, co_consts=constants)

"""The runner's files, as a sandbox or an image gets them.

What this stops: a folder of the host's being named by the runner that a program can read. A module
that an installation compiled names the file that it was compiled from; those made here name the
file in the container.
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

_UNCHECKED_HASH = 0b01  # of PEP 552: the module is taken as it is, its source is not looked at


def sources() -> Iterator[tuple[str, bytes]]:
    """Yields each module's path in the runner's folder, and its text."""
    for path in sorted(FOLDER.rglob("*.py")):
        yield path.relative_to(FOLDER).as_posix(), path.read_bytes()


@functools.cache
def packed() -> bytes:
    """Returns the contents of all files by their paths, modules and those compiled, marshalled."""
    contents = dict(sources())
    for name, text in tuple(contents.items()):
        inside = f"{RUNNER_FOLDER}/{name}"
        cached = os.path.relpath(importlib.util.cache_from_source(inside), RUNNER_FOLDER)
        contents[cached] = _compiled(FOLDER / name, text, inside)
    return marshal.dumps(contents)


def _compiled(path: Path, text: bytes, inside: str) -> bytes:
    """Compiles a module, or takes what an installation compiled, under its name in a container."""
    code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    assert isinstance(code, CodeType)
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH.to_bytes(4, "little")
    return head + importlib.util.source_hash(text) + marshal.dumps(_moved(code, inside))


def _moved(code: CodeType, path: str) -> CodeType:
    constants = tuple(
        _moved(one, path) if isinstance(one, CodeType) else one for one in code.co_consts
    )
    return code.replace(co_filename=path, co_consts=constants)

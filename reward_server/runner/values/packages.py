"""The folders of installed packages that programs may import."""

from __future__ import annotations

import os
from collections.abc import Iterable

_folders: list[str] = []


def add(folders: Iterable[str]) -> None:
    """Records folders of installed packages."""
    _folders.extend(os.path.join(folder, "") for folder in folders)


def is_installed(file: str) -> bool:
    """Returns True for a file of an installed package."""
    return file.startswith(tuple(_folders))

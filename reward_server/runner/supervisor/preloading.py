"""Makes a process one that others are forked from."""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterable, Sequence

from ..values import packages

# What solutions import most: paid for once here instead of in every execution. Each extension
# module more makes every fork dearer, so what few solutions import, or what imports much else in
# turn (hashlib, random, tempfile, statistics), is left to those that use it.
PRELOADED = (
    "abc",
    "ast",
    "bisect",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "re",
    "string",
    "struct",
    "sys",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
)

# What the runner itself takes of the standard library.
_OWN = ("array", "ctypes", "fcntl", "mmap", "resource", "select", "signal", "socket")
_IGNORED_BY_PYTHON = frozenset((signal.SIGPIPE, signal.SIGXFSZ))


def prepare() -> None:
    """Has this process outlive Ctrl-C, and open as many files as it may."""
    _reset_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _allow_most_descriptors()


def _reset_signals() -> None:
    """Undoes what `nohup` or a shell's `&` have done to signals, which programs would inherit."""
    for number in signal.valid_signals() - _IGNORED_BY_PYTHON:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _allow_most_descriptors() -> None:
    """Raises this process's limit: it bounds what all of its user have on their way in sockets."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def preload_standard() -> None:
    """Imports modules of the standard library, before any of the runner's own.

    So what the runner's modules are made of lies together. A child writes to it, if only to count
    references, and each page that it writes to is copied.
    """
    preload((*PRELOADED, *_OWN))


def add_packages(folders: Sequence[str]) -> None:
    """Has modules found in folders of installed packages."""
    sys.path.extend(folders)
    packages.add(folders)


def preload(names: Iterable[str]) -> None:
    """Imports modules.

    Raises:
        RuntimeError: one started a thread, of which a forked child would have only the locks.
    """
    for name in names:
        importlib.import_module(name)
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError(f"a thread runs since {name} was imported: it cannot be preloaded")


def freeze() -> None:
    """Keeps the collector from touching what children share with this process."""
    gc.collect()
    gc.freeze()


def memory_bytes() -> int:
    """Returns the memory that this process shares with nobody; 0 where the kernel does not tell."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0

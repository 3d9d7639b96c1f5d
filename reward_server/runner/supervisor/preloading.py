"""Prepares a process from which others are forked."""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterable, Sequence

# The modules that solutions import most, loaded once instead of in every execution. Each further
# extension module makes every fork slower, so a module that few solutions import, or that imports
# many others (hashlib, random, tempfile, statistics), is not here.
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

# The modules of the standard library that the runner itself uses.
_OWN = ("array", "ctypes", "fcntl", "mmap", "resource", "select", "signal", "socket")
_IGNORED_BY_PYTHON = frozenset((signal.SIGPIPE, signal.SIGXFSZ))


def prepare() -> None:
    """Makes this process ignore Ctrl-C, and raises its limit of open files to the maximum."""
    _reset_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _allow_most_descriptors()


def _reset_signals() -> None:
    """Undoes the changes of signals by `nohup` or a shell's `&`, which programs would inherit."""
    for number in signal.valid_signals() - _IGNORED_BY_PYTHON:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _allow_most_descriptors() -> None:
    """Raises the limit of open files, which also limits this user's descriptors in transit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def preload_standard() -> None:
    """Imports modules of the standard library, before any of the runner's own.

    The objects of the runner's own modules then lie together in memory. A child writes to them, if
    only to count references, and the kernel copies each page that a child writes to.
    """
    preload((*PRELOADED, *_OWN))


def add_packages(folders: Sequence[str]) -> None:
    """Adds folders of installed packages to the module path."""
    sys.path.extend(folders)


def preload(names: Iterable[str]) -> None:
    """Imports modules.

    Raises:
        RuntimeError: a module started a thread; a forked child would inherit only its locks.
    """
    for name in names:
        importlib.import_module(name)
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError(f"a thread runs since {name} was imported: it cannot be preloaded")


def freeze() -> None:
    """Keeps the garbage collector from writing to memory that children share with this process."""
    gc.collect()
    gc.freeze()


def memory_bytes() -> int:
    """Returns the memory that this process shares with no other, or 0 if the kernel does not report
    it."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0

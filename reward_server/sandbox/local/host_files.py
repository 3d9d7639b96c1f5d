"""Decides which of the host's files a local container shows, and which parts of them it hides.

What this stops: a program that reads what is installed beside the server: packages of the
interpreter (which may include a reference solution), of other interpreters and other languages, the
server's own source, and the names of their folders.

What it does not: it does not hide the content of the distribution's own libraries and tools. The
host is examined once, at the start. So a file that is installed while the server runs is hidden
only if its folder is hidden or closed.

A *closed* folder shows only what is listed. In other folders, folders of packages are hidden by
their names, regardless of what installed them. The exceptions are explicit settings: the `paths` of
a language's toolchain, and `sandbox_packages`.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reward_server.errors import SandboxError
from reward_server.runner.walls import policy

PYTHON = "/opt/codereward/python"
PACKAGES = "/opt/codereward/packages"
ROOT_LINKS = ("/lib", "/lib32", "/lib64", "/bin", "/sbin")

_LIBRARIES = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/bin")
_CLOSED = ("/usr/lib", "/usr/libexec")  # folders in which any software may have folders
# The parts that every program may need; a language's toolchain names its own.
_SHARED_LIBRARIES = (
    *("*-linux-*", "gcc*", "clang", "llvm-*", "bfd-plugins", "compat-ld", "gold-ld", "ldscripts"),
    *("gconv", "locale", "terminfo", "ossl-modules", "engines-*", "python3.*"),
)
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/alternatives", "/usr/share/zoneinfo")
_PACKAGE_FOLDERS = frozenset(
    {
        *("site-packages", "dist-packages"),  # Python
        *("node_modules", "nodejs"),
        *("site_perl", "vendor_perl"),
        *("site_ruby", "vendor_ruby", "gems"),
        "site-library",  # R
        "haskell-packages",
        # Other distributions than Debian keep Perl's own modules in this folder.
        *(["perl5"] if os.path.exists("/etc/debian_version") else []),
    }
)
_MAPPED_SECONDS = 60.0
# A script that lists the libraries that the standard library's extension modules load. It loads the
# modules without an import, which would also run them: that takes seven times as long. Some builds
# of Python lack the module that can do so.
_LIST_MAPPED = """
import importlib, os, sys
try: from _ctypes import dlopen
except ImportError: load = lambda name: importlib.import_module(name.partition(".")[0])
else: load = lambda name: dlopen(os.path.join(sys.argv[1], name), os.RTLD_LAZY)
for name in sorted(os.listdir(sys.argv[1])):
    if not name.startswith(("_test", "_xx", "xx")):
        try: load(name)
        except BaseException: pass
lines = [line for line in open("/proc/self/maps") if "/" in line]
print(*{line.split(None, 5)[5].rstrip() for line in lines}, sep="\\n")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A folder or file of the host, and its path in a container.

    Args:
        source: its path on the host.
        target: its path in the container.
        hidden: the parts left out, as paths relative to `source`.
        added: a folder of the host whose files are shown in it as well; none if "".
    """

    source: str
    target: str
    hidden: tuple[str, ...] = ()
    added: str = ""


@functools.lru_cache(maxsize=4)
def views(paths: tuple[str, ...], packages: tuple[str, ...]) -> tuple[View, ...]:
    """Returns what a container sees, each folder before its content.

    Args:
        paths: files and folders that compilers and interpreters of other languages need, as
            patterns.
        packages: folders of Python packages that programs may import.

    Raises:
        SandboxError: the interpreter does not run.
    """
    found = [path for pattern in paths for path in glob.glob(pattern)]
    shown = [path for path in found if os.path.basename(path) not in _PACKAGE_FOLDERS]
    folders = [path for path in _LIBRARIES if os.path.isdir(path)]
    folders += [path for path in ROOT_LINKS if _is_real_folder(path)]
    own = [path for path in shown if not any(_is_below(path, one) for one in folders)]
    tops = [path for path in dict.fromkeys((*folders, *own)) if os.path.isdir(path)]
    files = [path for path in (*_FILES, *own) if os.path.exists(path) and path not in tops]
    return (
        *(View(source=path, target=path, hidden=_hidden_in(path, shown)) for path in tops),
        *(View(source=path, target=path) for path in files),
        *_interpreter_views(),
        *(View(source=path, target=target) for path, target in package_folders(packages).items()),
    )


def package_folders(packages: Iterable[str]) -> dict[str, str]:
    """Maps each folder of packages on the host to its path in a container."""
    return {path: f"{PACKAGES}/{index}" for index, path in enumerate(packages)}


def shows_all(executables: Iterable[str]) -> bool:
    """Returns True if the host has all of these in folders that a container shows."""
    path = os.pathsep.join(folder for folder in policy.PATH if folder in (*_LIBRARIES, "/bin"))
    return all(shutil.which(name, path=path) for name in executables)


# --------------------------------------------------------------------------- the interpreter


def interpreter() -> str:
    """Returns the path of the interpreter in a container."""
    return _place(os.path.realpath(sys.executable))


def interpreter_environment() -> dict[str, str]:
    """Returns the environment variables that the interpreter needs to start in a container.

    An interpreter that is linked with a library of its own looks for it at the host's path.
    """
    if not _is_moved() or not any("/libpython" in path for path in _own_libraries()):
        return {}
    return {"LD_LIBRARY_PATH": os.path.dirname(_place(_standard_library()))}


def _is_moved() -> bool:
    return _prefix() != "/usr"


def _prefix() -> str:
    return os.path.realpath(sys.base_prefix)


def _place(path: str) -> str:
    return PYTHON + path.removeprefix(_prefix()) if _is_moved() else path


def _standard_library() -> str:
    return os.path.dirname(os.path.realpath(os.__file__))


def _interpreter_views() -> Iterator[View]:
    """Yields the interpreter and its standard library, without installed packages."""
    if not _is_moved():
        return
    executable, library = os.path.realpath(sys.executable), _standard_library()
    program_folder, library_folder = os.path.dirname(executable), os.path.dirname(library)
    for folder, shown in (
        (program_folder, [executable]),
        (library_folder, [library, *_own_libraries()]),
    ):
        names = [path for path in glob.glob(f"{folder}/*") if os.path.realpath(path) in shown]
        hidden = tuple(_relative(_hidden(folder, names, closed=True), folder))
        yield View(source=folder, target=_place(folder), hidden=hidden)
    for path in _own_libraries():
        if os.path.dirname(path) != library_folder and not _is_below(path, library):
            yield View(source=path, target=path)


@functools.cache
def _own_libraries() -> tuple[str, ...]:
    """Returns the shared libraries that the interpreter loads from below its prefix.

    Raises:
        SandboxError: the interpreter does not run.
    """
    library = _standard_library()
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", _LIST_MAPPED]
    try:
        told = subprocess.run(
            [*command, f"{library}/lib-dynload"],
            capture_output=True,
            text=True,
            check=True,
            timeout=_MAPPED_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"the interpreter's libraries cannot be listed: {error}") from error
    mapped = told.stdout.splitlines()
    return tuple(path for path in mapped if ".so" in path and _is_below(path, _prefix()))


# -------------------------------------------------------------------------------- what is hidden


def _hidden_in(folder: str, shown: list[str]) -> tuple[str, ...]:
    closed = folder in _CLOSED
    if closed:
        named = [path for name in _SHARED_LIBRARIES for path in glob.glob(f"{folder}/{name}")]
        files = [path for path in glob.glob(f"{folder}/*") if not _is_real_folder(path)]
        shown = [*shown, *named, *files]
    return tuple(_relative(_hidden(folder, shown, closed=closed), folder))


def _hidden(folder: str, shown: list[str], *, closed: bool) -> Iterator[str]:
    """Yields the paths below a folder that a container must not see.

    Args:
        folder: the folder to examine.
        shown: the visible paths in closed folders and in folders of packages.
        closed: whether nothing else in the folder is visible.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        holds_packages = entry.name in _PACKAGE_FOLDERS or entry.path in _importable()
        if (closed or holds_packages) and not any(_is_below(path, entry.path) for path in shown):
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            is_closed = holds_packages or (closed and entry.path not in shown)
            yield from _hidden(entry.path, shown, closed=is_closed)


@functools.cache
def _importable() -> frozenset[str]:
    """Returns the folders from which this process imports, except the standard library.

    They include those that `PYTHONPATH` and path files of an editable installation name.
    """
    library = _standard_library()
    folders = {os.path.realpath(path) for path in sys.path if path}
    return frozenset(path for path in folders if not _is_below(path, library))


def _relative(paths: Iterable[str], folder: str) -> Iterator[str]:
    return (os.path.relpath(path, folder) for path in paths)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _is_real_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)

"""Files from which the host's compilers start faster: precompiled headers, an archive of classes.

`reward-server compilers FOLDER` makes them once, from the host's own headers and classes and from
trusted text only; containers of the local backend show the folder read-only. Its commands call
the host's compilers and name the files. Images of the docker backend hold such files themselves.

What this stops: a folder that somebody else can write would change every program that is compiled,
so the server refuses it. It also refuses a folder that was made for other compilers.

A folder that nobody named is used only if nobody else could have put it there, either.

What it does not: it does not look into the files, as it trusts whoever can write the folder.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reward_server.errors import SettingsError, StartError
from reward_server.sandbox.host_noise import Circumstance
from reward_server.sandbox.local.host_files import View

FOLDER = "/opt/codereward/compilers"
_HEADERS = "/usr/include"
COMMANDS = "/usr/local/bin"  # comes first in the path of a program
LANGUAGES = frozenset(("c++17", "java"))
HEADERS = ("bits/stdc++.h", "iostream", "string", "vector")
_DIALECT = "c++17"
_USUAL_OF_ROOT = Path("/var/cache/codereward/compilers")
_REMEDY = (
    "run `reward-server compilers` once, as the server's user: verdicts in C++ then took 0.36 to "
    "0.71 of the CPU time, and in Java 0.69 to 0.75"
)
_MANIFEST = "made-of.json"
_ARCHIVE = "java.jsa"
_SECONDS = 300.0
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
# The flags are those of `languages/cpp.toml`: GCC reads a header only if they are the same.
_PRECOMPILE = ("g++", f"-std={_DIALECT}", "-O2", "-pthread", "-x", "c++-header")
_GXX = f"""#!/bin/sh
export COMPILER_PATH={FOLDER}/linker
exec /usr/bin/g++ "$@"
"""
_JAVA = f"""#!/bin/sh
exec /usr/bin/java -XX:SharedArchiveFile={FOLDER}/{_ARCHIVE} "$@"
"""
_JAVAC = f"""#!/bin/sh
exec /usr/bin/javac -J-XX:SharedArchiveFile={FOLDER}/{_ARCHIVE} "$@"
"""


def with_compilers(seen: Sequence[View], folder: str) -> tuple[View, ...]:
    """Returns what a container shows with a folder that was checked."""
    headers = f"{folder}/include"
    is_used = os.path.isdir(headers)
    return (
        *(
            replace(one, added=headers) if is_used and one.source == _HEADERS else one
            for one in seen
        ),
        View(source=folder, target=FOLDER, hidden=("include",) if is_used else ()),
        View(source=f"{folder}/bin", target=COMMANDS),
    )


def usual_folder() -> Path | None:
    """Returns the folder that is used if none is named; None if the user has no home."""
    if os.geteuid() == 0:
        return _USUAL_OF_ROOT
    try:
        return Path.home() / ".cache/codereward/compilers"
    except RuntimeError:
        return None


def chosen(named: Path | None) -> tuple[Path | None, Circumstance]:
    """Returns the folder to use, and what to tell the operator about it.

    A usual folder that cannot be used does not stop the server, since its operator did not name it.

    Args:
        named: the folder that the settings name.

    Raises:
        SettingsError: the named folder cannot be used.
    """
    if named is not None:
        check(named.absolute())
        return named.absolute(), _told(f"prepared in {named}")
    folder = usual_folder()
    if folder is not None and os.path.lexists(folder):
        try:
            _check_above(folder)
            check(folder)
        except SettingsError as error:
            return None, _told(f"not prepared: {error}", _REMEDY)
        return folder, _told(f"prepared in {folder}")
    if shutil.which("g++") or shutil.which("javac"):
        return None, _told("g++ and javac run as they are installed", _REMEDY)
    return None, _told("this host has neither g++ nor javac")


def _told(detail: str, remedy: str = "") -> Circumstance:
    return Circumstance(name="compilers", fine=not remedy, detail=detail, remedy=remedy)


def _check_above(folder: Path) -> None:
    """Checks that nobody but root and the server's user could have put the folder there.

    Raises:
        SettingsError: somebody could.
    """
    for path in (folder, *folder.parents):
        status = path.lstat()
        is_shared = status.st_mode & _WRITABLE and not status.st_mode & stat.S_ISVTX
        is_foreign = status.st_uid not in (0, os.geteuid())
        if is_shared or is_foreign or stat.S_ISLNK(status.st_mode):
            raise SettingsError(
                f"others could replace {path}: it must be no link, belong to root or the server's "
                "user, and be writable by nobody else"
            )


def check(folder: Path) -> None:
    """Checks a folder of prepared files.

    Raises:
        SettingsError: it was not made by `make`, others than root and the server's user can write
            it or put another one in its place, or it was made for other compilers.
    """
    again = f"make it again with `reward-server compilers {folder}`"
    try:
        made_of = json.loads((folder / _MANIFEST).read_text("utf-8"))
        real = folder.resolve(strict=True)
        for path in (real, *real.rglob("*")):
            if _is_writable_by_others(path):
                raise SettingsError(f"compiler_folder: others can write {path}; {again}")
        for path in real.parents:
            if _can_be_emptied_by_others(path):
                remedy = f"`chmod o-w {path}`, or name a folder elsewhere"
                raise SettingsError(f"compiler_folder: others can write {path}; {remedy}")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"compiler_folder: {folder} is not complete ({error}); {again}"
        ) from None
    if made_of != _stamps(made_of):
        raise SettingsError(f"compiler_folder: {folder} is of other compilers; {again}")


def make(folder: Path, java_program: Path) -> tuple[str, ...]:
    """Makes the files for those compilers that the host has; returns their languages.

    Args:
        folder: is created; an earlier one of the same kind is replaced.
        java_program: the source of a program whose classes are put into the archive.

    Raises:
        SettingsError: the folder holds something else.
        StartError: the host has no such compiler, or one failed.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / _MANIFEST).is_file():
        raise SettingsError(f"{folder} holds something else; name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as name:
        made = Path(name, "made")
        (made / "bin").mkdir(parents=True)
        used = {
            "C++": _make_headers(made) if shutil.which("g++") else (),
            "Java": _make_archive(made, java_program) if shutil.which("javac") else (),
        }
        languages = tuple(language for language, files in used.items() if files)
        if not languages:
            raise StartError("this host has neither g++ nor javac")
        sources = [path for files in used.values() for path in files]
        (made / _MANIFEST).write_text(json.dumps(_stamps(sources)), "utf-8")
        for path in (made, *made.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        if folder.exists():
            folder.rename(Path(name, "old"))
        made.rename(folder)
    return languages


def _make_headers(made: Path) -> Sequence[str]:
    """Precompiles headers; returns the files that were read."""
    (made / "bin/g++").write_text(_GXX, "utf-8")
    (made / "linker").mkdir()
    if gold := shutil.which("ld.gold"):
        (made / "linker/ld").symlink_to(gold)
    for header in HEADERS:
        source = made / "header.hpp"
        source.write_text(f"#include <{header}>\n")
        place = next((one for one in _read(header) if one.endswith(f"/{header}")), None)
        if place is None:
            raise StartError(f"g++ does not find {header} below {_HEADERS}")
        target = Path(f"{made}/include{place.removeprefix(_HEADERS)}.gch", _DIALECT)
        target.parent.mkdir(parents=True)
        _output(*_PRECOMPILE, "-o", str(target), str(source))
        source.unlink()
    return [_output("g++", "-print-prog-name=cc1plus").strip(), *_read(HEADERS[0])]


def _read(header: str) -> list[str]:
    """Returns the files that a header consists of."""
    words = _output(*_PRECOMPILE, "-M", "-include", header, "/dev/null").split()
    return [word for word in words if word.startswith(f"{_HEADERS}/")]


def _make_archive(made: Path, program: Path) -> Sequence[str]:
    """Makes an archive of the classes that the compiler and programs load; returns their files."""
    (made / "bin/java").write_text(_JAVA, "utf-8")
    (made / "bin/javac").write_text(_JAVAC, "utf-8")
    home = Path(os.path.realpath(str(shutil.which("javac")))).parent.parent
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        lists = [work / "javac.list", work / "program.list"]
        _output(
            "javac",
            "-J-Xshare:off",
            f"-J-XX:DumpLoadedClassList={lists[0]}",
            "-d",
            name,
            str(program),
        )
        _output(
            *(
                "java",
                "-Xshare:off",
                f"-XX:DumpLoadedClassList={lists[1]}",
                "-cp",
                name,
                program.stem,
            ),
            stdin="1 2\n",
        )
        named = [path.read_text("utf-8") for path in (home / "lib/classlist", *lists)]
        every = dict.fromkeys(line for text in named for line in text.splitlines())
        (work / "all.list").write_text("\n".join(every) + "\n", "utf-8")
        _output(
            *("java", "-XX:+UseG1GC", "-Xshare:dump", f"-XX:SharedClassListFile={work}/all.list"),
            f"-XX:SharedArchiveFile={made / _ARCHIVE}",
        )
    return [str(home / "lib/modules"), str(home / "lib/server/libjvm.so")]


def _output(*command: str, stdin: str = "") -> str:
    try:
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=True, timeout=_SECONDS
        ).stdout
    except subprocess.CalledProcessError as error:
        raise StartError(f"{command[0]} failed: {error.stderr.strip()}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise StartError(f"{command[0]} failed: {error}") from error


def _stamps(paths: Iterable[str]) -> Mapping[str, list[int]]:
    """Returns the size and the time of the last change of files, in bytes and nanoseconds."""
    stamps = {}
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            stamps[path] = [0, 0]
        else:
            stamps[path] = [status.st_size, status.st_mtime_ns]
    return stamps


def _can_be_emptied_by_others(path: Path) -> bool:
    """Returns True if anybody can rename what others have in a folder."""
    mode = path.stat().st_mode
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _is_writable_by_others(path: Path) -> bool:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return False
    return bool(status.st_mode & _WRITABLE) or status.st_uid not in (0, os.geteuid())

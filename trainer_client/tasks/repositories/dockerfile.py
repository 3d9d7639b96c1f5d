"""Reads which files a Dockerfile copies into its working folder.

Nothing is built. A Dockerfile whose result depends on more than copied files needs an image, which
the caller names.
"""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from trainer_client.tasks.repositories.task_folder import File, FolderError

PLACE = "environment/Dockerfile"
IMAGE_REMEDY = (
    "build an image with what it makes (docs/how-to/images.md), and name it: images={...}"
)
# Instructions that change nothing for tests, each with its reason.
_WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "CMD": "Harbor replaces it",
        "LABEL": "programs cannot see it",
        "EXPOSE": "sandboxes have no network",
        "MAINTAINER": "programs cannot see it",
        "STOPSIGNAL": "no container is stopped by it",
        "USER": "sandboxes have a user of their own",
        "SHELL": "only RUN uses it, which needs an image",
        "ARG": "only a variable uses it, which is refused",
    }
)
# Variables that change what programs print, or how packages are installed, but no result of tests.
_VARIABLES = re.compile(
    r"DEBIAN_FRONTEND|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|TERM|LANG|LC_ALL|PIP_\w+|UV_\w+"
)
_SILENT_FLAGS = ("--chown=", "--link")
_PATH_CHARACTERS = 4096
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)(-?)[\"']?([A-Za-z_]\w*)[\"']?")
_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tbz2", ".txz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a Dockerfile leaves in its working folder.

    Args:
        image: the image in `FROM`.
        workdir: the working folder, an absolute path.
        files: the files that are copied there, by their paths below it.
    """

    image: str
    workdir: str
    files: Mapping[str, File]


def read_dockerfile(text: str, context: Mapping[str, File], *, has_image: bool) -> Context:
    """Reads a Dockerfile.

    Args:
        text: its text.
        context: the files beside it, by path.
        has_image: whether an image has what its other instructions make.

    Raises:
        FolderError: the result cannot be known without an image, or the file is wrong.
    """
    if ".dockerignore" in context:
        problem = "is not read: remove it, and the files that it names"
        raise FolderError("environment/.dockerignore", problem)
    reading = _Reading(context=context, has_image=has_image)
    for number, keyword, rest in _instructions(text):
        reading.take(number, keyword, rest)
    return reading.result()


@dataclass(slots=True, kw_only=True)
class _Reading:
    """The state between two instructions."""

    context: Mapping[str, File]
    has_image: bool
    image: str = ""
    workdir: str = ""
    folders: set[str] = field(default_factory=lambda: {"/"})
    placed: dict[str, tuple[int, File]] = field(default_factory=dict)

    def take(self, number: int, keyword: str, rest: str) -> None:
        match keyword:
            case "FROM":
                self._begin(number, rest)
            case "WORKDIR":
                self._move(number, rest)
            case "COPY" | "ADD":
                self._copy(number, keyword, rest)
            case "ENV" if _is_harmless(rest):
                pass
            case "RUN" | "ENV" | "ENTRYPOINT" | "HEALTHCHECK" | "VOLUME" | "ONBUILD":
                if not self.has_image:
                    raise _refused(number, f"{keyword} {rest[:60]!r} is not run", IMAGE_REMEDY)
            case _ if keyword not in _WITHOUT_EFFECT:
                raise _refused(number, f"{keyword!r} is no instruction", "correct it")

    def result(self) -> Context:
        if not self.image:
            raise FolderError(PLACE, "has no FROM: add it")
        if not self.workdir:
            raise FolderError(PLACE, "has no WORKDIR, which is the repository: add it")
        files: dict[str, File] = {}
        for path, (number, file) in self.placed.items():
            if path.startswith(self.workdir.rstrip("/") + "/"):
                files[posixpath.relpath(path, self.workdir)] = file
            elif not self.has_image:
                problem = f"copies {path!r}, which is not below WORKDIR {self.workdir!r}"
                raise _refused(number, problem, f"copy it there, or {IMAGE_REMEDY}")
        return Context(image=self.image, workdir=self.workdir, files=files)

    def _begin(self, number: int, rest: str) -> None:
        if self.image:
            raise _refused(number, "begins another stage", "use one stage; " + IMAGE_REMEDY)
        words = [word for word in rest.split() if not word.startswith("--")]
        self.image = words[0] if words else ""

    def _move(self, number: int, rest: str) -> None:
        (folder,) = _words(number, rest, 1)
        self.workdir = self._absolute(number, folder)
        self._exists(self.workdir)

    def _exists(self, folder: str) -> None:
        while folder not in self.folders:
            self.folders.add(folder)
            folder = posixpath.dirname(folder)

    def _absolute(self, number: int, path: str) -> str:
        if len(path) > _PATH_CHARACTERS:
            raise _refused(number, f"{path[:60]!r} is too long", "write a shorter path")
        if "$" in path:
            raise _refused(number, f"{path!r} has a variable", "write the path itself")
        if not path.startswith("/") and not self.workdir:
            raise _refused(number, f"{path!r} depends on the image", "write an absolute path")
        return posixpath.normpath(posixpath.join(self.workdir or "/", path))

    def _copy(self, number: int, keyword: str, rest: str) -> None:
        if _HERE_DOCUMENT.search(rest):
            raise _refused(number, "writes a here-document", "make it a file of environment/")
        words = _words(number, rest)
        flags = [word for word in words if word.startswith("--")]
        for flag in flags:
            if not flag.startswith(_SILENT_FLAGS):
                raise _refused(number, f"has the option {flag!r}", f"remove it, or {IMAGE_REMEDY}")
        operands = [word for word in words if word not in flags]
        if len(operands) < 2:
            raise _refused(number, "names no source or no place", "correct it")
        *sources, target = operands
        place = self._absolute(number, target)
        is_folder = target.endswith(("/", "/.")) or target == "." or place in self.folders
        found = [one for source in sources for one in self._found(number, keyword, source)]
        if len(found) > 1 and not is_folder:
            raise _refused(number, f"copies several files to {target!r}", "end it with a slash")
        for path in found:
            self._put(number, path, place, is_folder=is_folder)

    def _put(self, number: int, path: str, place: str, *, is_folder: bool) -> None:
        """Places a file, or the contents of a folder."""
        file = self.context.get(path)
        below = "" if path == "." else f"{path}/"
        if file is not None:
            to = posixpath.join(place, posixpath.basename(path)) if is_folder else place
            copied = {to: file}
        else:
            copied = {
                posixpath.join(place, one.removeprefix(below)): content
                for one, content in self.context.items()
                if one.startswith(below)
            }
        for to, content in copied.items():
            self.placed[to] = (number, content)
            self._exists(posixpath.dirname(to))

    def _found(self, number: int, keyword: str, source: str) -> list[str]:
        """Returns the files and folders of environment/ that a source names."""
        path = posixpath.normpath(source.lstrip("/") or ".")
        if "$" in source or "://" in source or path.split("/")[0] == "..":
            problem = f"{source!r} is no path below environment/"
            raise _refused(number, problem, "make it a file there")
        if keyword == "ADD" and path.endswith(_ARCHIVES):
            raise _refused(number, f"unpacks {source!r}", "add its files to environment/")
        if path == ".":
            return [path]
        parts = path.split("/")
        found = [one for one in _entries(self.context) if _matches(one.split("/"), parts)]
        if not found:
            raise _refused(number, f"{source!r} is not in environment/", "add it")
        return found


def _entries(context: Mapping[str, File]) -> list[str]:
    """Returns all files, and the folders that they are in."""
    found = set(context)
    for path in context:
        while path := posixpath.dirname(path):
            found.add(path)
    return sorted(found)


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    pairs = zip(path, pattern, strict=False)
    return len(path) == len(pattern) and all(fnmatch.fnmatchcase(*pair) for pair in pairs)


def _is_harmless(rest: str) -> bool:
    names = re.findall(r"(?:^|\s)([A-Za-z_]\w*)=", rest) or rest.split()[:1]
    return bool(names) and all(_VARIABLES.fullmatch(name) for name in names)


def _words(number: int, rest: str, count: int = 0) -> list[str]:
    """Returns the words of an instruction, which may be written as JSON."""
    try:
        words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
    except (ValueError, RecursionError) as error:
        raise _refused(number, f"cannot be read ({error})", "correct it") from error
    if not words or (count and len(words) != count) or not all(isinstance(w, str) for w in words):
        raise _refused(number, f"{rest[:60]!r} has not the words that it needs", "correct it")
    return list(words)


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """Yields the line, the keyword and the rest of each instruction, without here-documents."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        begin, whole = at, ""
        while at < len(lines):
            line, at = lines[at].strip(), at + 1
            if line.startswith("#") or (whole and not line):
                if re.match(r"#\s*escape\s*=", line):
                    raise _refused(at, "changes the escape character", "use the backslash")
                continue
            whole += line.removesuffix("\\")
            if not line.endswith("\\"):
                break
            whole += " "
        keyword, _, rest = whole.strip().partition(" ")
        for dash, end in _HERE_DOCUMENT.findall(rest) if keyword.upper() in _DOCUMENTED else ():
            while at < len(lines) and (lines[at].lstrip("\t") if dash else lines[at]) != end:
                at += 1
            at += 1
        if keyword:
            first = next(n for n in range(begin, at) if lines[n].strip()[:1] not in ("", "#"))
            yield first + 1, keyword.upper(), rest.strip()


_DOCUMENTED = ("RUN", "COPY", "ADD")


def _refused(number: int, problem: str, remedy: str) -> FolderError:
    return FolderError(f"{PLACE}:{number}", f"{problem}: {remedy}")

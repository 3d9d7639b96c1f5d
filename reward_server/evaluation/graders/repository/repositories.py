"""Reads the repositories that tasks name, and keeps those that were used last."""

from __future__ import annotations

import asyncio
import os
import posixpath
import random
import re
import stat
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from reward_server.domain import Framework, RepositoryPlaces, RepositoryTests, UnitTests
from reward_server.errors import InvalidRequestError
from reward_server.evaluation.graders.python_test_files import (
    BYTES_OF_CHARACTER,
    Plan,
    copies_of,
)
from reward_server.evaluation.readings import Readings
from reward_server.grading import syntax
from reward_server.grading.copies.endings import with_endings
from reward_server.grading.python_tests.inventory import Inventory, Skips
from reward_server.grading.repository.patches import PatchError, apply_patch
from reward_server.grading.repository.tree import (
    Tree,
    TreeBuilder,
    TreeError,
    folders_of,
    is_left_out,
    read_archive,
)

KEPT_BYTES = 256 << 20
_REASON = "they import a repository, whose code runs in their process"
_HOOKS = "conftest.py"
_DRAW = random.SystemRandom()
_TESTS = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_MOST_TOLD = 1 << 20  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTests:
    """The test files of a repository, and how they run."""

    tests: UnitTests
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository that was read for a task.

    Args:
        base: its files before any changes.
        tested: those of them that the tests leave there, and the executable files with the tests.
        hidden: the hidden files of the tests.
        python: its tests, if a framework for Python runs them.
    """

    base: Tree
    tested: Tree
    hidden: Mapping[str, bytes]
    python: PythonTests | None


class Repositories:
    """The repositories of tasks.

    Args:
        folder: the folder with the repositories that tasks name; None if there is none.
        kept_bytes: the greatest total size in memory of the repositories that are kept.
        of_images: reads the repositories of images, by digest.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        kept_bytes: int = KEPT_BYTES,
        of_images: Mapping[str, Callable[[], Awaitable[Tree]]] = MappingProxyType({}),
    ) -> None:
        self._folder = folder
        self._of_images = of_images
        self._trees: Readings[Tree] = Readings(kept_bytes)
        self._repositories: Readings[Repository] = Readings(kept_bytes)

    async def of(self, tests: RepositoryTests) -> Repository:
        """Reads the repository of a task.

        Raises:
            InvalidRequestError: there is no such repository, or it does not fit the tests.
            SandboxError: the engine does not send the repository of an image.
        """
        return await self._repositories.find(tests, lambda: self._read_task(tests))

    async def _read_task(self, tests: RepositoryTests) -> tuple[Repository, int]:
        base = None
        if tests.image_folder:
            # Tasks with different tests may share it.
            base = await self._trees.find(tests.image, lambda: self._read_image(tests.image))
        read = await asyncio.to_thread(self._read, tests, base)
        return read, _size(tests, read)

    async def _read_image(self, digest: str) -> tuple[Tree, int]:
        try:
            tree = await self._of_images[digest]()
        except TreeError as error:
            raise InvalidRequestError("repository.image_folder", str(error)) from None
        return tree, tree.size_bytes

    def _read(self, tests: RepositoryTests, base: Tree | None) -> Repository:
        field = "repository.archive" if tests.archive else "repository.folder"
        try:
            if base is None:
                base = read_archive(tests.archive) if tests.archive else self._named(tests.folder)
        except TreeError as error:
            raise InvalidRequestError(field, str(error)) from None
        tested, made = _patched(base, tests.test_patch)
        hidden = {**made, **dict(tests.test_files)}
        python = None
        if isinstance(tests.runner, Framework):
            python = _python_tests(tests, tests.runner, tested, hidden)
        return Repository(base=base, tested=tested, hidden=hidden, python=python)

    def _named(self, name: str) -> Tree:
        folder = None if self._folder is None else self._folder / name
        if folder is None or not folder.is_dir():
            raise TreeError(f"{name!r} is no folder below this server's repository_folder")
        return read_folder(folder)


def _size(tests: RepositoryTests, read: Repository) -> int:
    """Returns the bytes of memory that a task and its repository take."""
    files = read.python.tests.files if read.python else ()
    return (
        read.base.size_bytes
        + len(tests.archive)
        + len(tests.test_patch)
        + sum(len(path) + len(content) for path, content in read.hidden.items())
        + sum(len(name) for name in (*tests.fail_to_pass, *tests.pass_to_pass, *tests.must_fail))
        + BYTES_OF_CHARACTER * sum(len(text) for _, text in files)
    )


def _patched(base: Tree, patch: str) -> tuple[Tree, dict[str, bytes]]:
    """Returns what a task's patch leaves of a repository, and the files that it adds or changes."""
    if not patch:
        return base, {}
    try:
        after = apply_patch(base, patch)
    except PatchError as error:
        raise InvalidRequestError("repository.test_patch", str(error)) from None
    changed = {path: text for path, text in after.files.items() if base.files.get(path) != text}
    if not changed and after.files.keys() == base.files.keys():
        raise InvalidRequestError("repository.test_patch", "adds and changes no file")
    left = {path: text for path, text in base.files.items() if path in after.files}
    return Tree(files=left, executable=after.executable), changed


def read_folder(folder: Path) -> Tree:
    """Reads the files of a folder.

    Raises:
        TreeError: the files exceed a bound, or a link leads out of the folder.
    """
    builder = TreeBuilder()
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_left_out(name))
        linked = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in sorted((*names, *linked)):
            place = os.path.join(parent, name)
            _take(builder, place, Path(os.path.relpath(place, folder)).as_posix())
    return builder.tree()


def _take(builder: TreeBuilder, place: str, path: str) -> None:
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), os.readlink(place)))
        builder.link(path, target)
    elif stat.S_ISREG(status.st_mode) and not is_left_out(path):
        builder.make_room(path, status.st_size)
        content = Path(place).read_bytes()
        builder.add(path, content, executable=bool(status.st_mode & stat.S_IXUSR))


def _python_tests(
    tests: RepositoryTests, framework: Framework, base: Tree, hidden: Mapping[str, bytes]
) -> PythonTests:
    targets = dict.fromkeys(
        name.partition("::")[0] for name in (*tests.fail_to_pass, *tests.pass_to_pass)
    )
    files: dict[str, str] = {}
    for path in (*targets, *_hooks_above(targets)):
        content = hidden.get(path, base.files.get(path))
        if content is None and path in targets:
            problem = f"name {path!r}, which is neither in the repository nor in test_files"
            raise InvalidRequestError("repository.fail_to_pass", problem)
        if content is not None:
            text = _text("repository.test_files", path, content)
            files[path] = with_endings(text, _DRAW) if path in targets else text
    places = RepositoryPlaces(
        targets=tuple(targets), import_paths=tests.import_paths, modules=_modules(base, hidden)
    )
    unit = UnitTests(
        framework=framework, files=tuple(sorted(files.items())), solution_path="", places=places
    )
    return PythonTests(tests=unit, plan=_plan(unit, _told(base, targets)))


def _hooks_above(paths: dict[str, None]) -> list[str]:
    """Returns where `conftest.py` of tests may be."""
    return sorted({_HOOKS, *(f"{folder}/{_HOOKS}" for folder in folders_of(paths))})


def _text(field: str, path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidRequestError(field, f"have {path!r}, whose tests are not UTF-8") from None


def _modules(base: Tree, hidden: Mapping[str, bytes]) -> tuple[str, ...]:
    paths = [path for path in (*base.files, *hidden) if path.endswith((".py", ".pyi", ".so"))]
    return tuple(sorted({part.partition(".")[0] for path in paths for part in path.split("/")}))


def _told(base: Tree, targets: Iterable[str]) -> str:
    """Returns the tests that the repository has, which a solution can read."""
    names = (path for path in base.files if _TESTS.search(path))
    visible = dict.fromkeys((*(path for path in targets if path in base.files), *sorted(names)))
    told = ""
    for path in visible:
        rest = _MOST_TOLD - len(told)
        if rest <= 0:
            break
        told += f"{base.files[path][: 4 * rest].decode('utf-8', 'replace')}\n"
    return told[:_MOST_TOLD]


def _plan(tests: UnitTests, told: str) -> Plan:
    trees = syntax.parse_files(tests.files)
    inventory = Inventory(trees, tests.files, tests.framework)
    return Plan(
        wanted=frozenset(),
        reasons=(_REASON,),
        skips=Skips(trees),
        inventory=inventory,
        copies=copies_of(tests, told, inventory),
    )

"""Finds the names of tests in files of pytest, and paths that are not those of the sandbox."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from trainer_client.tasks import source
from trainer_client.tasks.repositories.task_folder import File, FolderError, decoded

NAMES_REMEDY = "give the names as pytest prints them: fail_to_pass=[...]"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_names(path: str, text: str) -> list[str]:
    """Returns the names of a file's tests as pytest prints them, such as `tests/test_x.py::test_y`.

    Raises:
        FolderError: the file is not Python, or its text does not tell the names.
    """
    try:
        tree = source.parsed(text)
    except ValueError as error:
        raise FolderError(path, str(error)) from error
    return list(dict.fromkeys(f"{path}::{name}" for name in _names(path, tree.body, "")))


def _names(path: str, body: list[ast.stmt], before: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            _check(path, node)
            yield before + node.name
        elif isinstance(node, ast.ClassDef) and _has_tests(node):
            _check(path, node)
            yield from _names(path, node.body, f"{before}{node.name}::")
        elif isinstance(node, ast.If | ast.Try | ast.For | ast.With):
            inner = [one for one in ast.walk(node) if isinstance(one, _Function | ast.ClassDef)]
            if any(one.name.lower().startswith("test") for one in inner):
                raise FolderError(f"{path}:{node.lineno}", f"may define tests: {NAMES_REMEDY}")


def _check(path: str, node: _Function | ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        if "parametrize" in ast.unparse(decorator):
            problem = f"{node.name!r} has parameters: {NAMES_REMEDY}"
            raise FolderError(f"{path}:{node.lineno}", problem)


def _has_tests(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("TestCase" in ast.unparse(b) for b in node.bases)


def with_relative_paths(
    files: Mapping[str, File], workdir: str, *, replaces: bool
) -> dict[str, bytes]:
    """Returns test files by path, in which paths below the working folder are relative.

    Args:
        files: the files below `tests/`.
        workdir: the working folder of the task; empty if its paths lead to an execution's files.
        replaces: whether paths are replaced; if not, they are refused.

    Raises:
        FolderError: a file in Python names a path that is not there in a sandbox.
    """
    folders = {"/tests": "tests"} if not workdir else {workdir: ".", "/tests": "tests"}
    pattern = re.compile(
        rf"(?<![\w./~-])({'|'.join(map(re.escape, folders))})(?=/|[\"'\s,;:)]|$)", re.MULTILINE
    )
    found: dict[str, bytes] = {}
    for path, file in files.items():
        place = f"tests/{path}"
        found[place] = file.content
        if not path.endswith(".py"):
            continue
        text = decoded(place, file.content)
        if (hit := pattern.search(text)) and not replaces:
            line = text.count("\n", 0, hit.start()) + 1
            problem = f"names {hit[1]!r}, and tests run in the repository's folder wherever it is"
            remedy = "relative_paths=True replaces such paths"
            raise FolderError(f"{place}:{line}", f"{problem}: {remedy}")
        found[place] = pattern.sub(lambda hit: folders[hit[1]], text).encode()
    return found

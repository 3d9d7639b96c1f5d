"""Decides which changes of a repository count, and lays hidden files over it.

What this stops: changes of tests, and of files that decide how tests run. The path of a file
decides whether a change counts. For files that have settings for pytest among others, these
settings decide.

What it does not stop: the repository's own code. It runs in the process of the tests, and can do
there what any of these files could do; see the threat model.
"""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from codereward.toml_text import parse_toml
from reward_server.grading.repository.tree import Tree, folders_of, is_left_out

_HOOKS = "conftest.py"
_TEST_FILES = re.compile(
    r"test_[^/]*\.py|[^/]*_test\.(?:py|go|rb|exs)|[^/]*\.(?:test|spec)\.[cm]?[jt]sx?"
    r"|[^/]*Tests?\.(?:java|kt|scala|cs)|[^/]*_spec\.rb"
)
_TEST_FOLDERS = frozenset(("tests", "__tests__"))
_TOP_TEST_FOLDERS = ("test/", "testing/", "spec/", "src/test/")
_SETTINGS = frozenset(
    (
        *(_HOOKS, "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", ".coveragerc"),
        *("sitecustomize.py", "usercustomize.py", "noxfile.py", ".noserc"),
        *(".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.json", ".mocharc.jsonc"),
        *(".mocharc.yml", ".mocharc.yaml", "ava.config.js", "ava.config.cjs", "ava.config.mjs"),
        *("jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts"),
        *("jest.config.cts", "jest.config.mts", "jest.config.json", "vitest.config.js"),
        *("vitest.config.mjs", "vitest.config.ts", "vitest.config.mts", "vitest.config.cts"),
        *("vitest.workspace.js", "vitest.workspace.ts", ".rspec", "phpunit.xml"),
        *("phpunit.xml.dist", "phpunit.dist.xml"),
        *(".npmrc", ".taprc", "karma.conf.js", "nextest.toml"),
    )
)
_SETTING_ENDINGS = (".pth", ".pyc", ".egg-link")
_SETTING_FOLDERS = frozenset((".cargo", ".hypothesis", "__pycache__", ".pytest_cache"))
# Folders of a distribution, whose entry points pytest loads as plug-ins.
_DISTRIBUTIONS = (".egg-info", ".dist-info")
_ENTRY_POINTS = "entry_points.txt"
# Modules of the test frameworks, and what pytest imports, at a place from which tests import; and
# what Python imports by itself.
_RUNNERS = frozenset(
    (
        *("pytest", "_pytest", "pluggy", "iniconfig", "unittest", "pytest_asyncio", "py"),
        *("packaging", "sitecustomize", "usercustomize"),
    )
)
_PACKAGE = "package.json"
_OF_PACKAGE = ("jest", "mocha", "ava", "vitest", "tap", "nyc")
_MOST_JSON_BYTES = 256 * 1024
_USUAL_IMPORT_PATHS = ("", "src", "lib")


def composed(
    base: Tree,
    changed: Tree,
    hidden: Mapping[str, bytes],
    *,
    patterns: Sequence[str] = (),
    import_paths: Sequence[str] = (),
) -> Tree:
    """Returns a repository with the changes that count, and with the hidden files.

    Args:
        base: the repository before the changes.
        changed: the repository after them.
        hidden: hidden files, by path.
        patterns: patterns of further paths whose changes do not count.
        import_paths: folders from which tests import.
    """
    protected = Protection(base, patterns, import_paths)
    fixed = {path: text for path, text in base.files.items() if protected.covers(path)}
    fixed = _laid_over(hidden, fixed)
    shadows = protected.shadows_of(fixed)
    files = {
        path: text
        for path, text in changed.files.items()
        if not protected.covers(path) and (path in base.files or not shadows(path))
    }
    files = _with_settings(base.files, files)
    files = _laid_over(fixed, files)
    executable = (changed.executable - fixed.keys()) | (base.executable & fixed.keys())
    return Tree(files=files, executable=frozenset(executable & files.keys()))


def _with_settings(base: Mapping[str, bytes], changed: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns files in which the settings for test frameworks are those of the repository."""
    files = dict(changed)
    for path in {*base, *changed}:
        name = posixpath.basename(path)
        # A package may be added with its scripts: the tests are not run by those.
        section = (
            _of_added_package if name == _PACKAGE and path not in base else _SECTIONS.get(name)
        )
        if section and section(files.get(path, b"")) != section(base.get(path, b"")):
            files.pop(path, None)
            files |= {path: base[path]} if path in base else {}
    return files


def _laid_over(upper: Mapping[str, bytes], lower: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of both; a lower one that is in an upper one's way is left out."""
    folders = folders_of(upper)
    kept = {
        path: text
        for path, text in lower.items()
        if path not in folders and upper.keys().isdisjoint(folders_of([path]))
    }
    return {**kept, **upper}


class Protection:
    """The paths whose changes do not count.

    Args:
        base: the repository before the changes. If it has modules of a test framework, they are its
            own code, and are not protected.
        patterns: patterns of further paths.
        import_paths: folders from which tests import.
    """

    def __init__(
        self, base: Tree, patterns: Sequence[str] = (), import_paths: Sequence[str] = ()
    ) -> None:
        self._base = base
        self._patterns = [re.compile(fnmatch.translate(one)) for one in patterns]
        roots = [path.rstrip("/") for path in (*_USUAL_IMPORT_PATHS, *import_paths)]
        self._roots = tuple(f"{path}/" if path else "" for path in dict.fromkeys(roots))
        self._runners = _RUNNERS - {name for path in base.files for name in self._modules(path)}

    def covers(self, path: str) -> bool:
        """Returns True if changes of a file do not count."""
        folder, name = posixpath.split(path)
        parts = folder.split("/")
        return (
            name in _SETTINGS
            or name.endswith(_SETTING_ENDINGS)
            or _TEST_FILES.fullmatch(name) is not None
            or not _TEST_FOLDERS.isdisjoint(parts)
            or not _SETTING_FOLDERS.isdisjoint(parts)
            or path.startswith(_TOP_TEST_FOLDERS)
            or (name == _ENTRY_POINTS and folder.endswith(_DISTRIBUTIONS))
            or is_left_out(path)
            or not self._runners.isdisjoint(self._modules(path))
            or any(one.match(path) for one in self._patterns)
        )

    def shadows_of(self, fixed: Collection[str]) -> Callable[[str], bool]:
        """Returns a test whether a file would be imported in place of one that cannot be changed.

        Python prefers a package and a compiled module to a module of the same name, an earlier
        folder of the import path to a later one, and a module to a folder without `__init__.py`.
        pytest puts the folders of tests and of `conftest.py` before the others, each unless it has
        an `__init__.py`.

        Args:
            fixed: paths of files that cannot be changed.
        """
        modules = {name for path in fixed for name in _names(path, self._roots)}
        above = folders_of(path for path in fixed if _module(path) is not None)
        folders = {path for path in above if f"{path}/__init__.py" not in self._base.files}
        starts = self._folders_of_tests(fixed)
        helpers = {name for path in fixed for name in _names(path, starts)}
        own = {f"{posixpath.dirname(path)}/" for path in fixed if _is_helper(path)}
        marks = {f"{start}__init__.py" for start in own.intersection(starts)}

        def shadows(path: str) -> bool:
            is_in_place_of_folder = not path.endswith("/__init__.py") and _module(path) in folders
            return (
                is_in_place_of_folder
                or path in marks
                or not modules.isdisjoint(_names(path, self._roots))
                or not helpers.isdisjoint(_names(path, starts))
            )

        return shadows

    def _folders_of_tests(self, fixed: Collection[str]) -> tuple[str, ...]:
        """Returns the folders that pytest adds to the import path for tests and hooks."""
        present = {*self._base.files, *fixed}
        found = set()
        for path in fixed:
            folder = posixpath.dirname(path)
            if not _begins(path):
                continue
            while folder and f"{folder}/__init__.py" in present:
                folder = posixpath.dirname(folder)
            if folder:
                found.add(f"{folder}/")
        return tuple(found)

    def _modules(self, path: str) -> Iterable[str]:
        """Yields the top modules that a file may belong to."""
        for root in self._roots:
            if path.startswith(root):
                yield path.removeprefix(root).partition("/")[0].partition(".")[0]


def _names(path: str, roots: Iterable[str]) -> Iterable[str]:
    """Yields the names by which tests may import a file from folders, with slashes."""
    module = _module(path)
    for root in roots if module is not None else ():
        if path.startswith(root):
            yield str(module).removeprefix(root)


def _begins(path: str) -> bool:
    """Returns True if pytest imports a file by itself: tests and hooks."""
    name = posixpath.basename(path)
    return name == _HOOKS or (name.endswith(".py") and _TEST_FILES.fullmatch(name) is not None)


def _is_helper(path: str) -> bool:
    """Returns True if a file is a module that tests have to import."""
    is_module = _module(path) is not None and posixpath.basename(path) != "__init__.py"
    return is_module and not _begins(path)


def _module(path: str) -> str | None:
    """Returns the path of a module or package without its ending; None if it is no file of one."""
    folder, name = posixpath.split(path)
    stem, _, ending = name.partition(".")
    if ending != "py" and ending.rpartition(".")[2] != "so":
        return None
    return folder if stem == "__init__" else posixpath.join(folder, stem)


def _of_toml(content: bytes) -> object:
    try:
        tool = parse_toml(content.decode()).get("tool", {})
        return tool.get("pytest") if isinstance(tool, dict) else tool
    except ValueError:
        return content


def _of_package(content: bytes) -> object:
    """Returns the settings of test frameworks in a `package.json`, and scripts that run tests."""
    package = _object(content)
    scripts = package.get("scripts")
    named = scripts.items() if isinstance(scripts, dict) else ()
    return _of_added_package(content), {name: text for name, text in named if "test" in name}


def _of_added_package(content: bytes) -> object:
    """Returns the settings of test frameworks in a `package.json`."""
    package = _object(content)
    return [package.get(name) for name in _OF_PACKAGE], package.get("")


def _object(content: bytes) -> Mapping[str, object]:
    """Returns an object of JSON; of other bytes, one that no others have."""
    if len(content) <= _MOST_JSON_BYTES:
        try:
            found = json.loads(content or b"{}")
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    return {"": content}


def _of_ini(*sections: str) -> Callable[[bytes], object]:
    heads = tuple(f"[{name}]" for name in sections)

    def read(content: bytes) -> object:
        try:
            lines = content.decode().splitlines()
        except ValueError:
            return content
        found, is_inside = [], False
        for line in filter(None, map(_without_comment, lines)):
            if line.lstrip().startswith(heads):
                is_inside = True
            elif line.startswith("[") and line.endswith("]"):
                is_inside = False
            if is_inside:
                found.append(line)
        return found

    return read


def _without_comment(line: str) -> str:
    # In a value, "#" and ";" begin no comment.
    is_head = line.startswith("[") or line.lstrip().startswith(("#", ";"))
    return (re.split("[#;]", line, maxsplit=1)[0] if is_head else line).rstrip()


# Files of which only the settings for test frameworks must not change.
_SECTIONS: Mapping[str, Callable[[bytes], object]] = {
    "pyproject.toml": _of_toml,
    _PACKAGE: _of_package,
    "setup.cfg": _of_ini("tool:pytest", "aliases"),
    "tox.ini": _of_ini("pytest"),
}

"""Decides which changes of a repository count, and lays hidden files over it.

A change counts if it is source of the task's language, or data of its packages, at a place that
held such files before, and if it is no test; or if the task lists its path. All else comes from the
repository before the changes: tests, settings of tools whether known or not, packages of others.

What it does not stop: the repository's own code. It runs in the process of the tests, and can do
there what any of these files could do; see the threat model.
"""

from __future__ import annotations

import fnmatch
import glob
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codereward.toml_text import parse_toml
from reward_server.grading.repository.tree import Tree, folders_of, is_left_out

# Parts of a path that make it a test, data of one, or code that is not the repository's own.
_TESTS = re.compile(
    r"(?:.*[._-])?(?:tests?|testing|testdata|specs?|fixtures|snapshots|mocks|e2e|conftest)"
    r"(?:[._-].*)?",
    re.IGNORECASE,
)
_TEST_CLASSES = re.compile(r"(?:Test\w*|\w*(?:Tests?|TestCase|Spec|IT))\.\w+")
_FOREIGN = re.compile(r"\..*|node_modules|vendor|(?:site|dist)-packages|__pycache__|.*\.egg-info")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """What a language's repositories have in common.

    Args:
        endings: those of the names of source files.
        manifests: names of files whose folder is the root of a project. Tools look there for
            settings that are source too, so only modules that something imports count there.
        roots: folders from which tests usually import, which are such roots too.
        adds_folders_of_tests: whether tests import from their own folder if it is no package.
        imports: finds in a text the words that name imported modules. None if no source at the root
            of a project is settings.
    """

    endings: tuple[str, ...]
    manifests: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    adds_folders_of_tests: bool = False
    imports: re.Pattern[bytes] | None = None


_NODE = _Language(
    endings=(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"),
    manifests=("package.json",),
    imports=re.compile(rb"""(?:from|import|require\()\s*\(?\s*['"](\.[^'"\n]*)['"]"""),
)
_C = _Language(endings=(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"))
_LANGUAGES: Mapping[str, _Language] = {
    "python": _Language(
        endings=(".py",),
        manifests=("pyproject.toml",),
        roots=("src", "lib"),
        adds_folders_of_tests=True,
        imports=re.compile(
            rb"^[ \t]*(?:from|import)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)", re.MULTILINE
        ),
    ),
    "javascript": _NODE,
    "typescript": _NODE,
    "rust": _Language(
        endings=(".rs",), manifests=("Cargo.toml",), imports=re.compile(rb"\bmod[ \t]+(\w+)")
    ),
    "go": _Language(endings=(".go",)),
    "java": _Language(endings=(".java", ".kt", ".scala")),
    "kotlin": _Language(endings=(".kt", ".java")),
    "scala": _Language(endings=(".scala", ".java")),
    "c": _C,
    "c++": _C,
    "c#": _Language(endings=(".cs",)),
    "ruby": _Language(endings=(".rb",)),
    "php": _Language(endings=(".php",)),
}
_PACKAGE = "package.json"
_OF_PACKAGE = ("jest", "mocha", "ava", "vitest", "tap", "nyc")
_MOST_JSON_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A repository as tests find it, and the number of changes that did not count."""

    tree: Tree
    uncounted: int


def composed(
    base: Tree,
    changed: Tree,
    hidden: Mapping[str, bytes],
    *,
    language: str = "python",
    protected: Sequence[str] = (),
    changeable: Sequence[str] = (),
    import_paths: Sequence[str] = (),
) -> Composed:
    """Makes a repository of the changes that count and the hidden files.

    Args:
        base: the repository before the changes.
        changed: the repository after them.
        hidden: hidden files, by path.
        language: name of the language of the repository's source.
        protected: patterns of paths whose changes do not count.
        changeable: patterns of paths whose changes count, unless they are protected. Tests are
            only those that a pattern names without wildcards.
        import_paths: folders from which tests import.
    """
    rule = _Rule(
        base=base,
        changed=changed.files,
        hidden=hidden,
        language=_LANGUAGES.get(language, _Language(endings=())),
        protected=_patterns(protected),
        changeable=_patterns(changeable),
        listed=frozenset(changeable),
        import_paths=import_paths,
    )
    differing = set(_differing(base, changed))
    counted = set(filter(rule.counts, differing))
    kept = {path: text for path, text in base.files.items() if path not in counted}
    new = {path: text for path, text in changed.files.items() if path in counted}
    files = _with_settings(base.files, {**kept, **new})
    executable = (changed.executable & counted) | (base.executable - counted)
    files = _laid_over(hidden, files)
    tree = Tree(files=files, executable=frozenset(executable & files.keys()))
    return Composed(tree=tree, uncounted=len(differing) - len(counted))


def _differing(base: Tree, changed: Tree) -> Iterator[str]:
    """Yields the paths of files that changed, also in whether they may be executed."""
    modes = base.executable ^ changed.executable
    for path in {**base.files, **changed.files}:
        if path in modes or base.files.get(path) != changed.files.get(path):
            yield path


def _patterns(texts: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(fnmatch.translate(one)) for one in texts)


def _with_settings(base: Mapping[str, bytes], changed: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns files in which the settings for test frameworks are those of the repository."""
    files = dict(changed)
    for path in {*base, *changed}:
        section = _SECTIONS.get(posixpath.basename(path))
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


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """Tells which changes of a repository count; see `composed`."""

    base: Tree
    changed: Mapping[str, bytes]
    hidden: Mapping[str, bytes]
    language: _Language
    protected: tuple[re.Pattern[str], ...]
    changeable: tuple[re.Pattern[str], ...]
    listed: frozenset[str]
    import_paths: Sequence[str]

    def counts(self, path: str) -> bool:
        """Returns True if a change of a file counts."""
        if is_left_out(path) or any(one.match(path) for one in self.protected):
            return False
        if not self.listed.isdisjoint((path, glob.escape(path))):
            return True
        if _is_apart(path):
            return False
        return any(one.match(path) for one in self.changeable) or self._is_of_package(path)

    def _is_of_package(self, path: str) -> bool:
        """Returns True for source and data of packages that the repository has."""
        is_source, is_known = path.endswith(self.language.endings), path in self.base.files
        place = posixpath.dirname(path)
        while place and place not in self._folders:
            place = posixpath.dirname(place)
        if not is_source:
            return (place, _ending(path)) in self._data and self._is_in_package(place)
        if not is_known and _module(path) in self._modules:
            return False
        if place in self._roots:
            return self._is_imported(path, place)
        return self._is_in_package(place)

    def _is_in_package(self, folder: str) -> bool:
        while folder not in self._holding and folder not in self._roots:
            folder = posixpath.dirname(folder)
        return folder not in self._roots

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folders_of(self.base.files))

    @cached_property
    def _roots(self) -> frozenset[str]:
        manifests = self.language.manifests
        found = (posixpath.split(path) for path in self.base.files)
        projects = (folder for folder, name in found if name in manifests)
        given = (path.rstrip("/") for path in self.import_paths)
        tests = (posixpath.split(path) for path in self._sources)
        on_path = (
            folder
            for folder, name in tests
            if self.language.adds_folders_of_tests
            and _is_apart(name)
            and f"{folder}/__init__.py" not in self._sources
        )
        return frozenset(("", *self.language.roots, *given, *projects, *on_path))

    @cached_property
    def _holding(self) -> frozenset[str]:
        """The folders that have source, in themselves or below."""
        sources = self._of_language(self.base.files)
        return frozenset(folders_of(path for path in sources if not _is_apart(path)))

    @cached_property
    def _sources(self) -> Mapping[str, bytes]:
        return self._of_language({**self.base.files, **self.hidden})

    def _of_language(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {path: text for path, text in files.items() if path.endswith(self.language.endings)}

    @cached_property
    def _data(self) -> frozenset[tuple[str, str]]:
        return frozenset((posixpath.dirname(path), _ending(path)) for path in self.base.files)

    @cached_property
    def _modules(self) -> frozenset[str]:
        """Modules and folders, in whose place nothing new may be imported."""
        if self.language.imports is None:
            return frozenset()
        return frozenset((*map(_module, self._sources), *self._folders))

    def _is_imported(self, path: str, place: str) -> bool:
        """Returns True if a module at a root is one that tests or packages import."""
        if self.language.imports is None:
            return True
        name = _stem(path.removeprefix(f"{place}/" if place else "").partition("/")[0])
        if path in self.base.files:
            return name in self._imported_before
        is_free = name.isidentifier() and name not in map(_stem, self._sources)
        return is_free and name in self._imported_after

    @cached_property
    def _imported_before(self) -> frozenset[str]:
        return self._imported(self._sources)

    @cached_property
    def _imported_after(self) -> frozenset[str]:
        new = {path: text for path, text in self.changed.items() if not _is_apart(path)}
        return self._imported({**self._sources, **self._of_language(new)})

    def _imported(self, sources: Mapping[str, bytes]) -> frozenset[str]:
        """Returns what tests and packages import, and what the modules that they import do."""
        at_roots = {
            path: text
            for path, text in sources.items()
            if posixpath.dirname(path) in self._roots and not _is_apart(path)
        }
        new = {path: text for path, text in sources.items() if path not in at_roots}
        names: set[str] = set()
        while new:
            for text in new.values():
                names.update(self._names_in(text))
            new = {path: text for path, text in at_roots.items() if _stem(path) in names}
            for path in new:
                del at_roots[path]
        return frozenset(names)

    def _names_in(self, text: bytes) -> Iterator[str]:
        """Yields the names of modules that a text imports, without those of packages' parts."""
        assert self.language.imports is not None
        for named in self.language.imports.findall(text):
            said = named.decode("utf-8", "replace")
            if said.startswith("."):
                *folders, name = said.split("/")
                yield from (*folders, name, _stem(name) if name.strip(".") else "index")
            else:
                yield from re.findall(r"(?:^|,)\s*(\w+)", said)


def _is_apart(path: str) -> bool:
    """Returns True for tests, data of tests, and code that is not the repository's own."""
    *folders, name = path.split("/")
    return _TEST_CLASSES.fullmatch(name) is not None or any(
        _TESTS.fullmatch(part) or _FOREIGN.fullmatch(part) for part in (*folders, name)
    )


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1]


def _module(path: str) -> str:
    """Returns the path by which a file is imported; for a package's `__init__.py`, the folder."""
    folder = posixpath.dirname(path)
    stem = _stem(path)
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
    settings = [package.get(name) for name in (*_OF_PACKAGE, "")]
    return settings, {name: text for name, text in named if "test" in name}


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
    **dict.fromkeys(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"), bytes),
}

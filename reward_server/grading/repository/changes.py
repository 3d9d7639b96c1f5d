"""Tells which changes of a repository count.

A change counts if it is source of the task's language, or data of its packages, at a place that
held such files before, and if it is no test; or if the task lists its path.
"""

from __future__ import annotations

import fnmatch
import glob
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
class Language:
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

    def of(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Returns the source files."""
        return {path: text for path, text in files.items() if path.endswith(self.endings)}

    def imported_by(self, text: bytes) -> Iterator[str]:
        """Yields the names of modules that a text imports, without those of packages' parts."""
        for match in self.imports.finditer(text) if self.imports else ():
            said = match[1].decode("utf-8", "replace")
            if said.startswith("."):
                *folders, name = said.split("/")
                yield from (*folders, name, _stem(name) if name.strip(".") else "index")
            else:
                yield from re.findall(r"(?:^|,)\s*(\w+)", said)


_NODE = Language(
    endings=(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"),
    manifests=("package.json",),
    imports=re.compile(rb"""(?:from|import|require\()\s*+\(?+\s*+['"](\.[^'"\n]*)['"]"""),
)
_C = Language(endings=(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"))
LANGUAGES: Mapping[str, Language] = {
    "python": Language(
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
    "rust": Language(
        endings=(".rs",), manifests=("Cargo.toml",), imports=re.compile(rb"\bmod[ \t]+(\w+)")
    ),
    "go": Language(endings=(".go",)),
    "java": Language(endings=(".java", ".kt", ".scala")),
    "kotlin": Language(endings=(".kt", ".java")),
    "scala": Language(endings=(".scala", ".java")),
    "c": _C,
    "c++": _C,
    "c#": Language(endings=(".cs",)),
    "ruby": Language(endings=(".rb",)),
    "php": Language(endings=(".php",)),
}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Tells which changes count; its fields are the arguments of `protection.composed`."""

    base: Tree
    changed: Mapping[str, bytes]
    hidden: Mapping[str, bytes]
    language: Language
    protected: Sequence[str]
    changeable: Sequence[str]
    import_paths: Sequence[str]

    def counts(self, path: str) -> bool:
        """Returns True if a change of a file counts."""
        if is_left_out(path) or any(one.match(path) for one in self._protected):
            return False
        if path in self.changeable or glob.escape(path) in self.changeable:
            return True
        if _is_apart(path):
            return False
        return any(one.match(path) for one in self._changeable) or self._is_of_package(path)

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
    def _protected(self) -> tuple[re.Pattern[str], ...]:
        return _patterns(self.protected)

    @cached_property
    def _changeable(self) -> tuple[re.Pattern[str], ...]:
        return _patterns(self.changeable)

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
        sources = self.language.of(self.base.files)
        return frozenset(folders_of(path for path in sources if not _is_apart(path)))

    @cached_property
    def _sources(self) -> Mapping[str, bytes]:
        return self.language.of({**self.base.files, **self.hidden})

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
        is_free = name.isidentifier() and name not in self._names
        return is_free and name in self._imported_after

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(map(_stem, self._sources))

    @cached_property
    def _imported_before(self) -> frozenset[str]:
        return self._imported(self._sources)

    @cached_property
    def _imported_after(self) -> frozenset[str]:
        new = {path: text for path, text in self.changed.items() if not _is_apart(path)}
        return self._imported({**self._sources, **self.language.of(new)})

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
                names.update(self.language.imported_by(text))
            new = {path: text for path, text in at_roots.items() if _stem(path) in names}
            for path in new:
                del at_roots[path]
        return frozenset(names)


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


def _patterns(texts: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(fnmatch.translate(one)) for one in texts)

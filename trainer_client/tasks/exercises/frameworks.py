"""How the tests of exercises run here, by language, and which of them cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from trainer_client.tasks.repositories.task_folder import FolderError

_GO_IMPORT = re.compile(r'^\s*(?:import\s+)?(?:\w+\s+)?"([^"\s]+)"\s*$', re.MULTILINE)
_JAVA_IMPORT = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)", re.MULTILINE)
_JAVA_KNOWN = ("java.", "javax.", "org.junit.jupiter.")
_JAVA_DISABLED = re.compile(r"^[ \t]*@Disabled(?:\([^)\n]*\))?[ \t]*\n", re.MULTILINE)
_RUST_IGNORED = re.compile(r"^[ \t]*#\[ignore[^\]\n]*\][ \t]*\n", re.MULTILINE)
_RUST_DEPENDENCIES = re.compile(r"^\[dependencies\]\s*\n\s*([\w-]+)\s*=", re.MULTILINE)
_RUST_NAME = re.compile(r'^name\s*=\s*"([\w-]+)"', re.MULTILINE)
_NODE_TEST = re.compile(r"""['"]node:test['"]""")
_UNITTEST = re.compile(r"^\s*(?:import|from)\s+unittest\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language's exercises are judged.

    Args:
        ending: the ending of its source files.
        framework: returns the framework that runs a test file, by its text.
        placed: returns the path of a file of the exercise where the tests run.
        helper: the same for a source file that is neither a test nor the solution.
        tests: returns the text of a file beside the tests, with all tests switched on.

    The functions raise FolderError if the tests cannot run here.
    """

    ending: str
    framework: Callable[[str, str], str]
    placed: Callable[[str], str] = lambda path: path
    helper: Callable[[str], str] = lambda path: path
    tests: Callable[[str, str], str] = lambda text, _: text


def _python(path: str, text: str) -> str:
    return "unittest" if _UNITTEST.search(text) else "pytest"


def _go(path: str, text: str) -> str:
    for name in _GO_IMPORT.findall(text):
        if "." in name.partition("/")[0]:
            raise FolderError(path, f"imports {name}: only Go's own packages are there")
    return "go_test"


def _go_helper(path: str) -> str:
    """Returns a path by which the file is built with the tests and the solution."""
    return path.removesuffix("_test.go").removesuffix(".go") + "_test.go"


def _basename(path: str) -> str:
    return path.rpartition("/")[2]


def _java(path: str, text: str) -> str:
    for name in _JAVA_IMPORT.findall(text):
        if not name.startswith(_JAVA_KNOWN):
            problem = f"imports {name}, and only JUnit 5 and Java's own packages are there"
            raise FolderError(path, f"{problem}: write its assertions with org.junit.jupiter.api")
    return "junit"


def _javascript(path: str, text: str) -> str:
    if not _NODE_TEST.search(text):
        problem = "uses the globals of jest, such as expect(), and no framework from npm is there"
        raise FolderError(path, f"{problem}: write it with node:test and node:assert")
    return "node_test"


def _rust(path: str, text: str) -> str:
    return "cargo_test"


def _rust_tests(text: str, manifest: str) -> str:
    """Switches all tests on, and names the crate of the solution as the server does."""
    if crate := _RUST_DEPENDENCIES.search(manifest):
        raise FolderError("Cargo.toml", f"needs the crate {crate[1]}, and no crates are there")
    name = _RUST_NAME.search(manifest)
    if name is None:
        raise FolderError("Cargo.toml", "has no name of the package")
    crate_name = name[1].replace("-", "_")
    named = re.compile(rf"(?<![\w:.]){crate_name}(?=::|\s+as\s|\s*;)")
    return named.sub("solution", _RUST_IGNORED.sub("", text))


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "python": Language(ending=".py", framework=_python),
        "go": Language(ending=".go", framework=_go, helper=_go_helper),
        "java": Language(
            ending=".java",
            framework=_java,
            placed=_basename,
            helper=_basename,
            tests=lambda text, _: _JAVA_DISABLED.sub("", text),
        ),
        "javascript": Language(ending=".js", framework=_javascript),
        "rust": Language(ending=".rs", framework=_rust, tests=_rust_tests),
    }
)


def language_of(paths: list[str]) -> Language:
    """Returns the language of an exercise, by the paths of its tests.

    Raises:
        FolderError: its tests cannot run here.
    """
    for language in LANGUAGES.values():
        if paths and all(path.endswith(language.ending) for path in paths):
            return language
    told = paths[0] if paths else "nothing"
    known = ", ".join(LANGUAGES)
    problem = f"the tests are {told}, and only those of {known} run here"
    raise FolderError(".meta/config.json", f"files.test: {problem}")

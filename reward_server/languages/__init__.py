"""The languages on offer. Each language is described by a short TOML file beside this module.

The keys of a file:

name, aliases   the names by which requests may call the language
image           folder of `sandbox_images` whose image has the language; `also_in` lists others
source          name of a program's file; {stem} stands for the name that `stem` finds
stem            regular expression; its first group is the file's name, if the program decides it.
                If it finds nothing, the name is "Main"
test_kinds      kinds of tests that the language supports: "function", "call", "stdio", "unit",
                "program", "repository"
fence_tags      words that mark fenced code of the language in chat output
code_line       regular expression that matches a line of code, and no line of prose
comment         the text that begins a comment line
limits          defaults of this language, by field of `domain.Limits`
variants        names of dialects, such as "c++20". Each has the text for which {variant} stands
                below. The first is used if a request names only the language. `variant_aliases` are
                further names of dialects
[toolchain]     absent if the interpreter of the runner runs the programs
  version       command that prints the version. The first group of `version_pattern` is the version
  compile       commands that compile or check the program; may be empty
  keep          shell patterns of the files that are needed to run the program
  run           the command that runs the program
  paths         folders and files of the host that the local backend has to show, as patterns of
                `glob`, in addition to shared libraries and executables of the host
  environment   environment variables of the commands
  limits        limits of the compilation, by field of `domain.Limits`
  library       commands that compile a library of the server, once for all programs: `compile` and
                `keep`, with the same meaning as above
  tests         the same, for tests' programs that run apart from a solution
[program]       how a test program is compiled with the solution; needed for the kind "program", and
                described in `languages.composing`
[unit]          how test files of a framework are run with the solution; needed for the kind "unit"
                if the interpreter of the runner does not run them, and described in
                `languages.suites`
[imports]       how a text imports libraries; described in `languages.imports`. Without it nobody
                looks for libraries that are missing
[probe]         programs that show whether the language works: `works` reads two integers from
                standard input and prints their sum, `refused` does not compile, `fails` exits with
                a status other than 0, and `endless` never ends

Commands and environment variables may contain {source}, {stem}, {variant} and {memory_mebibytes},
which is three quarters of the memory limit, for runtimes that do not find the limit themselves. In
the arguments of a compiler, {sources} stands for the program's file and all other files of its
kind, and {libraries} for those files of a library that lie beside it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatch
from importlib.resources import files
from typing import Any

from reward_server.domain import MEBIBYTE, Commands, LanguageInfo, Limits
from reward_server.errors import UnsupportedError
from reward_server.languages.composing import Composition, parse_composition
from reward_server.languages.imports import Imports, parse_imports
from reward_server.languages.masking import masked
from reward_server.languages.suites import Suites, parse_suites

TEST_KINDS = ("function", "call", "stdio", "unit", "program", "repository")
PYTHON = "python"
_LIMIT_NAMES = frozenset(limit.name for limit in fields(Limits))
_HEAP_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Programs that show whether a language works; see above."""

    works: str
    refused: str
    fails: str
    endless: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The commands that compile a text, and the files that are kept; see above."""

    compile: tuple[tuple[str, ...], ...]
    keep: tuple[str, ...]

    def libraries(self, files: Iterable[str]) -> tuple[str, ...]:
        """Returns those of these files that are kept."""
        return tuple(sorted(one for one in files if any(fnmatch(one, kept) for kept in self.keep)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Toolchain:
    """How programs are compiled and run; see above."""

    version: tuple[str, ...]
    version_pattern: re.Pattern[str]
    program: Build
    library: Build
    tests: Build
    run: tuple[str, ...]
    paths: tuple[str, ...]
    environment: Mapping[str, str]
    limits: Mapping[str, float]

    @property
    def executables(self) -> frozenset[str]:
        """What has to be installed."""
        first = {command[0] for command in (self.version, *self.program.compile, self.run)}
        return frozenset(name for name in first if not name.startswith("."))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """One language, as its file describes it."""

    name: str
    aliases: tuple[str, ...]
    image: str
    also_in: tuple[str, ...]
    source: str
    stem: re.Pattern[str] | None
    test_kinds: tuple[str, ...]
    fence_tags: frozenset[str]
    code_line: re.Pattern[str]
    comment: str
    variant: str
    toolchain: Toolchain | None
    probe: Probe
    program: Composition | None = None
    unit: Suites | None = None
    imports: Imports | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ()

    def with_frameworks(self, frameworks: tuple[str, ...]) -> Language:
        """Returns the language with only these of its frameworks for test files."""
        kinds = tuple(kind for kind in self.test_kinds if kind != "unit" or frameworks)
        return replace(self, frameworks=frameworks, test_kinds=kinds)

    def default_limits(self, server: Limits) -> Limits:
        """Returns the server's defaults with this language's own put over them."""
        if not self.limits:
            return server
        return replace(server, **self.limits)  # type: ignore[arg-type]  # names were checked

    def compile_limits(self, server: Limits) -> Limits:
        """Returns the limits of compilations: the language's own, and else the server's
        defaults."""
        own = {} if self.toolchain is None else self.toolchain.limits
        return replace(server, **own)  # type: ignore[arg-type]  # names were checked

    def info(self, version: str) -> LanguageInfo:
        """Describes the language to a client, given its implementation's version."""
        return LanguageInfo(
            name=self.name,
            aliases=self.aliases,
            version=version,
            test_kinds=self.test_kinds,
            frameworks=self.frameworks,
        )

    @property
    def own_files(self) -> tuple[str, ...]:
        """Names of files that a program needs for itself, as far as they do not depend on it."""
        kept = () if self.toolchain is None else self.toolchain.program.keep
        return (self.source, *(name for name in kept if "*" not in name))

    def source_file(self, source: str) -> str:
        """Returns the name of a program's file."""
        return self.source.replace("{stem}", self._stem(source))

    def question(self, limits: Limits) -> Commands:
        """Returns the work that asks for the version."""
        assert self.toolchain is not None
        return Commands(
            commands=(self._filled(self.toolchain.version, "", limits),),
            environment=self._environment("", limits),
        )

    def compilation(
        self,
        source: str,
        files: Mapping[str, bytes],
        limits: Limits,
        *,
        is_library: bool = False,
    ) -> Commands:
        """Returns the work that makes a program ready to run.

        Args:
            source: the program.
            files: files beside it.
            limits: of this work.
            is_library: whether the result is a library, which is put beside programs that are
                compiled later.
        """
        assert self.toolchain is not None
        build = self.toolchain.library if is_library else self.toolchain.program
        name = self.source_file(source)
        libraries = self.toolchain.library.libraries(files)
        commands = _with_sources(build.compile, name, files, libraries)
        return Commands(
            commands=tuple(self._filled(one, source, limits) for one in commands),
            environment=self._environment(source, limits),
            files={**files, name: source.encode("utf-8", "surrogatepass")},
            keep=build.keep,
        )

    @property
    def of_tests(self) -> Language:
        """The same language, as tests' programs are compiled that run apart from a solution."""
        if self.toolchain is None:
            return self
        return replace(self, toolchain=replace(self.toolchain, program=self.toolchain.tests))

    def execution(self, source: str, product: bytes, limits: Limits) -> Commands:
        """Returns the work that runs a program, made ready before; without input."""
        assert self.toolchain is not None
        return Commands(
            commands=(self._filled(self.toolchain.run, source, limits),),
            environment=self._environment(source, limits),
            product=product,
        )

    def suite_compilation(
        self, source: str, path: str, secret: str, files: Mapping[str, bytes], limits: Limits
    ) -> Commands:
        """Returns the work that makes test files and a solution ready to run.

        Args:
            source: the solution.
            path: where it lies.
            secret: a fresh identifier.
            files: all others.
            limits: of this work.
        """
        assert self.unit is not None
        commands = _with_sources(self.unit.compile, path, files)
        given = [_given(one, path, secret) for one in commands]
        return Commands(
            commands=tuple(self._filled(one, source, limits) for one in given),
            environment=self._environment(source, limits),
            files={**files, path: source.encode("utf-8", "surrogatepass")},
            keep=self.unit.keep,
        )

    def variables(self, memory_bytes: int) -> Mapping[str, str]:
        """Returns the variables that its tools need, where this much memory is theirs."""
        if self.toolchain is None:
            return {}
        return self._environment("", replace(Limits(), memory_bytes=memory_bytes))

    def suite_question(self, limits: Limits) -> Commands:
        """Returns work that succeeds if the framework is installed; without commands if it always
        is."""
        assert self.unit is not None
        commands = (self._filled(self.unit.available, "", limits),) if self.unit.available else ()
        return Commands(commands=commands, environment=self._environment("", limits))

    def suite_execution(
        self, source: str, path: str, secret: str, product: bytes, limits: Limits
    ) -> Commands:
        """Returns the work that runs test files, made ready before; see `suite_compilation`."""
        assert self.unit is not None
        return Commands(
            commands=(self._filled(_given(self.unit.run, path, secret), source, limits),),
            environment=self._environment(source, limits),
            product=product,
        )

    def _stem(self, source: str) -> str:
        code = masked(source, self.program.assertions if self.program else None)
        found = self.stem.search(code) if self.stem else None
        return found[1] if found else _DEFAULT_STEM

    def _filled(self, texts: Iterable[str], source: str, limits: Limits) -> tuple[str, ...]:
        meanings = {
            "{source}": self.source_file(source),
            "{stem}": self._stem(source),
            "{variant}": self.variant,
            "{memory_mebibytes}": str(int(limits.memory_bytes * _HEAP_SHARE) // MEBIBYTE),
        }
        return tuple(_PLACE.sub(lambda place: meanings[place[0]], text) for text in texts)

    def _environment(self, source: str, limits: Limits) -> dict[str, str]:
        assert self.toolchain is not None
        names = self.toolchain.environment
        return dict(zip(names, self._filled(names.values(), source, limits), strict=True))


def _with_sources(
    commands: Iterable[Iterable[str]],
    path: str,
    files: Iterable[str],
    libraries: tuple[str, ...] = (),
) -> list[list[str]]:
    """Puts files where commands have {sources} and {libraries}.

    Args:
        commands: that compile.
        path: of the program's file.
        files: the files beside it; those of its kind are sources.
        libraries: what was compiled before.
    """
    kind = path.rpartition(".")[2]
    sources = (path, *sorted(one for one in files if one.endswith(f".{kind}") and one != path))
    meanings = {_SOURCES: sources, _LIBRARIES: libraries}
    return [[part for text in one for part in meanings.get(text, (text,))] for one in commands]


def _given(texts: Iterable[str], path: str, secret: str) -> list[str]:
    return [text.replace("{solution}", path).replace("{secret}", secret) for text in texts]


_DEFAULT_STEM = "Main"
_SOURCES, _LIBRARIES = "{sources}", "{libraries}"
_PLACE = re.compile(r"\{(?:source|stem|variant|memory_mebibytes)\}")


class Languages:
    """Finds languages by name or alias, whatever the letter case."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self.all = tuple(languages)
        self._by_name = {
            name.lower(): language
            for language in self.all
            for name in (language.name, *language.aliases)
        }

    @property
    def apart(self) -> tuple[str, ...]:
        """Names of the languages whose test programs may run apart from a solution."""
        programs = ((language.name, language.program) for language in self.all)
        return tuple(name for name, program in programs if program is not None and program.split)

    def find(self, name: str) -> Language:
        """Returns the language of that name or alias.

        Raises:
            UnsupportedError: there is none.
        """
        language = self._by_name.get(name.lower())
        if language is None:
            offered = ", ".join(sorted(known.name for known in self.all))
            raise UnsupportedError(f"language {name!r} is not offered; offered are: {offered}")
        return language


def parse_language(text: str) -> tuple[Language, ...]:
    """Reads a language's file: the language, or each of its variants.

    Raises:
        ValueError: the file is malformed, or names an unknown test kind or limit.
    """
    table = tomllib.loads(text)
    toolchain = _parse_toolchain(table["toolchain"]) if "toolchain" in table else None
    limits = table.get("limits", {})
    unknown = {*table["test_kinds"]} - {*TEST_KINDS} | {*limits} - _LIMIT_NAMES
    if unknown:
        raise ValueError(f"unknown test kinds or limits: {', '.join(sorted(unknown))}")
    if ("program" in table["test_kinds"]) != ("program" in table):
        raise ValueError("the program tests and the table [program] need each other")
    program = parse_composition(table["program"]) if "program" in table else None
    unit = parse_suites(table["unit"], table.get("program", {})) if "unit" in table else None
    imports = parse_imports(table["imports"]) if "imports" in table else None
    variants = table.get("variants", {table["name"]: ""})
    return tuple(
        Language(
            name=name,
            aliases=_aliases(name, table),
            image=table["image"],
            also_in=tuple(table.get("also_in", ())),
            source=table["source"],
            stem=re.compile(table["stem"]) if "stem" in table else None,
            test_kinds=tuple(table["test_kinds"]),
            fence_tags=frozenset(table["fence_tags"]),
            code_line=re.compile(table["code_line"]),
            comment=table["comment"],
            variant=variant,
            toolchain=toolchain,
            probe=Probe(**table["probe"]),
            program=program,
            unit=unit,
            imports=imports,
            limits=limits,
        )
        for name, variant in variants.items()
    )


def _aliases(name: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the other names; the first variant also has those of the language."""
    variants = list(table.get("variants", ()))
    own = table.get("variant_aliases", {}).get(name, [])
    if variants and name != variants[0]:
        return tuple(own)
    plain = [table["name"]] if variants else []
    return (*plain, *table["aliases"], *own)


def _parse_toolchain(table: Mapping[str, Any]) -> Toolchain:
    limits = table.get("limits", {})
    if unknown := {*limits} - _LIMIT_NAMES:
        raise ValueError(f"unknown limits: {', '.join(sorted(unknown))}")
    return Toolchain(
        version=tuple(table["version"]),
        version_pattern=re.compile(table["version_pattern"]),
        program=_parse_build(table),
        library=_parse_build(table.get("library", table)),
        tests=_parse_build(table.get("tests", table)),
        run=tuple(table["run"]),
        paths=tuple(table.get("paths", ())),
        environment=table.get("environment", {}),
        limits=limits,
    )


def _parse_build(table: Mapping[str, Any]) -> Build:
    return Build(compile=tuple(map(tuple, table["compile"])), keep=tuple(table["keep"]))


@functools.cache
def load_languages() -> Languages:
    """Reads, once, the language files that come with the package."""
    entries = sorted(files(__name__).iterdir(), key=lambda entry: entry.name)
    return Languages(
        language
        for entry in entries
        if entry.name.endswith(".toml")
        for language in parse_language(entry.read_text("utf-8"))
    )

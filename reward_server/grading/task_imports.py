"""Reads what a task imports, from its prompt and its tests, and leaves out what nothing uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reward_server.domain import (
    FunctionTests,
    ProgramTests,
    RepositoryTests,
    StdioTests,
    Submission,
    Tests,
    UnitTests,
)
from reward_server.grading import syntax
from reward_server.grading.extraction import continuation, other_languages
from reward_server.languages import Language
from reward_server.languages.go_source import imported, without_imports
from reward_server.languages.imports import Import, Imports

_CLASS = re.compile(r"[A-Z]\w*")


def imports_of(submission: Submission, language: Language) -> tuple[Import, ...]:
    """Returns the imports of a task; none if its text leaves open whether they are libraries."""
    table = language.imports
    prompt, tests = _prompt(submission, language), tests_of(submission.tests)
    if table is None or any(map(table.undecided.search, (prompt, *tests.values()))):
        return ()
    if isinstance(submission.tests, UnitTests) and language.unit is None:
        tests = {}  # the judge imports them itself, with the task's modules beside them
    is_open = may_define(submission, language) and not prompt and table.undefined is None
    read = (prompt,) if is_open else (prompt, *tests.values())
    found = dict.fromkeys(one for text in read for one in _read(text, language, table))
    declared = {name for text in read for name in table.declares.findall(text)}
    return tuple(one for one in found if one.root not in declared)


def may_define(submission: Submission, language: Language) -> bool:
    """Returns True if a solution may define what the tests of this kind import."""
    kind = "unit" if isinstance(submission.tests, UnitTests) else "program"
    return language.imports is not None and language.imports.open == kind


def are_classes_of_many(imports: Iterable[Import], undefined: Iterable[str]) -> bool:
    """Returns True if one file cannot define all of these imports and names.

    A file has one public class, so that tests can take no second one from another package.

    Args:
        imports: the imports that were not found.
        undefined: names of classes that were not found either.
    """
    owners = {found[0] for one in imports if (found := _CLASS.search(one.statement))}
    named = {name for one in imports for name in one.names}
    return len(owners | {*undefined} - named) > 1


def unused(
    imports: Iterable[Import], submission: Submission, language: Language
) -> tuple[Import, ...]:
    """Returns those imports of which the task's text uses no name."""
    texts = (_prompt(submission, language), *tests_of(submission.tests).values())
    known = imports_of(submission, language)
    if language.name == "go":
        rest = "\n".join(map(without_imports, texts))
    else:
        rest = "\n".join(_without(text, known) for text in texts)
    return tuple(one for one in imports if not one.is_used(rest))


def without(submission: Submission, imports: Iterable[Import]) -> Submission:
    """Returns a submission without imports of its task, which a completion may repeat."""
    left = tuple(imports)
    tests = submission.tests
    texts = {name: _without(text, left) for name, text in tests_of(tests).items()}
    match tests:
        case UnitTests():
            tests = replace(tests, files=tuple(texts.items()))
        case FunctionTests():
            tests = replace(tests, test_code=texts["test_code"], setup_code=texts["setup_code"])
        case ProgramTests():
            tests = replace(tests, test_code=texts["test_code"])
        case _:
            pass
    return replace(
        submission,
        prompt=_without(submission.prompt, left),
        completion=_without(submission.completion, left),
        tests=tests,
        task_fingerprint=b"",
    )


def tests_of(tests: Tests) -> Mapping[str, str]:
    """Returns the texts of tests that can import."""
    match tests:
        case UnitTests(files=files):
            return dict(files)
        case FunctionTests(test_code=code, setup_code=setup):
            return {"setup_code": setup, "test_code": code}
        case ProgramTests(test_code=code):
            return {"test_code": code}
        case StdioTests(harness=harness):
            return {"harness": harness}
        case _:
            return {}


def _prompt(submission: Submission, language: Language) -> str:
    if isinstance(submission.tests, RepositoryTests):
        return ""
    if language.name == "python":
        return continuation.read_prompt(submission.prompt, language).executable
    return other_languages.read_prompt(submission.prompt, language).code


def _read(text: str, language: Language, table: Imports) -> Iterator[Import]:
    match language.name:
        case "python":
            found = _python(text)
        case "go":
            found = imported(text)
        case _:
            found = table.of(text, language.program.tokens if language.program else None)
    return (one for one in found if not table.own.fullmatch(one.root))


def _python(text: str) -> Iterator[Import]:
    """Yields the imports of one library that are statements of a module."""
    try:
        body = syntax.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in body:
        statement = ast.get_source_segment(text, node) or ""
        match node:
            case ast.Import(names=[name]):
                names = {name.asname or name.name.partition(".")[0]}
                yield Import(statement=statement, module=name.name, names=frozenset(names))
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                names = {alias.asname or alias.name for alias in aliases}
                known = frozenset() if "*" in names else frozenset(names)
                yield Import(statement=statement, module=module, names=known)


def _without(text: str, imports: Iterable[Import]) -> str:
    """Returns a text without statements; its lines keep their numbers."""
    for one in imports:
        statement = re.escape(one.statement).replace("\\\n", "\r?\n")
        text = re.sub(
            rf"(?m)^([ \t]*){statement}(?=[ \t\r;]*$)",
            "\\1" + "\n" * one.statement.count("\n"),
            text,
        )
    return text

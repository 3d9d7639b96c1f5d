"""Reads the folder of an exercise: `.meta/config.json` names its tests and its solution."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from codereward.request_json import RequestJsonError, parse_object
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.exercises.frameworks import Language, language_of
from trainer_client.tasks.repositories.task_folder import FolderError, text_of
from trainer_client.tasks.rows import Reader
from trainer_client.tasks.suites import unit_tests

_CONFIG = ".meta/config.json"
_MANIFEST = "Cargo.toml"
_INSTRUCTIONS = ("introduction", "instructions", "instructions.append")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """An exercise.

    Args:
        name: the name of its folder.
        instructions: the texts of `.docs`.
        path: the path of the file that a completion writes.
        stub: that file before any solution.
        reference: the author's solution; "" if there is none in one file.
        template: makes the requests; see `tasks.fill`.
    """

    name: str
    instructions: str
    path: str
    stub: str
    reference: str = field(repr=False)
    template: pb.ScoreRequest = field(repr=False)


def exercise(folder: str | Path) -> Exercise:
    """Reads an exercise in the form of Exercism, as in Aider's polyglot benchmark.

    A completion is the whole file of the solution. All tests run, also those that are switched off
    for learners (`#[ignore]`, `@Disabled`).

    Raises:
        TaskError: the exercise has several files to write, or tests that no framework of the server
            runs. The field is the file.
        OSError: the folder cannot be read.
    """
    place = Path(folder)
    name = place.resolve().name
    try:
        return _read(place, name)
    except FolderError as error:
        raise TaskError("exercise", error.place, error.problem, row=name) from error
    except TaskError as error:
        raise TaskError("exercise", error.field, error.problem, row=name) from error


def _read(place: Path, name: str) -> Exercise:
    listed = _listed(place)
    language = language_of(listed.texts("test"))
    path = _solution(listed, language)
    tests, manifest = listed.texts("test"), _manifest(place)
    files, framework = {}, ""
    for test in tests:
        text = text_of(place, test)
        framework = language.framework(test, text)
        files[language.placed(test)] = language.tests(text, manifest)
    beside = {os.path.dirname(test) for test in tests}
    for helper in _sources(place, language):
        if helper not in (*tests, *listed.texts("solution")):
            text = text_of(place, helper)
            is_beside = os.path.dirname(helper) in beside
            files[language.helper(helper)] = language.tests(text, manifest) if is_beside else text
    examples = [one for one in listed.texts("example") if one.endswith(language.ending)]
    return Exercise(
        name=name,
        instructions="\n".join(_instructions(place)),
        path=path,
        stub=text_of(place, path),
        reference=text_of(place, examples[0]) if len(examples) == 1 else "",
        template=unit_tests(files, framework=framework, solution_path=language.placed(path)),
    )


def _listed(place: Path) -> Reader:
    try:
        config = parse_object(text_of(place, _CONFIG))
    except RequestJsonError as error:
        raise FolderError(_CONFIG, error.problem) from None
    return Reader("exercise", config, _CONFIG).mapping("files")


def _solution(listed: Reader, language: Language) -> str:
    paths = [path for path in listed.texts("solution") if path.endswith(language.ending)]
    if len(paths) != 1:
        problem = f"are {len(paths)} files, and a completion is one file"
        raise listed.error("solution", problem)
    return paths[0]


def _sources(place: Path, language: Language) -> list[str]:
    """Returns the paths of all source files of an exercise, without those of its authors."""
    found = (path.relative_to(place) for path in sorted(place.rglob(f"*{language.ending}")))
    return [path.as_posix() for path in found if not path.parts[0].startswith(".")]


def _manifest(place: Path) -> str:
    return text_of(place, _MANIFEST) if os.path.lexists(place / _MANIFEST) else ""


def _instructions(place: Path) -> list[str]:
    paths = [f".docs/{name}.md" for name in _INSTRUCTIONS]
    return [text_of(place, path) for path in paths if os.path.lexists(place / path)]

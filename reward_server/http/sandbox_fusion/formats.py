"""The formats of SandboxFusion's data sets that can be judged here, as tasks and as prompts.

Each format is a pair of functions of a row. One returns the task, whose tests are those of the
contract, so that the judge and not the solution's process decides. The other returns the prompt.
"""

from __future__ import annotations

import ast
import builtins
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

from reward_server.errors import InvalidRequestError
from reward_server.grading.extraction.python_text import called_names
from reward_server.grading.syntax import parse
from reward_server.http.sandbox_fusion.rows import (
    DATA,
    Row,
    TestConfig,
    only,
    optional_text,
    structure,
    text,
    texts,
)

MOST_PROMPT_BYTES = 4 << 20
_PYTHON = "python"
_INSERT = "#<INSERT>"
# What the judge and the extraction do anyway.
_OBSOLETE = frozenset({"append_flag", "return_full_case"})
_BY_TEMPLATE = frozenset({"context", "fewshot", "prompt_template"})
_FREEFORM = "is_freeform"
ALL_CASES = "run_all_cases"
_KNOWN_EXTRA = _OBSOLETE | _BY_TEMPLATE | {_FREEFORM, ALL_CASES, "checker"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that completions are judged by.

    Args:
        language: the name of the language, as the request has it.
        tests: the tests, as fields of a `ScoreRequest` in JSON.
        prompt: code that completions continue.
        wanted: names that the tests take from the program.
        data_files: files for the program, in base64.
        runs_programs: whether each test is a run of a whole program.
    """

    language: str
    tests: Mapping[str, Any]
    prompt: str = ""
    wanted: frozenset[str] = frozenset()
    data_files: Mapping[str, str] = field(default_factory=dict)
    runs_programs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of rows.

    Args:
        name: SandboxFusion's name of it.
        task: returns the task of a row.
        prompt: returns the prompt of a row.
        labels: returns what is told about a row besides.
        id_field: the field that holds the id of a row.
    """

    name: str
    task: Callable[[Row, TestConfig], Task]
    prompt: Callable[[Row, TestConfig], str]
    labels: Callable[[Row], dict[str, Any]]
    id_field: str = "id"


def format_of(dataset: str, config: TestConfig) -> Format:
    """Returns the format of a data set.

    Raises:
        InvalidRequestError: it cannot be judged here, or a setting has no meaning here.
    """
    found = DATASETS.get(dataset) or _FORMATS.get(config.dataset_type or "")
    if found is None:
        known = ", ".join(sorted(_FORMATS))
        if config.dataset_type:
            raise InvalidRequestError("config.dataset_type", f"must be one of {known}")
        sets = ", ".join(DATASETS)
        raise InvalidRequestError(
            "dataset", f"must be one of {sets}, or config.dataset_type one of {known}"
        )
    if config.custom_extract_logic:
        raise InvalidRequestError("config.custom_extract_logic", "is not supported here")
    only(config.extra, _KNOWN_EXTRA, "config.extra")
    return found


def _labels(row: Row) -> dict[str, Any]:
    return structure(row, "labels", dict) if row.get("labels") else {}


def _other_fields(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "prompt"}


# ------------------------------------------------------------------------------- whole programs


def _program_task(row: Row, config: TestConfig) -> Task:
    if not config.language:
        raise InvalidRequestError("config.language", "is absent")
    labels = _labels(row)
    kind = optional_text(labels, "problem_format", f"{DATA}.labels")
    if kind not in ("", "Standard"):
        raise InvalidRequestError(f"{DATA}.labels.problem_format", "must be Standard")
    cases = [
        {
            "stdin_text": _stream(case, "input", "stdin", number),
            "expected_stdout_text": _stream(case, "output", "stdout", number),
        }
        for number, case in enumerate(structure(row, "test", list))
    ]
    tests: dict[str, Any] = {"cases": cases}
    if config.extra.get("checker"):
        tests["checker"] = config.extra["checker"]
    return Task(language=config.language, tests={"stdio": tests}, runs_programs=True)


def _stream(case: object, name: str, stream: str, number: int) -> str:
    place = f"{DATA}.test[{number}].{name}"
    streams = case.get(name) if isinstance(case, dict) else None
    if not isinstance(streams, dict):
        raise InvalidRequestError(place, "is no object")
    only(streams, frozenset({stream}), place)
    return optional_text(streams, stream, place)


def _program_prompt(row: Row, config: TestConfig) -> str:
    language = config.language or "the language of your choice"
    return (
        f"{text(row, 'content')}\n\nWrite a whole program in {language}, which reads standard "
        "input and writes standard output."
    )


# ------------------------------------------------------------------------------------ HumanEval


def _function_task(row: Row, config: TestConfig) -> Task:
    if optional_text(row, "language", DATA) not in ("", _PYTHON):
        raise InvalidRequestError(f"{DATA}.language", "must be python")
    entry_point = text(row, "entry_point")
    return Task(
        language=_PYTHON,
        tests={"function": {"entry_point": entry_point, "test_code": text(row, "test")}},
        prompt=text(row, "prompt"),
        wanted=frozenset({entry_point}),
    )


def _function_prompt(row: Row, config: TestConfig) -> str:
    code = text(row, "prompt")
    if not config.extra.get(_FREEFORM):
        return code
    return (
        f"```python\n{code}\n```\n\nComplete this code as its docstring says. Write the whole code "
        "in a code block."
    )


# ----------------------------------------------------------------------------------------- MBPP


def _asserts_task(row: Row, config: TestConfig) -> Task:
    asserts = texts(structure(row, "test_list", list), f"{DATA}.test_list")
    labels = _labels(row)
    if config.is_fewshot:
        asserts = asserts[-1:]  # the prompt shows the others
    setup = optional_text(labels, "test_setup_code", f"{DATA}.labels")
    return Task(
        language=_PYTHON,
        tests={"function": {"asserts": asserts, "setup_code": setup}},
        wanted=frozenset(called_names("\n".join(asserts))),
    )


def _asserts_prompt(row: Row, config: TestConfig) -> str:
    if config.is_fewshot:
        raise InvalidRequestError("config.is_fewshot", "prompts with examples are not here")
    asserts = texts(structure(row, "test_list", list), f"{DATA}.test_list")
    lines = "\n".join(asserts)
    return f"{text(row, 'content')}\n\nThe Python code has to pass these tests:\n\n{lines}"


# ------------------------------------------------------------------------------------- AutoEval


def _appended_task(row: Row, config: TestConfig) -> Task:
    labels, test = structure(row, "labels", dict), structure(row, "test", dict)
    place = f"{DATA}.labels"
    language = optional_text(labels, "programming_language", place)
    if not language:
        raise InvalidRequestError(f"{place}.programming_language", "is absent")
    if optional_text(labels, "execution_language", place) not in ("", language):
        raise InvalidRequestError(
            f"{place}.execution_language", "must be the same as programming_language"
        )
    code = _behind_solution(optional_text(test, "code", f"{DATA}.test"))
    return Task(
        language=language,
        data_files=_assets(test),
        **(_script(code) if language == _PYTHON else {"tests": {"program": {"test_code": code}}}),
    )


def _behind_solution(code: str) -> str:
    before, mark, behind = code.partition(_INSERT)
    if mark and before.strip():
        raise InvalidRequestError(f"{DATA}.test.code", f"has code before {_INSERT}")
    return behind if mark else code


def _script(code: str) -> dict[str, Any]:
    """Returns tests of Python code, and the name that they take from the solution."""
    place = f"{DATA}.test.code"
    try:
        entry_point = _first_foreign_name(parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidRequestError(place, "is not Python") from None
    if not entry_point:
        raise InvalidRequestError(place, "uses nothing of the solution")
    tests = {"function": {"entry_point": entry_point, "test_code": code}}
    return {"tests": tests, "wanted": frozenset({entry_point})}


def _first_foreign_name(tree: ast.Module) -> str:
    """Returns the first name that code uses and neither binds nor has from Python; or ""."""
    used: list[tuple[int, int, str]] = []
    bound = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Load()):
                used.append((node.lineno, node.col_offset, node.id))
            case ast.Name():
                bound.add(node.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
            case ast.alias():
                bound.add((node.asname or node.name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
    return next((name for _, _, name in sorted(used) if name not in bound), "")


def _assets(test: Mapping[str, Any]) -> dict[str, str]:
    given = structure(test, "asset", dict) if test.get("asset") else {}
    return {
        posixpath.normpath(path): optional_text(given, path, f"{DATA}.test.asset")
        for path, content in given.items()
        if content is not None
    }


def _appended_prompt(row: Row, config: TestConfig) -> str:
    labels = _labels(row)

    def part(name: str) -> str:
        own = optional_text(config.extra, name, "config.extra")
        return own or optional_text(labels, name, f"{DATA}.labels")

    question, context = text(row, "content"), part("context")
    fewshot = part("fewshot") if config.is_fewshot else ""
    if config.is_fewshot and not fewshot:
        raise InvalidRequestError(f"{DATA}.labels.fewshot", "is absent")
    if template := part("prompt_template"):
        return _filled(
            template,
            {
                "question": question,
                "fewshot": fewshot,
                "context": context,
                "locale": config.locale or "",
            },
        )
    if not context and not fewshot:
        return question
    parts = (context, fewshot, f"Question: {question}", "Answer:")
    return "\n\n".join(one for one in parts if one)


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fills a template, whose result is bounded before it is made."""
    longest = max(map(len, values.values()))
    if len(template) + template.count("$") * longest > MOST_PROMPT_BYTES:
        place = f"{DATA}.labels.prompt_template"
        raise InvalidRequestError(place, f"makes a prompt of more than {MOST_PROMPT_BYTES} bytes")
    return Template(template).safe_substitute(values)


HUMAN_EVAL = Format(
    name="HumanEvalDataset",
    task=_function_task,
    prompt=_function_prompt,
    labels=_other_fields,
    id_field="task_id",
)
MBPP = Format(name="MBPPDataset", task=_asserts_task, prompt=_asserts_prompt, labels=_labels)
COMMON_OJ = Format(
    name="CommonOJDataset", task=_program_task, prompt=_program_prompt, labels=_labels
)
AUTO_EVAL = Format(
    name="AutoEvalDataset", task=_appended_task, prompt=_appended_prompt, labels=_labels
)
_FORMATS = {one.name: one for one in (HUMAN_EVAL, MBPP, COMMON_OJ, AUTO_EVAL)}
_FORMATS |= {f"AutoEvalV{number}Dataset": AUTO_EVAL for number in (4, 5, 6)}
DATASETS = {"humaneval_python": HUMAN_EVAL, "mbpp": MBPP, "code_contests": COMMON_OJ}

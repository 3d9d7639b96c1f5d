"""Makes prompts from rows of a data set.

A chat model gets a question; a model without a chat template continues a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from trainer_client.errors import ConfigError
from trainer_client.tasks import Row
from trainer_client.tasks.languages import humaneval_x_prompt
from trainer_client.trl.settings.sections import REQUESTS, DataSection

Prompt = str | list[dict[str, Any]]

_ANSWER = "Answer with the whole code in one ```python block."
_PIECE = "Answer with only the code that is missing, in one ```python block."
_LITERAL = "Give the whole assertion between [ANSWER] and [/ANSWER]."
_PROGRAM = f"Write a program that reads standard input and writes standard output. {_ANSWER}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """The wording of prompts for a format of rows.

    Args:
        question: the prompt for a chat.
        text: the prompt for a model that continues it; if absent, the question and a line break.
        reference: field of the reference solution, if a row has a single one.
    """

    question: Callable[[Row], str]
    text: Callable[[Row], str] | None = None
    reference: str | None = None


def _fenced(code: str, language: str = "python") -> str:
    return f"```{language}\n{code.rstrip()}\n```"


def _starter(row: Row) -> str:
    starter = str(row.get("starter_code") or "").strip()
    tests = row.get("input_output")
    if tests is not None and "fn_name" not in tests:
        return _PROGRAM  # with whatever starter code, the tests run a program
    return f"{_ANSWER} It has to begin so:\n\n{_fenced(starter)}" if starter else _PROGRAM


def _mbpp_text(row: Row) -> str:
    return str(row.get("text") or row["prompt"])


def _codeforces_question(row: Row) -> str:
    parts = [row["description"], row.get("input_format"), row.get("output_format")]
    examples = [
        f"Input:\n{example['input']}\nOutput:\n{example['output']}"
        for example in row.get("examples") or ()
    ]
    return "\n\n".join([*(str(part) for part in parts if part), *examples, _PROGRAM])


_OWN = _Wording(question=lambda row: row["prompt"], reference="reference")

_WORDINGS: Mapping[str, _Wording] = MappingProxyType(
    {
        "humaneval": _Wording(
            question=lambda row: (
                f"Complete this Python function. {_ANSWER}\n\n{_fenced(row['prompt'])}"
            ),
            text=lambda row: str(row["prompt"]),
            reference="canonical_solution",
        ),
        "mbpp": _Wording(
            question=lambda row: (
                f"{_mbpp_text(row)} {_ANSWER} It has to pass these tests:\n\n"
                + _fenced("\n".join(row["test_list"]))
            ),
            text=lambda row: f'"""\n{_mbpp_text(row)}\n{row["test_list"][0]}\n"""\n',
            reference="code",
        ),
        "apps": _Wording(question=lambda row: f"{row['question']}\n\n{_starter(row)}"),
        "code_contests": _Wording(question=lambda row: f"{row['description']}\n\n{_PROGRAM}"),
        "livecodebench": _Wording(
            question=lambda row: f"{row['question_content']}\n\n{_starter(row)}"
        ),
        "leetcode": _Wording(
            question=lambda row: f"{row['problem_description']}\n\n{_starter(row)}",
            reference="completion",
        ),
        "bigcodebench": _Wording(
            question=lambda row: str(row["instruct_prompt"]),
            text=lambda row: str(row["complete_prompt"]),
            reference="canonical_solution",
        ),
        "humaneval_x": _Wording(
            question=lambda row: (
                f"Complete this function.\n\n{_fenced(humaneval_x_prompt(row), '')}"
            ),
            text=humaneval_x_prompt,
            reference="canonical_solution",
        ),
        "multipl_e": _Wording(
            question=lambda row: f"Complete this function.\n\n{_fenced(row['prompt'], '')}",
            text=lambda row: str(row["prompt"]),
        ),
        "mceval": _Wording(
            question=lambda row: str(row["instruction"]),
            text=lambda row: str(row["prompt"]),
            reference="canonical_solution",
        ),
        "classeval": _Wording(
            question=lambda row: (
                f"Complete this Python class. {_ANSWER}\n\n{_fenced(row['skeleton'])}"
            ),
            text=lambda row: str(row["skeleton"]),
            reference="solution_code",
        ),
        "cruxeval_output": _Wording(
            question=lambda row: (
                f"Complete the assertion with a literal, the value that this function returns. "
                f"{_LITERAL}\n\n{_fenced(row['code'])}\n\nassert f({row['input']}) == ??"
            ),
            text=lambda row: f"{row['code']}\n\nassert f({row['input']}) ==",
            reference="output",
        ),
        "cruxeval_input": _Wording(
            question=lambda row: (
                f"Complete the assertion with literals as arguments, for which it holds. "
                f"{_LITERAL}\n\n{_fenced(row['code'])}\n\nassert f(??) == {row['output']}"
            ),
        ),
        "acecode": _Wording(question=lambda row: f"{row['question']}\n\n{_ANSWER}"),
        "kodcode": _Wording(
            question=lambda row: f"{row['question']}\n\n{_ANSWER}", reference="solution"
        ),
        "verl": _Wording(question=lambda row: row["prompt"]),
        "synthetic": _Wording(
            question=lambda row: str(row["prompt"]), reference="gold_standard_solution"
        ),
        "deepcoder": _Wording(question=lambda row: f"{row['problem']}\n\n{_starter(row)}"),
        "rstar_coder": _Wording(question=lambda row: f"{row['question']}\n\n{_starter(row)}"),
        "taco": _Wording(question=lambda row: f"{row['question']}\n\n{_starter(row)}"),
        "codeforces": _Wording(question=_codeforces_question),
        "evalplus": _Wording(
            question=lambda row: (
                f"Write this Python function. {_ANSWER}\n\n{_fenced(row['prompt'])}"
            ),
            text=lambda row: str(row["prompt"]),
            reference="canonical_solution",
        ),
        "ds1000": _Wording(
            question=lambda row: f"{row['prompt']}\n\n{_PIECE}",
            text=lambda row: str(row["prompt"]),
            reference="reference_code",
        ),
        "stdio": _OWN,
        "calls": _OWN,
        "asserts": _OWN,
        "pytest": _OWN,
        REQUESTS: _Wording(question=lambda row: row["prompt"], reference="reference"),
    }
)


def prompt_of(section: DataSection, row: Row, *, chat: bool) -> Prompt:
    """Returns the prompt of a row.

    Raises:
        ConfigError: the row lacks a field that the question needs.
    """
    wording = _WORDINGS[section.kind]
    try:
        if section.question is not None:
            asked: Any = section.question.format_map(_Fields(row))
        elif chat or wording.text is None:
            asked = wording.question(row)
        else:
            asked = wording.text(row)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(f"data: a row has no prompt: {error!r}") from error
    if isinstance(asked, list):
        return asked
    return _messages(section, str(asked)) if chat else str(asked)


def reference_of(section: DataSection, row: Row) -> str:
    """Returns the reference solution, or "" if the row has none."""
    field = _WORDINGS[section.kind].reference
    return "" if field is None else str(row.get(field) or "")


def _messages(section: DataSection, question: str) -> list[dict[str, Any]]:
    turns = [] if section.system is None else [("system", section.system)]
    for example in section.examples:
        turns += [("user", example.question), ("assistant", example.answer)]
    return [{"role": role, "content": text} for role, text in [*turns, ("user", question)]]


class _Fields(dict[str, Any]):
    """A row's fields, with `tests` and `test` made from MBPP's asserts."""

    def __init__(self, row: Row) -> None:
        asserts = row.get("test_list")
        named = {} if not asserts else {"tests": "\n".join(asserts), "test": asserts[0]}
        super().__init__({**named, **row})

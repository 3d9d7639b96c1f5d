"""Finds answers in what a solution or its model can read: in the prompt, and in data files.

A prompt may show examples, and may name the few texts that a function returns. So an expected value
counts only if it is distinctive, is not in an example, and is neither in the arguments nor expected
by several tests. It is a leak if the prompt has most of the values that count, or if it has one in
a line that mentions tests or answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from reward_server.audit.tasks import Task, text_of_tests
from reward_server.audit.texts.examples import call_examples, run_examples
from reward_server.audit.texts.expectations import Expectation, expectations
from reward_server.audit.texts.parsing import fenced

_LEAST_DIGITS = 4
_LEAST_TEXT = 8
_LEAST_ITEMS = 3
_LEAST_LINE = 16
_REFERENCE_LINES = 3
_SPACE = re.compile(r"\s+")
_TELLING = re.compile(r"\b(?:hint|hidden|secret|answers?|graders?|unit tests?)\b", re.IGNORECASE)
_ROUND = re.compile(r"^-?\d0*$|^10*7$")


def leaks_in_prompt(task: Task) -> list[str]:
    """Returns a sentence for each kind of answer that the prompt gives away."""
    return [*_shown_tests(task), *_shown_values(task), *_shown_reference(task)]


def answers_in_data(task: Task) -> list[str]:
    """Returns a sentence for each data file that holds answers.

    Data files are in the working folder of the solution. A file that only the tests read, and that
    neither prompt nor reference names, holds what the solution should not see.
    """
    tests, seen = text_of_tests(task.template), task.question + task.reference
    values = {_written(one.value) for one in expectations(task) if _is_distinctive(one)}
    found = []
    for path, text in _data(task).items():
        name = path.rpartition("/")[2]
        if name in tests and name not in seen:
            found.append(f"only the tests read the data file {path}, which the solution sees too")
            continue
        shown = sum(value.strip() in text for value in values)
        if 2 * shown > len(values):
            found.append(f"the data file {path} holds {shown} expected values")
    return found


def _data(task: Task) -> Mapping[str, str]:
    files = {
        path: data.decode("utf-8", "replace") for path, data in task.template.data_files.items()
    }
    return {**files, **task.template.text_data_files}


def _shown_tests(task: Task) -> Iterator[str]:
    prompt = _squeezed(task.question)
    lines = {_squeezed(line) for line in text_of_tests(task.template).splitlines()}
    lines = {line for line in lines if line.startswith("assert") and len(line) >= _LEAST_LINE}
    examples = {_squeezed(one.line) for one in call_examples(task)}
    shown = [line for line in lines if line in prompt and f">>> {line}" not in examples]
    if shown:
        yield f"the prompt shows {len(shown)} of {len(lines)} tests word for word"


def _shown_values(task: Task) -> Iterator[str]:
    known = expectations(task)
    counts = Counter(_written(one.value) for one in known)
    lines = _without_examples(task)
    single = [one for one in known if _is_distinctive(one) and counts[_written(one.value)] == 1]
    places = {_written(one.value).strip(): _line_of(one, lines, task) for one in single}
    shown = {value: line for value, line in places.items() if line}
    told = [value for value, line in shown.items() if _TELLING.search(line)]
    if 2 * len(shown) > len(known) or told:
        value = (told or list(shown))[0][:80]
        yield f"the prompt states {len(shown)} of {len(known)} expected values: {value}"


def _line_of(one: Expectation, lines: list[str], task: Task) -> str:
    """Returns the line of the prompt that states an expected value, or ""."""
    value = _written(one.value).strip()
    if value in one.asked:
        return ""
    # A text is often one of the few that the prompt says may be returned.
    is_text = isinstance(one.value, str) and task.kind != "stdio"
    if is_text and not any(_stands_in(one.asked.strip(), line) for line in lines if one.asked):
        return ""
    return next((line for line in lines if _stands_in(value, line)), "")


def _shown_reference(task: Task) -> Iterator[str]:
    code = _squeezed(task.template.prompt)
    prompt = {_squeezed(line) for line in task.question.splitlines()}
    lines = [_squeezed(line) for line in fenced(task.reference).splitlines()]
    lines = [line for line in lines if len(line) >= _LEAST_LINE and line not in code]
    shown = [line for line in lines if line in prompt]
    if len(shown) >= _REFERENCE_LINES and 2 * len(shown) > len(lines):
        yield f"the prompt shows {len(shown)} of {len(lines)} lines of the reference solution"


def _without_examples(task: Task) -> list[str]:
    """Returns the lines of the prompt that show no call and no run."""
    name = task.entry_point
    runs = [text for one in run_examples(task) for text in (one.given, one.output)]
    hidden = {line.strip() for text in runs for line in text.splitlines()}
    kept: list[str] = []
    is_result = False
    for line in task.question.splitlines():
        is_call = bool(name) and not _states(line, name) and not _TELLING.search(line)
        if not is_call and not is_result and line.strip() not in hidden:
            kept.append(line)
        is_result = is_call and line.lstrip().startswith(">>>")
    return kept


def _states(line: str, name: str) -> bool:
    """Returns True if a line speaks about the function without showing an example of a call."""
    return f"{name}(" not in line and f"{name} (" not in line


def _is_distinctive(one: Expectation) -> bool:
    match one.value:
        case bool() | None:
            return False
        case int() | float():
            text = str(one.value)
            digits = sum(letter.isdigit() for letter in text)
            return digits >= _LEAST_DIGITS and not _ROUND.match(text)
        case str():
            words = one.value.split()
            long_enough = len(one.value.strip()) >= _LEAST_TEXT or _is_number(one.value)
            return long_enough and bool(words)
        case list() | tuple() | set() | dict():
            return len(one.value) >= _LEAST_ITEMS
    return False


def _is_number(text: str) -> bool:
    bare = text.strip().lstrip("-")
    return (
        len(bare) >= _LEAST_DIGITS and bare.replace(".", "", 1).isdigit() and not _ROUND.match(bare)
    )


def _written(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _stands_in(text: str, whole: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w])", whole) is not None


def _squeezed(text: str) -> str:
    return _SPACE.sub(" ", text).strip()

"""Finds the examples that a prompt shows: calls with results, and inputs with outputs."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from reward_server.audit.tasks import Task
from reward_server.audit.texts.parsing import expression, literal, unparsed

_PROMPT = ">>>"
_ARROWS = re.compile(r"\s*(?:==>|=>|->|➞|→|⟶|⇒|\breturns?\b|\bshould return\b)\s*")
_INPUT = re.compile(r"^\W*(?:sample|example)?\W*inputs?\W*(?:\d+\W*)?$", re.IGNORECASE)
_OUTPUT = re.compile(r"^\W*(?:sample|example)?\W*outputs?\W*(?:\d+\W*)?$", re.IGNORECASE)
_END = re.compile(r"^\W*(?:note|explanation|constraints|example|sample)s?\b", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$|^\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExample:
    """A call and its result, as the prompt shows them.

    Args:
        call: the call, which may be part of a larger expression.
        value: the result.
        line: the line of the prompt, for messages.
    """

    call: ast.expr
    value: object
    line: str

    @property
    def text(self) -> str:
        """The call as source text."""
        return unparsed(self.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExample:
    """An input and the output that the prompt shows for it."""

    given: str
    output: str


def call_examples(task: Task) -> list[CallExample]:
    """Returns the examples of calls of the entry point; equal calls are returned once."""
    name = task.entry_point
    if not name or not task.is_python:
        return []
    lines = task.question.splitlines()
    found: dict[str, CallExample] = {}
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        example = _example(line.strip(), following.strip(), name)
        if example is not None:
            found.setdefault(example.text, example)
    return list(found.values())


def _example(line: str, following: str, name: str) -> CallExample | None:
    if name not in line or re.match(r"(?:async )?def |class ", line):
        return None
    if line.startswith(_PROMPT):
        return _paired(line.removeprefix(_PROMPT), following, name, line) or _inline(line, name)
    return _inline(line, name)


def _inline(line: str, name: str) -> CallExample | None:
    text = line.lstrip(">*-#• ").removeprefix("assert ").strip("`")
    node = expression(text)
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return _paired(unparsed(left), unparsed(right), name, line)
    parts = _ARROWS.split(text, maxsplit=1)
    if len(parts) != 2:
        return None
    call, result = (part.strip().strip("`").strip() for part in parts)
    return _paired(call, result, name, line)


def _paired(call: str, result: str, name: str, line: str) -> CallExample | None:
    node, value = expression(call), _value(result)
    if node is None or value is None or not _calls(node, name):
        return None
    return CallExample(call=node, value=value[0], line=line)


def _value(text: str) -> tuple[object] | None:
    """Reads a result; a comment or a full stop may follow it."""
    return literal(expression(text)) or literal(expression(text.rstrip(" .;,")))


def _calls(node: ast.expr, name: str) -> bool:
    """Returns True if all that an expression does is to call the function with literals."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    wanted = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == name]
    return bool(wanted) and all(
        literal(argument) is not None
        for one in wanted
        for argument in (*one.args, *(keyword.value for keyword in one.keywords))
    )


def run_examples(task: Task) -> list[RunExample]:
    """Returns the examples of inputs and outputs in the prompt of a program."""
    lines, found, number = task.question.splitlines(), [], 0
    while number < len(lines):
        if _INPUT.match(lines[number]):
            given, number = _block(lines, number + 1)
            if number < len(lines) and _OUTPUT.match(lines[number]):
                output, number = _block(lines, number + 1)
                if output.strip():
                    found.append(RunExample(given=given, output=output))
                continue
        number += 1
    return found


def _block(lines: list[str], start: int) -> tuple[str, int]:
    """Returns the text up to the next heading, and where that is; a block ends at a blank line."""
    block: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        if _INPUT.match(line) or _OUTPUT.match(line) or _END.match(line):
            return _joined(block), number
        if not _FENCE.match(line):
            block.append(line)
        elif block:
            return _joined(block), _next_text(lines, number)
    return _joined(block), len(lines)


def _next_text(lines: list[str], number: int) -> int:
    while number < len(lines) and _FENCE.match(lines[number]):
        number += 1
    return number


def _joined(block: list[str]) -> str:
    return "".join(f"{line}\n" for line in block)

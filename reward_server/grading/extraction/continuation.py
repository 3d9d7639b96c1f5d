"""Joins a prompt and the code that answers it into one Python program.

A prompt may be code that the answer continues, or prose, which is left out. The answer may continue
where the prompt stops, or repeat the function. In that case the prompt's imports, helpers and
constants are put in front of it, since models leave them out.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.extraction import markdown, python_text
from reward_server.grading.extraction.dialect import Dialect
from reward_server.grading.syntax import Function
from reward_server.recent import Recent

_ALLOW_INCOMPLETE_INPUT = 0x4000  # codeop.PyCF_ALLOW_INCOMPLETE_INPUT
# Of a prompt and the four parts of it; completions of a group share their prompt.
_KEPT_BYTES, _BYTES_OF_CHARACTER = 32 << 20, 16
_BODY_INDENT = 4
_FUNCTION = re.compile(r"^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_FLUSH = re.compile(r"^\S", re.MULTILINE)
_TOP_LEVEL = re.compile(r"(?:async|def|class)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The code of a prompt; "" for prose.

    Args:
        code: the code that a completion continues.
        executable: the code that runs: with a body if it stops before one, or without its
            unfinished end.
        function: the name of the last function, which a completion continues.
        function_start: where that function's line begins.
        function_column: its indentation; more than 0 for a method.
        body_column: the indentation of its body; 0 if the code does not stop before a body.
    """

    code: str = ""
    executable: str = ""
    function: str = ""
    function_start: int = 0
    function_column: int = 0
    body_column: int = 0


_kept = Recent[Prompt](_KEPT_BYTES)


def read_prompt(prompt: str, dialect: Dialect) -> Prompt:
    """Returns the code of a prompt: all of it, or the definitions in its last fenced block."""
    size_bytes = _BYTES_OF_CHARACTER * len(prompt)
    return _kept.find((prompt, dialect), size_bytes, lambda: _read_prompt(prompt, dialect))


def _read_prompt(prompt: str, dialect: Dialect) -> Prompt:
    prompt = prompt.replace("\r\n", "\n").removeprefix("\ufeff")
    if (whole := _read_code(prompt, dialect)) is not None:
        return whole
    for block in reversed(markdown.fenced_blocks(prompt)):
        kept = [chunk.text for chunk in python_text.chunks(block.text) if chunk.movable]
        if (quoted := _read_code("".join(kept), dialect)) is not None:
            return quoted
    return Prompt()


def continue_prompt(prompt: Prompt, code: str, wanted: frozenset[str]) -> str:
    """Makes a program of a prompt and the code that answers it.

    Args:
        prompt: the result of `read_prompt`.
        code: the code of the answer.
        wanted: names that the tests take from the program.
    """
    flush = python_text.dedent(code)
    if not prompt.code:
        return flush
    names = python_text.defined_names(flush)
    # Code that returns is a body, and no repeated function, even if it defines such a name.
    if flush == code or not python_text.returns_at_top_level(flush):
        if prompt.function_column and prompt.function in names and not names & wanted:
            method = python_text.indent(flush, prompt.function_column)
            return prompt.code[: prompt.function_start] + method
        if names & {*wanted, prompt.function}:
            return _restated(prompt, flush, names)
    return _joined(prompt, _mended(code, prompt.body_column))


def _read_code(text: str, dialect: Dialect) -> Prompt | None:
    if not any(dialect.code_line.match(line) for line in text.split("\n")):
        return None
    tree = _parse(text)
    if tree is None:
        return None
    executable = text if isinstance(tree, ast.Module) else _without_loose_end(text)
    functions = list(_FUNCTION.finditer(text))
    if not functions:
        return Prompt(code=text, executable=executable)
    last = functions[-1]
    return Prompt(
        code=text,
        executable=executable,
        function=last[2],
        function_start=last.start(),
        function_column=len(last[1].expandtabs(8)),
        body_column=_body_column(text) if _awaits_body(tree) else 0,
    )


class _Incomplete:
    """Marks source that stops early, instead of its tree."""


def _parse(text: str) -> ast.Module | _Incomplete | None:
    """Parses trusted text; returns None if it is not Python."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return syntax.parse_with(text, _ALLOW_INCOMPLETE_INPUT)
    except SyntaxError as error:
        return _Incomplete() if "incomplete input" in str(error) else None
    except (ValueError, RecursionError, MemoryError):
        return None


def _without_loose_end(text: str) -> str:
    filled = text.rstrip() + " pass\n"
    if isinstance(_parse(filled), ast.Module):
        return filled
    return "".join(chunk.text for chunk in python_text.chunks(text)[:-1])


def _awaits_body(tree: ast.Module | _Incomplete) -> bool:
    """Returns True if source ends in a function whose body has a docstring and imports at most."""
    if isinstance(tree, _Incomplete):
        return True
    last: ast.AST = tree
    while isinstance(last, ast.Module | ast.ClassDef):
        last = last.body[-1]
    return isinstance(last, Function) and all(_does_nothing(statement) for statement in last.body)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass)


def _body_column(prompt: str) -> int:
    last = prompt.rstrip()
    column = python_text.indentation(last[last.rfind("\n") + 1 :])
    return column + _BODY_INDENT if last.endswith(":") else column


def _restated(prompt: Prompt, code: str, names: frozenset[str]) -> str:
    kept = [
        chunk.text
        for chunk in python_text.chunks(prompt.executable)
        if not chunk.binds or chunk.binds - names
    ]
    return python_text.in_front(kept, code) if "".join(kept).strip() else code


def _joined(prompt: Prompt, code: str) -> str:
    stop = prompt.code.rfind("\n") + 1
    line = prompt.code[stop:]
    if line and not line.strip() and code[:1].isspace():
        return prompt.code[:stop] + code.removeprefix("\n")
    ends_line = prompt.executable == prompt.code or line.endswith(":")
    if line.strip() and ends_line and not code.startswith("\n"):
        return prompt.code + "\n" + code
    return prompt.code + code


def _mended(code: str, column: int) -> str:
    """Restores the indentation of a function's body that a chat template or a model removed.

    Code that is valid in the first column is not changed.
    """
    body = code.lstrip("\n")
    if not column or body[:1].isspace():
        return code
    first, _, rest = body.partition("\n")
    if _FLUSH.search(rest) and python_text.returns_at_top_level(body):
        return python_text.indent(body, column)
    return _with_first_line_mended(first, rest, column) or code


def _with_first_line_mended(first: str, rest: str, column: int) -> str | None:
    following = python_text.indentation(rest)
    opens_block = first.rstrip().endswith(":")
    is_definition = _TOP_LEVEL.match(first) is not None
    if opens_block and 0 < following <= column:
        return None if is_definition else python_text.indent(f"{first}\n{rest}", column)
    if (
        opens_block
        and is_definition
        and not re.search(rf"^[ \t]{{{column}}}\S", rest, re.MULTILINE)
    ):
        return None
    if following or python_text.returns_at_top_level(first):
        return f"{' ' * column}{first}\n{rest}"
    return None

"""Rows of CRUXEval: predict the output of a function for an input, or an input for an output."""

from __future__ import annotations

import ast
from functools import cache
from importlib import resources

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks import source
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

_HARNESS = "print()\n"  # the text of the answer is read, and nothing runs


@bounded("cruxeval_output")
def cruxeval_output(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of CRUXEval-O: `code`, `input`, `output`.

    The answer is the output as a literal, or an assertion such as `assert f(17) == 17`. Unlike in
    CRUXEval's own evaluation, other expressions are refused, as its prompts demand.

    Raises:
        TaskError: a field is absent or wrong.
    """
    return _request(Reader("cruxeval_output", row), "judge_output", completion, id)


@bounded("cruxeval_input")
def cruxeval_input(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of CRUXEval-I: `code`, `input`, `output`.

    The answer is a call such as `f(17)`, with literals as arguments, also on the left side of an
    assertion. Each input counts that gives the output.

    Raises:
        TaskError: a field is absent or wrong, or the row's own input is no literal.
    """
    reader = Reader("cruxeval_input", row)
    if not _is_literal(f"[{reader.optional_text('input')}]"):
        raise reader.error("input", "is no literal, and answers have to be literals")
    return _request(reader, "judge_input", completion, id)


def _request(reader: Reader, function: str, completion: str, id: str) -> pb.ScoreRequest:
    code, wanted = reader.text("code"), reader.text("output")
    tree = reader.python("code")
    if not any(isinstance(node, ast.FunctionDef) and node.name == "f" for node in tree.body):
        raise reader.error("code", "does not define f()")
    if not _is_literal(wanted):
        raise reader.error("output", f"is {wanted[:80]!r}, and no literal")
    request = pb.ScoreRequest(id=id, completion=well_formed(completion))
    request.stdio.cases.add()
    request.stdio.harness = _HARNESS
    request.stdio.checker.CopyFrom(
        pb.Checker(
            kind=pb.CHECKER_KIND_INTERACTOR,
            program=f"{_judge()}\n\n{function}({code!r}, {wanted!r})\n",
            program_language="python",
        )
    )
    return request


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(source.expression(text))
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


@cache
def _judge() -> str:
    return resources.files(__package__).joinpath("judge.py").read_text("utf-8")

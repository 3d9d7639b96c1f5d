"""Rows whose tests are Python code that calls a function: HumanEval, MBPP and AceCode."""

from __future__ import annotations

import ast
import builtins

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed


@bounded("humaneval")
def humaneval(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a HumanEval row: `prompt`, `test`, `entry_point`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("humaneval", row)
    tests = pb.FunctionTests(entry_point=reader.name("entry_point"), test_code=reader.text("test"))
    return pb.ScoreRequest(
        id=id, prompt=reader.text("prompt"), completion=well_formed(completion), function=tests
    )


@bounded("mbpp")
def mbpp(
    row: Row, completion: str = "", *, id: str = "", challenge: bool = False
) -> pb.ScoreRequest:
    """Makes a request from an MBPP row of either file, or from an MBPP+ row.

    Reads `test_list`, `test_setup_code` or `test_imports`, and `code`, which distinguishes the
    function under test from others that the asserts call. With `challenge`, the asserts of
    `challenge_test_list` count too. MBPP+ rows have a longer `test` in place of the asserts; most
    of these tests need numpy.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("mbpp", row)
    asserts = reader.texts("test_list") + (reader.texts("challenge_test_list") if challenge else [])
    setup = "\n".join([*reader.texts("test_imports"), reader.optional_text("test_setup_code")])
    request = asserted(
        *(reader, "test_list", asserts, completion, id), setup=setup, setup_field="test_setup_code"
    )
    if reader.has("code"):
        defined = _defined_names(reader.python("code"))
        called = [name for name in _called(reader, "test_list", asserts) if name in defined]
        request.function.entry_point = _first(reader, "test_list", called)
    if reader.has("test"):
        request.function.test_code = _script(reader, request.function.entry_point)
        request.function.ClearField("asserts")
    return request


@bounded("acecode")
def acecode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of AceCode: `test_cases`, a list of assertions.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("acecode", row)
    return asserted(reader, "test_cases", reader.texts("test_cases"), completion, id)


def asserted(
    reader: Reader,
    field: str,
    asserts: list[str],
    completion: str,
    id: str,
    *,
    setup: str = "",
    setup_field: str = "setup",
) -> pb.ScoreRequest:
    """Makes a request from assertions; the function under test is the first that they call."""
    if not asserts:
        raise reader.error(field, "has no asserts")
    called = _called(reader, field, asserts)
    known = _bound_names(reader.parsed(setup_field, setup)) | set(dir(builtins))
    tests = pb.FunctionTests(
        # A task may redefine a built-in function: MBPP/126 is about `sum`.
        entry_point=_first(reader, field, [one for one in called if one not in known] or called),
        setup_code=setup.strip(),
        asserts=asserts,
    )
    return pb.ScoreRequest(id=id, completion=well_formed(completion), function=tests)


def _script(reader: Reader, entry_point: str) -> str:
    """Reads the tests of an MBPP+ row, which call the function for each of their inputs."""
    if entry_point not in _called_names(reader.python("test")):
        raise reader.error("test", f"never calls {entry_point}")
    return reader.text("test")


def _called(reader: Reader, field: str, asserts: list[str]) -> list[str]:
    """Returns the names that assertions call, in their order."""
    trees = [reader.parsed(f"{field}[{index}]", text) for index, text in enumerate(asserts)]
    return [name for tree in trees for name in _called_names(tree)]


def _first(reader: Reader, field: str, called: list[str]) -> str:
    if not called:
        raise reader.error(field, "calls no function of the solution")
    return called[0]


def _called_names(tree: ast.AST) -> list[str]:
    """Returns the plain names that are called, in the order of the text."""
    calls = [
        node.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    return [name.id for name in sorted(calls, key=lambda name: (name.lineno, name.col_offset))]


def _defined_names(tree: ast.Module) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name for node in tree.body if isinstance(node, kinds)}
    return defined | _assigned_names(tree)


def _assigned_names(tree: ast.Module) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _bound_names(tree: ast.Module) -> set[str]:
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return imported | _defined_names(tree)

"""Rows whose tests are Python code that calls a function: HumanEval, MBPP and AceCode."""

from __future__ import annotations

import ast
import builtins

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks import source
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed


def humaneval(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a HumanEval row: `prompt`, `test`, `entry_point`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("humaneval", row)
    tests = pb.FunctionTests(entry_point=reader.text("entry_point"), test_code=reader.text("test"))
    return pb.ScoreRequest(
        id=id, prompt=reader.text("prompt"), completion=well_formed(completion), function=tests
    )


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
    if not asserts:
        raise reader.error("test_list", "has no asserts")
    setup = "\n".join([*reader.texts("test_imports"), reader.optional_text("test_setup_code")])
    tests = pb.FunctionTests(
        entry_point=_function_under_test(reader, asserts, setup), setup_code=setup.strip()
    )
    if reader.has("test"):
        tests.test_code = _script(reader, tests.entry_point)
    else:
        tests.asserts.extend(asserts)
    return pb.ScoreRequest(id=id, completion=well_formed(completion), function=tests)


def acecode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of AceCode: `test_cases`, a list of assertions.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("acecode", row)
    if not reader.has("test_cases"):
        raise reader.error("test_cases", "has no asserts")
    return mbpp({"test_list": reader.texts("test_cases")}, completion, id=id)


def _script(reader: Reader, entry_point: str) -> str:
    """Reads the tests of an MBPP+ row, which call the function for each of their inputs."""
    script = reader.text("test")
    if entry_point not in _called_names(_parsed(reader, "test", script)):
        raise reader.error("test", f"never calls {entry_point}")
    return script


def _function_under_test(reader: Reader, asserts: list[str], setup: str) -> str:
    """Returns the first name called in the asserts that the reference solution defines."""
    called = [
        name
        for index, line in enumerate(asserts)
        for name in _called_names(_parsed(reader, f"test_list[{index}]", line))
    ]
    code = reader.optional_text("code")
    if code:
        defined = _defined_names(_parsed(reader, "code", code))
        called = [name for name in called if name in defined]
    else:
        known = _bound_names(_parsed(reader, "test_setup_code", setup)) | set(dir(builtins))
        # A task may redefine a built-in function: MBPP/126 is about `sum`.
        called = [name for name in called if name not in known] or called
    if not called:
        raise reader.error("test_list", "calls no function of the solution")
    return called[0]


def _parsed(reader: Reader, field: str, code: str) -> ast.Module:
    try:
        return source.parsed(code)
    except ValueError as error:
        raise reader.error(field, str(error)) from error


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

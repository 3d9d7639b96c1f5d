"""Rows of LeetCodeDataset, whose tests are asserts on a method of `Solution`.

The asserts are parsed and not run. They have three forms, and each becomes a call with its
arguments and expected result as data.

    assert candidate(nums = [3, 3], target = 6) == [0, 1]
    assert is_same_list(candidate(head = list_node([1, 2])), list_node([2, 1]))
    assert is_same_tree(candidate(root = tree_node([1, None, 2])), tree_node([2]))

Linked lists and trees are sent as the plain lists in LeetCode's notation. The starter code is part
of the prompt, and its annotations show the server which arguments and results are lists or trees.
"""

from __future__ import annotations

import ast
import json
import math
from dataclasses import dataclass
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks import source
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import kind_of, well_formed

_NODE_MAKERS = {"list_node", "tree_node"}
_NAMES = {
    "inf": math.inf,
    "nan": math.nan,
    "null": None,
    "true": True,
    "false": False,
}


@bounded("leetcode")
def leetcode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of LeetCodeDataset.

    Reads the fields `entry_point`, `prompt`, and `test` or `input_output`. `test` has priority,
    because it shows the types of expected values. In `input_output` these values are texts.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("leetcode", row)
    starter = reader.optional_text("starter_code") or _older_starter(reader)
    request = pb.ScoreRequest(
        id=id,
        prompt=reader.optional_text("prompt") + starter,
        completion=well_formed(completion),
    )
    request.call.entry_point = reader.name("entry_point")
    method = _signature(starter, request.call.entry_point)
    cases = _from_asserts(reader, method) if reader.has("test") else _from_examples(reader, method)
    if not cases:
        raise reader.error("test", "has no asserts, nor is there any input_output")
    request.call.cases.extend(cases)
    return request


def _older_starter(reader: Reader) -> str:
    return reader.mapping("meta").optional_text("lang_code")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Method:
    """The parameters of the starter code in order, and whether its result consists of nodes."""

    parameters: tuple[str, ...] = ()
    gives_nodes: bool = False


def _signature(starter: str, entry_point: str) -> _Method:
    name = entry_point.rpartition(".")[2]
    try:
        tree = source.parsed(starter.rstrip() + " pass")
    except ValueError:
        return _Method()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            names = (argument.arg for argument in node.args.args)
            return _Method(
                parameters=tuple(name for name in names if name != "self"),
                gives_nodes=node.returns is not None and _is_node(node.returns),
            )
    return _Method()


def _is_node(annotation: ast.expr) -> bool:
    text = ast.unparse(annotation)
    return ("ListNode" in text or "TreeNode" in text) and not text.lower().startswith("list[")


def _from_asserts(reader: Reader, method: _Method) -> list[pb.CallCase]:
    asserts = [node for node in ast.walk(reader.python("test")) if isinstance(node, ast.Assert)]
    return [_from_assert(reader, node, method) for node in asserts]


def _from_assert(reader: Reader, node: ast.Assert, method: _Method) -> pb.CallCase:
    try:
        call, wanted = _sides(node.test)
        return _case(call, _value(wanted), method)
    except ValueError as error:
        raise reader.error(f"test line {node.lineno}", str(error)) from error


def _sides(test: ast.expr) -> tuple[ast.Call, ast.expr]:
    """Returns the call of the candidate and the expected result.

    Raises:
        ValueError: the assert has another form.
    """
    match test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[wanted]):
            return call, wanted
        case ast.Call(
            func=ast.Name(id="is_same_list" | "is_same_tree"), args=[ast.Call() as call, wanted]
        ):
            return call, wanted
    raise ValueError("is no comparison of a call with an expected result")


def _from_examples(reader: Reader, method: _Method) -> list[pb.CallCase]:
    examples = reader.decoded("input_output") or []
    if not isinstance(examples, list):
        raise reader.error("input_output", f"must be a list, not {kind_of(examples)}")
    cases = []
    for index, example in enumerate(examples):
        item = reader.within(f"input_output[{index}]", example)
        call, wanted = f"candidate({item.optional_text('input')})", item.text("output")
        try:
            cases.append(_case(source.expression(call), _value(source.expression(wanted)), method))
        except ValueError as error:
            raise item.error("input", f"cannot be read with its output: {error}") from error
    return cases


def _case(call: ast.expr, wanted: object, method: _Method) -> pb.CallCase:
    if not isinstance(call, ast.Call):
        raise ValueError("is no call")
    named = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    if set(method.parameters) == set(named):
        named = {name: named[name] for name in method.parameters}
    arguments = [_value(argument) for argument in call.args] + list(named.values())
    expected = _nodes(wanted) if method.gives_nodes else wanted
    return pb.CallCase(args_json=json.dumps(arguments), expected_json=json.dumps(expected))


def _nodes(wanted: object) -> list[object]:
    """Returns the normal form of nodes: None becomes [], and trailing nulls are removed."""
    if wanted is not None and not isinstance(wanted, list):
        raise ValueError("expects something else than the nodes that the method gives")
    values = list(wanted or [])
    while values and values[-1] is None:
        values.pop()
    return values


def _value(node: ast.expr) -> Any:
    """Returns the value of a literal. A call that makes nodes has the value of its argument.

    Raises:
        ValueError: the expression is no literal, or JSON cannot represent its value.
    """
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return +_number(operand)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _value(item) for key, item in zip(keys, values, strict=True)}
        case ast.Call(func=ast.Name(id=name), args=[items]) if name in _NODE_MAKERS:
            return _value(items)
    raise ValueError(f"{ast.unparse(node)[:80]!r} is no plain literal")


def _number(node: ast.expr) -> int | float:
    value = _value(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{ast.unparse(node)[:80]!r} is no number")
    return value


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("has a key that is no text, for which JSON has no form")
    return node.value

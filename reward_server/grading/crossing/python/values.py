"""Rules for what tests do with values: compare, compute, format and store."""

from __future__ import annotations

import ast
from itertools import pairwise

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.refusals import refuse
from reward_server.grading.crossing.python.scopes import Kind
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.syntax import walk

_IDENTITIES = (ast.Is, ast.IsNot)


def check_operand(text: Text, node: ast.expr | None, what: str) -> None:
    """Refuses an object of the solution where only data is allowed."""
    if node is not None and text.kind(node) >= Kind.HANDLE:
        refuse("handles", node, f"{ast.unparse(node)} as {what}")


def check_compare(text: Text, node: ast.Compare) -> None:
    """Allows to compare data by value, and identities that crossing keeps."""
    sides = [node.left, *node.comparators]
    by_identity = [isinstance(one, _IDENTITIES) for one in node.ops]
    if any(by_identity):
        if not (all(by_identity) and all(may_be_same(text, *pair) for pair in pairwise(sides))):
            refuse("identity", node, node)
        return
    for side in sides:
        check_operand(text, side, "an operand")


def may_be_same(text: Text, left: ast.expr, right: ast.expr) -> bool:
    """Returns True for an identity that data keeps: with None, True, False, or of types."""
    sides = (left, right)
    if any(isinstance(one, ast.Constant) and one.value in (None, True, False) for one in sides):
        return True
    asks = [isinstance(one, ast.Call) and text.listed(one.func) == "type" for one in sides]
    return any(asks) and all(
        is_asked or _is_type(text.listed(one)) for one, is_asked in zip(sides, asks, strict=True)
    )


def _is_type(name: str) -> bool:
    return name in allowed.TYPES or name in allowed.EXCEPTIONS or "." in name


def check_operation(text: Text, node: ast.BinOp) -> None:
    """Allows data, and formats that are literals; containers of objects may be added."""
    is_format = isinstance(node.op, ast.Mod) and isinstance(node.right, (ast.Tuple, ast.Dict))
    if is_format and not looks.is_literal(node.left):
        refuse("literals", node, "a format that is no literal")
    for side in (node.left, node.right):
        if not isinstance(side, ast.List):
            check_operand(text, side, "an operand")


def check_sign(text: Text, node: ast.UnaryOp) -> None:
    """Allows data, and whether an object of the solution is true."""
    if not isinstance(node.op, ast.Not):
        check_operand(text, node.operand, "an operand")


def check_set(text: Text, node: ast.Set) -> None:
    """Allows data as elements."""
    for one in node.elts:
        check_operand(text, one, "an element of a set")


def check_keys(text: Text, node: ast.Dict) -> None:
    """Allows data as keys."""
    for one in node.keys:
        check_operand(text, one, "a key")


def check_formatted(text: Text, node: ast.FormattedValue) -> None:
    """Allows data in texts, in formats that are literals."""
    check_operand(text, node.value, "a formatted value")
    if node.format_spec is not None and not looks.is_literal(node.format_spec):
        refuse("literals", node, "a format that is no literal")


# ------------------------------------------------------------------------------------ stores


def check_subscript(text: Text, node: ast.Subscript) -> None:
    """Allows data as an index, and changes of own containers."""
    check_operand(text, node.slice, "an index")
    if isinstance(node.ctx, (ast.Store, ast.Del)):
        check_store(text, node, node.value)


def check_store(text: Text, node: ast.AST, owner: ast.expr) -> None:
    """Refuses a change of what is neither the tests' own nor an object of the solution."""
    if text.origin(owner) or text.listed(owner):
        refuse("stores", node, owner)
    kind = text.kind(owner)
    if kind is Kind.ANSWER:
        refuse("stores", node, f"{ast.unparse(owner)} is an answer of an object")


def check_delete(text: Text, node: ast.Delete) -> None:
    """Refuses the end of what may be an object of the solution, which its process would see."""
    for one in node.targets:
        if isinstance(one, ast.Name) and text.kind(one) not in (Kind.DATA, Kind.RAISED):
            refuse("stores", node, node)


def check_assign(text: Text, node: ast.Assign) -> None:
    """Allows to set attributes of own objects, and of objects of the solution to data."""
    for target in node.targets:
        for part in walk(target):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                _check_attribute_store(text, part, node.value)


def check_augmented(text: Text, node: ast.AugAssign) -> None:
    """Allows the same in `+=` and its like."""
    if isinstance(node.target, ast.Attribute):
        _check_attribute_store(text, node.target, node.value)
    check_operand(text, node.value, "an operand")


def _check_attribute_store(text: Text, node: ast.Attribute, value: ast.expr) -> None:
    owner = node.value
    if isinstance(owner, ast.Name) and owner.id in allowed.FIXTURES:
        return
    kind, origin = text.kind(owner), text.origin(owner)
    is_module = bool(origin) and (
        not text.is_of_solution(origin) or text.is_module_of_solution(origin)
    )
    if is_module or text.listed(owner) or kind is Kind.ANSWER:
        refuse("stores", node, node)
    if kind >= Kind.HANDLE and text.kind(value) is Kind.CODE:
        refuse("arguments", node, f"{ast.unparse(value)} is no data")

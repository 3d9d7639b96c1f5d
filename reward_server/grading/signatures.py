"""What a prompt's signature says of the values that calls with JSON give and take.

LeetCode's linked lists and trees are arrays in JSON, and methods that work in place return nothing.
Which they are is the task's to say: what the solution's own annotations say decides only where the
prompt has none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from reward_server.domain import PLAIN, Signature
from reward_server.grading import syntax

NODES = frozenset(("ListNode", "TreeNode"))
NOTHING = "None"
_ANYTHING = frozenset(("Any", "object"))
_SEQUENCES = frozenset(("List", "list", "Sequence", "Iterable", "Collection"))
_SAME = frozenset(("Optional", "Union", "Annotated", "Final"))
_FUNCTION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
_BODIES = ("\n pass", "", ":\n pass")
_HEADER_LINES = 40
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_signature(prompt: str, entry_point: str) -> Signature:
    """Returns the signature that a prompt gives an entry point, in code or in prose around it.

    The last one counts, since that is what a completion continues.

    Args:
        prompt: trusted.
        entry_point: a function's name, or "Class().method".
    """
    owner, _, name = entry_point.rpartition("().")
    text = _within(prompt, owner) if owner else prompt
    begins = [found.start() for found in _FUNCTION.finditer(text) if found[1] == name]
    header = _header(text[begins[-1] :].lstrip()) if begins else None
    return Signature() if header is None else _signature(header)


def _within(prompt: str, owner: str) -> str:
    begins = [found.start() for found in _CLASS.finditer(prompt) if found[1] == owner]
    return prompt[begins[-1] :] if begins else prompt


def _header(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Parses a function's head, which may end before its colon and stand on several lines."""
    lines = text.split("\n", _HEADER_LINES)[:_HEADER_LINES]
    for count in range(1, len(lines) + 1):
        for body in _BODIES:
            try:
                tree = syntax.parse("\n".join(lines[:count]).rstrip() + body)
            except _UNREADABLE:
                continue
            if tree.body and isinstance(tree.body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
                return tree.body[0]
    return None


def _signature(header: ast.FunctionDef | ast.AsyncFunctionDef) -> Signature:
    parameters = [*header.args.posonlyargs, *header.args.args]
    if parameters and parameters[0].arg in ("self", "cls"):
        del parameters[0]
    return Signature(
        parameters=tuple(_shape(parameter.annotation) for parameter in parameters),
        result=_shape(header.returns),
    )


def _shape(annotation: ast.expr | None) -> str | None:
    """Returns the shape of values of a type; see `Signature`."""
    match annotation:
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=str(text)):
            try:
                return _shape(syntax.parse_expression(text))
            except _UNREADABLE:
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name if name in NODES else None if name in _ANYTHING else PLAIN
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _shape_of_parts(name, parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _shape_of_parts("Union", [left, right])
        case _:
            return None


def _shape_of_parts(name: str, parts: Sequence[ast.expr]) -> str | None:
    shapes = {_shape(part) for part in parts} - {PLAIN, NOTHING}
    if not shapes:
        return PLAIN
    if len(shapes) > 1 or None in shapes:
        return None
    if name in _SEQUENCES:
        return f"[{shapes.pop()}]"
    return shapes.pop() if name in _SAME else None

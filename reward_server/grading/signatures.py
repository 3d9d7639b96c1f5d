"""Reads from a prompt's signature which types the arguments and results of JSON calls have.

LeetCode's linked lists and trees are arrays in JSON, and methods that work in place return nothing.
The prompt's annotations state these types. The solution's annotations only decide if the prompt has
none.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from reward_server.domain import PLAIN, CallTests, Signature
from reward_server.grading import syntax
from reward_server.grading.syntax import FUNCTIONS, Function

NODES = frozenset(("ListNode", "TreeNode"))
NOTHING = "None"
_ANYTHING = frozenset(("Any", "object"))
_SEQUENCES = frozenset(("List", "list", "Sequence", "Iterable", "Collection"))
_SAME = frozenset(("Optional", "Union", "Annotated", "Final"))
_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_OF_NODES = re.compile(r"ListNode|TreeNode|linked[ -]?list|\btrees?\b", re.IGNORECASE)
_TYPE_COMMENT = re.compile(r"#[ \t]*type:")
_BODIES = ("\n pass", "", ":\n pass")
_HEADER_LINES = 40
_TYPE_WORDS = 12
_Text = tuple[int, str, str, str]  # its indentation, its keyword, its name, the text
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_signature(prompt: str, entry_point: str) -> Signature:
    """Returns the signature that a prompt gives to an entry point, in code or in prose.

    The last one counts, since a completion continues that one. Types are read from annotations,
    from the docstring's fields or from comments.

    Args:
        prompt: the trusted prompt.
        entry_point: a function's name, or "Class().method".
    """
    owner, _, name = entry_point.rpartition("().")
    has_choice = bool(owner or _OF_NODES.search(prompt))
    text = _definition(prompt, owner, name)
    header = _header(text) if text else None
    if header is None:
        return Signature(has_choice=has_choice)
    return replace(_signature(header, text), has_choice=has_choice)


def leaves_open(told: Signature, tests: CallTests) -> bool:
    """Returns True if a solution decides the type of an array; any "[" counts as an array."""
    if not told.has_choice:
        return False
    is_given = None in told.parameters or not told.parameters
    return any(
        (is_given and case.args_json.count("[") > 1)
        or (told.result is None and case.expected_json.lstrip()[:1] in ("[", "{"))
        for case in tests.cases
    )


def _definition(prompt: str, owner: str, name: str) -> str:
    """Returns a function's text, from its head to the next definition; "" if there is none."""
    found = [*_DEFINITION.finditer(prompt)]
    ends = [*(one.start() for one in found[1:]), len(prompt)]
    texts = [
        (len(one[1].expandtabs()), one[2], one[3], prompt[one.end(1) : end])
        for one, end in zip(found, ends, strict=False)
    ]
    classes = [at for at, (_, *named, _) in enumerate(texts) if named == ["class", owner]]
    bodies = [_body(texts, at) for at in reversed(classes)] or [texts]
    for body in bodies:
        named = [one for one in body if one[1:3] == ("def", name)]
        if named:
            outermost = min(depth for depth, *_ in named)
            return [text for depth, *_, text in named if depth == outermost][-1]
    return ""


def _body(texts: Sequence[_Text], at: int) -> Sequence[_Text]:
    """Returns the definitions in the class that begins with one of them."""
    within = takewhile(lambda one: one[0] > texts[at][0], texts[at + 1 :])
    return [*within]


def _header(text: str) -> Function | None:
    """Parses a function's head, which may lack its colon and span several lines."""
    lines = text.split("\n", _HEADER_LINES)[:_HEADER_LINES]
    for count in range(1, len(lines) + 1):
        for body in _BODIES:
            try:
                tree = syntax.parse("\n".join(lines[:count]).rstrip() + body)
            except _UNREADABLE:
                continue
            if tree.body and isinstance(tree.body[0], FUNCTIONS):
                return tree.body[0]
    return None


def _signature(header: Function, text: str) -> Signature:
    parameters = [*header.args.posonlyargs, *header.args.args]
    if parameters and parameters[0].arg in ("self", "cls"):
        del parameters[0]
    names = [parameter.arg for parameter in parameters]
    written = _written_types(text, names)
    return Signature(
        parameters=tuple(
            written.get(parameter.arg)
            if parameter.annotation is None
            else _shape(parameter.annotation)
            for parameter in parameters
        ),
        result=written.get("") if header.returns is None else _shape(header.returns),
    )


def _written_types(text: str, names: Sequence[str]) -> dict[str, str | None]:
    """Returns the shapes by name, from comments and docstring fields; the result's name is ""."""
    shapes = dict[str, str | None]()
    for line in text.splitlines():
        comment = _TYPE_COMMENT.search(line)
        if comment:
            before, kind = line[: comment.start()], line[comment.end() :].strip()
            if kind.startswith("("):
                shapes |= zip(("", *names), _shapes_in(kind), strict=False)
            else:
                shapes[before.partition("=")[0].strip(" \t,)").rpartition(" ")[2]] = _shape_in(kind)
        field, _, rest = line.strip("\"' \t").partition(":")[2].partition(":")
        match field.split():
            case ["type", name]:
                shapes[name] = _shape_in(rest)
            case ["rtype"]:
                shapes[""] = _shape_in(rest)
            case ["param", *kinds, name] if kinds:
                shapes[name] = _shape_in(" ".join(kinds))
    return shapes


def _shapes_in(comment: str) -> Iterator[str | None]:
    """Yields the shapes in a comment such as `(int, ListNode) -> bool`, the result first."""
    given, _, result = comment.rpartition("->")
    yield _shape_in(result)
    with contextlib.suppress(*_UNREADABLE):
        call = syntax.parse_expression(f"f{given}")
        yield from map(_shape, call.args if isinstance(call, ast.Call) else ())


def _shape_in(text: str) -> str | None:
    """Returns the shape of the type at the beginning of a text."""
    words = text.split()[:_TYPE_WORDS]
    for count in range(len(words), 0, -1):
        try:
            kind = syntax.parse_expression(" ".join(words[:count]).rstrip(".,;:"))
        except _UNREADABLE:
            continue
        is_whole = not any(word.strip(".,;:s") in NODES for word in words[count:])
        return (
            _shape(kind.elts[0] if isinstance(kind, ast.Tuple) and kind.elts else kind)
            if is_whole
            else None
        )
    return None


def _shape(annotation: ast.expr | None) -> str | None:
    """Returns the shape of a type's values; see `Signature`."""
    match annotation:
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=str(text)):
            try:
                return _shape(syntax.parse_expression(text))
            except _UNREADABLE:
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if name == "void":
                return NOTHING
            return name if name in NODES else None if name in _ANYTHING else PLAIN
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _shape_of_parts(name, parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _shape_of_parts("Union", [left, right])
        case ast.BoolOp(op=ast.Or(), values=parts):
            return _shape_of_parts("Union", parts)
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

"""Small looks at syntax trees, which know no scopes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from reward_server.grading.crossing import allowed
from reward_server.grading.syntax import FUNCTIONS, Function, children, walk

SPECIAL = re.compile(r"__\w+|\w+__")
DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Returns all parameters."""
    others = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *others]


def returned(node: Function) -> Iterator[ast.expr]:
    """Yields what a function returns or yields."""
    for part in walk(node):
        if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None:
            yield part.value


def given(call: ast.Call) -> list[ast.expr]:
    """Returns the arguments of a call."""
    return [*call.args, *(one.value for one in call.keywords)]


def argument(call: ast.Call, place: int | str) -> ast.expr | None:
    """Returns the argument at a place or with a name."""
    if isinstance(place, int):
        return call.args[place] if place < len(call.args) else None
    return next((one.value for one in call.keywords if one.arg == place), None)


def parts(node: ast.AST) -> Sequence[ast.expr]:
    """Returns the items of a display; none of other expressions."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return [one for one in (*keys, *values) if one is not None]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return items
        case ast.Starred(value=value):
            return [value]
    return ()


def held(node: ast.AST) -> Sequence[ast.AST]:
    """Returns the expressions whose values, or whose items, an expression may hold."""
    match node:
        case ast.Subscript(value=value) | ast.DictComp(value=value):
            return [value]
        case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value):
            return [value]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
    return () if is_plain_display(node) else list(children(node))


def is_scalar(node: ast.expr) -> bool:
    """Returns True for a literal that equals no container: a number, a text or None."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and not isinstance(inner.value, bytes)


def is_plain_display(node: ast.AST) -> bool:
    """Returns True for a display of constants alone, which may be very large; it is marked."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return False
    found: bool | None = getattr(node, "is_plain", None)
    if found is None:
        items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        found = all(one is not None and _is_plain(one) for one in items)
        node.is_plain = found  # type: ignore[union-attr]  # a mark of this module
    return found


def _is_plain(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(inner, ast.Constant):
        return inner.value is not ...
    return is_plain_display(node)


def is_literal(node: ast.expr) -> bool:
    """Returns True if no value but those in the text makes an expression."""
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            return all(map(is_literal, items))
        case ast.BinOp(left=left, right=right):
            return is_literal(left) and is_literal(right)
    return False


def state_of(node: ast.stmt, changed: frozenset[str]) -> ast.AST | None:
    """Returns what of a prompt's definition can change, so that the solution has another copy.

    Args:
        node: the definition.
        changed: the names and attributes that the prompt's code binds again.
    """
    for part in walk(node):
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            return part
        if isinstance(part, FUNCTIONS) and not all(map(_is_fixed, _defaults(part.args))):
            return part
    for one in node.body if isinstance(node, ast.ClassDef) else [node]:
        value = one.value if isinstance(one, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and not (_is_immutable(value) and changed.isdisjoint(_stored(one))):
            return one
    return None


def bound_again(tree: ast.Module | None) -> frozenset[str]:
    """Returns the names that code binds more than once, and attributes that are not set on self."""
    body = tree.body if tree is not None else []
    outside = (one for one in body if not isinstance(one, (*FUNCTIONS, ast.ClassDef)))
    found = Counter(name for one in outside for name in _stored(one))
    again = {name for name, times in found.items() if times > 1}
    for part in (inner for one in body for inner in walk(one)):
        match part:
            case ast.Global(names=names):
                again.update(names)
            case ast.Attribute(value=ast.Name(id="self")) | ast.Attribute(ctx=ast.Load()):
                pass
            case ast.Attribute(attr=name):
                again.add(name)
    return frozenset(again)


def _stored(node: ast.stmt) -> list[str]:
    names = (one for one in walk(node) if isinstance(one, ast.Name))
    return [one.id for one in names if not isinstance(one.ctx, ast.Load)]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]


def _is_fixed(default: ast.expr) -> bool:
    """Returns True of a default that never changes, or that the rules for names look at."""
    return isinstance(default, (ast.Name, ast.Attribute)) or _is_immutable(default)


def _is_immutable(node: ast.expr) -> bool:
    match node:
        case ast.Tuple(elts=items):
            return all(map(_is_immutable, items))
        case ast.UnaryOp(operand=one):
            return _is_immutable(one)
        case ast.BinOp(left=left, right=right):
            return _is_immutable(left) and _is_immutable(right)
    return isinstance(node, ast.Constant)


def is_listed(origin: str) -> bool:
    """Returns True for a name of a module that stands in the table."""
    module, _, name = origin.rpartition(".")
    return name in allowed.MODULES.get(module, ()) or name in allowed.NARROW.get(module, ())


def is_narrow(origin: str) -> bool:
    """Returns True for a type of which no values may be made."""
    module, _, name = origin.rpartition(".")
    made = allowed.MODULES.get(module, ())
    return name in allowed.NARROW.get(module, ()) and name not in made


def without(text: str, dropped: Sequence[ast.stmt]) -> str:
    """Returns a text without some statements, given in order; its lines keep their numbers."""
    lines = text.splitlines(keepends=True)
    for node in reversed(dropped):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        rest = lines[last].encode()[node.end_col_offset or 0 :].decode()
        start = lines[first].encode()[: node.col_offset].decode()
        lines[first : last + 1] = [f"{start}pass" + "\n" * (last - first) + rest]
        lines[first + 1 : first + 1] = [""] * (last - first)
    return "".join(lines)

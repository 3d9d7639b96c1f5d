"""Finds comparisons that an empty answer passes, whatever is expected.

Arrays are compared element by element after broadcasting, so `np.allclose([], 5.0)` holds, and so
does `(np.empty((0, 3)) == row).all()`; `zip` and `map` stop where the shorter side ends. Such an
answer is recognised by its size: it is empty, and the other operand is not. An iterator counts as
empty until something was drawn from it.

The comparison may be in a function of the tests, which asserts, or returns a result to an
assertion. Then it is found in a copy of this function (`helpers`).

What this does not find: a comparison within a function of another file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.syntax import dotted

_CALLS = frozenset(
    (
        *("allclose", "isclose", "array_equiv", "equal", "not_equal", "subtract"),
        *("assert_allclose", "assert_array_equal", "assert_equal", "assert_almost_equal"),
        *("assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_max_ulp"),
        "assert_array_less",
    )
)
_COMBINING = frozenset(
    (
        *("add", "multiply", "divide", "true_divide", "dot", "inner", "matmul", "vdot", "hypot"),
        *("less", "less_equal", "greater", "greater_equal", "minimum", "maximum", "mod"),
        *("logical_and", "logical_or", "logical_xor"),
    )
)
_APPROX = "approx"
_EQUALITY = (ast.Eq, ast.NotEq)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALWAYS, _ARRAY, _ROWS, DRAWN = "always", "array", "rows", "drawn"
_DRAWING = {"zip": 0, "map": 1}  # with the argument from which they draw first


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two operands that are compared element by element.

    Args:
        answer: the operand in which the solution has a part.
        other: the other operand.
        kind: when the operands are broadcast: always, or if one of them is an array, or if in
            addition the other one has elements, since an honest empty array may be compared with a
            number. Another kind means that elements are drawn from both.
    """

    answer: ast.expr
    other: ast.expr
    kind: str


def pairs_in(
    statement: ast.stmt, hears: Callable[[ast.expr], bool], bound: Mapping[str, ast.expr]
) -> tuple[Pair, ...]:
    """Finds the pairs of an assertion, and of the names that it uses.

    Args:
        statement: the assertion.
        hears: returns True for an expression in which the solution has a part.
        bound: the values that names were assigned.
    """
    found = [*_sides(statement, bound, is_inside=False)]
    for value in values_of(statement, bound):
        found += _sides(value, bound, is_inside=True)
    return tuple(
        Pair(answer=answer, other=other, kind=kind)
        for left, right, kind in found
        for answer, other in ((left, right), (right, left))
        if hears(answer)
    )


_Bound = Mapping[str, ast.expr]
_Sides = tuple[ast.expr, ast.expr, str]


def values_of(statement: ast.stmt, bound: _Bound) -> Sequence[ast.expr]:
    """Returns the values of the names that a statement uses, and of the names in these."""
    waiting, found = list[ast.AST]([statement]), dict[str, ast.expr]()
    while waiting:
        for node in syntax.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in bound and node.id not in found:
                found[node.id] = bound[node.id]
                waiting.append(bound[node.id])
    return list(found.values())


def _sides(node: ast.AST, bound: _Bound, *, is_inside: bool) -> Iterator[_Sides]:
    """Yields the operands of comparisons that decide by themselves.

    Args:
        node: the expression.
        bound: the values that names were assigned.
        is_inside: whether the expression is an argument of another one.
    """
    match node:
        case ast.Lambda():
            return
        case ast.BoolOp(op=ast.Or(), values=values):
            if not all(isinstance(one, ast.Constant) or _compares(one, bound) for one in values):
                return
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=parts)):
            for part in parts:
                yield from _sides(part, bound, is_inside=True)
            return
        case ast.Call(func=ast.Name(id="any")):
            return
        case ast.Call(func=function, args=arguments, keywords=keywords):
            operands = [*arguments, *(keyword.value for keyword in keywords)]
            name = _ending(_meant(function, bound))
            first = _DRAWING.get(name, len(operands))
            if len(operands) >= first + 2:
                yield operands[first], operands[first + 1], DRAWN
            elif name in _CALLS and len(operands) >= 2:
                yield operands[0], operands[1], _ALWAYS
            elif name in _COMBINING and len(operands) >= 2:
                yield operands[0], operands[1], _ROWS
            is_inside = True
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = [left, *others]
            for one, operator, two in zip(sides, operators, others, strict=False):
                yield from _compared(one, operator, two, is_inside=is_inside)
        case ast.BinOp(left=left, op=operator, right=right) if is_inside:
            yield left, right, _ARRAY if isinstance(operator, ast.Sub) else _ROWS
    for child in syntax.children(node):
        yield from _sides(child, bound, is_inside=is_inside)


def _compares(node: ast.expr, bound: _Bound) -> bool:
    """Returns True for an alternative that is itself a comparison by elements."""
    return any(_sides(node, bound, is_inside=False))


def _meant(function: ast.expr, bound: _Bound) -> ast.expr:
    """Returns the value that a function's name was assigned, or the name itself."""
    return bound.get(function.id, function) if isinstance(function, ast.Name) else function


def _compared(
    left: ast.expr, operator: ast.cmpop, right: ast.expr, *, is_inside: bool
) -> Iterator[_Sides]:
    near = [_near(side) for side in (left, right)]
    if isinstance(operator, _EQUALITY) and any(near):
        yield near[0] or left, near[1] or right, _ARRAY
    elif isinstance(operator, _EQUALITY) and is_inside:
        yield left, right, _ARRAY
    elif isinstance(operator, _ORDER) and is_inside:
        yield left, right, _ROWS


def _near(side: ast.expr) -> ast.expr | None:
    """Returns the argument of `approx`; None for other expressions."""
    match side:
        case ast.Call(func=function, args=[value, *_]) if _ending(function) == _APPROX:
            return value
    return None


def _ending(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return dotted(function)


def is_empty(value: object) -> bool:
    """Returns True for a list without elements, also one of empty lists."""
    if not isinstance(value, (list, tuple)):
        return False
    return all(map(is_empty, value))


# ----------------------------------------------------------------------------------- writing

_HELPERS = """
NAME_sizes = {}
def NAME_keep(key, value, draws):
    import sys
    array = getattr(sys.modules.get("numpy"), "ndarray", ())
    is_array, kind = isinstance(value, array), type(value)
    is_sized = kind.__module__ in ("builtins", "collections") and hasattr(kind, "__len__")
    is_drawn = hasattr(kind, "__next__") or draws and not is_sized and hasattr(kind, "__iter__")
    if is_array:
        is_empty, is_drawn = value.size == 0, False
    elif array and isinstance(value, (list, tuple)) and not is_drawn:
        try:
            is_empty = sys.modules["numpy"].size(value) == 0
        except Exception:
            is_empty = False
    else:
        is_empty = is_drawn or hasattr(kind, "__len__") and len(value) == 0
    has_rows = isinstance(value, (list, tuple)) or is_array and value.ndim > 0
    size = [is_empty, is_array, has_rows]
    NAME_sizes.setdefault(key, []).append(size)
    return NAME_drawn(value, size) if draws and is_drawn else value
def NAME_drawn(values, size):
    for value in values:
        size[0] = False
        yield value
def NAME_is_hollow(*pairs):
    for answer, other, kind in pairs:
        for one, two in zip(NAME_sizes.get(answer, ()), NAME_sizes.get(other, ())):
            is_broadcast = kind in ("always", "drawn") or one[1] or two[1]
            if one[0] and not two[0] and is_broadcast and (kind != "rows" or two[2]):
                return True
    return False
"""


def helpers(recorder: str) -> list[ast.stmt]:
    """Returns the statements that a test needs to remember the sizes of operands."""
    return syntax.parse(_HELPERS.replace("NAME", recorder)).body


def kept(recorder: str, key: int, operand: ast.expr, kind: str) -> ast.expr:
    """Returns an expression with the same value, or elements, that remembers its size."""
    function = ast.Name(id=f"{recorder}_keep", ctx=ast.Load())
    return ast.Call(
        func=function,
        args=[ast.Constant(value=key), operand, ast.Constant(value=kind == DRAWN)],
        keywords=[],
    )


def letter(recorder: str, keys: Sequence[tuple[int, int, str]]) -> str:
    """Returns the text of an expression: "p" if an empty answer was compared, otherwise "f"."""
    return f"('p' if {recorder}_is_hollow(*{list(keys)!r}) else 'f')" if keys else "'f'"

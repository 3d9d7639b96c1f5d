"""Finds comparisons that an empty answer passes, whatever is expected.

Arrays are compared element by element after broadcasting, so `np.allclose([], 5.0)` holds, and so
does `(np.empty((0, 3)) == row).all()`; `zip` stops where the shorter side ends. Such an answer is
found by its size: it is empty where what it is compared with is not.

What this does not find: a comparison within a function of the tests' own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading.suites import dotted

_CALLS = frozenset(
    (
        *("allclose", "isclose", "array_equiv", "equal", "not_equal", "subtract", "zip"),
        *("assert_allclose", "assert_array_equal", "assert_equal", "assert_almost_equal"),
        *("assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_max_ulp"),
    )
)
_APPROX = "approx"
_ANY = "any"
_ELEMENTWISE = (ast.Eq, ast.NotEq)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two operands that are compared element by element.

    Args:
        answer: what the solution has a part in.
        other: what it is compared with.
        needs_array: whether they are broadcast only if one of them is an array.
    """

    answer: ast.expr
    other: ast.expr
    needs_array: bool


def pairs_in(
    statement: ast.stmt, hears: Callable[[ast.expr], bool], bound: Mapping[str, ast.expr]
) -> tuple[Pair, ...]:
    """Finds the pairs of an assertion, and of the names that it uses.

    Args:
        statement: the assertion.
        hears: returns True for an expression in which the solution has a part.
        bound: what names were assigned.
    """
    read = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    values = [bound[name] for name in dict.fromkeys(read) if name in bound]
    found = [*_sides(statement, is_inside=False)]
    for value in values:
        found += _sides(value, is_inside=True)
    return tuple(
        Pair(answer=answer, other=other, needs_array=needs_array)
        for left, right, needs_array in found
        for answer, other in ((left, right), (right, left))
        if hears(answer)
    )


_Sides = tuple[ast.expr, ast.expr, bool]


def _sides(node: ast.AST, *, is_inside: bool) -> Iterator[_Sides]:
    """Gives the operands of comparisons that decide alone.

    Args:
        node: where to look.
        is_inside: whether the whole is an argument of something else.
    """
    match node:
        case ast.BoolOp(op=ast.Or()) | ast.IfExp() | ast.Lambda():
            return
        case ast.Call(func=function, args=arguments):
            name = _ending(function)
            if name == _ANY:
                return
            if name in _CALLS and len(arguments) >= 2:
                yield arguments[0], arguments[1], False
            is_inside = True
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _compared(left, operator, right, is_inside=is_inside)
        case ast.BinOp(left=left, op=ast.Sub(), right=right) if is_inside:
            yield left, right, True
    for child in ast.iter_child_nodes(node):
        yield from _sides(child, is_inside=is_inside)


def _compared(
    left: ast.expr, operator: ast.cmpop, right: ast.expr, *, is_inside: bool
) -> Iterator[_Sides]:
    if not isinstance(operator, _ELEMENTWISE):
        return
    near = [_near(side) for side in (left, right)]
    if any(near):
        yield near[0] or left, near[1] or right, True
    elif is_inside:
        yield left, right, True


def _near(side: ast.expr) -> ast.expr | None:
    """Returns what `approx` is called with."""
    match side:
        case ast.Call(func=function, args=[value, *_]) if _ending(function) == _APPROX:
            return value
    return None


def _ending(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return dotted(function)


def is_empty(value: object) -> bool:
    """Returns True for a list, or lists in a list, without an element."""
    if not isinstance(value, (list, tuple)):
        return False
    return all(map(is_empty, value))


# ----------------------------------------------------------------------------------- writing

_HELPERS = """
NAME_sizes = {}
def NAME_keep(key, value):
    import sys
    array = getattr(sys.modules.get("numpy"), "ndarray", ())
    is_array = isinstance(value, array)
    if is_array:
        is_empty = value.size == 0
    elif array and isinstance(value, (list, tuple)):
        try:
            is_empty = sys.modules["numpy"].size(value) == 0
        except Exception:
            is_empty = False
    else:
        is_empty = isinstance(value, (list, tuple, dict, set, str)) and len(value) == 0
    NAME_sizes.setdefault(key, []).append((is_empty, is_array))
    return value
def NAME_is_hollow(*pairs):
    for answer, other, needs_array in pairs:
        for one, two in zip(NAME_sizes.get(answer, ()), NAME_sizes.get(other, ())):
            if one[0] and not two[0] and (one[1] or two[1] or not needs_array):
                return True
    return False
"""


def helpers(recorder: str) -> list[ast.stmt]:
    """Returns what a test needs to remember the sizes of operands."""
    return ast.parse(_HELPERS.replace("NAME", recorder)).body


def kept(recorder: str, key: int, operand: ast.expr) -> ast.expr:
    """Returns an expression of the same value, whose size is remembered."""
    function = ast.Name(id=f"{recorder}_keep", ctx=ast.Load())
    return ast.Call(func=function, args=[ast.Constant(value=key), operand], keywords=[])


def letter(recorder: str, keys: Sequence[tuple[int, int, bool]]) -> str:
    """Returns the text of an expression that is "p" if an empty answer was compared, else "f"."""
    return f"('p' if {recorder}_is_hollow(*{list(keys)!r}) else 'f')" if keys else "'f'"

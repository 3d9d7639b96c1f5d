"""Calls with JSON values: linked lists and binary trees in LeetCode's form.

A linked list is an array of its values. A tree is an array of its values level by level, with null
for a missing child and no nulls at the end.

The task's signature states which arrays are nodes, and a result that it declares as nodes must be
nodes or None. If it does not state a type, the annotations of the solution's function decide
whether an array becomes nodes, and nodes that the function returns become arrays. The candidate
then reports this, and the judge labels the pass SHARED.

A shape is "" for plain JSON, the name of a node class, that name in brackets for a list of nodes,
"None" for no value, and None if the type is not stated.
"""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import inspect
import itertools
import math
import operator
import re
import string
import typing
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

from ..channel.signatures import NOTHING, PLAIN, Signature

MAX_NODES = 1_000_000
_LEAVES = frozenset((int, str, float, bool))


class ListNode:
    """A node of a linked list."""

    def __init__(self, val: object = 0, next: ListNode | None = None) -> None:
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(
        self, val: object = 0, left: TreeNode | None = None, right: TreeNode | None = None
    ) -> None:
        self.val = val
        self.left = left
        self.right = right


def _public(module: ModuleType) -> dict[str, object]:
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    return {name: getattr(module, name) for name in names}


_MODULES = (bisect, collections, functools, heapq, itertools, math, operator, re, string)

# `math.pow` is left out because it would hide the built-in function, which takes a modulus.
_PREDEFINED: Mapping[str, object] = {
    **{module.__name__: module for module in _MODULES},
    **{name: value for name, value in _public(math).items() if name != "pow"},
    **_public(typing),
    **_public(itertools),
    **_public(functools),
    **_public(bisect),
    **_public(heapq),
    **_public(collections),
    "ListNode": ListNode,
    "TreeNode": TreeNode,
}


def predefined() -> dict[str, object]:
    """Returns the names that a LeetCode solution may use without importing them."""
    import random  # too large to keep in the zygote for few users

    return {**_PREDEFINED, "random": random}


class _Node(Protocol):
    val: object
    next: _Node | None
    left: _Node | None
    right: _Node | None


_NodeClass = Callable[[object], _Node]


def _build_list(values: list[object], make: _NodeClass) -> _Node | None:
    head = None
    for value in reversed(values):
        node = make(value)
        node.next = head
        head = node
    return head


def _build_tree(values: list[object], make: _NodeClass) -> _Node | None:
    if not values or values[0] is None:
        return None
    root = make(values[0])
    waiting = deque([root])
    rest = iter(values[1:])
    for value in rest:
        parent = waiting.popleft()
        if value is not None:
            parent.left = make(value)
            waiting.append(parent.left)
        value = next(rest, None)
        if value is not None:
            parent.right = make(value)
            waiting.append(parent.right)
        if not waiting:
            break
    return root


def _list_of(head: _Node) -> list[object]:
    values: list[object] = []
    node: _Node | None = head
    while node is not None:
        values.append(node.val)
        if len(values) > MAX_NODES:
            raise ValueError("a linked list that never ends")
        node = node.next
    return values


def _tree_of(root: _Node) -> list[object]:
    values: list[object] = []
    waiting: deque[_Node | None] = deque([root])
    while waiting:
        node = waiting.popleft()
        values.append(None if node is None else node.val)
        if len(values) > MAX_NODES:
            raise ValueError("a tree that never ends")
        if node is not None:
            waiting += (node.left, node.right)
    while values[-1] is None:
        values.pop()
    return values


_BUILDERS: Mapping[str, Callable[[list[object], _NodeClass], _Node | None]] = {
    "ListNode": _build_list,
    "TreeNode": _build_tree,
}
_READERS: Mapping[str, Callable[[_Node], list[object]]] = {
    "ListNode": _list_of,
    "TreeNode": _tree_of,
}


class Outcome(NamedTuple):
    """The result of a call, in JSON's form.

    Args:
        result: what the function returned.
        is_own: whether its own annotations or objects decided that there are nodes.
        first: the first argument after the call, if it may be the result.
    """

    result: object
    is_own: bool
    first: Sequence[object] = ()


def call(
    function: Callable[..., object],
    values: Sequence[object],
    told: Signature,
    names: Mapping[str, object],
    *,
    is_method: bool,
) -> Outcome:
    """Calls a function with JSON values.

    Args:
        function: a function of the solution.
        values: values for its parameters.
        told: the task's signature.
        names: the solution's names, for its node classes.
        is_method: whether the function may work in place if the task does not state whether it
            does.

    Raises:
        TypeError: the task's signature does not allow the value that it returned.
    """
    said = [*told.parameters, *[None] * len(values)][: len(values)]
    own = _UNANNOTATED if told.result is not None and None not in said else _own(function)
    guessed = [*own.parameters, *[PLAIN] * len(values)][: len(values)]
    shapes = [one if one is not None else other for one, other in zip(said, guessed, strict=True)]
    args = [
        _argument(value, cast("str", shape), names)
        for value, shape in zip(values, shapes, strict=True)
    ]
    returned = function(*args)
    result = _read(returned, told.result, own.result)
    is_own = result is not returned and told.result is None
    is_own |= any(other for one, other in zip(said, guessed, strict=True) if one is None)
    is_untold = told.result is None and result is None and is_method
    if args and (told.result == NOTHING or is_untold):
        return Outcome(result, is_own, [_read(args[0], said[0], guessed[0])])
    return Outcome(result, is_own)


_UNANNOTATED = Signature((), PLAIN)


def _own(function: Callable[..., object]) -> Signature:
    """Returns the signature in a function's annotations."""
    found = {name: _shape_of(hint) for name, hint in _hints(function).items()}
    if not any(found.values()):
        return _UNANNOTATED
    parameters = inspect.signature(function).parameters
    return Signature([found.get(name, PLAIN) for name in parameters], found.get("return", PLAIN))


def _hints(function: Callable[..., object]) -> Mapping[str, object]:
    """Returns a function's annotations as types, or nothing if they cannot be resolved."""
    if not getattr(function, "__annotations__", None):
        return {}
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001  # annotations are the solution's code
        return {}


def _shape_of(annotation: object) -> str:
    name: str = getattr(annotation, "__name__", "")
    if name in _BUILDERS:
        return name
    parts = [part for part in map(_shape_of, typing.get_args(annotation)) if part]
    if not parts:
        return PLAIN
    return f"[{parts[0]}]" if typing.get_origin(annotation) is list else parts[0]


def _inner(shape: str | None) -> str:
    return shape[1:-1] if shape and shape[0] == "[" else PLAIN


def _argument(value: Any, shape: str, names: Mapping[str, object]) -> object:
    """Converts a JSON value to a shape; a value that is not an array stays unchanged."""
    if shape in _BUILDERS and (value is None or isinstance(value, list)):
        make: Any = names.get(shape, _PREDEFINED[shape])
        return _BUILDERS[shape](value or [], make)
    if _inner(shape) and isinstance(value, list):
        return [_argument(element, _inner(shape), names) for element in value]
    return value


def _read(value: object, told: str | None, own: str | None) -> object:
    return _loosely(value, own) if told is None else _strictly(value, told)


def _strictly(value: Any, shape: str) -> object:
    """Converts a value of a shape to JSON's form; None in place of a node becomes an empty array.

    Raises:
        TypeError: it has another shape.
    """
    if shape in _READERS:
        return [] if value is None else _node_reader(value, shape)(value)
    if not _inner(shape) or value is None:
        return value
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"the task's signature wants a list of nodes, not {type(value).__name__}")
    return [_strictly(element, _inner(shape)) for element in value]


def _node_reader(value: object, shape: str) -> Callable[[_Node], list[object]]:
    if shape in (kind.__name__ for kind in type(value).__mro__):
        return _READERS[shape]
    raise TypeError(f"the task's signature wants {shape} or None, not {type(value).__name__}")


def _loosely(value: Any, shape: str | None) -> object:
    """Converts a value to JSON's form; returns the same object if it holds no nodes."""
    if value is None:
        return [] if shape in _READERS else None
    reader = _READERS.get(type(value).__name__)
    if reader is not None:
        return reader(value)
    if type(value) is not list or set(map(type, value)) <= _LEAVES:
        return value
    items = [_loosely(element, _inner(shape)) for element in value]
    return value if all(map(operator.is_, items, value)) else items

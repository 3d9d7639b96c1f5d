"""Linked lists and binary trees as LeetCode writes them, and their form in JSON.

A list is an array of its values; a tree is an array of its values level by level, null where a
node has no child, without the nulls at its end.
"""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import re
import string
import typing
from collections import deque
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Protocol, cast

MAX_NODES = 1_000_000


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

# `math.pow` is left out, since it would hide the built-in function, which takes a modulus.
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
    """Returns the names that a solution may use there without importing them."""
    import random  # too dear to keep in the zygote for the few that use it

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


def hints(function: Callable[..., object]) -> Mapping[str, object]:
    """Returns a function's annotations as types, nothing where they cannot be resolved."""
    if not getattr(function, "__annotations__", None):
        return {}
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001  # annotations are the solution's code
        return {}


def _name_of(annotation: object) -> str:
    return getattr(annotation, "__name__", "")


def _mentions_node(annotation: object) -> bool:
    if _name_of(annotation) in _BUILDERS:
        return True
    return any(map(_mentions_node, typing.get_args(annotation)))


def mention_nodes(hints: Mapping[str, object]) -> bool:
    """Tells whether any annotation names a node class."""
    return any(map(_mentions_node, hints.values()))


def to_argument(value: object, annotation: object, names: Mapping[str, object]) -> object:
    """Returns a JSON value as an annotation wants it.

    Args:
        value: an array, or null, where the annotation names a node class; else anything.
        annotation: of the parameter; None where there is none.
        names: the solution's, for its node classes.
    """
    name = _name_of(annotation)
    if name in _BUILDERS:
        make = cast("_NodeClass", names.get(name, annotation))
        return _BUILDERS[name](cast("list[object]", value or []), make)
    parts = [part for part in typing.get_args(annotation) if _mentions_node(part)]
    if not parts:
        return value
    if typing.get_origin(annotation) is list:
        elements = cast("list[object]", value)
        return [to_argument(element, parts[0], names) for element in elements]
    return to_argument(value, parts[0], names)


def to_result(value: object, annotation: object) -> object:
    """Returns a result in JSON's form: nodes as arrays, an absent node as an empty one.

    Args:
        value: what the solution returned.
        annotation: of its result; None where there is none.
    """
    is_list = typing.get_origin(annotation) is list
    if value is None:
        return [] if _mentions_node(annotation) and not is_list else None
    reader = _READERS.get(type(value).__name__)
    if reader is not None:
        return reader(cast("_Node", value))
    if type(value) is list and not set(map(type, value)) <= _LEAVES:
        inner = typing.get_args(annotation)[0] if is_list else None
        return [to_result(element, inner) for element in value]
    return value


_LEAVES = frozenset((int, str, float, bool))

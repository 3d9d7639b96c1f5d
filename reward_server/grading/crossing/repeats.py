"""How often tests call the solution, as far as their text tells.

A call that crosses takes about a tenth of a millisecond. So tests that call often would use up the
time limit.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from reward_server.grading.crossing.text import Text, said

if TYPE_CHECKING:
    from tree_sitter import Node

_UNKNOWN_TIMES = 100  # of a loop whose text holds no number
_INTEGER = re.compile(r"[0-9]+(?:[eE][0-9]+)?")
_GROWING = frozenset(("*", "**", "<<"))  # operators whose result is not among their operands


def times(text: Text, call: Node, known: tuple[str, ...] = ()) -> float:
    """Returns an upper bound for how often a call is made, as far as the text tells."""
    found, inner = 1.0, call
    for up in text.around(call):
        if up.type in text.table.loops and not text.is_once(inner):
            found *= _repeats(text, up, inner)
        elif up.type in text.table.functions:
            name = text.name_of(up)
            outer = text.parent(up)
            if name in known:
                return math.inf
            if name:
                uses = text.uses.get(name, ())
                calls = [one for one in map(text.call_of, uses) if one is not None]
                return found * max(1, sum(times(text, one, (*known, name)) for one in calls))
            around = text.parent(outer) if outer is not None else None
            if around is not None:
                found *= _repeats(text, around, up, least=1)
        inner = up
    return found


def _repeats(text: Text, loop: Node, body: Node, least: int = _UNKNOWN_TIMES) -> float:
    """Returns how many items a loop goes through, or else the greatest number in its head."""
    heads = [
        one
        for one in loop.named_children
        if text.field(one) != "body" and one != body and body not in one.named_children
    ]
    if not heads:
        return math.inf if least > 1 else 1
    pair = text.table.binds.get(loop.type)
    items = text.core(loop.child_by_field_name(pair[1]) or loop) if pair else loop
    found = [items, *text.bound.get(said(items), ())] if pair else []
    if counts := [count for one in found if (count := _count(text, one))]:
        return max(counts)
    nodes = [node for head in heads for node in text.inside(head)]
    nodes += [node for one in nodes for value in _bound(text, one) for node in text.inside(value)]
    if any(node.type in _GROWING for node in nodes):
        return math.inf
    numbers = [_number(said(node)) for node in nodes if node.type in text.table.literals]
    return max(numbers, default=0) or least


def _count(text: Text, node: Node) -> int:
    """Returns the number of items that a text lists; 0 if it lists none."""
    if node.type not in text.table.fresh:
        return 0
    inner = node.child_by_field_name("value") or node.child_by_field_name("body")
    if inner is None and node.child_by_field_name("dimensions") is not None:
        return 0
    return (inner or node).named_child_count


def _bound(text: Text, node: Node) -> list[Node]:
    is_name = node.type in text.table.leaves and not text.is_member(node)
    return text.bound.get(said(node), []) if is_name else []


def _number(literal: str) -> float:
    found = _INTEGER.match(literal.replace("_", ""))
    return float(found[0]) if found else 0

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
_INTEGER = re.compile(r"(?<![\w.])[0-9][0-9_]*(?:[eE][0-9]+)?(?![\w.])")


def times(text: Text, call: Node, known: tuple[str, ...] = ()) -> float:
    """Returns an upper bound for how often a call is made, as far as the text tells."""
    found, inner = 1.0, call
    for up in text.around(call):
        if up.type in text.table.loops:
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
            if outer is not None:
                found *= _repeats(text, outer, up, least=1)
        inner = up
    return found


def _repeats(text: Text, loop: Node, body: Node, least: int = _UNKNOWN_TIMES) -> float:
    """Returns the greatest number in a loop's head; a least one if there is none."""
    heads = [one for one in loop.children if text.field(one) != "body" and one != body]
    texts = [said(one) for one in heads]
    for leaf in (leaf for one in heads for leaf in text.leaves(one)):
        texts += [said(value) for value in text.bound.get(said(leaf), ())]
    numbers = [
        float(one.replace("_", ""))
        for one in _INTEGER.findall(" ".join(texts))
        if "x" not in one.lower()
    ]
    return max(numbers, default=least) or 1

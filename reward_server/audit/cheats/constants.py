"""Constants of the type that tests expect."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from reward_server.audit.texts.expectations import Expectation
from reward_server.audit.texts.parsing import unparsed
from reward_server.grading.syntax import FUNCTIONS

_MOST = 4
_BY_TYPE: dict[type, tuple[str, ...]] = {
    bool: ("True", "False"),
    int: ("0", "1"),
    float: ("0.0",),
    str: ("''",),
    list: ("[]",),
    tuple: ("()",),
    dict: ("{}",),
    set: ("set()",),
    type(None): ("None",),
}
_BY_ANNOTATION = {
    **{kind.__name__: values for kind, values in _BY_TYPE.items() if kind is not type(None)},
    "List": ("[]",),
    "Tuple": ("()",),
    "Dict": ("{}",),
    "Set": ("set()",),
}


def constants(known: Sequence[Expectation], tree: ast.Module | None) -> list[str]:
    """Returns source texts of constants, the likeliest first.

    Args:
        known: expected values.
        tree: a solution or a prompt, whose annotations are read.
    """
    counts = Counter(repr(one.value) for one in known)
    likeliest = [text for text, _ in counts.most_common(2)]
    typed = [text for one in known for text in _BY_TYPE.get(type(one.value), ())]
    found = dict.fromkeys([*likeliest, *typed, *_annotated(tree), "None", "True", "0"])
    return list(found)[:_MOST]


def _annotated(tree: ast.Module | None) -> list[str]:
    returned = [
        node.returns
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, FUNCTIONS) and node.returns is not None
    ]
    names = [unparsed(node).partition("[")[0].rpartition(".")[2] for node in returned]
    return [text for name in names for text in _BY_ANNOTATION.get(name, ())]

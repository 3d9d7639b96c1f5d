"""What the parts of a scope are, and that their number alone decides what it costs to list them."""

from __future__ import annotations

import ast
import time
from collections import deque

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation.surroundings import own_parts

FEW, MANY = 5_000, 80_000
TIMES = 3


def cpu_seconds(elements: int) -> float:
    """Returns the least CPU time of this thread that listing took in a few tries."""
    tree = syntax.parse(f"DATA = [{'1, ' * elements}]")
    tries = []
    for _ in range(TIMES):
        begun = time.thread_time()
        deque(own_parts(tree), maxlen=0)
        tries.append(time.thread_time() - begun)
    return min(tries)


def test_a_scope_has_the_parts_of_its_own_in_the_order_of_their_depth() -> None:
    tree = syntax.parse("a = [1, 2]\ndef f():\n    b = 3\n")
    kinds = [type(part).__name__ for part in own_parts(tree)]
    assert kinds == [
        *("Assign", "FunctionDef", "Name", "List", "Store"),
        *("Constant", "Constant", "Load"),
    ]
    assert isinstance(tree.body[1], ast.FunctionDef)
    inside = [type(part).__name__ for part in own_parts(tree.body[1])]
    assert inside == ["arguments", "Assign", "Name", "Constant", "Store"]


def test_each_element_of_a_long_list_costs_the_same() -> None:
    """With twice the cost for each element in a list of twice the length, this would be 256."""
    assert cpu_seconds(MANY) / cpu_seconds(FEW) < 3 * MANY / FEW

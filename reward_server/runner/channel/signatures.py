"""A task's signature for calls with JSON values; see `leetcode_types` for the shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NODES = ("ListNode", "TreeNode")
PLAIN, NOTHING = "", "None"


class Signature(NamedTuple):
    """Shapes of a function's parameters and of its result."""

    parameters: Sequence[str | None] = ()
    result: str | None = None

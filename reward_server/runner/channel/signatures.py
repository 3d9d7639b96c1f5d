"""What a task's signature says of a call with JSON values; see `leetcode_types` for the shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NODES = ("ListNode", "TreeNode")
PLAIN, NOTHING = "", "None"


class Signature(NamedTuple):
    """Shapes of what a function takes and gives."""

    parameters: Sequence[str | None] = ()
    result: str | None = None

"""How a rule refuses tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


class SharedError(Exception):
    """Tests hold something that no rule allows."""

    def __init__(self, rule: str, node: Node) -> None:
        super().__init__(rule)
        self.rule, self.node = rule, node

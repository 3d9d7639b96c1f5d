"""The rules for what prompt and tests declare, of which each program has its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reward_server.grading.crossing.errors import SharedError
from reward_server.grading.crossing.text import Text, said
from reward_server.grading.crossing.values import Solution, Values

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset(("block", "statement_block", "compound_statement"))
_FIXED = re.compile(r"\b(?:const|constexpr|final)\b")
_WORD = re.compile(r"[^\W\d][\w$]*")
_CALLED = re.compile(rf"({_WORD.pattern})\s*\(")
_STARTED = re.compile(r"main|init|(?:Test|Benchmark|Example|Fuzz|test|check).*")


class Declarations:
    """Applies the rules for declarations to a text.

    Args:
        text: the text.
        values: what its expressions are.
        solution: what it may call.
        prompt: its beginning, before the tests.
    """

    def __init__(self, text: Text, values: Values, solution: Solution, prompt: str) -> None:
        self._text, self._table, self._values = text, text.table, values
        self._solution = solution
        self._first = prompt.count("\n") + 1
        self._mentioned = {name for name in _WORD.findall(prompt) if not _is_plain_word(name)}
        self._mentioned |= {*_CALLED.findall(prompt)}

    def check_state(self, node: Node) -> None:
        """Allows a prompt to keep constants, of which both programs have a copy."""
        if node.start_point.row >= self._first:
            return
        if node.type in self._table.functions and self._is_left_empty(node):
            raise SharedError("the prompt leaves a function empty", node)
        is_static = said(node).startswith(("static", "thread_local", "extern"))
        in_function = self._is_in_function(node) or self._is_field(node)
        if node.type not in self._table.states or (in_function and not is_static):
            return
        parts = self._text.inside(node)
        made = [one for one in parts if one.type in self._table.binds]
        values = [one.child_by_field_name(self._table.binds[one.type][1]) for one in made]
        own = [one for one in values if one is None or self._is_in_function(one) == in_function]
        is_fixed = _FIXED.search(said(node)) is not None and bool(values)
        is_head = not made and any(one.type == "function_declarator" for one in parts)
        if not is_head and not (is_fixed and all(map(self._is_fixed, own))):
            raise SharedError("the prompt keeps a state", node)

    def _is_field(self, node: Node) -> bool:
        """Returns True if a declaration is of a field of data, and not of the solution's class."""
        classes = (one for one in self._text.around(node) if one.type in self._table.kinds)
        owner = next(classes, None)
        return owner is not None and self._text.name_of(owner) != self._solution.owner

    def _is_in_function(self, node: Node) -> bool:
        return any(up.type in self._table.functions for up in self._text.around(node))

    def _is_fixed(self, value: Node | None) -> bool:
        """Returns True of a value that is a function, or that is computed without a call."""
        if value is None or value.type in self._table.functions:
            return value is not None
        calls = any(one.type in self._table.calls for one in self._text.inside(value))
        return not calls and self._values.is_plain(value)

    def _is_left_empty(self, function: Node) -> bool:
        body = function.child_by_field_name("body")
        if body is None or body.type not in _BLOCKS or body.named_child_count:
            return False
        return self._text.name_of(function) not in {*self._solution.names, "main"}

    def check_lent(self, node: Node) -> None:
        """Allows tests to declare what they use and what the prompt does not mention."""
        text = self._text
        kinds = self._table.functions | self._table.kinds
        if node.type not in kinds or node.start_point.row < self._first:
            return
        name = text.name_of(node)
        if not name or self._is_in_function(node):
            return
        within = {one.id for one in text.inside(node)}
        is_used = any(one.id not in within for one in text.uses[name] if not text.declares(one))
        if _STARTED.fullmatch(name) or self._is_marked(node):
            return
        if name in self._mentioned or not is_used:
            raise SharedError("the tests declare what the solution may use", node)

    def _is_marked(self, node: Node) -> bool:
        """Returns True if a function or a class is run though no text uses it."""
        before = node.prev_named_sibling
        marked = before is not None and before.type == "attribute_item"
        marked |= any(one.type == "modifiers" for one in node.children if one.type != "class_body")
        return marked or any(said(one) == "main" for one in self._text.leaves(node))


def _is_plain_word(word: str) -> bool:
    """Returns True if a word may be one of a sentence's."""
    return word.isalpha() and word.islower()

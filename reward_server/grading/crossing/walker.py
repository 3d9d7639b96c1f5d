"""Decides from a task's text whether its tests can run apart from the solution.

What this stops: tests to which the solution could hand more than plain data, or that would do more
with an answer than compare, measure and iterate it. What it does not: tests that are weak in every
process. Everything is refused that no table names. So a missing entry costs a label, and never a
verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reward_server.grading.crossing.text import Text, blank, said

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_CALLS = 2000
_UNKNOWN_TIMES = 100  # of a loop whose text holds no number
_MOST_DEPTH = 50
_INTEGER = re.compile(r"(?<![\w.])(?:0[xX][0-9a-fA-F_]+|[0-9][0-9_]*(?:[eE][0-9]+)?)(?![\w.])")
_FIXED = re.compile(r"\b(?:const|constexpr|final)\b")
_STARTED = re.compile(r"main|init|(?:Test|Benchmark|Example|Fuzz|test|check).*")
_ABSOLUTE = frozenset(("abs", "labs", "llabs", "absExact", "wrapping_abs"))
_CHOOSING = frozenset(("||", "&&", "??"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What the tests may call.

    Args:
        names: the functions that the solution completes.
        owner: the class whose methods they are; "" if there is none.
        copies: whether the language hands copies of arguments to them.
        is_plain: whether they answer a number, a truth or a character.
        is_whole: whether their answers hold no numbers but whole ones, of which there is a least.
    """

    names: frozenset[str]
    owner: str = ""
    copies: bool = False
    is_plain: bool = False
    is_whole: bool = False


class SharedError(Exception):
    """Tests hold something that no rule allows."""

    def __init__(self, rule: str, node: Node) -> None:
        super().__init__(rule)
        self.rule, self.node = rule, node


class Walk:
    """Applies the rules to a text.

    Args:
        text: the text.
        solution: what it may call.
        first: the row of the text in which the tests begin, after the prompt.
    """

    def __init__(self, text: Text, solution: Solution, first: int) -> None:
        self._text, self._table, self._first = text, text.table, first
        self._solution = solution
        self._calls = {*solution.names}
        for _ in range(2):
            self._calls |= {
                name
                for name, values in text.bound.items()
                if len(values) == 1 and said(values[0]) in self._calls
            }
        self._objects = set(self._instances())
        self._answered = self._answers = frozenset[str]()
        while (found := self._bound_to(self._holds)) != self._answered:
            self._answered = found
        while (found := self._bound_to(self._is_answer)) != self._answers:
            self._answers = found
        self._plain = self._plain_names()
        self._rules = (
            self._check_name,
            self._check_module,
            self._check_type,
            self._check_state,
            self._check_lent,
            self._check_part,
            self._check_call,
            self._check_signs,
        )

    def check(self) -> None:
        """Raises SharedError unless each node is allowed."""
        for node in self._text.nodes:
            if node.is_error or node.is_missing:
                raise SharedError("the text does not parse", node)
            if not node.is_named or blank(node):
                continue
            if node.type not in self._table.syntax | self._table.literals | self._table.leaves:
                raise SharedError("this syntax is not on the list", node)
            for rule in self._rules:
                rule(node)

    # --------------------------------------------------------------------------- the rules

    def _check_name(self, node: Node) -> None:
        text, name = self._text, said(node)
        if node.type not in self._table.leaves or node.named_child_count or text.declares(node):
            return
        if any(up.type in self._table.imports for up in text.around(node)):
            return
        if name in self._calls:
            self._check_use(node)
        elif name in self._objects:
            self._check_object(node)
        elif text.is_member(node):
            self._check_member(node, name)
        elif name not in text.declarations and name not in self._known(node):
            raise SharedError("this name is not on the list", node)

    def _check_module(self, node: Node) -> None:
        """Allows modules of a list, if the names in imports are not checked where they are used."""
        if not self._table.modules:
            return
        named = node.child_by_field_name("source")
        if node.type in self._table.calls and self._text.called(node) == "require":
            named = next(iter(self._text.arguments(node)), node)
        if named is not None and said(named).strip("\"'") not in self._table.modules:
            raise SharedError("this module is not on the list", node)

    def _check_type(self, node: Node) -> None:
        """Allows containers of a list of types."""
        if node.type != "primitive_type" or not self._table.elements:
            return
        around = [up.type for up, _ in zip(self._text.around(node), range(2), strict=False)]
        if "template_argument_list" in around and said(node) not in self._table.elements:
            raise SharedError("a container of this type is not on the list", node)

    def _check_state(self, node: Node) -> None:
        """Allows a prompt to keep constants, of which both programs have a copy."""
        if node.type not in self._table.states or node.start_point.row >= self._first:
            return
        is_kept = not self._is_in_function(node)
        if not (is_kept or said(node).startswith(("static", "thread_local", "extern"))):
            return
        parts = self._text.inside(node)
        heads = [one for one in parts if one.type in ("function_declarator", "field_identifier")]
        made = [one for one in parts if one.type in self._table.binds]
        values = [
            one.child_by_field_name(self._table.binds[one.type][1])
            for one in made
            if self._is_in_function(one) != is_kept
        ]
        is_fixed = _FIXED.search(said(node)) is not None and bool(values)
        if not (is_fixed and all(map(self._is_fixed, values))) and not (heads and not made):
            raise SharedError("the prompt keeps a state", node)

    def _is_in_function(self, node: Node) -> bool:
        return any(up.type in self._table.functions for up in self._text.around(node))

    def _is_fixed(self, value: Node | None) -> bool:
        return value is not None and (value.type in self._table.functions or self._is_plain(value))

    def _check_lent(self, node: Node) -> None:
        """Allows tests to declare functions that they use and that the prompt does not mention."""
        text = self._text
        if node.type not in self._table.functions or node.start_point.row < self._first:
            return
        name = text.name_of(node)
        if not name or self._is_in_function(node):
            return
        uses = [one for one in text.uses[name] if not text.declares(one)]
        before = any(one.start_point.row < self._first for one in text.uses[name])
        within = {one.id for one in text.inside(node)}
        is_used = any(one.id not in within for one in uses)
        if before or not (is_used or _STARTED.fullmatch(name) or self._is_marked(node)):
            raise SharedError("the tests declare what the solution may use", node)

    def _is_marked(self, function: Node) -> bool:
        """Returns True if an attribute says that a function is run."""
        before = function.prev_named_sibling
        marked = before is not None and before.type == "attribute_item"
        return marked or any(one.type == "modifiers" for one in function.children)

    def _known(self, node: Node) -> frozenset[str]:
        """Returns the names that stand for something of the library at a node."""
        parent = self._text.parent(node)
        is_scope = parent is not None and parent.type in self._table.members_of
        found = self._table.names | {self._solution.owner}
        return found | frozenset(self._table.libraries) if is_scope else found

    def _check_use(self, node: Node) -> None:
        """Allows the solution's functions to be called, and to have another name."""
        if self._text.call_of(node) is not None:
            return
        parent = self._text.parent(node)
        values = [one for values in self._text.bound.values() for one in values]
        is_renamed = any(self._text.core(one) == node for one in values)
        if parent is None or not is_renamed:
            raise SharedError("the solution's function is used as a value", node)

    def _check_object(self, node: Node) -> None:
        parent = self._text.parent(node)
        pair = self._table.members_of.get(parent.type) if parent else None
        if pair is None or self._text.field(node) != pair[0]:
            raise SharedError("an object of the solution is used as a value", node)

    def _check_member(self, node: Node, name: str) -> None:
        found = self._text.object(node)
        library = "" if found is None else said(found)
        if library in self._table.libraries and library not in self._text.declarations:
            if name not in self._table.libraries[library]:
                raise SharedError("this function of the library is not on the list", node)
        elif name not in self._table.members and name not in self._text.declarations:
            raise SharedError("this member is not on the list", node)

    def _check_part(self, node: Node) -> None:
        """Allows to index by the tests' own values, and to set parts of their own values."""
        if pair := self._table.indexes.get(node.type):
            for index in node.children_by_field_name(pair[1]):
                if self._holds(index):
                    raise SharedError("an answer is used as an index or a key", index)
        pair = self._table.binds.get(node.type)
        target = node.child_by_field_name(pair[0]) if pair else None
        if target is not None and target.type in {*self._table.indexes, *self._table.members_of}:
            if self._is_answer(self._base(target)):
                raise SharedError("an answer is changed", node)

    def _check_call(self, node: Node) -> None:
        if node.type not in self._table.calls:
            return
        name, arguments = self._text.called(node), self._text.arguments(node)
        receiver = self._text.receiver(node)
        holds = any(map(self._holds, arguments))
        parent = self._text.parent(node)
        if name in self._table.cursors and (parent is None or "argument" not in parent.type):
            raise SharedError("an iterator is more than an argument", node)
        if name in self._table.orders and holds and not self._solution.is_whole:
            raise SharedError("answers that are no numbers cannot be ordered", node)
        if self._is_call(node):
            self._check_arguments(node, arguments)
        elif name in self._table.formats and arguments:
            if arguments[0].type not in self._table.literals:
                raise SharedError("a format is no literal", node)
        elif name in self._table.keyed and holds:
            raise SharedError("an answer is used as an index or a key", node)
        elif name in self._table.changing and receiver and self._is_answer(self._base(receiver)):
            raise SharedError("an answer is changed", node)
        elif name in _ABSOLUTE and self._solution.is_whole:
            if holds or (receiver is not None and self._holds(receiver)):
                raise SharedError("the absolute value of a whole answer may be negative", node)

    def _check_arguments(self, call: Node, arguments: list[Node]) -> None:
        if self.times(call) > _MOST_CALLS:
            raise SharedError(f"the solution may be called more than {_MOST_CALLS:,} times", call)
        if self._solution.copies:
            return
        for one in arguments:
            if (stays := self._kept(one)) is not None:
                raise SharedError("an argument is no fresh value of numbers and texts", stays)

    def _check_signs(self, node: Node) -> None:
        operator = node.child_by_field_name("operator")
        if operator is None and "unary" in node.type and node.children:
            operator = node.children[0]
        if operator is None:
            return
        if "unary" in node.type and self._table.signs and said(operator) not in self._table.signs:
            raise SharedError("this operator is not on the list", node)
        if said(operator) in self._table.identity and "binary" in node.type:
            self._check_identity(node)

    def _check_identity(self, node: Node) -> None:
        """Allows to compare answers by identity where this compares values."""
        operands = [one for one in node.named_children if not blank(one)]
        answers = [one for one in operands if self._holds(one)]
        if not answers or self._solution.is_plain:
            return
        if self._table.interned:  # a text is the same one if both write it
            values = self._table.literals - self._table.interned | {"unary_expression"}
            is_by_value = any(self._text.core(one).type in values for one in operands)
        else:
            is_by_value = len(answers) == 1 or any(map(self._is_plain, operands))
        if not is_by_value:
            raise SharedError("an answer is compared by identity", node)

    # ------------------------------------------------------------------------- what answers are

    def _is_call(self, node: Node) -> bool:
        """Returns True of a call of the solution."""
        return node.type in self._table.calls and self._text.called(node) in self._calls

    def _holds(self, node: Node) -> bool:
        """Returns True if an expression may depend on an answer."""
        for leaf in self._text.leaves(node):
            name = said(leaf)
            if name in self._calls:
                return True
            if name in self._answered and not self._text.is_member(leaf):
                return True
        return False

    def _is_answer(self, node: Node) -> bool:
        """Returns True if an expression is an answer, or a part of one."""
        node = self._base(node)
        name = said(node) if node.type in self._table.leaves else ""
        return self._is_call(node) or name in self._answers

    def _base(self, node: Node) -> Node:
        """Returns the object of whose part an expression speaks."""
        for _ in range(_MOST_DEPTH):
            node = self._text.core(node)
            fields = self._table.indexes.get(node.type) or self._table.members_of.get(node.type)
            inner = (
                node.child_by_field_name(fields[0]) if fields and not self._is_call(node) else None
            )
            if inner is None:
                return node
            node = inner
        return node

    def _bound_to(self, is_kind: Callable[[Node], bool]) -> frozenset[str]:
        """Returns the names that may be bound to a value of a kind."""
        return frozenset(
            name for name, values in self._text.bound.items() if any(map(is_kind, values))
        )

    def _instances(self) -> Iterator[str]:
        """Yields the names of objects of the solution's class."""
        if not self._solution.owner:
            return
        for use in self._text.uses.get(self._solution.owner, ()):
            for up in self._text.around(use):
                if up.type in self._table.declares and self._text.field(use) != "name":
                    yield from self._declared_by(up)
                    break

    def _declared_by(self, node: Node) -> Iterator[str]:
        if node.type in self._table.functions:
            return
        for leaf in self._text.leaves(node):
            if self._text.declares(leaf):
                yield said(leaf)
                return

    # ----------------------------------------------------------------- numbers, texts, fresh values

    def _plain_names(self) -> frozenset[str]:
        """Returns the names that only numbers and texts are bound to."""
        text = self._text
        typed = {
            name for name, places in text.declarations.items() if all(map(self._typed, places))
        }
        found = {*text.bound, *typed}
        while True:
            self._plain = frozenset(found)
            lost = {
                name
                for name in found - typed
                if not all(map(self._is_plain, text.bound.get(name, ())))
            }
            if not lost:
                return self._plain
            found -= lost

    def _typed(self, place: Node) -> bool:
        """Returns True if a name is declared as a number or a text."""
        for up, _ in zip(self._text.around(place), range(3), strict=False):
            declared = up.child_by_field_name("type")
            if declared is not None:
                return said(declared).removeprefix("const ") in self._table.types
        return False

    def _is_plain(self, node: Node, depth: int = 0) -> bool:
        """Returns True of an expression whose value is a number, a text or a truth."""
        node = self._text.core(node)
        if depth > _MOST_DEPTH:
            return False
        if node.type in self._table.literals:
            return True
        if node.type in self._table.computed:
            operator = node.child_by_field_name("operator")
            is_choice = operator is not None and said(operator) in _CHOOSING
            if not is_choice and "ternary" not in node.type:
                return True
            parts = node.named_children[-2:]
            return all(self._is_plain(one, depth + 1) for one in parts)
        if node.type in self._table.functions:
            return self._answers_plain(node, depth)
        if node.type in self._table.calls:
            name = self._text.called(node)
            return name in self._table.plain or (name in self._text.bound and name in self._plain)
        if node.type in self._table.members_of:
            fields = self._table.members_of[node.type]
            member = node.child_by_field_name(fields[1])
            return member is not None and said(member) in self._table.plain
        return node.type in self._table.leaves and said(node) in self._plain

    def _answers_plain(self, function: Node, depth: int) -> bool:
        """Returns True if a function returns numbers and texts alone."""
        declared = function.child_by_field_name("type")
        if declared is not None:
            return said(declared) in self._table.types
        body = function.child_by_field_name("body")
        if body is not None and "block" not in body.type:
            return self._is_plain(body, depth + 1)
        returned = [one for one in self._text.inside(function) if one.type == "return_statement"]
        values = [value for one in returned for value in one.named_children]
        return bool(values) and all(self._is_plain(one, depth + 1) for one in values)

    def _kept(self, argument: Node) -> Node | None:
        """Returns what in an argument the tests may look at after the call; None if nothing."""
        due = [argument]
        for _ in range(len(self._text.nodes)):
            if not due:
                return None
            node = self._text.core(due.pop())
            if blank(node) or self._is_plain(node):
                continue
            if node.type in self._table.fresh:
                due += [
                    one
                    for one in node.named_children
                    if self._text.field(one) not in ("type", "key", "dimensions")
                ]
            elif node.type in self._table.calls and self._text.called(node) in self._table.makers:
                due += self._text.arguments(node)
            elif (value := self._only_value(node)) is not None:
                due.append(value)
            else:
                return node
        return argument

    def _only_value(self, node: Node) -> Node | None:
        """Returns the value of a name that has one, and that nothing else reads.

        Of a name whose members alone are read, the member must not be read elsewhere.
        """
        text, member = self._text, ""
        if node.type in self._table.members_of and node.type not in self._table.calls:
            fields = self._table.members_of[node.type]
            inner, named = map(node.child_by_field_name, fields)
            if inner is None or named is None:
                return None
            node, member = inner, said(named)
        name = said(node)
        values, uses = text.bound.get(name, []), text.uses.get(name, [])
        if node.type not in self._table.leaves or len(values) != 1:
            return None
        reads = [one for one in uses if not text.declares(one) and not self._is_shown(one)]
        if member:
            reads = [one for one in reads if self._reads(one) in ("", member)]
        declared = [one for one in uses if text.declares(one)]
        if len(reads) != 1 or len(declared) != 1:
            return None
        return values[0] if self._scope(reads[0]) == self._scope(declared[0]) else None

    def _reads(self, leaf: Node) -> str:
        """Returns the name of the member that is read of a name; "" if it is read as a whole."""
        parent = self._text.parent(leaf)
        pair = self._table.members_of.get(parent.type) if parent else None
        member = parent.child_by_field_name(pair[1]) if parent and pair else None
        return "" if member is None or member == leaf else said(member)

    def _is_shown(self, leaf: Node) -> bool:
        """Returns True if a name is only printed."""
        calls = (up for up in self._text.around(leaf) if up.type in self._table.calls)
        call = next(calls, None)
        return call is not None and self._text.called(call) in self._table.prints

    def _scope(self, node: Node) -> int:
        """Returns the function or loop in which a name stands."""
        for up in self._text.around(node):
            if up.type in self._table.functions or up.type in self._table.loops:
                return up.id
        return 0

    # -------------------------------------------------------------------------- how often

    def times(self, call: Node, known: tuple[str, ...] = ()) -> float:
        """Returns an upper bound for how often a call is made, as far as the text tells."""
        found, inner = 1.0, call
        for up in self._text.around(call):
            if up.type in self._table.loops:
                found *= self._repeats(up, inner)
            elif up.type in self._table.functions:
                name = self._text.name_of(up)
                outer = self._text.parent(up)
                if name in known:
                    return math.inf
                if name:
                    uses = self._text.uses.get(name, ())
                    calls = [one for one in map(self._text.call_of, uses) if one is not None]
                    return found * max(1, sum(self.times(one, (*known, name)) for one in calls))
                if outer is not None:
                    found *= self._repeats(outer, up, least=1)
            inner = up
        return found

    def _repeats(self, loop: Node, body: Node, least: int = _UNKNOWN_TIMES) -> float:
        """Returns the greatest number in a loop's head; a least one if there is none."""
        heads = [one for one in loop.children if self._text.field(one) != "body" and one != body]
        texts = [said(one) for one in heads]
        for leaf in (leaf for one in heads for leaf in self._text.leaves(one)):
            texts += [said(value) for value in self._text.bound.get(said(leaf), ())]
        numbers = [
            float(one.replace("_", ""))
            for one in _INTEGER.findall(" ".join(texts))
            if "x" not in one.lower()
        ]
        return max(numbers, default=least) or 1

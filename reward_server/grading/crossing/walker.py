"""Decides from a task's text whether its tests can run apart from the solution.

What this stops: tests to which the solution could hand more than plain data, or that would do more
with an answer than compare, measure and iterate it. What it does not: tests that are weak in every
process. Everything is refused that no table names. So a missing entry costs a label, and never a
verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_server.grading.crossing.errors import SharedError
from reward_server.grading.crossing.prompts import Declarations
from reward_server.grading.crossing.repeats import times
from reward_server.grading.crossing.text import Text, blank, said
from reward_server.grading.crossing.values import Solution, Values

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_CALLS = 2000


class Walk:
    """Applies the rules to a text.

    Args:
        text: the text.
        solution: what it may call.
        prompt: its beginning, before the tests.
    """

    def __init__(self, text: Text, solution: Solution, prompt: str) -> None:
        self._text, self._table = text, text.table
        self._solution, self._first = solution, prompt.count("\n") + 1
        self._values = Values(text, solution)
        self._asked, self._given = self._allowed()
        self._not_whole = self._table.real if solution.is_whole else frozenset[str]()
        declarations = Declarations(text, self._values, solution, prompt)
        self._rules = (
            self._check_name,
            self._check_module,
            self._check_type,
            declarations.check_state,
            declarations.check_lent,
            self._check_caught,
            self._check_gathered,
            self._check_part,
            self._check_call,
            self._check_signs,
        )

    def _allowed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Returns what may be called on an answer, and what may be given one."""
        table, more = self._table, frozenset[str]()
        more |= table.ordered if self._solution.is_whole else table.real
        kinds = (one.start_point.row for one in self._text.nodes if one.type in table.kinds)
        told = frozenset[str]() if min(kinds, default=self._first) < self._first else table.tells
        return table.asked | more, table.given | more | told

    def check(self) -> None:
        """Raises SharedError unless each node is allowed."""
        for node in self._text.nodes:
            if node.is_error or node.is_missing:
                raise SharedError("the text does not parse", node)
            if not node.is_named or blank(node):
                if said(node).startswith("//go:"):
                    raise SharedError("a directive is not on the list", node)
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
        if name in self._values.calls:
            self._check_use(node)
        elif name in self._values.objects and node.start_point.row >= self._first:
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
        if node.type in self._table.leaves and said(node) == "require":
            named = None if self._text.call_of(node) is not None else node
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

    def _check_caught(self, node: Node) -> None:
        """Allows to catch exceptions of a list, which cross."""
        if node.type != "catch_clause" or not self._table.raised:
            return
        body = node.child_by_field_name("body")
        first, end = node.start_byte, node.end_byte if body is None else body.start_byte
        for one in self._text.inside(node):
            is_type = first <= one.start_byte < end and not self._text.declares(one)
            is_name = one.type in self._table.leaves and said(one) not in self._table.raised
            if is_type and (is_name or one.type == "primitive_type"):
                raise SharedError("an exception of this type does not cross", one)

    def _check_gathered(self, node: Node) -> None:
        """Allows to go through the items of an answer before there is another one."""
        given: list[Node] = []
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if node.type in self._table.gathers:
            right = node.child_by_field_name("right")
            given = node.named_children if right is None else [right]
            if right is not None and self._values.holds(right) and self._asks(body):
                raise SharedError("an answer is iterated after another call", node)
        elif name is not None and name.type == "array_pattern":
            given = node.children_by_field_name("value")
        elif node.type in self._table.calls and self._text.called(node) in self._table.gathers:
            given = self._text.arguments(node)
        for one in map(self._text.core, given):
            is_name = one.type in self._table.leaves and self._values.is_answer(one)
            if is_name and not self._is_latest(one):
                raise SharedError("an answer is iterated after another call", node)

    def _is_latest(self, leaf: Node) -> bool:
        """Returns True if no call stands between that of a named answer and the name."""
        values = [self._text.core(one) for one in self._text.bound.get(said(leaf), ())]
        if not all(map(self._values.is_call, values)):
            return False
        first = min(one.end_byte for one in values)
        later = (one for one in self._text.nodes if first <= one.start_byte < leaf.start_byte)
        return not any(map(self._is_asking, later))

    def _asks(self, node: Node | None) -> bool:
        """Returns True if the solution may be called in a part of the text."""
        return node is not None and any(map(self._is_asking, self._text.inside(node)))

    def _is_asking(self, node: Node) -> bool:
        return node.type in self._table.calls and self._values.holds(self._text.callee(node))

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
        if not self._text.renames(node):
            raise SharedError("the solution's function is used as a value", node)

    def _check_object(self, node: Node) -> None:
        parent = self._text.parent(node)
        pair = self._table.members_of.get(parent.type) if parent else None
        member = parent.child_by_field_name(pair[1]) if parent and pair else None
        known = {*self._values.calls, *self._text.declarations}
        if member is None or member == node or said(member) not in known:
            raise SharedError("an object of the solution is used as a value", node)

    def _check_member(self, node: Node, name: str) -> None:
        found = self._text.object(node)
        library = "" if found is None else said(found.child_by_field_name("type") or found)
        if library in self._table.libraries and library not in self._text.declarations:
            if name not in self._table.libraries[library]:
                raise SharedError("this function of the library is not on the list", node)
        elif name not in self._table.members and name not in self._text.declarations:
            raise SharedError("this member is not on the list", node)

    def _check_part(self, node: Node) -> None:
        """Allows to index by the tests' own values, and to set parts of their own values."""
        index = self._text.index(node)
        if index is not None and self._values.holds(index):
            raise SharedError("an answer is used as an index or a key", index)
        whole = None if index is None else self._text.whole(node)
        if whole is not None and self._is_of_library(whole):
            raise SharedError("the library is indexed", node)
        pair = self._table.binds.get(node.type)
        target = node.child_by_field_name(pair[0]) if pair else None
        if target is None or target.type not in {*self._table.indexes, *self._table.members_of}:
            return
        base = self._values.base(target)
        if self._values.is_answer(base):
            raise SharedError("an answer is changed", node)
        if self._is_of_library(base):
            raise SharedError("the library is changed", node)

    def _is_of_library(self, node: Node) -> bool:
        known = self._table.names | frozenset(self._table.libraries)
        return said(node) in known and said(node) not in self._text.declarations

    def _check_call(self, node: Node) -> None:
        if node.type not in self._table.calls:
            return
        name, arguments = self._text.called(node), self._text.arguments(node)
        if self._values.is_call(node):
            self._check_arguments(node, arguments)
            return
        self._check_callee(node, name)
        if name in self._table.formats and arguments:
            if arguments[0].type not in self._table.literals:
                raise SharedError("a format is no literal", node)
        elif name in self._table.ordered and len(arguments) > 2:
            self._check_given(arguments)  # an order of the tests' own may be none
        elif name not in self._given and name not in self._text.declarations:
            self._check_given(arguments)

    def _check_callee(self, node: Node, name: str) -> None:
        """Allows to call functions, methods, and constructors for a name or a call."""
        parent, receiver = self._text.parent(node), self._text.receiver(node)
        around = "" if parent is None else parent.type
        if receiver is None:
            if self._values.is_answer(self._text.callee(node)):
                raise SharedError("an answer is called", node)
        elif self._values.is_answer(receiver) and name not in self._asked:
            raise SharedError("this method of an answer is not on the list", node)
        elif name in self._not_whole and self._values.holds(receiver):
            raise SharedError("the absolute value of a whole answer may be negative", node)
        if name in self._table.cursors and "argument" not in around:
            raise SharedError("an iterator is more than an argument", node)
        keeps = {*self._table.binds, *self._table.members_of}
        if name == self._solution.owner and around not in keeps:
            raise SharedError("an object of the solution is used as a value", node)

    def _check_given(self, arguments: list[Node]) -> None:
        """Allows functions that are not on the list to be given tests' own values and functions."""
        for one in map(self._text.core, arguments):
            if one.type not in self._table.functions and self._values.holds(one):
                raise SharedError("what an answer is given to is not on the list", one)

    def _check_arguments(self, call: Node, arguments: list[Node]) -> None:
        if times(self._text, call) > _MOST_CALLS:
            raise SharedError(f"the solution may be called more than {_MOST_CALLS:,} times", call)
        if self._solution.copies:
            return
        for one in arguments if self._solution.held else ():
            self._check_held(one)
        for one in arguments:
            if (stays := self._values.kept(one)) is not None:
                raise SharedError("an argument is no fresh value of numbers and texts", stays)

    def _check_held(self, argument: Node) -> None:
        """Allows values of listed types where any type is taken; others could not be sent."""
        for node in self._text.inside(argument):
            written = node.child_by_field_name("type")
            is_other = written is not None and said(written) not in self._solution.held
            is_name = node.type in self._table.leaves and not self._text.is_member(node)
            if node.type == "composite_literal" and is_other:
                raise SharedError("a value of this type is not on the list", node)
            if is_name and said(node) in self._text.bound and not self._values.is_plain(node):
                raise SharedError("a value of this type is not on the list", node)

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
        answers = [one for one in operands if self._values.holds(one)]
        if not answers or self._solution.is_plain:
            return
        if self._table.interned:  # a text is the same one if both write it
            values = self._table.literals - self._table.interned | {"unary_expression"}
            is_by_value = any(self._text.core(one).type in values for one in operands)
        else:
            is_by_value = len(answers) == 1 or any(map(self._values.is_plain, operands))
        if not is_by_value:
            raise SharedError("an answer is compared by identity", node)

"""What the expressions of tests are: answers, numbers and texts, or values that are made afresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reward_server.grading.crossing.text import Text, blank, said

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_DEPTH = 50
_COMPOSED = frozenset(("slice_type", "array_type", "map_type"))  # `[]byte(a)` may be `a` itself
_UNTYPED = frozenset(("", "auto", "var"))
_CHOOSING = frozenset(("||", "&&", "??"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What the tests may call.

    Args:
        names: the functions that the solution completes.
        owner: the class whose methods they are; "" if there is none.
        copies: whether the language hands copies of arguments to them.
        is_plain: whether they answer a number, a truth or a character.
        held: if a parameter takes values of any type: the types that may be written for it.
        is_whole: whether their answers hold no numbers but whole ones, of which there is a least.
    """

    names: frozenset[str]
    owner: str = ""
    copies: bool = False
    is_plain: bool = False
    is_whole: bool = False
    held: frozenset[str] = frozenset()


class Values:
    """Knows what the expressions of a text are.

    A name counts for the same wherever it stands in the text. So a name may count as an answer
    though it is none, which costs a label.

    Args:
        text: the text.
        solution: what it may call.

    Attributes:
        calls: the names of the solution's functions, also those that the tests give them.
        objects: the names of objects of the solution's class.
    """

    def __init__(self, text: Text, solution: Solution) -> None:
        self._text, self._table, self._solution = text, text.table, solution
        self.calls = {*solution.names}
        for _ in range(2):
            self.calls |= {
                name
                for name, values in text.bound.items()
                if len(values) == 1 and said(values[0]) in self.calls
            }
        self.objects = frozenset(self._instances())
        self._answered, self._answers = set[str](), set[str]()
        self._add_bound(self._answered, self.holds)
        self._add_bound(self._answers, self.is_answer)
        self._plain = self._typed_names()
        self._functions = {
            one for one, values in text.bound.items() if any(map(self._runs, values))
        }
        self._add_plain()

    def is_call(self, node: Node) -> bool:
        """Returns True of a call of the solution."""
        return node.type in self._table.calls and self._text.called(node) in self.calls

    def holds(self, node: Node) -> bool:
        """Returns True if an expression may depend on an answer."""
        for leaf in self._text.leaves(node):
            name = said(leaf)
            if name in self.calls:
                return True
            if name in self._answered and not self._text.is_member(leaf):
                return True
        return False

    def is_answer(self, node: Node) -> bool:
        """Returns True if an expression is an answer, or a part of one."""
        node = self.base(node)
        name = said(node) if node.type in self._table.leaves else ""
        return self.is_call(node) or name in self._answers

    def base(self, node: Node) -> Node:
        """Returns the object of whose part an expression speaks."""
        for _ in range(_MOST_DEPTH):
            node = self._text.core(node)
            inner = None if self.is_call(node) else self._text.whole(node)
            if inner is None:
                return node
            node = inner
        return node

    def _add_bound(self, known: set[str], is_kind: Callable[[Node], bool]) -> None:
        """Adds the names that may be bound to a value of a kind, which these names decide."""
        names, before = list(self._text.bound.items()), -1
        while before != len(known):
            before = len(known)
            names.reverse()  # chains of names are followed in both directions
            for name, values in names:
                if name not in known and any(map(is_kind, values)):
                    known.add(name)

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

    def _typed_names(self) -> set[str]:
        """Returns the names that are declared as numbers and texts."""
        declared = self._text.declarations.items()
        return {
            name
            for name, places in declared
            if self._table.types.issuperset(map(self._type, places))
        }

    def _add_plain(self) -> None:
        """Adds the names that only numbers and texts are bound to."""
        bound = [(one, all_) for one, all_ in self._text.bound.items() if one not in self._plain]
        known = self._table.types | _UNTYPED
        declared = self._text.declarations
        self._plain |= {
            one
            for one in self._text.bound
            if known.issuperset(map(self._type, declared.get(one, ())))
        }
        before = -1
        while before != len(self._plain):
            before = len(self._plain)
            bound.reverse()
            for name, values in bound:
                if name in self._plain and not all(map(self._gives_plain, values)):
                    self._plain.discard(name)

    def _type(self, place: Node) -> str:
        """Returns the type that is written where a name is declared; "" if there is none."""
        for up, _ in zip(self._text.around(place), range(3), strict=False):
            declared = up.child_by_field_name("type")
            if declared is not None:
                return "" if "variadic" in up.type else said(declared).removeprefix("const ")
        return ""

    def is_plain(self, node: Node, depth: int = 0) -> bool:
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
            return all(self.is_plain(one, depth + 1) for one in parts)
        if node.type in self._table.calls:
            name = self._text.called(node)
            if name in self._text.declarations:
                return name in self._text.bound and name in self._plain
            is_one = self._text.callee(node).type not in _COMPOSED
            return is_one and name in self._table.plain
        if node.type in self._table.members_of:
            fields = self._table.members_of[node.type]
            member = node.child_by_field_name(fields[1])
            known = self._table.plain - self._text.declarations.keys()
            return member is not None and said(member) in known
        is_name = node.type in self._table.leaves and said(node) not in self._functions
        return is_name and said(node) in self._plain

    def _runs(self, node: Node) -> bool:
        return self._text.core(node).type in self._table.functions

    def _gives_plain(self, node: Node) -> bool:
        """Returns True of a number or a text, and of a function that returns them."""
        inner = self._text.core(node)
        return self._answers_plain(inner, 0) if self._runs(inner) else self.is_plain(inner)

    def _answers_plain(self, function: Node, depth: int) -> bool:
        """Returns True if a function returns numbers and texts alone."""
        declared = function.child_by_field_name("type")
        if declared is not None:
            return said(declared) in self._table.types
        body = function.child_by_field_name("body")
        if body is not None and "block" not in body.type:
            return self.is_plain(body, depth + 1)
        returned = [one for one in self._text.inside(function) if one.type == "return_statement"]
        values = [value for one in returned for value in one.named_children]
        return bool(values) and all(self.is_plain(one, depth + 1) for one in values)

    def kept(self, argument: Node) -> Node | None:
        """Returns what in an argument the tests may look at after the call; None if nothing."""
        due = [argument]
        for _ in range(len(self._text.nodes)):
            if not due:
                return None
            node = self._text.core(due.pop())
            if blank(node) or self.is_plain(node):
                continue
            if node.type in self._table.fresh:
                due += [
                    one
                    for one in node.named_children
                    if self._text.field(one) not in ("type", "key", "dimensions")
                ]
            elif node.type in self._table.calls and self._makes(node):
                due += self._parts_of(node)
            elif (value := self._only_value(node)) is not None:
                due.append(value)
            else:
                return node
        return argument

    def _makes(self, call: Node) -> bool:
        name = self._text.called(call)
        return name in self._table.makers and name not in self._text.declarations

    def _parts_of(self, call: Node) -> list[Node]:
        """Returns what a maker's value is made of: also what it copies the items of."""
        given, receiver = self._text.arguments(call), self._text.receiver(call)
        parts = [one for one in given if not (self._runs(one) and self._gives_plain(one))]
        known = {*self._table.libraries, *self._table.names} - self._text.declarations.keys()
        of_library = receiver is None or known.issuperset(map(said, self._text.leaves(receiver)))
        return parts if receiver is None or of_library else [*parts, receiver]

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
        for up in self._text.around(leaf):
            if up.type in self._table.calls and self._text.called(up) in self._table.prints:
                return True
            if up.type in self._table.functions:
                return False
        return False

    def _scope(self, node: Node) -> int:
        """Returns the function or loop that runs what stands at a name."""
        inner, is_declared = node, self._text.declares(node)
        for up in self._text.around(node):
            is_once = self._text.is_once(inner) and not is_declared
            is_loop = up.type in self._table.loops and not is_once
            if up.type in self._table.functions or is_loop:
                return up.id
            inner = up
        return 0

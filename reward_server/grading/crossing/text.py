"""The syntax tree of a test program: its names, what they are bound to, and its calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from reward_server.grading.crossing.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Fields of declarators that declare nothing.
_VALUES = frozenset(
    ["value", "right", "size", "type", "parameters", "arguments", "body", "default_value"]
)
_ONCE = frozenset(("right", "value", "initializer"))  # what a loop computes before its first round
# Parameters whose value is no argument: a list of them, or what stands for one that is missing.
_MORE_THAN_GIVEN = frozenset(
    [
        "rest_pattern",
        "spread_parameter",
        "variadic_parameter_declaration",
        "assignment_pattern",
        "optional_parameter",
        "optional_parameter_declaration",
    ]
)
_WRAPPING = frozenset(
    [
        "parenthesized_expression",
        "await_expression",
        "expression_list",
        "try_expression",
        "cast_expression",
        "reference_expression",
        "argument_list",
        "non_null_expression",
        "literal_element",
    ]
)


class Text:
    """A parsed test program.

    Args:
        source: the text.
        table: what the language's tests may hold.
        parser: of the language.
    """

    def __init__(self, source: str, table: Table, parser: Parser) -> None:
        for pattern, replacement in table.macros.items():
            source = re.sub(pattern, replacement, source)
        self.table = table
        self.root = parser.parse(source.encode("utf-8", "replace")).root_node
        self.nodes: list[Node] = []
        self._ends: dict[int, tuple[int, int]] = {}
        self._parents: dict[int, Node] = {}
        self._fields: dict[int, str] = {}
        self._visit()
        self.uses: dict[str, list[Node]] = {}
        for leaf in self._leaves(self.nodes):
            self.uses.setdefault(said(leaf), []).append(leaf)
        self.declarations: dict[str, list[Node]] = {}
        for node in self.nodes:
            for leaf in self._declared(node):
                self.declarations.setdefault(said(leaf), []).append(leaf)
        self._declaring = {leaf.id for one in self.declarations.values() for leaf in one}
        self.bound: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name, value in self._bindings(node):
                self.bound.setdefault(name, []).append(value)
        for node in self.nodes:  # these need the names of all functions
            for name, value in self._handed(node):
                self.bound.setdefault(name, []).append(value)

    def _visit(self) -> None:
        """Lists all nodes in the order of the text, each before what is in it."""
        cursor = self.root.walk()
        open_at: list[int] = []
        while True:
            node = cursor.node
            assert node is not None
            if open_at:
                self._parents[node.id] = self.nodes[open_at[-1]]
                self._fields[node.id] = cursor.field_name or ""
            open_at.append(len(self.nodes))
            self.nodes.append(node)
            if cursor.goto_first_child():
                continue
            while True:
                at = open_at.pop()
                self._ends[self.nodes[at].id] = at, len(self.nodes)
                if cursor.goto_next_sibling():
                    break
                if not cursor.goto_parent():
                    return

    # ----------------------------------------------------------------------------- the tree

    def inside(self, node: Node) -> Sequence[Node]:
        """Returns a node and all nodes in it."""
        first, end = self._ends[node.id]
        return self.nodes[first:end]

    def parent(self, node: Node) -> Node | None:
        """Returns the node around a node."""
        return self._parents.get(node.id)

    def around(self, node: Node) -> Iterator[Node]:
        """Yields the nodes around a node, innermost first."""
        up = self._parents.get(node.id)
        while up is not None:
            yield up
            up = self._parents.get(up.id)

    def field(self, node: Node) -> str:
        """Returns the field of its parent in which a node is."""
        return self._fields.get(node.id, "")

    def is_once(self, part: Node) -> bool:
        """Returns True of a part of a loop that is computed before its first round."""
        return self.field(part) in _ONCE or part.type == "range_clause"

    def _leaves(self, nodes: Iterable[Node]) -> Iterator[Node]:
        for node in nodes:
            if node.type in self.table.leaves and not node.named_child_count:
                yield node

    def leaves(self, node: Node) -> Iterator[Node]:
        """Yields the names in a node."""
        return self._leaves(self.inside(node))

    def core(self, node: Node) -> Node:
        """Returns an expression without brackets, casts and the like around it."""
        while node.type in _WRAPPING and node.named_child_count:
            inner = node.child_by_field_name("value") or node.named_children[-1]
            if node.named_child_count > 1 and node.type != "cast_expression":
                break
            node = inner
        return node

    def index(self, node: Node) -> Node | None:
        """Returns the index or key of a node that indexes; None for others."""
        pair = self.table.indexes.get(node.type)
        if pair is None:
            return None
        return node.named_children[1] if pair[1] == "1" else node.child_by_field_name(pair[1])

    def whole(self, node: Node) -> Node | None:
        """Returns the object of whose item or member an expression speaks."""
        pair = self.table.indexes.get(node.type) or self.table.members_of.get(node.type)
        if pair is None:
            return None
        return node.named_children[0] if pair[0] == "0" else node.child_by_field_name(pair[0])

    # ---------------------------------------------------------------------------- the names

    def is_member(self, leaf: Node) -> bool:
        """Returns True if a name is that of a member of an object."""
        parent = self.parent(leaf)
        pair = self.table.members_of.get(parent.type) if parent else None
        return pair is not None and self.field(leaf) == pair[1] and self.object(leaf) is not None

    def object(self, leaf: Node) -> Node | None:
        """Returns the object whose member a name is."""
        parent = self.parent(leaf)
        pair = self.table.members_of.get(parent.type) if parent else None
        return parent.child_by_field_name(pair[0]) if parent and pair else None

    def declares(self, leaf: Node) -> bool:
        """Returns True if a name is declared where it stands."""
        return leaf.id in self._declaring

    def renames(self, leaf: Node) -> bool:
        """Returns True if a name gets another name."""
        parent = self.parent(leaf)
        while parent is not None and parent.type in _WRAPPING:
            parent = self.parent(parent)
        return parent is not None and parent.type in self.table.binds

    def _declared(self, node: Node) -> Iterator[Node]:
        for field in self.table.declares.get(node.type, ()):
            found = node.named_children if field == "*" else node.children_by_field_name(field)
            for child in found:
                yield from self._declarators(child)

    def _declarators(self, node: Node) -> Iterator[Node]:
        if node.type in self.table.leaves:
            yield node
            return
        for child in node.named_children:
            field = self._fields[child.id]
            is_value = field == "key" if node.type == "pair_pattern" else field in _VALUES
            if not is_value and child.type not in self.table.literals:
                yield from self._declarators(child)

    def _bindings(self, node: Node) -> Iterator[tuple[str, Node]]:
        pair = self.table.binds.get(node.type)
        if "catch" in node.type:
            yield from ((said(leaf), node) for leaf in self._declared(node))
        if pair is None:
            return
        names = node.children_by_field_name(pair[0])
        values = node.children_by_field_name(pair[1])
        names, values = (_listed(one) for one in (names, values))
        for at, name in enumerate(names):
            taken = [values[at]] if len(names) == len(values) else values
            for leaf in self.leaves(name):
                if not self.is_member(leaf) and self._root_of(leaf, name):
                    yield from ((said(leaf), value) for value in taken)

    def _root_of(self, leaf: Node, target: Node) -> bool:
        """Returns True if a name is assigned, or holds what is assigned, in a target."""
        for node in (leaf, *self.around(leaf)):
            if node.id == target.id:
                return True
            up = self._parents[node.id]
            if self.index(up) == node:
                return False
            if self.field(node) in _VALUES and up.type != "pair_pattern":
                return False
        return True

    def _handed(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Yields the parameters of functions, each with what it may be given."""
        if node.type not in self.table.functions:
            return
        name = self.name_of(node)
        if name:
            yield name, node
        leaves = list(self._parameters(node))
        parameters = [said(leaf) for leaf in leaves]
        for leaf in leaves:
            around = (up for up, _ in zip(self.around(leaf), range(2), strict=False))
            yield from ((said(leaf), up) for up in around if up.type in _MORE_THAN_GIVEN)
        given: list[Node] = []
        for use in self.uses.get(name, ()) if name else ():
            call = self.call_of(use)
            if call is not None:
                given += self.arguments(call)
            elif not self.declares(use):
                given += [use, *self._beside(use)]
        given += [] if name else self._beside(node)
        yield from ((one, value) for one in parameters for value in given)

    def _parameters(self, function: Node) -> Iterator[Node]:
        for node in self.inside(function)[1:]:
            if node.type in self.table.functions:
                return
            if self.field(node) in ("parameters", "parameter"):
                yield from (one for one in self.leaves(node) if self.declares(one))
                return

    def name_of(self, function: Node) -> str:
        """Returns the name of a function, also if it is assigned to it; "" if it has none."""
        value, parent = function, self.parent(function)
        if parent is not None and parent.type == "expression_list":
            value, parent = parent, self.parent(parent)
        pair = self.table.binds.get(parent.type) if parent else None
        if parent is not None and pair is not None and self.field(value) == pair[1]:
            holder = parent.child_by_field_name(pair[0])
        else:
            holder = function.child_by_field_name("name") or function.child_by_field_name(
                "declarator"
            )
        found = None if holder is None else next(self.leaves(holder), None)
        return "" if found is None or not self.declares(found) else said(found)

    # ---------------------------------------------------------------------------- the calls

    def call_of(self, leaf: Node) -> Node | None:
        """Returns the call whose function a name is, alone or as a member; None if it is none."""
        node, parent = leaf, self.parent(leaf)
        if parent is not None and parent.type in self.table.members_of:
            if self.field(leaf) != self.table.members_of[parent.type][1]:
                return None
            if parent.type in self.table.calls:
                return parent
            node, parent = parent, self.parent(parent)
        if parent is None or parent.type not in self.table.calls:
            return None
        return parent if self.field(node) == self.table.calls[parent.type][0] else None

    def callee(self, call: Node) -> Node:
        """Returns the function of a call; of a method, with its object."""
        found = call.child_by_field_name(self.table.calls[call.type][0])
        return call if found is None else found

    def called(self, call: Node) -> str:
        """Returns the name of a call's function, without its object."""
        node = self.callee(call)
        if node.id != call.id and node.type in self.table.calls:
            return ""
        while node.named_child_count and node.type not in self.table.leaves:
            fields = map(node.child_by_field_name, ("name", "field", "property", "function"))
            node = next((one for one in fields if one is not None), node.named_children[0])
        return said(node)

    def arguments(self, call: Node) -> list[Node]:
        """Returns the arguments of a call."""
        found = call.child_by_field_name(self.table.calls[call.type][1])
        return [] if found is None else [one for one in found.named_children if not blank(one)]

    def receiver(self, call: Node) -> Node | None:
        """Returns the object whose method is called."""
        if call.type in self.table.members_of:
            return call.child_by_field_name(self.table.members_of[call.type][0])
        function = self.callee(call)
        pair = self.table.members_of.get(function.type)
        return function.child_by_field_name(pair[0]) if pair else None

    def _beside(self, function: Node) -> list[Node]:
        """Returns what a function may be called with that is handed to one of the library.

        With the function itself, which is no value, if that is not known.
        """
        around = (up for up, _ in zip(self.around(function), range(3), strict=False))
        call = next((up for up in around if up.type in self.table.calls), None)
        if call is None or self.called(call) in self.declarations:
            return [function]
        receiver, given = self.receiver(call), self.arguments(call)
        others = [one for one in given if function not in self.inside(one)]
        is_direct = any(self.core(one) == function for one in (self.callee(call), *given))
        found = others if receiver is None else [receiver, *others]
        return found if is_direct else [*found, function]


def said(node: Node) -> str:
    """Returns the text of a node."""
    return "" if node.text is None else node.text.decode("utf-8", "replace")


def blank(node: Node) -> bool:
    """Returns True of a comment."""
    return "comment" in node.type


def _listed(nodes: Sequence[Node]) -> list[Node]:
    """Returns the items of lists of expressions."""
    return [
        item
        for node in nodes
        for item in (node.named_children if node.type == "expression_list" else [node])
    ]

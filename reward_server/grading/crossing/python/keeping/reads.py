"""What an object of the solution may hold and change later, and where tests read it again.

What this stops: a right object that changes a list which the tests hold, and a wrong one that
should have copied it. A change crosses with the call that is handed a container, and with no later
one. So tests that read a container after a later question to an object need its process.

What it does not do: it does not follow values; see `held`. A plain function is trusted to keep
nothing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.keeping.fixed import Key
from reward_server.grading.crossing.python.keeping.held import Held, expressions
from reward_server.grading.crossing.python.kinds import Kinds
from reward_server.grading.crossing.python.refusals import refuse
from reward_server.grading.crossing.python.scopes import Kind
from reward_server.grading.syntax import FUNCTIONS, dotted, walk

Place = tuple[int, int]
_HOMES = (*FUNCTIONS, ast.Lambda, ast.Module)
_LOOPS = (ast.For, ast.While, *looks.COMPREHENSIONS)
_BLOCKS = ("body", "orelse", "finalbody")


def check_kept(text: Kinds) -> None:
    """Refuses the first read of what an object may have changed."""
    for one in _Kept(text).reads():
        refuse("arguments", one, f"{ast.unparse(one)}, which an object may have changed")


class _Kept(Held):
    """The reads of what objects may have changed.

    Args:
        text: the tests.
    """

    def __init__(self, text: Kinds) -> None:
        super().__init__(text)
        self._names = [*text.facts.loaded, *(one for one in text.facts.attributes if self.key(one))]
        self._questions: dict[int, list[Place]] = defaultdict(list)
        self._fields: set[Place] = set()
        if asking := [one for one in self._names if self._asks(one)]:
            for one in (*asking, *filter(self._runs, self._names)):
                self._questions[id(self._home(one))].append(_start(one))
            self._fields = {_start(one) for one in asking if self._is_field(one)}
            for node in text.facts.assigned:
                if any(map(self._asks, node.targets)):  # another object may end
                    self._questions[id(self._home(node))].append(_end(node))
            self.hold_all()

    def reads(self) -> Iterator[ast.expr]:
        """Yields what tests read, or change, after an object may have changed it."""
        for one in self._names if self._questions else ():
            key = self.key(one)
            if key is None or self.is_fixed(one) or self._tells_the_same(one):
                continue
            if any(self._is_late(one, key, event) for event in self.events(key)):
                yield one
        yield from filter(self._is_outlived, (*self.text.facts.calls, *self.text.facts.attributes))

    def _is_outlived(self, node: ast.expr) -> bool:
        """Returns True for an answer that is in use while an object is asked again."""
        above = self.text.parent(node)
        is_kept = isinstance(above, looks.DISPLAYS) and not self._tells_the_same(above)
        if not is_kept and not (isinstance(above, _ITERATING) and above.iter is node):
            return False
        if not self._questions or self.text.kind(node) is not Kind.ANSWER:
            return False
        asked, start = self._questions[id(self._home(node))], _end(node)
        is_repeated = isinstance(above, looks.COMPREHENSIONS)
        return is_repeated or any(start <= one < self._until(node) for one in asked)

    def _asks(self, node: ast.expr) -> bool:
        """Returns True for a name by which an object is asked."""
        kind, above = self.text.kind(node), self.text.parent(node)
        if kind is not Kind.SOLUTION:
            return kind is Kind.HANDLE
        parts = [node, above] if isinstance(above, ast.Attribute) else [node]
        return any(map(self.text.is_class, parts))

    def _runs(self, node: ast.expr) -> bool:
        """Returns True for a function of the tests, which may ask an object."""
        values = self.values(node)
        if isinstance(node, ast.Attribute):
            values = self.text.class_of(self.text.scope_of(node)).bound.get(node.attr, [])
        return any(isinstance(one, _HOMES) for one in values)

    def _is_field(self, node: ast.AST) -> bool:
        """Returns True for an object of which an attribute is read, and not called."""
        above = self.text.parent(node)
        is_read = isinstance(above, ast.Attribute)
        while isinstance(above, ast.Attribute):
            node, above = above, self.text.parent(above)
        return is_read and not (isinstance(above, ast.Call) and above.func is node)

    # --------------------------------------------------------------------------------- time

    def _is_late(self, node: ast.expr, key: Key, event: ast.AST) -> bool:
        """Returns True if an object was asked between an event and a read."""
        home, loops, bound = self._home(node), *self._around(node, key)
        start, is_near = _end(self._whole(event)), self._home(event) is home
        if not is_near and bound is None:
            if not self._is_anew(node, key):
                return True
            where = self._home(event)
            if getattr(where, "name", "").startswith("test"):
                return False
            if any(start < one for one in self._questions[id(where)]):
                return True
        start = start if is_near else (0, 0)
        start = start if bound is None else max(start, _end(bound))
        around = [one for one in loops if not is_near or _start(event) < _end(one)]
        return any(
            start < one < self._until(node) or any(_start(x) <= one < _end(x) for x in around)
            for one in self._asked_around(node, home)
        )

    def _asked_around(self, node: ast.expr, home: ast.AST) -> Iterator[Place]:
        """Yields where objects are asked; a field beside a read, as in `s.rows == rows`, is not."""
        first = _start(self._whole(node))
        asked = self._questions[id(home)]
        yield from (one for one in asked if one not in self._fields or one < first)
        if self._is_change(node):
            yield _start(node)

    def _is_anew(self, node: ast.expr, key: Key) -> bool:
        """Returns True for an attribute that each test has anew."""
        homes = list(map(self._home, expressions(self.values(node))))
        names = [getattr(one, "name", "") for one in homes]
        is_set = bool(names) and not any(one in ("", "setUpClass", "setup_class") for one in names)
        return key[1].startswith("self.") and is_set

    def _home(self, node: ast.AST) -> ast.AST:
        """Returns the function around a node, or the text."""
        return next(one for one in self.text.around(node) if isinstance(one, _HOMES))

    def _whole(self, node: ast.AST) -> ast.AST:
        """Returns the whole expression to which a node belongs."""
        for one in self.text.around(node):
            if isinstance(one, ast.stmt):
                break
            node = one if isinstance(one, ast.expr) else node
        return node

    def _until(self, node: ast.expr) -> Place:
        """Returns where a value that is read is used last: where it is handed over, or later."""
        last: ast.AST = node
        for one in self.text.around(node):
            match one:
                case ast.For(iter=loop) if loop is last:
                    return _end(one)
                case ast.Call(func=function) if function is not last and self.keeps(function):
                    return _start(one if dotted(function) else node)
                case ast.stmt():
                    break
            last = one
        return _end(self._whole(node))

    def _around(self, node: ast.expr, key: Key) -> tuple[list[ast.AST], ast.AST | None]:
        """Returns the loops around a read, up to what binds its variable anew, and that."""
        loops: list[ast.AST] = []
        last: ast.AST = node
        for one in self.text.around(node):
            for before in reversed(_before(one, last)):
                if isinstance(before, ast.Assign) and self._binds(before.targets, key):
                    return loops, before
            if isinstance(one, ast.For) and last in one.body and self._binds([one.target], key):
                return loops, one.iter
            if isinstance(one, _HOMES):
                break
            if isinstance(one, _LOOPS) and last is not getattr(one, "iter", None):
                loops.append(one)
            last = one
        return loops, None

    def _binds(self, targets: Iterable[ast.expr], key: Key) -> bool:
        parts = (part for one in targets for part in walk(one))
        return any(
            self.key(part) == key
            for part in parts
            if isinstance(getattr(part, "ctx", None), ast.Store)
        )

    def _is_change(self, node: ast.expr) -> bool:
        """Returns True if tests change what a variable holds."""
        last, above = node, self.text.parent(node)
        while isinstance(above, ast.Subscript) and above.value is last:
            if not isinstance(above.ctx, ast.Load):
                return True
            last, above = above, self.text.parent(above)
        match above:
            case ast.AugAssign(target=target):
                return target is last
            case ast.Attribute(attr=name):
                return name in allowed.CHANGING
            case ast.Call(func=function):
                return self.text.listed(function) in allowed.CHANGES_ARGUMENT
        return False

    def _is_number(self, node: ast.expr, beside: ast.expr) -> bool:
        """Returns True for a literal that no container equals; an array may, item by item."""
        items = looks.parts(node) if isinstance(beside, looks.DISPLAYS) else []
        is_plain = looks.is_scalar(node) or (bool(items) and all(map(looks.is_scalar, items)))
        return is_plain and not self.text.facts.has_arrays

    def _tells_the_same(self, node: ast.expr) -> bool:
        """Returns True for a read that tells of a container the same at all times."""
        match self.text.parent(node):
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(op, _IN):
                return any(self._is_number(one, node) for one in (left, right))
            case ast.Subscript(slice=index):
                return index is node
            case ast.Call(func=ast.Attribute(attr=name), args=given) if name in _COMPARES:
                return any(self._is_number(one, node) for one in given[:2])
            case ast.Call(func=ast.Attribute(attr=name)) if name in _OF_NONE:
                return True
            case ast.Call(func=function):
                return self.text.listed(function) in ("isinstance", "type")
        return False


_ITERATING = (ast.For, ast.comprehension)
_IN = (ast.In, ast.NotIn)
_OF_NONE = frozenset(("assertIsNone", "assertIsNotNone", "assertIsInstance"))
_COMPARES = frozenset(("assertEqual", "assertNotEqual", "assertAlmostEqual", "assertIs"))


def _before(node: ast.AST, inner: ast.AST) -> Sequence[ast.AST]:
    """Returns the statements before another one in its block."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and inner in block:
            return block[: block.index(inner)]
    return ()


def _start(node: ast.AST) -> Place:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]  # of expressions, statements


def _end(node: ast.AST) -> Place:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]  # the same

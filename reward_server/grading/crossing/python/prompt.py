"""What a prompt defines in full, which runs in the judge, and what the solution has to write."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from reward_server.grading.crossing.python import looks
from reward_server.grading.syntax import FUNCTIONS, parse, walk

_ENDINGS = ("", "\n    pass", "\n        pass", "\n\tpass")


def parsed(text: str) -> ast.Module | None:
    """Returns a prompt's code, or None if it is not code."""
    for ending in _ENDINGS if text else ():
        try:
            return parse(text.rstrip() + ending)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _is_stub(node: ast.stmt) -> bool:
    """Returns True for a function without a body, which the solution has to write."""
    return isinstance(node, FUNCTIONS) and all(
        isinstance(one, (ast.Pass, ast.Raise))
        or (isinstance(one, ast.Return) and _is_none(one.value))
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in node.body
    )


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_left_open(node: ast.stmt, is_last: bool) -> bool:
    """Returns True for a definition that the solution has to write, or to continue."""
    if isinstance(node, ast.ClassDef):
        inner = (one for one in walk(node) if isinstance(one, ast.stmt))
        return is_last or any(map(_is_stub, inner))
    # Nothing can continue what has returned.
    is_open = isinstance(node, FUNCTIONS) and not isinstance(node.body[-1], ast.Return)
    return _is_stub(node) or (is_last and is_open)


class Helpers:
    """What a prompt defines, by name; the solution continues its last statement.

    Args:
        tree: the prompt.
        entry_point: what the solution has to define in any case.

    Attributes:
        found: definitions in full.
        imports: imports, by the name that they bind.
        stars: imports of all names of a module.
        open_classes: classes that the solution has to write.
        functions: all functions.
        changed: names and attributes that the prompt binds more than once.
    """

    def __init__(self, tree: ast.Module | None, entry_point: str) -> None:
        self.found: dict[str, ast.stmt] = {}
        self.imports: dict[str, ast.Import | ast.ImportFrom] = {}
        self.stars: list[ast.ImportFrom] = []
        self.open_classes: set[str] = set()
        self.functions: set[str] = set()
        self.changed = looks.bound_again(tree)
        body = tree.body if tree is not None else []
        for node in body:
            self._read(node, entry_point, is_last=node is body[-1])
        self.open_classes -= self.found.keys()

    def _read(self, node: ast.stmt, entry_point: str, *, is_last: bool) -> None:
        match node:
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                self.stars.append(node)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for one in names:
                    self.imports[one.asname or one.name.partition(".")[0]] = node
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                is_class = isinstance(node, ast.ClassDef)
                (self.open_classes if is_class else self.functions).add(name)
                if name != entry_point and not _is_left_open(node, is_last):
                    self.found[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.found[name] = node

    def origin(self, name: str) -> str:
        """Returns what an import of the prompt binds a name to, or ""."""
        node = self.imports.get(name)
        for one in node.names if node is not None else ():
            top = one.name.partition(".")[0]
            if name not in (one.asname, one.name, top):
                continue
            if isinstance(node, ast.ImportFrom):
                return f"{node.module}.{one.name}"
            return one.name if one.asname else top
        return ""

    def needed(self, name: str) -> Iterable[ast.Import | ast.ImportFrom]:
        """Returns the imports that may bind a name."""
        node = self.imports.get(name)
        return self.stars if node is None else [node]


def without_annotations(node: ast.stmt) -> ast.stmt:
    """Returns a definition whose annotations, which need not run, are gone."""
    for part in walk(node):
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                part.returns = None
            case ast.arg():
                part.annotation = None
    return node

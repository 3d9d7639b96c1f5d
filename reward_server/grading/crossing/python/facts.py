"""What one pass over a namespace's texts tells about them, before names are resolved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reward_server.grading.syntax import FUNCTIONS, last_name, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The texts of one namespace.

    Args:
        trees: the tests.
        entry_point: the function or class under test; "" if names are the solution's by use.
        prompt: the prompt's code.
        module: the solution's module, as test files import it; "" for function tests.
    """

    trees: tuple[ast.Module, ...]
    entry_point: str = ""
    prompt: ast.Module | None = None
    module: str = ""


class Facts:
    """What texts hold.

    Attributes:
        calls: all calls.
        loaded: the names that are read.
        attributes: the attributes that are read.
        own: the attributes that the texts define: methods, and what they store.
        assigned: the assignments.
        has_arrays: whether they import numpy, so that answers may be arrays.
    """

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self.calls: list[ast.Call] = []
        self.loaded: list[ast.Name] = []
        self.assigned: list[ast.Assign] = []
        self.attributes: list[ast.Attribute] = []
        self.own: set[str] = set()
        self.has_arrays = False
        self._compared: list[ast.Compare] = []
        for tree in trees:
            for node in walk(tree):
                self._read(node)

    def _read(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self.calls.append(node)
            case ast.Name(ctx=ast.Load()):
                self.loaded.append(node)
            case ast.Compare():
                self._compared.append(node)
            case ast.Assign():
                self.assigned.append(node)
            case ast.Attribute(ctx=ast.Store(), attr=name):
                self.own.add(name)
            case ast.Attribute():
                self.attributes.append(node)
            case ast.AugAssign(target=ast.Name() as target):
                self.loaded.append(target)
            case ast.ClassDef():
                self.own.update(_defined(node))
            case ast.Import(names=names):
                self.has_arrays |= any(one.name.startswith("numpy") for one in names)

    @property
    def called(self) -> frozenset[str]:
        """The last part of each name that is called."""
        return frozenset(last_name(one.func) for one in self.calls)

    @property
    def functions(self) -> frozenset[str]:
        """The names whose calls are compared with literals, as those of functions are."""
        return frozenset(
            last_name(one.left.func)
            for one in self._compared
            if isinstance(one.left, ast.Call) and not any(map(_has_name, one.comparators))
        )


def compared_first(trees: Iterable[ast.Module]) -> str:
    """Returns the name of the function whose answer the first assertion compares, or ""."""
    for tree in trees:
        for node in walk(tree):
            match node:
                case ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=name)))):
                    return name
    return ""


def _has_name(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in walk(node))


def _defined(node: ast.ClassDef) -> Iterator[str]:
    for part in walk(node):
        if isinstance(part, FUNCTIONS):
            yield part.name
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id

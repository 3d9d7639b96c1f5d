"""Which names Python text uses without defining them, and which of these it uses as exceptions."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from typing import NamedTuple


class Names(NamedTuple):
    """Global names of a text.

    Args:
        used: read somewhere in it.
        defined: bound at its top level, or declared global and bound.
    """

    used: frozenset[str]
    defined: frozenset[str]


def names_of(text: str) -> Names:
    """Returns the global names of a text.

    Raises:
        SyntaxError: it is not Python.
    """
    used, defined = set(), set()
    top = symtable.symtable(text, "", "exec")
    for table in _tables(top):
        for symbol in table.get_symbols():
            if not symbol.is_global() and table is not top:
                continue
            if symbol.is_referenced():
                used.add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                defined.add(symbol.get_name())
    return Names(frozenset(used), frozenset(defined))


def reads_parameter(text: str, function: str) -> bool:
    """Tells whether a function at the top level of a text reads its first parameter.

    True also where the text binds that name to something else than a plain function.
    """
    for table in symtable.symtable(text, "", "exec").get_children():
        if isinstance(table, symtable.Function) and table.get_name() == function:
            parameters = table.get_parameters()
            return bool(parameters) and _is_read(table, parameters[0])
    return True


def _is_read(table: symtable.SymbolTable, name: str) -> bool:
    return any(
        symbol.get_name() == name and symbol.is_referenced()
        for inner in _tables(table)
        for symbol in inner.get_symbols()
    )


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def caught_names(text: str) -> frozenset[str]:
    """Returns the names that a text catches, or hands to something called like `assertRaises`."""
    if "except" not in text and "aises" not in text:
        return frozenset()
    caught: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            caught.update(_plain_names(node.type))
        elif isinstance(node, ast.Call) and "aises" in ast.unparse(node.func) and node.args:
            caught.update(_plain_names(node.args[0]))
    return frozenset(caught)


def _plain_names(node: ast.expr) -> Iterator[str]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return (part.id for part in parts if isinstance(part, ast.Name))


def checks_at_top_level(text: str) -> bool:
    """Tells whether a text asserts or calls something outside of functions and classes."""
    waiting: list[ast.AST] = list(ast.parse(text).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return True
        waiting += ast.iter_child_nodes(node)
    return False

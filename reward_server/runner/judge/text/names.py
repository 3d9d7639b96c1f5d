"""Finds the names that Python text uses and defines."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType

from ...channel.cache import remembered
from ...channel.files import module_of

_CLASS_NAME = re.compile(r"_*[A-Z]\w*[a-z]\w*")
_STAR = re.compile(r"\bimport\s*\*")
BUILTINS = frozenset(vars(builtins))
_CALLED_LIKE_EXCEPTIONS = re.compile(r"\b_*[A-Z]\w*(?:Error|Exception)\b")


def nested(code: CodeType) -> Iterator[CodeType]:
    """Yields a code object and all code objects inside it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def mentioned(code: CodeType) -> frozenset[str]:
    """Returns the names of globals and attributes that a code object uses."""
    return frozenset[str]().union(*(inner.co_names for inner in nested(code)))


def in_class_bodies(code: CodeType) -> frozenset[str]:
    """Returns the names that class bodies look up themselves."""
    bodies = (
        inner.co_names
        for inner in nested(code)
        if inner is not code and not inner.co_flags & inspect.CO_OPTIMIZED
    )
    return frozenset[str]().union(*bodies)


def taken_from_elsewhere(texts: Iterable[str]) -> frozenset[str]:
    """Returns the global names that texts use and none of them defines.

    Raises:
        SyntaxError: one of the texts is not Python.
    """
    used, defined = set[str](), set[str]()
    for text in texts:
        used_here, defined_here = _used_and_defined(text)
        used |= used_here
        defined |= defined_here
    return frozenset(used - defined)


def handed_on(texts: Mapping[str, str]) -> frozenset[str]:
    """Returns the names that texts import from one of them that has a star import."""
    found = set[str]()
    for path, text in texts.items():
        if _STAR.search(text):
            defined = _used_and_defined(text)[1]
            found.update(*(_taken_from(path, other) - defined for other in texts.values()))
    return frozenset(found)


def _taken_from(path: str, text: str) -> frozenset[str]:
    """Returns the names that a text imports from a module with that file's name, in any package."""
    module = module_of(path).rpartition(".")[2]
    sources = {module, ""} if path.endswith("__init__.py") else {module}  # `from . import name`
    nodes = list(ast.walk(ast.parse(text))) if any(one in text for one in sources) else []
    called = {module}
    taken = set[str]()
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [(alias.name, alias.asname or alias.name) for alias in node.names]
            called |= {own for name, own in names if name.rpartition(".")[2] == module}
            source = (node.module or "") if isinstance(node, ast.ImportFrom) else None
            if source is not None and source.rpartition(".")[2] in sources:
                taken |= {name for name, _ in names}
    taken |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and _last_name(node.value) in called
    }
    return frozenset(taken - {"*"})


@remembered
def _used_and_defined(text: str) -> tuple[frozenset[str], frozenset[str]]:
    used, defined = set[str](), set[str]()
    for symbol in _global_symbols(symtable.symtable(text, "", "exec")):
        if symbol.is_referenced():
            used.add(symbol.get_name())
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
            defined.add(symbol.get_name())
    return frozenset(used), frozenset(defined)


def _global_symbols(top: symtable.SymbolTable) -> Iterator[symtable.Symbol]:
    for table in _tables(top):
        for symbol in table.get_symbols():
            if symbol.is_global() or table is top:
                yield symbol


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


@remembered
def caught(text: str) -> frozenset[str]:
    """Returns the names of the exceptions that a text may catch, also as attributes.

    They follow `except`, are passed to a function named like `assertRaises`, or are named like an
    exception. If one of these is a variable, it may hold any name that looks like a class name. A
    built-in name counts if the text takes it from a module.
    """
    found = set(_CALLED_LIKE_EXCEPTIONS.findall(text))
    if "except" not in text and "aises" not in text:
        return frozenset(found - BUILTINS)
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            found.update(_last_names(node.type))
        elif isinstance(node, ast.Call) and "aises" in _last_name(node.func) and node.args:
            found.update(_last_names(node.args[0]))
    if not all(map(_CLASS_NAME.fullmatch, found)):
        found.update(filter(_CLASS_NAME.fullmatch, map(_last_name, nodes)))
    own = found & BUILTINS
    return frozenset(found - own | (own & _of_modules(nodes) if own else own))


def _of_modules(nodes: Iterable[ast.AST]) -> set[str]:
    """Returns the names of attributes, and of objects imported from modules."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return found


def _last_names(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [_last_name(part) for part in parts]


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@remembered
def checks_at_top_level(text: str) -> bool:
    """Returns True if a text asserts or calls something outside functions and classes."""
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

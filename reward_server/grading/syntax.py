"""Parses Python in one thread at a time, and reads names from its syntax trees.

CPython counts the depth of the tree that it builds in one counter for all threads. If a garbage
collection lets another thread parse at the same time, it raises SystemError:
https://github.com/python/cpython/issues/106905. The server reads tests in threads, and would report
such an error as a failure of its own.
"""

from __future__ import annotations

import ast
import threading
from collections import deque
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
NAMES = (ast.Name, ast.Attribute)
DISPLAYS = (ast.List, ast.Tuple)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAKING = threading.Lock()


def parse(text: str | bytes) -> ast.Module:
    """Parses a module.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
    """
    with _MAKING:
        return ast.parse(text)


def parse_files(files: Iterable[tuple[str, str]]) -> dict[str, ast.Module]:
    """Parses test files; files that are not Python, or cannot be parsed, are left out."""
    trees = {}
    for path, text in files:
        if path.endswith(".py"):
            try:
                trees[path] = parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return trees


def parse_expression(text: str) -> ast.expr:
    """Parses an expression; see `parse`."""
    with _MAKING:
        return ast.parse(text, mode="eval").body


def parse_with(text: str, flags: int) -> ast.Module:
    """Parses a module with flags of `compile`; see `parse`."""
    with _MAKING:
        tree: ast.Module = compile(text, "text", "exec", flags | ast.PyCF_ONLY_AST)
    return tree


def problem_of(text: str) -> str:
    """Returns why a module does not compile; "" if it does."""
    try:
        with _MAKING:
            compile(text, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def dotted(node: ast.AST) -> str:
    """Returns a name with its attributes, such as `os.path`; "" for other expressions."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            owner = dotted(value)
            return f"{owner}.{name}" if owner else ""
    return ""


def last_name(node: ast.AST) -> str:
    """Returns the last part of a dotted name, such as `path` of `os.path`; see `dotted`."""
    return dotted(node).rpartition(".")[2]


def without_call(node: ast.expr) -> ast.expr:
    """Returns the function of a call; if the expression is no call, the expression itself."""
    return node.func if isinstance(node, ast.Call) else node


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yields a node and all nodes below it, in the order of `ast.walk`.

    It costs less, mostly for constants: a large literal in tests has hundreds of thousands
    of constants, and they have no children.
    """
    waiting = deque([node])
    while waiting:
        node = waiting.popleft()
        if type(node) is not ast.Constant and node._fields:
            waiting.extend(children(node))
        yield node


def children(node: ast.AST) -> list[ast.AST]:
    """Returns the nodes directly below a node, in the order of `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    if type(node) is ast.Constant:
        return found
    values = vars(node)
    for field in node._fields:
        value = values.get(field)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def checks_outside(body: Iterable[ast.stmt]) -> bool:
    """Returns True if statements assert or call something outside of functions and classes."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        match waiting.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case ast.Assert() | ast.Expr(value=ast.Call()):
                return True
            case node:
                waiting += children(node)
    return False

"""Finds uses of the solution's classes, and of their objects, that need the solution's process.

The solution would decide the hash of a proxy, so no proxy arrives as a key. A dictionary or a set
that the tests make of such objects is therefore not equal to any that the solution returns. The
proxy of a class is not a class, either. Only the text of the tests is read.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.syntax import IMPORTS, dotted, last_name

_FOLLOWED = 4  # the most assignments in a chain that are followed against the order of the text
_KEEPING = frozenset(("list", "tuple", "sorted", "reversed"))
_KEYED = frozenset(("set", "frozenset", "Counter", "fromkeys"))
_OF_CLASSES = frozenset(
    (
        *("__abstractmethods__", "__dataclass_fields__", "__dataclass_params__", "__match_args__"),
        *("__orig_bases__", "__parameters__", "__type_params__"),
    )
)
_STEPS = frozenset(("next", "anext", "__next__", "__anext__"))
_NEXT = frozenset(("StopIteration", "StopAsyncIteration"))


def reasons(trees: Iterable[ast.Module], wanted: Iterable[str]) -> tuple[str, ...]:
    """Returns why tests need the solution's process.

    Args:
        trees: the files.
        wanted: the names that they take from the solution and do not define themselves.
    """
    classes = frozenset(filter(_is_class_name, wanted))
    found = dict.fromkeys(reason for tree in trees for reason in _Look(tree, classes).reasons())
    return tuple(found)


def _is_class_name(name: str) -> bool:
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())


class _Look:
    """Finds such uses in one file."""

    def __init__(self, tree: ast.Module, classes: frozenset[str]) -> None:
        self._nodes = list(syntax.walk(tree))
        self._classes = classes | {
            alias.asname
            for node in self._nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname and alias.name in classes
        }
        self._library = {
            (alias.asname or alias.name).partition(".")[0]
            for node in self._nodes
            if isinstance(node, IMPORTS)
            for alias in node.names
        } - self._classes
        self._things = set[str]()
        self._looked_into = {id(one) for node in self._nodes for one in _looked_into(node)}

    def reasons(self) -> Iterator[str]:
        """Yields the reasons, in the order of the text's levels."""
        if self._classes:
            self._follow()
        for node in self._nodes:
            if self._classes:
                yield from self._of_keys(node)
                yield from self._of_class(node)
            yield from _of_ends(node)

    def _follow(self) -> None:
        """Finds the names that stand for objects of the solution's classes."""
        bindings = [pair for node in self._nodes for pair in _bindings(node)]
        for _ in range(_FOLLOWED):
            size = len(self._things)
            for target, value in bindings:
                if self._is_thing(value):
                    self._things.update(_names_in(target))
            if size == len(self._things):
                return

    def _is_class(self, node: ast.expr) -> bool:
        return last_name(node) in self._classes

    def _is_thing(self, node: ast.AST | None) -> bool:
        """Returns True for a class of the solution, an object of one, or a container of these."""
        match node:
            case ast.Call(func=function, args=arguments):
                keeps = last_name(function) in _KEEPING | _KEYED
                return self._is_class(function) or (keeps and any(map(self._is_thing, arguments)))
            case ast.Name(id=name):
                return name in self._things or name in self._classes
            case ast.Attribute(value=owner, attr=name):
                is_kept = f".{name}" in self._things
                return is_kept or self._is_class(node) or self._is_class(owner)
            case ast.Subscript(value=part) | ast.Starred(value=part):
                return self._is_thing(part)
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                return self._is_thing(part)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return any(map(self._is_thing, parts))
        return False

    def _of_keys(self, node: ast.AST) -> Iterator[str]:
        if id(node) in self._looked_into:
            return
        keys: list[ast.expr | None] = []
        match node:
            case ast.Dict(keys=keys) | ast.Set(elts=keys):  # type: ignore[misc]  # of one kind
                pass
            case ast.DictComp(key=key) | ast.SetComp(elt=key):
                keys = [key]
            case ast.Subscript(ctx=ast.Store(), slice=key):
                keys = [key]
            case ast.Call(func=function, args=[made, *_]):
                keys = [made] if last_name(function) in _KEYED else []
        if any(map(self._is_thing, keys)):
            yield "has objects of the solution's as keys"

    def _of_class(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.expr() as one, _]):
                if self._is_class(one):
                    yield "asks what a class of the solution's is"
            case ast.Call(
                func=ast.Name(id="issubclass"), args=[ast.expr() as one, ast.expr() as bases]
            ):
                if self._is_class(one) and any(map(self._is_foreign, _parts(bases))):
                    yield "asks what a class of the solution's is"
            case ast.Attribute(attr=name) if name in _OF_CLASSES:
                yield f"looks at {name}"

    def _is_foreign(self, base: ast.expr) -> bool:
        """Returns True for a class of a library, except exceptions."""
        name = last_name(base)
        if name.endswith(("Error", "Exception", "Warning")) or self._is_class(base):
            return False
        return name in vars(builtins) or dotted(base).partition(".")[0] in self._library


def _looked_into(node: ast.AST) -> Sequence[ast.expr]:
    """Returns the containers that an expression only reads, so that they are never compared."""
    match node:
        case ast.Subscript(value=one) | ast.Call(func=ast.Name(id="len"), args=[one]):
            return [one]
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=ones):
            return ones
    return ()


def _names_in(target: ast.AST) -> Iterator[str]:
    """Yields the names that an assignment binds or changes; attributes begin with a dot."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Subscript(value=part) | ast.Starred(value=part):
            yield from _names_in(part)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _names_in(part)


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield target, value


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _of_ends(node: ast.AST) -> Iterator[str]:
    """Yields a reason if a test expects the end of an iteration from another call than `next`."""
    match node:
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            expects = any(_expects_end(item.context_expr) for item in items)
        case ast.Try(body=body, handlers=handlers):
            kinds = [one.type for one in handlers if one.type is not None]
            expects = any(_names_end(part) for kind in kinds for part in _parts(kind))
        case ast.Call(args=[_, *body]):
            expects = _expects_end(node)
        case _:
            return
    if expects and body and not any(map(_steps, body)):
        yield "expects the end of an iteration from a call"


def _expects_end(node: ast.expr) -> bool:
    is_call = isinstance(node, ast.Call) and "aises" in dotted(node.func)
    return is_call and any(
        _names_end(part) for one in getattr(node, "args", ())[:1] for part in _parts(one)
    )


def _names_end(node: ast.expr) -> bool:
    return last_name(node) in _NEXT


def _steps(node: ast.AST) -> bool:
    """Returns True if a statement asks an iterator for its next element."""
    names = {dotted(part) for part in syntax.walk(node) if isinstance(part, ast.Name)}
    methods = {part.attr for part in syntax.walk(node) if isinstance(part, ast.Attribute)}
    return not _STEPS.isdisjoint(names | {one for one in methods if one.startswith("__")})

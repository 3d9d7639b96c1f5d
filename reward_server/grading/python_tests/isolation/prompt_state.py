"""Decides whether the part of a prompt's code that tests can reach keeps a state.

The judge of function tests and the solution's process each run the prompt. A list, a counter, a
cache, a random number, or an object that is known by its identity may change in one process. The
other process does not see this change. If a prompt keeps such a state, the tests run in the
solution's process. A prompt may define constants, and functions and classes that keep nothing from
call to call. Everything else is a state, if tests can reach it. Refusing too much costs a label,
and never a verdict.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.syntax import (
    FUNCTIONS,
    IMPORTS,
    NAMES,
    Function,
    dotted,
    last_name,
    without_call,
)

_ENDINGS = ("", "\n    pass", "\n        pass")
_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# Decorators, and makers of values, that keep nothing.
_PLAIN_DECORATORS = frozenset(
    (
        *("abstractmethod", "classmethod", "contextmanager", "dataclass", "final", "overload"),
        *("override", "property", "runtime_checkable", "setter", "staticmethod"),
        *("total_ordering", "wraps"),
    )
)
_PLAIN_MAKERS = frozenset(
    (
        *("Decimal", "Fraction", "NamedTuple", "NewType", "TypeVar", "bytes", "compile", "float"),
        *("frozenset", "int", "namedtuple", "range", "str", "tuple"),
    )
)
_PLAIN_VALUES = (
    *(ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.Name),
    *(ast.Attribute, ast.Subscript, ast.Lambda, ast.JoinedStr),
)
_SETTERS = frozenset(("setattr", "delattr", "globals"))
_ENDS = re.compile(
    r"(?i)__del__|\bdestructors?\b|\bfinali[sz]ers?\b|\bgarbage[- ]collect(?:ed|or)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The part of a prompt's code that tests can reach.

    Args:
        statements: its imports, the statements that tests lead to, its classes, and actions at its
            top.
        reasons: why its state needs the solution's process.
    """

    statements: tuple[ast.stmt, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def imports(self) -> tuple[ast.stmt, ...]:
        """The imports among these statements."""
        return tuple(one for one in self.statements if isinstance(one, IMPORTS))

    @property
    def functions(self) -> frozenset[str]:
        """The names of the functions among these statements, and in its classes."""
        nodes = (node for one in self.statements for node in syntax.walk(one))
        return frozenset(node.name for node in nodes if isinstance(node, FUNCTIONS))


def parse(prompt: str) -> ast.Module | None:
    """Parses a prompt's code; returns None for prose."""
    for ending in _ENDINGS:
        try:
            return syntax.parse(prompt.rstrip() + ending)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def of_ends(prompt: str) -> tuple[str, ...]:
    """Returns why tests need the solution's process if something happens when an object is dropped.

    An object that the tests no longer hold stays alive in the solution's process, where the judge
    may ask for it.
    """
    return ("the prompt speaks of the end of an object",) if _ENDS.search(prompt) else ()


def whole_classes(prompt: str) -> frozenset[str]:
    """Returns the names of the classes that a prompt defines completely."""
    tree = parse(prompt) if prompt else None
    found = [one for one in tree.body[:-1] if isinstance(one, ast.ClassDef)] if tree else []
    stubbed = {one.name for one in found for part in syntax.walk(one) if _is_open(part)}
    return frozenset(one.name for one in found) - stubbed


def _is_open(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and is_stub(node)


def seen_by(prompt: str, entry_point: str, texts: Iterable[str]) -> Seen:
    """Reads a prompt.

    Args:
        prompt: its code, or prose.
        entry_point: the function or class under test; "" if there is none.
        texts: the texts of the tests.
    """
    tree = parse(prompt) if prompt else None
    if tree is None:
        return Seen()
    names = {name for text in (entry_point, *texts) for name in _IDENTIFIER.findall(text)}
    return _Reading(tree).seen_by(names)


class _Reading:
    """The statements of a prompt: definitions, changes and actions."""

    def __init__(self, tree: ast.Module) -> None:
        self._all = list(_flat(tree.body, at_top=True))
        self._imports = [one for one, _ in self._all if isinstance(one, IMPORTS)]
        imported = {name for one in self._imports for name in _imported_by(one)}
        self._by_name: dict[str, list[ast.stmt]] = {}
        self._deeds = list[ast.stmt]()
        self._not_at_top = {id(one) for one, is_at_top in self._all if not is_at_top}
        for one, _ in self._all:
            if isinstance(one, IMPORTS) or _does_nothing(one):
                continue
            bound = set(_bound_by(one)) - imported
            if not bound:
                self._deeds.append(one)
            for name in bound:
                self._by_name.setdefault(name, []).append(one)

    def seen_by(self, names: set[str]) -> Seen:
        """Returns the part of the prompt that these names lead to."""
        kinds = (one for one, _ in self._all if isinstance(one, ast.ClassDef))
        reached = self._reached(names | {one.name for one in kinds})
        found = [one for one, _ in self._all if self._leads_to(one, reached)]
        code = [*(one for one in found if not is_stub(one)), *self._deeds]
        used = {"*", *names}.union(*map(_names_in, code))
        imports = [one for one in self._imports if used & {*_imported_by(one)}]
        reasons = [reason for one in found for reason in self._of(one)]
        for one in self._deeds:
            touched = self._reached(set(_names_in(one))) & reached
            reasons += [f"the prompt changes {name} at its top" for name in sorted(touched)]
        return Seen(statements=(*imports, *code), reasons=tuple(dict.fromkeys(reasons)))

    def _reached(self, names: set[str]) -> set[str]:
        """Returns which of the names the prompt defines, and the names that these lead to."""
        found, waiting = set[str](), [name for name in names if name in self._by_name]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            for one in self._by_name[name]:
                parts = _decorators(one) if is_stub(one) else [one]
                waiting += [
                    other
                    for part in parts
                    for other in _names_in(part)
                    if other in self._by_name and other not in found
                ]
        return found

    def _leads_to(self, one: ast.stmt, reached: set[str]) -> bool:
        return not isinstance(one, IMPORTS) and any(name in reached for name in _bound_by(one))

    def _of(self, one: ast.stmt) -> Iterator[str]:
        """Yields reasons for a statement that keeps a state, or does more than define something."""
        if isinstance(one, _DEFINITIONS) and id(one) in self._not_at_top:
            yield f"the prompt defines {one.name} under a condition"
        if is_stub(one):
            used = {name for part in _decorators(one) for name in _names_in(part)}
            if not used.isdisjoint(self._by_name):
                yield "a decorator of the prompt gets what the solution is to define"
        elif isinstance(one, FUNCTIONS):
            yield from _of_function(one)
        elif isinstance(one, ast.ClassDef):
            yield from _of_class(one)
        elif isinstance(one, (ast.Assign, ast.AnnAssign)) and all(map(_is_name, _targets(one))):
            for target in _targets(one):
                is_constant = dotted(target).isupper() or not isinstance(one.value, ast.Constant)
                if not (one.value is None or (is_constant and _is_plain(one.value))):
                    yield f"the prompt keeps {dotted(target)}"
        else:
            yield f"the prompt changes {', '.join(sorted(set(_bound_by(one))))}"


def _flat(body: Sequence[ast.stmt], *, at_top: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yields statements, also conditional ones, and whether they are at the top."""
    for one in body:
        match one:
            case ast.If(body=inner, orelse=other):
                yield from _flat([*inner, *other], at_top=False)
            case ast.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                caught = [part for handler in handlers for part in handler.body]
                yield from _flat([*inner, *caught, *other, *last], at_top=False)
            case _:
                yield one, at_top


def _does_nothing(one: ast.stmt) -> bool:
    match one:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return False


def _bound_by(one: ast.stmt) -> Iterator[str]:
    """Yields the names that a statement binds, or whose objects it changes."""
    match one:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name):
            yield name
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            yield dotted(called).partition(".")[0]
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Delete():
            for target in _targets(one):
                yield from (root for part in _elements(target) if (root := _root(part)))
        case ast.For() | ast.While() | ast.With():
            for node in syntax.walk(one):
                if isinstance(node, ast.stmt) and node is not one:
                    yield from _bound_by(node)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def _targets(one: ast.stmt) -> list[ast.expr]:
    match one:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
    return []


def _elements(target: ast.expr) -> Iterator[ast.expr]:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _elements(part)
        case ast.Starred(value=value):
            yield value
        case _:
            yield target


def _root(node: ast.expr) -> str:
    """Returns the name at the root of an expression of attributes, elements and calls."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Name)


def _names_in(node: ast.AST) -> Iterator[str]:
    return (one.id for one in syntax.walk(node) if isinstance(one, ast.Name))


def _decorators(one: ast.stmt) -> Sequence[ast.expr]:
    return one.decorator_list if isinstance(one, _DEFINITIONS) else ()


def _imported_by(one: ast.Import | ast.ImportFrom) -> Iterator[str]:
    return ((alias.asname or alias.name).partition(".")[0] for alias in one.names)


def is_stub(one: ast.stmt) -> bool:
    """Returns True for a function without a body."""
    return isinstance(one, FUNCTIONS) and all(
        isinstance(part, (ast.Pass, ast.Raise))
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in one.body
    )


# ------------------------------------------------------------------------------- definitions


def _of_function(function: Function) -> Iterator[str]:
    """Yields reasons for a function that keeps something from call to call."""
    for decorator in function.decorator_list:
        if last_name(without_call(decorator)) not in _PLAIN_DECORATORS:
            yield f"the prompt's {function.name}() has a decorator"
    arguments = function.args
    defaults = (one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None)
    if not all(map(_is_plain, defaults)):
        yield f"the prompt's {function.name}() keeps a default"
    own = {one.arg for one in syntax.walk(function) if isinstance(one, ast.arg)} - {"cls"}
    for node in syntax.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    for node in syntax.walk(function):
        match node:
            case ast.Global():
                yield f"the prompt's {function.name}() sets what is global"
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if _is_shared(node, own):
                yield f"the prompt's {function.name}() sets {node.attr}"
            case ast.Call(func=ast.Name(id=name)) if name in _SETTERS:
                if not node.args or _root(node.args[0]) not in own:
                    yield f"the prompt's {function.name}() calls {name}()"


def _is_shared(node: ast.Attribute, own: set[str]) -> bool:
    """Returns True for an attribute of an object that is no parameter or variable of a function."""
    parts = list(syntax.walk(node.value))
    is_of_class = any(isinstance(one, ast.Attribute) and one.attr == "__class__" for one in parts)
    is_of_class |= any(isinstance(one, ast.Name) and one.id == "type" for one in parts)
    return is_of_class or _root(node) not in own


def _of_class(kind: ast.ClassDef) -> Iterator[str]:
    """Yields reasons for a class that keeps something for all its objects."""
    decorators = {last_name(without_call(one)) for one in kind.decorator_list}
    if not decorators <= _PLAIN_DECORATORS or any(one.arg == "metaclass" for one in kind.keywords):
        yield f"the prompt's {kind.name} is made in a way of its own"
    bases = {last_name(base) for base in kind.bases}
    is_enumeration = any(base.endswith(("Enum", "Flag")) for base in bases)
    for one in kind.body:
        if isinstance(one, FUNCTIONS):
            yield from (f"{kind.name}: {reason}" for reason in _of_function(one))
        elif isinstance(one, ast.Assign) and all(map(_is_name, one.targets)):
            names = [dotted(target) for target in one.targets]
            is_fixed = is_enumeration or all(name.isupper() or name[:2] == "__" for name in names)
            is_fixed |= not isinstance(one.value, ast.Constant)
            if not (is_fixed and (_is_plain(one.value) or names == ["__slots__"])):
                yield f"the prompt keeps {kind.name}.{names[0]}"
        elif isinstance(one, ast.AnnAssign):
            is_field = isinstance(one.value, ast.Call) and dotted(one.value.func).endswith("field")
            if one.value is not None and not (is_field or _is_plain(one.value)):
                yield f"the prompt keeps {kind.name}.{dotted(one.target)}"
        elif not _does_nothing(one):
            yield f"the prompt's {kind.name} does more than to define"


def _is_plain(value: ast.expr) -> bool:
    """Returns True for a value that cannot change and is the same in both processes."""
    if isinstance(value, ast.Call):
        calls = (one for one in syntax.walk(value) if isinstance(one, ast.Call))
        return all(last_name(one.func) in _PLAIN_MAKERS for one in calls)
    if isinstance(value, (ast.Lambda, ast.Name, ast.Attribute)):
        return True
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, NAMES)
    inner = (part for part in syntax.children(value) if isinstance(part, ast.expr))
    return isinstance(value, _PLAIN_VALUES) and all(map(_is_plain, inner))

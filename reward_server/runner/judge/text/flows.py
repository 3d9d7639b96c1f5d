"""Finds what statements bind to names, and what calls may put into their arguments.

What this finds: an answer that is combined with an argument without an assignment: an attribute is
set, an element is appended, or a parameter of a function of the tests gets a value.

What it does not do: it does not look into libraries. It assumes that a function of a library may
put each argument into each other argument, except for built-in functions and for well-known methods
without side effects.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Flow = tuple[ast.AST, ast.AST]  # the target and the source
_PUTTING = frozenset(
    (
        *("add", "append", "appendleft", "extend", "extendleft", "insert", "put", "put_nowait"),
        *("push", "setdefault", "update", "write", "writelines", "__setitem__"),
    )
)
_LOOKING = frozenset(
    (
        *("accumulate", "chain", "cmp_to_key", "combinations", "compress", "cycle", "deepcopy"),
        *("dropwhile", "filterfalse", "from_iterable", "groupby", "islice", "pairwise", "partial"),
        *("partialmethod", "permutations", "product", "reduce", "repeat", "starmap", "submit"),
        *("takewhile", "tee", "zip_longest"),
        *("all", "any", "copy", "count", "decode", "difference", "encode", "endswith", "find"),
        *("format", "get", "index", "intersection", "isdisjoint", "issubset", "issuperset"),
        *("items", "join", "keys", "lower", "lstrip", "replace", "reverse", "rstrip", "sort"),
        *("split", "splitlines", "startswith", "strip", "symmetric_difference", "tolist"),
        *("union", "upper", "values"),
    )
)
_GIVING = frozenset(("copy", "get", "items", "pop", "popitem", "popleft", "values"))  # elements
_NAMING = frozenset(("eval", "exec", "globals", "locals"))  # they use names that no text shows
# Methods of built-in classes that compare their argument with their object.
COMPARING = frozenset(
    (
        *("count", "difference", "endswith", "find", "index", "intersection", "isdisjoint"),
        *("issubset", "issuperset", "remove", "rfind", "rindex", "startswith"),
        *("symmetric_difference", "union"),
        *(f"__{name}__" for name in ("contains", "eq", "ge", "gt", "le", "lt", "ne")),
    )
)
_SETTERS = frozenset(("setattr", "__setattr__"))


def chain(node: ast.AST) -> str:
    """Returns a name with its attributes, such as `self.rows`, or "" for any other node."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            owner = chain(value)
            return f"{owner}.{name}" if owner else ""
    return ""


def chains(node: ast.AST) -> Iterator[str]:
    """Yields the names in a node, each with its attributes."""
    whole = chain(node)
    if whole:
        yield whole
        return
    for child in ast.iter_child_nodes(node):
        yield from chains(child)


def bound(target: ast.AST) -> Iterator[str]:
    """Yields the names that an assignment binds, without the objects that it changes."""
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from bound(part)
        case ast.Starred(value=value):
            yield from bound(value)
        case _ if chain(target):
            yield chain(target)


def roots(node: ast.AST) -> Iterator[str]:
    """Yields the names of the objects that a target changes, such as `rows` in
    `rows[0].append(x)`."""
    whole = chain(node)
    if whole:
        yield whole.removesuffix(".__dict__")
        return
    match node:
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Starred(value=value):
            yield from roots(value)
        case ast.Call(func=ast.Attribute(value=owner)):
            yield from roots(owner)
        case ast.Call():
            for one in given_to(node):
                yield from roots(one)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from roots(part)


def names_of_no_things(tree: ast.AST) -> set[str]:
    """Returns the names of modules, functions and classes: they hold no values of the tests."""
    found, stored = {"self", "cls"}, set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.alias(name=name, asname=other):
                found.add((other or name).partition(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                stored.add(name)
    return found | (sys.stdlib_module_names - stored) | (vars(builtins).keys() - stored)


def parameters(function: ast.AST) -> set[str]:
    """Returns the names of the parameters of a function and of the functions inside it."""
    return {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}


def makes_names(text: ast.AST) -> bool:
    """Returns True if a text may bind names that it does not contain."""
    return any(isinstance(one, ast.Name) and one.id in _NAMING for one in ast.walk(text))


# ------------------------------------------------------------------------------ bindings


def bindings(text: ast.AST) -> Iterator[Flow]:
    """Yields the bindings of statements, each with its source; tuples element by element."""
    for node in ast.walk(text):
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                yield from _assigned(node)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield target, value
            case ast.comprehension(target=target, iter=value):
                yield target, value
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                yield from _entered(items, body)
            case ast.Match(subject=subject, cases=cases):
                names = (name for one in cases for name in _captured(one.pattern))
                yield from ((ast.Name(id=name), subject) for name in names)
            case ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers):
                names = (one.name for one in handlers if one.name)
                yield from ((ast.Name(id=name), part) for name in names for part in body)
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
                yield from _defaults(arguments)
            case ast.Lambda(args=arguments):
                yield from _defaults(arguments)
            case ast.ClassDef(body=body):
                yield from ((ast.Name(id=f"self.{one}"), ast.Name(id=one)) for one in _names(body))


def _assigned(node: ast.AST) -> Iterator[Flow]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
            targets
        ) == len(values) and not any(isinstance(one, ast.Starred) for one in (*targets, *values)):
            yield from zip(targets, values, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield target, value


def _entered(items: Iterable[ast.withitem], body: Sequence[ast.stmt]) -> Iterator[Flow]:
    """Yields what a `with` block binds; its value may depend on the block, as for
    `pytest.raises`."""
    for item in items:
        if item.optional_vars is not None:
            yield item.optional_vars, item.context_expr
            yield from ((item.optional_vars, part) for part in body)


def _names(body: Iterable[ast.stmt]) -> set[str]:
    """Returns the names that the statements of a class bind, which are its fields."""
    parts = [part for one in body for part in (one, *ast.walk(one))]
    return {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def fields(tree: ast.AST) -> set[str]:
    """Returns the names of the attributes of a text's classes and of their objects."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                found |= _names(body)
                found |= {one.name for one in body if isinstance(one, FUNCTIONS)}
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                found.add(name)
    return found


def surface(tree: ast.AST) -> ast.Module:
    """Returns the statements of a text and of its classes outside functions."""
    waiting, found = [tree], list[ast.stmt]()
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.ClassDef):
                waiting.append(child)
            elif isinstance(child, ast.stmt) and not isinstance(child, FUNCTIONS):
                found.append(child)
    return ast.Module(body=found, type_ignores=[])


def leaves(value: ast.expr) -> Iterator[ast.expr]:
    """Yields the expressions from which a value, or a part of it, may come."""
    parts: Sequence[ast.expr | None]
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            pass
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            pass
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            parts = one, other
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
            parts = (one,)
        case ast.Subscript(value=one) | ast.Starred(value=one) | ast.Await(value=one):
            parts = (one,)
        case ast.DictComp(value=one) | ast.NamedExpr(value=one):
            parts = (one,)
        case ast.Call(func=ast.Attribute(value=one, attr=name)) if name in _GIVING:
            parts = (one,)
        case ast.Attribute(value=one) if not chain(value):
            parts = (one,)
        case _:
            yield value
            return
    for part in parts:
        if part is not None:
            yield from leaves(part)


def _captured(pattern: ast.AST) -> Iterator[str]:
    for part in ast.walk(pattern):
        match part:
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _defaults(arguments: ast.arguments) -> Iterator[Flow]:
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = zip(reversed(plain), reversed(arguments.defaults), strict=False)
    for parameter, default in (
        *pairs,
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            yield ast.Name(id=parameter.arg), default


# ---------------------------------------------------------------------------------- puts


def puts(text: ast.AST, no_things: Collection[str]) -> Iterator[tuple[ast.AST, Flow]]:
    """Yields statements and calls that may change an object, each with one flow.

    Args:
        text: the text.
        no_things: see `names_of_no_things`.
    """
    for node in ast.walk(text):
        match node:
            case ast.Call():
                yield from ((node, flow) for flow in _put_by(node, no_things))
            case ast.Assign(targets=targets, value=value):
                found = (part for target in targets for part in ast.walk(target))
                yield from ((node, flow) for one in found for flow in _put_at(one, value))
            case ast.AugAssign(target=target, value=value):
                yield node, (target, value)
                yield from ((node, flow) for flow in _put_at(target, value))


def _put_at(target: ast.AST, value: ast.AST) -> Iterator[Flow]:
    """Yields the flows of an assignment to an element or attribute."""
    match target:
        case ast.Subscript(value=owner, slice=key):
            yield owner, value
            yield owner, key
        case ast.Attribute(value=owner):
            yield owner, value


def _put_by(call: ast.Call, no_things: Collection[str]) -> Iterator[Flow]:
    given = given_to(call)
    for function in given:
        if isinstance(function, ast.Lambda):
            names = [ast.Name(id=one) for one in parameters(function)]
            others = [one for one in given if one is not function]
            yield from ((name, other) for name in names for other in others)
    owners = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    sources = [*given, *(one for one in owners if chain(one) not in no_things)]
    for target in _changed_by(call, given, no_things):
        yield from ((target, other) for other in sources if other is not target)


def _changed_by(
    call: ast.Call, given: Sequence[ast.expr], no_things: Collection[str]
) -> Iterator[ast.expr]:
    match call:
        case ast.Call(func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__")):
            yield from _set_by(call)
        case ast.Call(func=ast.Name(id=name)):
            if not hasattr(builtins, name) and not _only_looks(name):
                yield from given
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            if name in _PUTTING:
                yield owner
                yield from given if chain(owner) in no_things else ()
            elif not _only_looks(name):
                yield owner
                yield from given
        case _:
            yield from given


def _set_by(call: ast.Call) -> Iterator[ast.expr]:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    found = [one for one in (owner, *call.args) if one is not None][:2]
    yield from (one for one in found if not isinstance(one, ast.Constant))


def _only_looks(name: str) -> bool:
    """Returns True for callees without side effects: known functions, assertions and classes."""
    return name in _LOOKING or name.startswith("assert") or name[:1].isupper()


def called(call: ast.Call) -> str:
    """Returns the last name of the callee, or "" if it has none."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def is_known(call: ast.Call) -> bool:
    """Returns True for a call that can end a test, depending on its arguments, only as an
    assertion."""
    name, is_method = called(call), isinstance(call.func, ast.Attribute)
    return _only_looks(name) or (name in _PUTTING if is_method else hasattr(builtins, name))


def given_to(call: ast.Call) -> list[ast.expr]:
    """Returns the arguments of a call, starred or not."""
    values = [one.value if isinstance(one, ast.Starred) else one for one in call.args]
    return [*values, *(keyword.value for keyword in call.keywords)]


def names_given(call: ast.Call, function: Function) -> dict[str, list[ast.expr]]:
    """Returns the arguments that a call passes to a function's parameters, by name.

    A starred argument may be passed to each of them.
    """
    places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    rest = function.args.vararg.arg if function.args.vararg else ""
    every = [*places, *(one.arg for one in function.args.kwonlyargs), rest]
    others = function.args.kwarg.arg if function.args.kwarg else ""
    found: dict[str, list[ast.expr]] = {name: [] for name in (*every, others) if name}
    values: list[ast.expr] = list(call.args)
    if isinstance(call.func, ast.Attribute) and places[:1] in (["self"], ["cls"]):
        values.insert(0, call.func.value)
    for position, value in enumerate(values):
        if isinstance(value, ast.Starred):
            _give(found, every[position:], value.value)
        else:
            _give(found, [places[position] if position < len(places) else rest], value)
    for keyword in call.keywords:
        known = keyword.arg if keyword.arg in every else others
        _give(found, [known] if keyword.arg else [*every, others], keyword.value)
    return found


def _give(found: dict[str, list[ast.expr]], names: Iterable[str], value: ast.expr) -> None:
    for name in names:
        if name:
            found[name].append(value)


def answers_of(function: Function) -> Iterator[ast.expr]:
    """Yields the expressions that a function returns or yields."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None:
            yield node.value

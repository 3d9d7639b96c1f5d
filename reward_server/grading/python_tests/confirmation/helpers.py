"""Copies functions that a test calls, so that the comparisons in them are observed.

Each test that calls such a function gets its own copy. In the copy, a failed assertion does not end
the caller; other callers of the function may rely on that.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.syntax import Function, dotted

Owner = ast.Module | Function
_SELF, _SUFFIX = "self", "_observed"


class Text:
    """The text of tests.

    Args:
        tree: the parsed text.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    @functools.cached_property
    def bound(self) -> Counter[str]:
        """How often the text binds each name."""
        return Counter(_bound(self.tree))

    @functools.cached_property
    def methods(self) -> dict[int, dict[str, ast.FunctionDef]]:
        """The methods of each class, by the identity of each of them."""
        classes = [one for one in self.tree.body if isinstance(one, ast.ClassDef)]
        found = dict[int, dict[str, ast.FunctionDef]]()
        for one in classes:
            siblings = _functions(one.body)
            found |= dict.fromkeys(map(id, siblings.values()), siblings)
        return found


class Helpers:
    """The functions, and methods of its class, that one test may call by name.

    Args:
        text: the text with the test.
        owner: the node whose `body` is the test's.
    """

    def __init__(self, text: Text, owner: Owner) -> None:
        self._text = text
        self._owner = owner
        methods = text.methods.get(id(owner), {})
        self._functions = {
            **_functions(text.tree.body),
            **_functions(owner.body),
            **{f"{_SELF}.{name}": one for name, one in methods.items() if one is not owner},
        }
        self._copies: dict[str, ast.FunctionDef] = {}

    @functools.cached_property
    def _named(self) -> dict[str, ast.FunctionDef]:
        own = set[str]() if self._owner is self._text.tree else set(_bound(self._owner))
        return {
            name: function
            for name, function in self._functions.items()
            if self._text.bound[function.name] == 1
            and _is_plain(function)
            and (function in self._owner.body or not _free_names(function) & own)
        }

    def named_by(self, call: ast.Call) -> str | None:
        """Returns the name of the function that a call calls; None if it is no such function."""
        name = dotted(call.func)
        return name if name in self._functions and name in self._named else None

    def copied_for(self, call: ast.Call) -> tuple[str, ast.FunctionDef]:
        """Returns a copy of the function that a call calls, and makes the call use the copy."""
        name = dotted(call.func)
        if name not in self._copies:
            self._copies[name] = copy.deepcopy(self._named[name])
            self._copies[name].name += _SUFFIX
        if isinstance(call.func, ast.Attribute):
            call.args.insert(0, call.func.value)
        call.func = ast.Name(id=self._copies[name].name, ctx=ast.Load())
        return name, self._copies[name]

    def place(self) -> None:
        """Adds the copies to the test's body, each after its original."""
        for name, made in self._copies.items():
            body, original = self._owner.body, self._named[name]
            place = next((at for at, one in enumerate(body) if one is original), -1)
            body.insert(place + 1, made)


def heard_parameters(
    function: ast.FunctionDef, calls: Sequence[ast.Call], hears: Callable[[ast.expr], bool]
) -> frozenset[str]:
    """Returns the parameters that hold something of the solution; all of them if in doubt."""
    takes = function.args
    positional = [one.arg for one in (*takes.posonlyargs, *takes.args)]
    others = [one.arg for one in (*takes.kwonlyargs, takes.vararg, takes.kwarg) if one]
    found = set[str]()
    for call in calls:
        names = positional[1:] if isinstance(call.func, ast.Attribute) else positional
        for place, given in enumerate(call.args):
            if hears(given):
                is_row = isinstance(given, ast.Starred)
                found |= {*names[place:], *others} if is_row else {*names[place : place + 1]}
                found |= set(others if place >= len(names) else ())
        found |= {
            one
            for keyword in call.keywords
            if hears(keyword.value)
            for one in ([keyword.arg] if keyword.arg else [*names, *others])
        }
    return frozenset(found or {*positional, *others})


def _is_plain(function: ast.FunctionDef) -> bool:
    generates = (ast.Yield, ast.YieldFrom)
    return not function.decorator_list and not any(
        isinstance(node, generates) or dotted(node) in ("super", "__class__")
        for node in syntax.walk(function)
    )


def _functions(body: Sequence[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {one.name: one for one in body if isinstance(one, ast.FunctionDef)}


def _free_names(function: ast.FunctionDef) -> set[str]:
    """Returns the names in a function that may mean something else at the place of its copy."""
    used = {one.id for one in syntax.walk(function) if isinstance(one, ast.Name)}
    return used - set(_bound(function))


def _bound(owner: ast.AST) -> Iterator[str]:
    """Yields the names that a text binds, except those that it imports."""
    for node in syntax.walk(owner):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name

"""Finds the names that are under test although the prompt defines them too.

What this stops: tests that use the prompt's definition of a function which the solution has to
write, so that every solution passes.

If tests call a helper of the prompt without a value of the solution, the helper counts as a
function under test, although it may be none. If tests pass answers of the solution to a helper, the
prompt's definition is used.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from ...channel.cache import remembered
from ..text import flows, names
from .prompt import is_stub, parse

_CANDIDATE = "candidate"
_DEFINITIONS = (*flows.FUNCTIONS, ast.ClassDef)
_WORD = re.compile(r"(?<![\w.])\w+")


@remembered
def under_test(prompt_text: str, entry_point: str, *sources: str) -> frozenset[str]:
    """Returns the names whose definition is taken from the solution, even if the prompt has one.

    These are the entry point, and each name that is the only name of the solution in an assertion.
    If there is no entry point, and the solution defines no other name that the tests use, these are
    all names that the tests use and the prompt defines.

    Args:
        prompt_text: trusted code, or "" for none.
        entry_point: the name of the entry point, or "" for none.
        sources: the texts of the tests; they compile.
    """
    own = frozenset(_WORD.findall(entry_point))
    tree = parse(prompt_text) if prompt_text else None
    defined = frozenset(_defined(tree)) - own if tree is not None else frozenset[str]()
    if tree is None or not defined:
        return own
    taken = names.taken_from_elsewhere(sources)
    defined &= taken
    if not defined:
        return own
    if own:
        heard = own | {_CANDIDATE}
    else:
        heard = taken - defined - set(_bound(tree)) - sys.stdlib_module_names - names.BUILTINS
    return own | (_looked_at_alone(sources, heard, defined) if heard else defined)


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yields the names of functions and classes that a prompt does not leave to the solution."""
    for node in tree.body:
        if isinstance(node, _DEFINITIONS) and not is_stub(node):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            yield from _names_in(node.targets)


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yields the other names that a prompt binds for its own use."""
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((one.asname or one.name).partition(".")[0] for one in node.names)
        elif not isinstance(node, _DEFINITIONS):
            stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            yield from (one.id for one in stored if isinstance(one.ctx, ast.Store))


def _looked_at_alone(
    sources: Sequence[str], heard: frozenset[str], defined: frozenset[str]
) -> frozenset[str]:
    """Returns the names that assertions examine without a value of the solution.

    Args:
        sources: the texts of the tests.
        heard: names of the solution.
        defined: names that the prompt defines and the tests use.
    """
    trees = [ast.parse(source) for source in sources]
    known = heard.union(*(flows.parameters(tree) for tree in trees))
    steps = [(a, b) for tree in trees for a, b in _steps(tree, defined)]
    known |= _reached(known, [(b, a) for a, b in steps])
    found = set[str]()
    for tree in trees:
        for parts in filter(None, map(_asserted, ast.walk(tree))):
            looked_at = frozenset(_names_in(parts))
            if known.isdisjoint(looked_at):
                found |= _reached(looked_at, steps)
    return defined & found


def _steps(tree: ast.Module, defined: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yields names, each with a name from which its value is computed."""
    no_things = flows.names_of_no_things(tree) | defined
    flowing = [*flows.bindings(tree), *(flow for _, flow in flows.puts(tree, no_things))]
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    flowing += [(given, one.func) for one in calls for given in flows.given_to(one)]
    for target, value in flowing:
        for one in flows.roots(target):
            root = one.partition(".")[0]
            if root not in no_things:
                yield from ((root, name) for name in _names_in([value]))
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS):
            yield from ((node.name, name) for name in _names_in([node]))


def _reached(roots: Iterable[str], steps: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Returns the names, and all names that the steps reach from them."""
    found, size = set(roots), -1
    while len(found) > size:
        size = len(found)
        found |= {to for origin, to in steps if origin in found}
    return frozenset(found)


def _asserted(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assert(test=test):
            return [test]
        case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("assert"):
            return flows.given_to(node)
    return []


def _names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name))

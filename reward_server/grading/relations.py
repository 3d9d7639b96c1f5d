"""Which expected values are told by what stands around them in the tests' text.

Twins show that a solution tells true expectations from wrong ones. Where an expected value is made
of its arguments' parts (their elements, letters, digits or lengths), who reads the text does so by
a relation, such as "an element of the argument", and solves nothing. Nothing at all (an empty text,
an empty list) is made of such parts, too. Truth values and `None` are not.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from reward_server.grading.python_literals import evaluated

_DISPLAYS = (ast.List, ast.Tuple, ast.Set)


def of_module(tree: ast.Module) -> list[ast.AST]:
    """Returns the statements of a file that all its tests have around them."""
    return [head for node in tree.body if not isinstance(head := _head(node), ast.Pass)]


class Surroundings:
    """What stands around the expected values of a test.

    Args:
        module: see `of_module`.
        function: the test.
        expected: all expected values of the test, which tell nothing of one another.
    """

    def __init__(
        self,
        module: Sequence[ast.AST],
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        expected: Sequence[ast.AST],
    ) -> None:
        self._hidden = {id(part) for value in expected for part in ast.walk(value)}
        inside = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
        heads = [*map(_head, inside), *module, _parameters(function)]
        self._statements = [(node, names) for node in heads if (names := _names(node))]
        self._bound = frozenset[str]().union(*map(_stored, heads))
        self._rows = {
            id(part): (row, number)
            for number, (node, _) in enumerate(self._statements)
            for row in ast.walk(node)
            for part in _parts(row)
        }

    def tell(self, value: ast.AST, statement: ast.AST) -> bool:
        """Returns True if all of an expected value is told by what its assertion uses.

        Args:
            value: the expected value.
            statement: the assertion.
        """
        every = _atoms(value)
        atoms = [atom for atom in every if not isinstance(atom, (bool, type(None)))]
        if every and not atoms:
            return False
        around = [atom for node in self._used(value, statement) for atom in self._known(node)]
        return _are_among(atoms, around) or _are_of(atoms, around)

    def _used(self, value: ast.AST, statement: ast.AST) -> list[ast.AST]:
        """Returns the assertion, its row, and the statements that share a variable with them."""
        found, left = [_head(statement)], {*range(len(self._statements))}
        if id(value) in self._rows and not any(one is value for one in ast.walk(statement)):
            row, table = self._rows[id(value)]
            found.append(row)
            left.remove(table)
        names = self._bound & frozenset[str]().union(*map(_names, found))
        while near := [number for number in left if self._statements[number][1] & names]:
            left.difference_update(near)
            found += [self._statements[number][0] for number in near]
            names |= frozenset[str]().union(*(self._statements[number][1] for number in near))
            names &= self._bound
        return found

    def _known(self, node: ast.AST) -> Iterator[object]:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and id(part) not in self._hidden:
                yield part.value
                if isinstance(part.value, (str, bytes)):
                    yield len(part.value)
            elif isinstance(part, _DISPLAYS) and id(part) not in self._hidden:
                yield len(part.elts)


def _are_among(atoms: Sequence[object], around: Sequence[object]) -> bool:
    return all(any(atom == one for one in around) for atom in atoms)


def _are_of(atoms: Sequence[object], around: Sequence[object]) -> bool:
    """Returns True if values are written with the letters and digits of others."""
    return not _letters(atoms) - _letters(around)


def _letters(atoms: Sequence[object]) -> Counter[str]:
    return Counter(one for atom in atoms for one in str(atom).lower() if not one.isspace())


def _atoms(node: ast.AST) -> list[object]:
    """Returns the constants in an expected value."""
    return [evaluated(part) for part in ast.walk(node) if isinstance(part, ast.Constant)]


def _head(node: ast.AST) -> ast.AST:
    """Returns a statement without the statements in it."""
    match node:
        case ast.For(target=target, iter=table):
            return ast.Tuple(elts=[target, table], ctx=ast.Load())
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Try() | ast.If():
            return ast.Pass()
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return ast.Tuple(elts=[one.context_expr for one in items], ctx=ast.Load())
    return node


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    """Returns a test's parameters, with the tables that give them their values."""
    names = [ast.Name(id=one.arg, ctx=ast.Store()) for one in function.args.args]
    return ast.Tuple(elts=[*names, *function.decorator_list], ctx=ast.Load())


def _parts(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Call(args=parts):
            return parts
    return []


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _stored(node: ast.AST) -> frozenset[str]:
    return frozenset(
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    )

"""Writes perturbed copies of test files: a secret, random subset of the expected values is wrong.

A solution in the process of its tests can forge any outcome. But if it skips tests, exits early or
accepts every expectation, it does so for true and for wrong expectations alike, unless it can
distinguish them. So the reward needs all outcomes: true assertions hold, and wrong ones fail.

A *unit* is an assertion that can be made wrong, with one row of its table if it has one. It is made
wrong by another expected value (that of another unit of the same run, otherwise one that is drawn
like it), by another class, or by its negation. Only assertions that a passing test certainly
reaches count. Each of them reports its result separately (`observed`), and a failed one does not
hide the next.

True files and copies are both written by `ast.unparse`, without comments, docstrings and messages
of assertions, which could reveal which values are right. They differ only in the changed values.
"""

from __future__ import annotations

import ast
import copy
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from reward_server.grading import syntax
from reward_server.grading.copies.draws import drawn, looks_alike, surely_differs
from reward_server.grading.copies.observed import Wrapper, add_helper, bare_of, with_other_side
from reward_server.grading.copies.sites import VALUES, Assertion, Finder, Found, Place, Unit
from reward_server.grading.copies.words import Told, Words
from reward_server.grading.python_tests.assertions import (
    TYPES,
    drop_spellings,
    drop_words,
    other_exceptions,
    split_conjunctions,
    turned,
)
from reward_server.grading.python_tests.literals import (
    evaluated,
    has_repetition,
    is_literal,
    kind_of,
    leaves,
    literal,
    with_leaf,
)
from reward_server.grading.syntax import dotted

WHOLE = -1  # instead of a leaf: the whole expected value may be replaced
_SWAPS = 0.75  # the chance that a value is exchanged for that of another unit, if one fits
_READS_NAMES = ("*", "globals", "vars", "locals", "dir", "getattr", "__dict__", "import_module")
_EXCHANGED = frozenset(("value", "far"))  # kinds whose values replace each other

_New = ast.AST | list[ast.stmt]  # the replacement of a node
Change = Mapping[Unit, int]  # which units are made wrong, and which leaf of each


class Copies:
    """Writes true and perturbed files.

    Args:
        trees: test files in Python, parsed, by path; they are changed.
        files: all files, with their text.
        told: what the solution can read besides: the prompt, or a repository's own tests.
        rows: how many results each test has, as far as that is known.

    Attributes:
        weights: the units that can be made to fail, with the number of their leaves.
        shapes: how often each assertion is tried, by its test and number.
    """

    def __init__(
        self,
        trees: Mapping[str, ast.Module],
        files: Sequence[tuple[str, str]],
        told: str,
        rows: Mapping[str, int | None],
    ) -> None:
        self._files = dict(files)
        self._trees = dict(trees)
        for tree in self._trees.values():
            drop_words(tree)
            drop_spellings(tree)
            split_conjunctions(tree)
        _drop_unused(self._trees.values())
        self._places: dict[Unit, Place] = {}
        self.shapes: dict[tuple[str, int], Assertion] = {}
        self._touched = set[str]()
        numbers, functions = dict[int, int](), set[int]()
        for path, function, assertions in Finder(self._trees, rows).found():
            self._touched.add(path)
            functions.add(id(function))
            for found in assertions:
                numbers[id(found.statement)] = found.number
                self._add(found)
        self._words = Words(Told(told), [*self._texts_beside()])
        for path in self._touched:
            Wrapper(numbers, frozenset(functions)).visit(self._trees[path])
            add_helper(self._trees[path])
            ast.fix_missing_locations(self._trees[path])
        self._numbers = {
            id(node): (path, number)
            for path in self._touched
            for number, node in enumerate(syntax.walk(self._trees[path]))
        }
        self.weights = {
            unit: self._places[unit].weight for unit in sorted(self._places, key=_order)
        }

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that can be made to fail."""
        return tuple(self.weights)

    def true_files(self) -> tuple[tuple[str, str], ...]:
        """Returns the files with all assertions true."""
        return self._written({})

    def perturbed_files(self, change: Change, draw: random.Random) -> tuple[tuple[str, str], ...]:
        """Returns the files with some units made to fail."""
        swapped = self._swapped(change, draw)
        changes: dict[str, dict[int, _New]] = {}
        for unit in sorted(change, key=str):
            place = self._places[unit]
            bare = place.bare if change[unit] == 1 else None
            path, number = self._numbers[id(bare.statement if bare else place.node)]
            changes.setdefault(path, {})[number] = (
                bare_of(bare.body, bare.name)
                if bare
                else swapped.get(unit) or self._changed(place, change[unit], draw)
            )
        return self._written(changes)

    def _add(self, found: Found) -> None:
        for place in found.places:
            self._places[place.unit] = place
            self.shapes[place.unit.test, found.number] = found.shape

    def _texts_beside(self) -> Iterator[str]:
        """Yields the texts in the files that no assertion expects."""
        expected = {
            id(part)
            for place in self._places.values()
            if place.kind in VALUES
            for part in syntax.walk(place.node)
        }
        for node in (node for tree in self._trees.values() for node in syntax.walk(tree)):
            match node:
                case ast.Constant(value=str(text)) if id(node) not in expected:
                    yield text

    def _written(self, changes: Mapping[str, Mapping[int, _New]]) -> tuple[tuple[str, str], ...]:
        written = dict(self._files)
        for path in self._touched:
            written[path] = _unparsed(self._trees[path], changes.get(path, {}))
        return tuple(sorted(written.items()))

    # ----------------------------------------------------------------------------- changes

    def _swapped(self, change: Change, draw: random.Random) -> dict[Unit, ast.expr]:
        """Swaps the values of most units whose whole value changes, so that all of them occur."""
        groups: dict[str, list[Place]] = {}
        for unit, leaf in change.items():
            place = self._places[unit]
            is_whole = leaf == WHOLE or place.weight == 1
            if is_whole and place.kind in _EXCHANGED and is_literal(place.node):
                groups.setdefault(kind_of(evaluated(place.node)), []).append(place)
        found: dict[Unit, ast.expr] = {}
        for places in groups.values():
            passing = [place for place in places if draw.random() < _SWAPS]
            draw.shuffle(passing)
            for place, other in zip(passing, [*passing[1:], *passing[:1]], strict=True):
                value, new = evaluated(place.node), evaluated(other.node)
                if surely_differs(value, new, place.kind):
                    found[place.unit] = cast("ast.expr", copy.deepcopy(other.node))
        return found

    def _changed(self, place: Place, leaf: int, draw: random.Random) -> ast.AST:
        node = place.node
        match place.kind:
            case "turn":
                return turned(node)
            case "other":
                return with_other_side(node, max(leaf, 0))
            case "class":
                return ast.Name(
                    id=draw.choice(other_exceptions(cast("ast.expr", node))), ctx=ast.Load()
                )
            case "type":
                others = [name for name in TYPES if name != dotted(node)]
                return ast.Name(id=draw.choice(others), ctx=ast.Load())
        assert isinstance(node, ast.expr)
        return self._other_value(place, node, leaf, draw)

    def _other_value(
        self, place: Place, node: ast.expr, leaf: int, draw: random.Random
    ) -> ast.expr:
        count = len(leaves(node))
        # A key is not known to differ from another if what it stands for is empty.
        for number in draw.sample(range(count), count) if leaf == WHOLE else (leaf, *range(count)):
            if found := self._other_leaf(place, node, number, draw):
                return found
        raise AssertionError("`can_vary` has asked")

    def _other_leaf(
        self, place: Place, node: ast.expr, number: int, draw: random.Random
    ) -> ast.expr | None:
        old = evaluated(leaves(node)[number])
        found: ast.expr | None = None
        for new in drawn(old, self._words, draw, place.kind):
            if surely_differs(old, new, place.kind):
                changed = with_leaf(node, number, literal(new))
                if _is_other(node, changed, place.kind):
                    found = changed
                    if looks_alike(node, changed) and not has_repetition(changed):
                        break
        return found


def _drop_unused(trees: Collection[ast.Module]) -> None:
    """Removes tables of files that nothing uses: the solution could read in them what is right."""
    words = Counter(word for tree in trees for node in syntax.walk(tree) for word in _words(node))
    if any(words[name] for name in _READS_NAMES):
        return
    for tree in trees:
        tree.body = [node for node in tree.body if not _is_table(node, words)]


def _words(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.alias(name=word):
            yield word
        case ast.Constant(value=str(word)):
            yield word


def _is_table(node: ast.stmt, words: Mapping[str, int]) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=(ast.List() | ast.Tuple() | ast.Dict())):
            is_unused = words[name] == 1 and not name.startswith(("pytest", "_"))
            return is_unused and is_literal(node.value)
    return False


def _order(unit: Unit) -> tuple[str, int, int, int]:
    return unit.test, unit.assertion, unit.row or 0, unit.case or 0


def _is_other(node: ast.expr, changed: ast.expr, kind: str) -> bool:
    """Returns True if an expression with another leaf certainly differs; a call always does."""
    if not is_literal(node):
        return True
    return is_literal(changed) and surely_differs(evaluated(node), evaluated(changed), kind)


class _Changer(ast.NodeTransformer):
    """Replaces some nodes."""

    def __init__(self, changes: Mapping[int, _New]) -> None:
        self._changes = changes

    def visit(self, node: ast.AST) -> _New:
        if id(node) in self._changes:
            return self._changes[id(node)]
        self.generic_visit(node)
        return node


def _unparsed(tree: ast.Module, changes: Mapping[int, _New]) -> str:
    fresh = copy.deepcopy(tree)
    if changes:
        nodes = list(syntax.walk(fresh))
        _Changer({id(nodes[number]): new for number, new in changes.items()}).visit(fresh)
    return ast.unparse(ast.fix_missing_locations(fresh)) + "\n"

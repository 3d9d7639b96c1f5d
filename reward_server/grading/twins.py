"""Perturbed twins of test files: the same tests, of which a secret part expects what is wrong.

Tests that live with a solution can be made to say anything. But what reads the suite, leaves early,
or answers whatever is expected, does so for a true expectation and a wrong one alike, unless it
knows which is which; and that is what the tests were there to find out. So a reward is given for a
whole vector of outcomes: true tests pass, and those that were made wrong fail.

A *unit* is a test, or one row of a parametrised one, that can be made wrong: by another expected
value (one of another unit's where the types agree, else one near by), another exception class, or
an assertion turned round. Only assertions that a passing test surely reaches count, and what stands
behind them is done even if they fail, so that a test that fails leaves what a passing one leaves. A
value that the prompt shows is never touched: whoever read the prompt would know.

True files and twins are written by the same hand (`ast.unparse`, without comments, docstrings and
messages of assertions, which tell what is right).
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Collection, Mapping, Sequence

from reward_server.grading.assertions import drop_words, shelter, turned
from reward_server.grading.perturbable import Finder, Site, Unit
from reward_server.grading.python_literals import (
    differs,
    evaluated,
    is_same,
    kind_of,
    literal,
    stands_in,
    varied,
)


class Twins:
    """Writes true and perturbed files.

    Args:
        trees: test files in Python, parsed, by path; they are changed.
        prompt: what the solution's author was told.
        files: all files, by path.

    Attributes:
        told: tests that cannot be made to fail for the sole reason that the prompt shows what they
            expect, so that nobody need cheat to pass them.
    """

    def __init__(
        self, trees: Mapping[str, ast.Module], files: Sequence[tuple[str, str]], prompt: str
    ) -> None:
        self._files = dict(files)
        self._prompt = prompt
        self._trees = dict(trees)
        for tree in self._trees.values():
            drop_words(tree)
            shelter(tree)
        self._nodes = {path: list(ast.walk(tree)) for path, tree in self._trees.items()}
        self._sites: dict[Unit, list[Site]] = {}
        finder = Finder(self._trees, self._nodes, self._is_told)
        for unit, site in finder.sites():
            self._sites.setdefault(unit, []).append(site)
        self.told = frozenset(finder.told)
        self._touched = {site.path for sites in self._sites.values() for site in sites}
        self._pool = _pool(self._sites, self._nodes)

    @property
    def units(self) -> tuple[Unit, ...]:
        """All that can be made to fail."""
        return tuple(sorted(self._sites, key=lambda unit: (unit.test, unit.row or 0)))

    def true_files(self) -> tuple[tuple[str, str], ...]:
        """Returns the files, all of them true."""
        return self._written({})

    def perturbed_files(
        self, units: Collection[Unit], draw: random.Random
    ) -> tuple[tuple[str, str], ...]:
        """Returns the files with some units made to fail."""
        chosen = [draw.choice(self._sites[unit]) for unit in sorted(units, key=str)]
        values = self._new_values(chosen, draw)
        changes: dict[str, dict[int, ast.AST]] = {}
        for site in chosen:
            node = self._nodes[site.path][site.number]
            new = turned(node, draw) if site not in values else literal(values[site])
            changes.setdefault(site.path, {})[site.number] = new
        return self._written(changes)

    def _written(self, changes: Mapping[str, Mapping[int, ast.AST]]) -> tuple[tuple[str, str], ...]:
        written = dict(self._files)
        for path in self._touched:
            written[path] = _unparsed(self._trees[path], changes.get(path, {}))
        return tuple(sorted(written.items()))

    def _new_values(self, chosen: Sequence[Site], draw: random.Random) -> dict[Site, object]:
        """Swaps values among the chosen sites, or else takes others of the same type."""
        found: dict[Site, object] = {}
        by_type: dict[str, list[Site]] = {}
        for site in chosen:
            if site.kind in ("value", "far"):
                by_type.setdefault(kind_of(self._value(site)), []).append(site)
        for kind, sites in by_type.items():
            draw.shuffle(sites)
            for place, site in enumerate(sites):
                others = [
                    self._value(sites[(place + 1) % len(sites)]),
                    *draw.sample(self._pool[kind], len(self._pool[kind])),
                ]
                found[site] = self._replacement(site, others, draw)
        return found

    def _replacement(self, site: Site, others: Sequence[object], draw: random.Random) -> object:
        value = self._value(site)
        fit = (
            other
            for other in others
            if differs(value, other, far=site.kind == "far") and not self._is_told(other)
        )
        taken = next(fit, None)
        if taken is not None and draw.random() < 0.75:
            return taken
        for _ in range(20):
            made = varied(value, draw, far=site.kind == "far")
            if differs(value, made, far=site.kind == "far") and not self._is_told(made):
                return made
        return made

    def _value(self, site: Site) -> object:
        return evaluated(self._nodes[site.path][site.number])

    def _is_told(self, value: object) -> bool:
        """Tells whether the prompt shows a value; truth values and None are in every text."""
        if not self._prompt or value is None or isinstance(value, bool):
            return False
        text = repr(value)
        texts = {text, text.replace("'", '"'), text.replace(", ", ",")}
        if isinstance(value, str):
            texts.add(value)
        return any(stands_in(text, self._prompt) for text in texts if text)


def _pool(
    sites: Mapping[Unit, Sequence[Site]], nodes: Mapping[str, Sequence[ast.AST]]
) -> dict[str, list[object]]:
    """Returns the expected values of all units, by type."""
    found: dict[str, list[object]] = {}
    for unit_sites in sites.values():
        for site in unit_sites:
            if site.kind in ("value", "far"):
                value = evaluated(nodes[site.path][site.number])
                known = found.setdefault(kind_of(value), [])
                if not any(is_same(value, other) for other in known):
                    known.append(value)
    return found


class _Changer(ast.NodeTransformer):
    """Puts other nodes in the place of some."""

    def __init__(self, changes: Mapping[int, ast.AST]) -> None:
        self._changes = changes

    def visit(self, node: ast.AST) -> ast.AST:
        if id(node) in self._changes:
            return self._changes[id(node)]
        self.generic_visit(node)
        return node


def _unparsed(tree: ast.Module, changes: Mapping[int, ast.AST]) -> str:
    fresh = copy.deepcopy(tree)
    if changes:
        nodes = list(ast.walk(fresh))
        _Changer({id(nodes[number]): new for number, new in changes.items()}).visit(fresh)
    return ast.unparse(ast.fix_missing_locations(fresh)) + "\n"

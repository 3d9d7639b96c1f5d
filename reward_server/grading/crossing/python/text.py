"""The texts of one namespace, and what the judge has to bind for them."""

from __future__ import annotations

import ast

from reward_server.domain import Crossing
from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.facts import Source
from reward_server.grading.crossing.python.kinds import Kinds
from reward_server.grading.crossing.python.prompt import without_annotations
from reward_server.grading.crossing.python.refusals import refuse


class Text(Kinds):
    """Texts, and what the rules found in them that the judge has to bind.

    Args:
        source: the texts.

    Attributes:
        names, classes, raised, values, modules, free, records: see `Crossing`.
        waiting: definitions of the prompt that are still to be checked.
        dropped: imports that nothing uses.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._first = source.trees[0] if source.trees else None
        self._loaded = {one.id for one in self.facts.loaded}
        self._used: dict[str, ast.stmt] = {}
        self._imports: dict[int, ast.stmt] = {}
        self.names: set[str] = {source.entry_point} if source.entry_point else set()
        self.classes: set[str] = set()
        self.raised: set[str] = set()
        self.values: set[str] = set()
        self.modules: set[str] = set()
        self.free: dict[str, str] = {}
        self.records: set[str] = set()
        self.waiting: list[ast.Module] = []
        self.dropped: list[ast.stmt] = []
        self.has_star = False

    def crossing(self) -> Crossing:
        """Returns what the judge has to bind."""
        imports = map(ast.unparse, self._imports.values())
        used = sorted(self._used.values(), key=lambda one: one.lineno)
        helpers = dict.fromkeys(map(ast.unparse, used))
        return Crossing(
            names=frozenset(self.names),
            classes=frozenset(self.classes - self.raised),
            raised=frozenset(self.raised),
            values=frozenset(self.values),
            modules=frozenset(self.modules | {one.partition(".")[0] for one in self.free.values()}),
            free=self.free,
            helpers="\n".join([*imports, *helpers]),
            records=frozenset(self.records),
        )

    def take(self, name: str, node: ast.AST, *, is_read: bool = True) -> None:
        """Records a name of the solution; one that is read anew each time may stand for data."""
        if looks.SPECIAL.fullmatch(name):
            refuse("names", node, name)
        self.names.add(name)
        if self.is_class_name(name):
            self.classes.add(name)
        if is_read and self.is_constant(name):
            self.values.add(name)

    def note_module(self, origin: str) -> None:
        """Records the modules that the judge loads for a listed name."""
        while origin and not self.is_of_solution(origin):
            if origin in allowed.MODULES and origin != "pytest.mark":
                self.modules.add(origin)
            origin = origin.rpartition(".")[0]
        if "datetime" in self.modules:
            self.modules.add("_strptime")

    def note_free(self, name: str, origin: str) -> None:
        """Records a name that the prompt imports, or that nobody does."""
        imports = self.helpers.needed(name)
        for one in imports:
            listed = _only_listed(one)
            if listed is not None:
                self._imports[id(one)] = listed
        if not imports:
            is_whole = origin.startswith("typing.")
            self.free[name] = origin if is_whole else origin.partition(".")[0]

    def leaves_out(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Returns True for an import that the judge need not make, and records it."""
        names = {one.asname or one.name.partition(".")[0] for one in node.names}
        is_known = isinstance(node, ast.ImportFrom) and self.is_module_of_solution(
            node.module or ""
        )
        is_used = is_known or "*" in names or not names.isdisjoint(self._loaded)
        if is_used or self._first is None or node not in self._first.body:
            return False
        self.dropped.append(node)
        return True

    def use_helper(self, name: str) -> None:
        """Takes a definition of the prompt, which is checked as a text of the tests."""
        if name in self._used:
            return
        node = self._used[name] = without_annotations(self.helpers.found[name])
        module = ast.Module(body=[node], type_ignores=[])
        self.collect(module, self.top)
        self.top.bound.pop(name, None)
        if (state := looks.state_of(node, self.helpers.changed)) is not None:
            refuse("stores", state, f"{name} of the prompt, which the solution may change")
        if isinstance(node, ast.ClassDef):
            if node.bases or node.keywords or node.decorator_list:
                refuse("classes", node, f"class {name} of the prompt")
            self.records.add(name)
        self.waiting.append(module)


def _only_listed(node: ast.Import | ast.ImportFrom) -> ast.stmt | None:
    """Returns an import without the modules that stand in no row."""
    if isinstance(node, ast.ImportFrom):
        return node if node.module in allowed.MODULES else None
    return ast.Import(names=[one for one in node.names if one.name in allowed.MODULES])

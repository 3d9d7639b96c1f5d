"""Where a name comes from: a module of the table, a built-in, the prompt or the solution."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python.facts import Facts, Source
from reward_server.grading.crossing.python.prompt import Helpers
from reward_server.grading.crossing.python.scopes import Names
from reward_server.grading.syntax import FUNCTIONS, Function, walk

SOLUTION = "solution"
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9_]+")
_CLASS_NAME = re.compile(r"_?[A-Z]\w*[a-z]\w*|[A-Z]")


class Origins(Names):
    """The origins of names.

    Args:
        source: the texts.

    Attributes:
        facts: what the tests hold.
        helpers: what the prompt defines.
        answered: attributes that answers may have.
        attributes: those of data, and those that the tests or the prompt define.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.facts = facts = Facts(source.trees)
        self.helpers = Helpers(source.prompt, self.entry)
        of_prompt = Facts([source.prompt] if source.prompt is not None else [])
        self.answered = allowed.OF_DATA | (allowed.OF_ARRAYS if facts.has_arrays else frozenset())
        self.attributes = allowed.ATTRIBUTES | facts.own | of_prompt.own
        self._called, self._functions = facts.called | {self.entry}, facts.functions
        for call in facts.calls:
            self._bind_arguments(call)
        self._leave_out_tested()
        self._leave_out_asserted()

    def _bind_arguments(self, call: ast.Call) -> None:
        """Binds the parameters of the tests' own functions to what calls give them."""
        for function in self._called_functions(call.func):
            listed = function.args
            names = [one.arg for one in (*listed.posonlyargs, *listed.args)]
            names = names[names[:1] == ["self"] :]
            rest = [listed.vararg.arg] if listed.vararg else []
            for place, value in enumerate(call.args):
                is_all = isinstance(value, ast.Starred)
                taken = [*names, *rest] if is_all else names[place : place + 1] or rest
                self._bind(function, taken, value)
            for one in call.keywords:
                self._bind(function, names if one.arg is None else [one.arg], one.value)

    def _bind(self, function: Function, names: Sequence[str], value: ast.expr) -> None:
        for name in names:
            self.scopes[id(function)].bind(name, value)

    def _called_functions(self, node: ast.expr) -> Iterator[Function]:
        """Yields the tests' own functions that a name in a call may stand for."""
        match node:
            case ast.Name():
                found = self.find(node)
                values = found[1] if found else []
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in allowed.FIXTURES:
                values = self.class_of(self.scope_of(node)).bound.get(name, [])
            case _:
                return
        for one in values:
            if isinstance(one, FUNCTIONS) and not one.name.startswith("test"):
                yield one

    def _leave_out_tested(self) -> None:
        """Takes the prompt's definitions for the solution's, if nothing else can be under test."""
        found = self.helpers.found
        if self.entry or not found:
            return
        free = {one.id for one in self.facts.loaded if self.find(one) is None}
        others = free - found.keys() - self.helpers.imports.keys() - set(dir(builtins))
        if not others - allowed.MODULES.keys():
            self.helpers.found = {}

    def _leave_out_asserted(self) -> None:
        """Takes functions of the prompt for the solution's that are under test themselves.

        Tests name them nowhere but in assertions about them alone. One that ever meets an answer,
        or serves what does, says what is right, and stays the prompt's.
        """
        used: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for one in self.facts.loaded:
            if isinstance(self.helpers.found.get(one.id), FUNCTIONS) and self.find(one) is None:
                used[one.id].append(one)
        serving = {
            part.id
            for name, node in self.helpers.found.items()
            for part in walk(node)
            if isinstance(part, ast.Name) and part.id != name
        }
        for name in used.keys() - serving:
            if all(map(self._is_asserted_alone, used[name])):
                del self.helpers.found[name]

    def _is_asserted_alone(self, node: ast.Name) -> bool:
        """Returns True in an assertion that holds, besides its function, no name but built-ins."""
        statement = next((one for one in self.around(node) if isinstance(one, ast.Assert)), None)
        names = (one for one in walk(statement or node) if isinstance(one, ast.Name))
        others = [one for one in names if one.id != node.id]
        return statement is not None and all(
            one.id in allowed.BUILTINS and one.id != self.entry and self.find(one) is None
            for one in others
        )

    def is_of_solution(self, origin: str) -> bool:
        """Returns True for the solution's module, and for what is imported from it."""
        known = {self.module, SOLUTION} if self.module else {SOLUTION}
        return any(origin == one or origin.startswith(f"{one}.") for one in known)

    def is_module_of_solution(self, origin: str) -> bool:
        """Returns True for the solution's module."""
        return bool(origin) and origin in (self.module, SOLUTION)

    def is_named(self, node: ast.expr) -> bool:
        """Returns True for what is imported, and for a name that the tests do not bind."""
        return bool(self.origin(node)) or (isinstance(node, ast.Name) and self.find(node) is None)

    def origin(self, node: ast.expr) -> str:
        """Returns the dotted origin of an imported name or an attribute of a module, or ""."""
        match node:
            case ast.Name(id=name):
                found = self.find(node)
                if found is None:
                    return self.free_origin(name)
                texts = [one for one in found[1] if isinstance(one, str)]
                return texts[-1] if texts and len(texts) == len(found[1]) else ""
            case ast.Attribute(value=value, attr=attribute):
                base = self.origin(value)
                is_module = base in allowed.MODULES or self.is_module_of_solution(base)
                return f"{base}.{attribute}" if base and (is_module or "." in base) else ""
        return ""

    def free_origin(self, name: str) -> str:
        """Returns the origin of a name that the tests do not bind."""
        if found := self.helpers.origin(name):
            return found
        for star in self.helpers.stars:
            if name in allowed.MODULES.get(star.module or "", ()):
                return f"{star.module}.{name}"
        if name in (self.entry, *self.helpers.found):
            return ""
        if name in allowed.MODULES["typing"]:
            return f"typing.{name}"
        return name if name in allowed.MODULES else allowed.ALIASES.get(name, "")

    def listed(self, node: ast.expr) -> str:
        """Returns the name of a built-in or of a listed function, or ""."""
        origin = self.origin(node)
        if origin:
            return "" if self.is_of_solution(origin) else origin
        if isinstance(node, ast.Name) and self.find(node) is None:
            is_free = node.id not in self.helpers.found and node.id != self.entry
            return node.id if node.id in allowed.BUILTINS and is_free else ""
        return ""

    def is_constant(self, name: str) -> bool:
        """Returns True for a name of the solution in capitals that is never called: it is data."""
        return name not in self._called and bool(_CONSTANT_NAME.fullmatch(name))

    def is_class(self, node: ast.expr) -> bool:
        """Returns True for the name of a class of the solution."""
        origin = self.origin(node)
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        return self.is_class_name(origin.rpartition(".")[2] if origin else name)

    def is_class_name(self, name: str) -> bool:
        """Returns True for a name that the solution gives to a class."""
        if name in self.helpers.functions or name in self._functions:
            return False
        return name in self.helpers.open_classes or bool(_CLASS_NAME.fullmatch(name))

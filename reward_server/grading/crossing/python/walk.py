"""The walk over a text: each node stands in the table, and its rules allow it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reward_server.domain import Crossing
from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import calls, definitions, names, values
from reward_server.grading.crossing.python.keeping.reads import check_kept
from reward_server.grading.crossing.python.looks import is_plain_display
from reward_server.grading.crossing.python.refusals import NotAllowedError, Refusal, refuse
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.syntax import children

_KNOWN = (*allowed.STATEMENTS, *allowed.EXPRESSIONS, *allowed.PARTS)
_RULES: Mapping[type[ast.AST], Callable[[Text, Any], None]] = {
    ast.Import: names.check_import,
    ast.ImportFrom: names.check_import_from,
    ast.Name: names.check_name,
    ast.Attribute: names.check_attribute,
    ast.Compare: values.check_compare,
    ast.BinOp: values.check_operation,
    ast.UnaryOp: values.check_sign,
    ast.Set: values.check_set,
    ast.Dict: values.check_keys,
    ast.FormattedValue: values.check_formatted,
    ast.Subscript: values.check_subscript,
    ast.Delete: values.check_delete,
    ast.Assign: values.check_assign,
    ast.AugAssign: values.check_augmented,
    ast.FunctionDef: definitions.check_function,
    ast.ClassDef: definitions.check_class,
    ast.withitem: definitions.check_manager,
    ast.ExceptHandler: definitions.check_handler,
    ast.Raise: definitions.check_raise,
    ast.Call: calls.check_call,
}


class Walk:
    """Applies the rules to texts.

    Args:
        text: the texts.

    Attributes:
        refusal: the first that a rule refuses, in the order of the walk.
    """

    def __init__(self, text: Text) -> None:
        self._text = text
        self.refusal: Refusal | None = None

    def run(self, trees: Sequence[ast.Module]) -> Crossing:
        """Returns what the judge has to bind, also for tests that it should not run."""
        for tree in trees:
            self._check_all(tree)
        while self._text.waiting:
            self._check_all(self._text.waiting.pop())
        self._apply(check_kept, self._text)
        return self._text.crossing()

    def _check_all(self, tree: ast.AST) -> None:
        for child in children(tree):
            if not is_plain_display(child):
                self._check(child)
                self._check_all(child)

    def _check(self, node: ast.AST) -> None:
        if not isinstance(node, _KNOWN):
            self._apply(refuse, "syntax", node, type(node).__name__)
        elif (rule := _RULES.get(type(node))) is not None:
            self._apply(rule, self._text, node)

    def _apply(self, rule: Callable[..., None], *given: object) -> None:
        try:
            rule(*given)
        except NotAllowedError as error:
            self.refusal = self.refusal or error.refusal

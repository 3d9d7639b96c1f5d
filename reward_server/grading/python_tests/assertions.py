"""Reads the assertions of tests: what they compare, and how they are negated."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping

from reward_server.grading import syntax
from reward_server.grading.python_tests.literals import evaluated
from reward_server.grading.syntax import FUNCTIONS, NAMES, dotted, last_name

EQUALITIES = frozenset(
    (
        *("assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual"),
        *("assertTupleEqual", "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"),
        *("assertIs",),
    )
)
PLAIN_EQUALITIES = frozenset(("assertEqual", "assertEquals"))
NEAR = frozenset(("assertAlmostEqual", "assertAlmostEquals", "approx", "isclose", "allclose"))
_OPPOSITES = {
    "assertTrue": "assertFalse",
    "assertEqual": "assertNotEqual",
    "assertIn": "assertNotIn",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
    "assertIsInstance": "assertNotIsInstance",
    "assertGreater": "assertLessEqual",
    "assertLess": "assertGreaterEqual",
    "assertAlmostEqual": "assertNotAlmostEqual",
}
TURNED: dict[str, str] = _OPPOSITES | {right: left for left, right in _OPPOSITES.items()}
_TURNED_OPERATORS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_CONDITIONS = (ast.If, ast.Match, ast.Try, ast.While)
EXCEPTIONS = frozenset(("assertRaises", "assertRaisesRegex", "raises"))
RAISES = EXCEPTIONS | {"assertWarns", "assertWarnsRegex", "warns"}
# Assertions on the arguments with which a mock was called.
CALLED_WITH = frozenset(("assert_called_with", "assert_called_once_with"))
_CALLED = {
    "assert_called": "assert_not_called",
    "assert_called_once": "assert_not_called",
    "assert_not_called": "assert_called",
}
TURNED |= _CALLED
TYPES = ("int", "str", "float", "bool", "list", "dict", "tuple", "set", "bytes")
# No class derives from one of these and from another exception, as `io.UnsupportedOperation` does.
_EXCEPTIONS = (BufferError, ReferenceError, FloatingPointError, RecursionError)
_WARNINGS = (BytesWarning, UnicodeWarning, ImportWarning)
# Exceptions that end or leave a test unless it expects them.
_ENDINGS = ("KeyboardInterrupt", "SkipTest", "Skipped")
_MOST_TOLERANCE = 0.5
_MESSAGE_POSITIONS = {"assertTrue": 1, "assertFalse": 1, "assertIsNone": 1, "assertIsNotNone": 1}


def uses_results(node: ast.expr) -> bool:
    """Returns True if an assertion is about more than constants."""
    arguments = node.args if isinstance(node, ast.Call) and _asserts(node) else [node]
    parts = (part for argument in arguments for part in syntax.walk(argument))
    return any(isinstance(part, NAMES) for part in parts)


def _asserts(call: ast.Call) -> bool:
    return dotted(call.func).startswith("self.assert")


def is_near(node: ast.expr, most: float = _MOST_TOLERANCE) -> bool:
    """Returns True if a comparison with a tolerance has a small tolerance."""
    if not isinstance(node, ast.Call) or len(node.args) > 3:
        return False
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    places = given.pop("places", None) or (node.args[2] if len(node.args) > 2 else None)
    count = 0 if places is None else evaluated(places)
    known = all(name in ("rel_tol", "abs_tol", "rtol", "atol") for name in given)
    if not isinstance(count, int) or (places is not None and 0.5 * 10.0**-count > most):
        return False
    return known and all(is_small(one, most) for one in given.values())


def is_small(node: ast.expr, most: float = _MOST_TOLERANCE) -> bool:
    """Returns True if an expression is a literal that can be a small tolerance."""
    value = evaluated(node)
    return isinstance(value, (int, float)) and 0 <= value <= most


def other_exceptions(node: ast.expr) -> list[str]:
    """Returns exception classes that are unrelated to the one that an expression names."""
    name = last_name(node)
    kind = getattr(builtins, name, None)
    if not name[:1].isupper() or name in ("Exception", "BaseException", "Warning", *_ENDINGS):
        return []
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        others = _WARNINGS if name.endswith("Warning") else _EXCEPTIONS
        return [one.__name__ for one in others] if kind is None else []
    others = _WARNINGS if issubclass(kind, Warning) else _EXCEPTIONS
    return [
        one.__name__ for one in others if not issubclass(one, kind) and not issubclass(kind, one)
    ]


def turned(node: ast.AST) -> ast.AST:
    """Returns the negation of an assertion."""
    turned = copy.deepcopy(node)
    if isinstance(turned, ast.Call) and isinstance(turned.func, ast.Attribute):
        turned.func.attr = TURNED[turned.func.attr]
    elif isinstance(turned, ast.Assert):
        turned.test = _negated(turned.test)
    return turned


def _negated(test: ast.expr) -> ast.expr:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(ops=[operator]) if type(operator) in _TURNED_OPERATORS:
            turned = _TURNED_OPERATORS[type(operator)]()
            return ast.Compare(left=test.left, ops=[turned], comparators=test.comparators)
    return ast.UnaryOp(op=ast.Not(), operand=test)


def drop_words(tree: ast.Module) -> None:
    """Removes docstrings, messages of assertions, and names of rows and of subtests.

    Docstrings stay if the text reads any of them.
    """
    keeps_docstrings = any(map(_looks_at_docstrings, syntax.walk(tree)))
    for node in syntax.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
        elif isinstance(node, ast.Call):
            _drop_message(node)
            _drop_names(node)
        elif keeps_docstrings:
            continue
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str())):
                    node.body[0] = ast.Pass() if len(node.body) == 1 else node.body[0]
                    if len(node.body) > 1:
                        del node.body[0]


def _looks_at_docstrings(node: ast.AST) -> bool:
    return last_name(node) in ("__doc__", "getdoc")


def _drop_message(call: ast.Call) -> None:
    name = dotted(call.func)
    if name.startswith("self.assert"):
        name = name.removeprefix("self.")
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != "msg"]
        if name in EQUALITIES or name in _MESSAGE_POSITIONS or name in TURNED:
            place = _MESSAGE_POSITIONS.get(name, 2)
            if "Almost" not in name and not any(isinstance(a, ast.Starred) for a in call.args):
                del call.args[place:]


def _drop_names(call: ast.Call) -> None:
    """Removes the names of rows of parameters, and of subtests."""
    name = last_name(call.func)
    if name in ("parametrize", "param"):
        call.keywords = [one for one in call.keywords if one.arg not in ("id", "ids")]
    elif dotted(call.func) == "self.subTest":
        call.args, call.keywords = [], []


def split_conjunctions(tree: ast.Module) -> None:
    """Makes an assertion of each operand of a conjunction."""
    _Splitter().visit(tree)


class _Splitter(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.Assert]:  # ast calls it so
        if not isinstance(node.test, ast.BoolOp) or not isinstance(node.test.op, ast.And):
            return [node]
        parts = [ast.copy_location(ast.Assert(test=one), node) for one in node.test.values]
        return [one for part in parts for one in self.visit_Assert(part)]


def drop_spellings(tree: ast.Module) -> None:
    """Removes the difference between spellings of a literal."""
    for node in syntax.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None


def may_end_early(block: ast.stmt) -> bool:
    """Returns True if a round of a loop, or a part of a test, may end before its last assertion.

    What stands under a condition may assert and assign. Any other call may skip the rest.
    """
    todo: list[tuple[ast.AST, bool]] = [(block, False)]
    while todo:
        node, is_conditional = todo.pop()
        is_conditional |= isinstance(node, _CONDITIONS)
        leaves = isinstance(node, (ast.Return, ast.Raise)) or _calls(node)
        if isinstance(node, (ast.Break, ast.Continue)) or (is_conditional and leaves):
            return True
        todo.extend((child, is_conditional) for child in syntax.children(node))
    return False


def _calls(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=function)):
            return not dotted(function).rpartition(".")[2].startswith("assert")
    return False

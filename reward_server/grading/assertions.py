"""Assertions in tests' text: which there are, what they compare, and how they are turned round."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping

from reward_server.grading.python_literals import evaluated
from reward_server.grading.suites import dotted

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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
RAISES = frozenset(
    ("assertRaises", "assertRaisesRegex", "raises", "assertWarns", "assertWarnsRegex", "warns")
)
# Blocks that hand over what the solution logged, or warned of.
COLLECTING = frozenset(("assertLogs", "assertWarns", "assertWarnsRegex", "warns"))
# Of calls that a mock took, with what.
CALLED_WITH = frozenset(("assert_called_with", "assert_called_once_with"))
_CALLED = {
    "assert_called": "assert_not_called",
    "assert_called_once": "assert_not_called",
    "assert_not_called": "assert_called",
}
TURNED |= _CALLED
_EXCEPTIONS = (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, AttributeError)
_WARNINGS = (UserWarning, DeprecationWarning, RuntimeWarning, FutureWarning, SyntaxWarning)
TYPES = ("int", "str", "float", "bool", "list", "dict", "tuple", "set", "bytes")
# Functions of Python's own whose results are always of the exact type that they promise.
_EXACT = frozenset(("len", "bool", "ord", "hash", "id", "isinstance", "issubclass", "callable"))
# Calls that compare, so that an object has a say in the outcome.
_COMPARING = frozenset(
    (
        *("allclose", "isclose", "array_equal", "array_equiv", "equals", "eq", "approx"),
        *("cmp", "filecmp", "sorted", "max", "min", "index", "count"),
    )
)
# Assertions that, turned round, fail for whatever passes them.
_SURE_WHEN_TURNED = frozenset(
    (
        *("assertIsNone", "assertIsNotNone", "assertIs", "assertIsNot", "assertIn", "assertNotIn"),
        *("assertIsInstance", "assertNotIsInstance", *_CALLED),
    )
)
# From which classes of a solution's own are hardly ever derived.
_REMOTE_EXCEPTIONS = (TypeError, ZeroDivisionError, AttributeError, OverflowError)
_MESSAGE_POSITIONS = {"assertTrue": 1, "assertFalse": 1, "assertIsNone": 1, "assertIsNotNone": 1}


def uses_results(node: ast.expr) -> bool:
    """Returns True if an assertion is of more than constants."""
    arguments = node.args if isinstance(node, ast.Call) and _asserts(node) else [node]
    parts = (part for argument in arguments for part in ast.walk(argument))
    return any(isinstance(part, (ast.Name, ast.Attribute)) for part in parts)


def _asserts(call: ast.Call) -> bool:
    return dotted(call.func).startswith("self.assert")


def is_near(node: ast.expr) -> bool:
    """Returns True if a comparison with a tolerance has a small one."""
    if not isinstance(node, ast.Call) or len(node.args) > 3:
        return False
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    places = given.pop("places", None) or (node.args[2] if len(node.args) > 2 else None)
    count = 0 if places is None else evaluated(places)
    known = all(name in ("rel_tol", "abs_tol", "rtol", "atol") for name in given)
    return known and isinstance(count, int) and count >= 0 and all(map(is_small, given.values()))


def is_small(node: ast.expr) -> bool:
    """Returns True if an expression is a literal that may be a tolerance, and no large one."""
    value = evaluated(node)
    return isinstance(value, (int, float)) and 0 <= value <= 0.5


def other_exceptions(node: ast.expr) -> list[str]:
    """Returns classes of exceptions of which one that an expression names is none."""
    name = dotted(node).rpartition(".")[2]
    kind = getattr(builtins, name, None)
    if not name[:1].isupper() or name in ("Exception", "BaseException", "Warning"):
        return []
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        return [one.__name__ for one in _REMOTE_EXCEPTIONS] if kind is None else []
    others = _WARNINGS if issubclass(kind, Warning) else _EXCEPTIONS
    return [
        one.__name__ for one in others if not issubclass(one, kind) and not issubclass(kind, one)
    ]


def turned(node: ast.AST) -> ast.AST:
    """Returns an assertion turned into its opposite."""
    turned = copy.deepcopy(node)
    if isinstance(turned, ast.Call) and isinstance(turned.func, ast.Attribute):
        turned.func.attr = TURNED[turned.func.attr]
    elif isinstance(turned, ast.Assert):
        turned.test = _negated(turned.test)
    return turned


def is_sure_when_turned(node: ast.AST) -> bool:
    """Returns True if whatever passes an assertion fails its opposite, and no liar passes both.

    An object that equals everything passes `x == y` and fails `x != y`, as an honest one does:
    there the opposite shows that the assertion ran, and not that it could fail.
    """
    match node:
        case ast.Assert(test=test):
            return not _asks_an_object(test)
        case ast.Call(func=ast.Attribute(attr=name), args=arguments):
            if name in ("assertTrue", "assertFalse"):
                return not any(map(_asks_an_object, arguments))
            exact = len(arguments) == 2 and all(map(_is_exact, arguments))
            return name in _SURE_WHEN_TURNED or (exact and name in TURNED)
    return False


def _asks_an_object(condition: ast.AST) -> bool:
    """Returns True if an object may answer for itself how it compares with data."""
    for node in ast.walk(condition):
        if isinstance(node, ast.Compare):
            sure = all(
                isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
                for operator in node.ops
            )
            if not sure and not all(map(_is_exact, (node.left, *node.comparators))):
                return True
        elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _COMPARING:
            return True
    return False


def _is_exact(node: ast.expr) -> bool:
    """Returns True if an expression is data of Python's own, whatever it is made from."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _EXACT
    return isinstance(node, ast.Constant)


def _negated(test: ast.expr) -> ast.expr:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(ops=[operator]) if type(operator) in _TURNED_OPERATORS:
            turned = _TURNED_OPERATORS[type(operator)]()
            return ast.Compare(left=test.left, ops=[turned], comparators=test.comparators)
    return ast.UnaryOp(op=ast.Not(), operand=test)


def drop_words(tree: ast.Module) -> None:
    """Drops docstrings, and the messages of assertions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
        elif isinstance(node, ast.Call):
            _drop_message(node)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str())):
                    node.body[0] = ast.Pass() if len(node.body) == 1 else node.body[0]
                    if len(node.body) > 1:
                        del node.body[0]


def _drop_message(call: ast.Call) -> None:
    name = dotted(call.func)
    if name.startswith("self.assert"):
        name = name.removeprefix("self.")
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != "msg"]
        if name in EQUALITIES or name in _MESSAGE_POSITIONS or name in TURNED:
            place = _MESSAGE_POSITIONS.get(name, 2)
            if "Almost" not in name and not any(isinstance(a, ast.Starred) for a in call.args):
                del call.args[place:]


def is_assertion(node: ast.AST) -> bool:
    """Returns True if a part of a test's text may decide its outcome."""
    match node:
        case ast.Assert():
            return True
        case ast.Call(func=function):
            name = dotted(function).rpartition(".")[2] or getattr(function, "attr", "")
            return (
                name.startswith("assert") or name in RAISES or name in ("fail", "deprecated_call")
            )
    return False


def split_conjunctions(tree: ast.Module) -> None:
    """Makes an assertion of each part of one that asserts several things."""
    _Splitter().visit(tree)


class _Splitter(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.Assert]:  # ast calls it so
        if not isinstance(node.test, ast.BoolOp) or not isinstance(node.test.op, ast.And):
            return [node]
        parts = [ast.copy_location(ast.Assert(test=one), node) for one in node.test.values]
        return [one for part in parts for one in self.visit_Assert(part)]


def drop_spellings(tree: ast.Module) -> None:
    """Drops what tells one spelling of a literal from another."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None

"""The program that `math_reward` sends to a server: it parses answers, and compares them.

The trainer never imports it, because it parses with sympy, which evaluates text and may hang.

    without arguments   is the parser: reads an answer on standard input, and writes it as JSON:
                        the expression as a tree of the classes below, and the text
    with three paths    is the checker: rebuilds the expressions of the answer's JSON and of the
                        references, and compares them; exit status 0 accepts and 1 rejects

What this stops: code that an answer makes a parser run. The parser runs in a sandbox that has no
reference, and its output is treated like any other answer: a tree of a closed set of classes, which
the checker builds without parsing text. An answer on which sympy hangs is killed there and is
wrong. A reference that is off by one detects an answer that equals everything.

What it does not stop: an error in sympy or math-verify that makes two different expressions equal.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import re
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

ACCEPTED, REJECTED, BROKEN = 0, 1, 3
# CPU time for the work that an answer causes, without the time for imports and references.
SECONDS = 2.0
CLAIM_BYTES = 1 << 16
TEXT_CHARACTERS = 4000

_WHOLE = re.compile(r"-?[0-9]{1,1000}")
_DECIMAL = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?(e[+-]?[0-9]{1,3})?")
# A name that sympy cannot execute as Python: it has no parentheses, quotes or dots.
_NAME = re.compile(r"[A-Za-z0-9_{}\\^ +,-]{1,64}")
# Class of a constant, and its name in sympy's registry.
_CONSTANTS = {
    "Pi": "Pi",
    "Exp1": "Exp1",
    "ImaginaryUnit": "ImaginaryUnit",
    "EulerGamma": "EulerGamma",
    "Infinity": "Infinity",
    "NegativeInfinity": "NegativeInfinity",
    "EmptySet": "EmptySet",
    "Naturals": "Naturals",
    "Naturals0": "Naturals0",
    "Integers": "Integers",
    "Rationals": "Rationals",
    "Reals": "Reals",
    "Complexes": "Complexes",
    "BooleanTrue": "true",
    "BooleanFalse": "false",
}
_UNEVALUATED = frozenset(
    (
        *("Add", "Mul", "Pow", "Mod", "Equality", "Unequality"),
        *("StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan"),
        *("exp", "log", "sin", "cos", "tan", "cot", "sec", "csc"),
        *("asin", "acos", "atan", "acot", "asec", "acsc"),
        *("sinh", "cosh", "tanh", "coth", "sech", "csch"),
        *("asinh", "acosh", "atanh", "acoth", "asech", "acsch"),
        *("Abs", "sign", "floor", "ceiling", "factorial", "binomial", "gamma", "Min", "Max"),
        *("conjugate", "re", "im", "arg"),
    )
)
_PLAIN = frozenset(
    (
        *("UnevaluatedExpr", "Tuple", "Interval", "Union", "Intersection", "Complement"),
        *("ProductSet", "Or", "Not", "Contains", "Sum", "Product", "Integral", "Derivative"),
    )
)
# math-verify's own classes, which keep the order of the text.
_ORDERED = {"FiniteSet": "latex2sympy2_extended.sets", "And": "latex2sympy2_extended.logic"}


def encode(expression: Any) -> Any:
    """Converts an expression to lists of text, numbers and lists.

    Raises:
        ValueError: it holds an object of another class than those above.
    """
    kind = type(expression).__name__
    if kind in _CONSTANTS:
        return [kind]
    if getattr(expression, "is_Integer", False):
        return ["Integer", str(int(expression))]
    if getattr(expression, "is_Rational", False):
        return ["Rational", str(int(expression.p)), str(int(expression.q))]
    if getattr(expression, "is_Float", False):
        return ["Float", str(expression)]
    if getattr(expression, "is_Symbol", False):
        return ["Symbol", _matching(_NAME, expression.name), bool(expression.is_real)]
    if getattr(expression, "is_Matrix", False) and hasattr(expression, "flat"):
        return ["Matrix", *expression.shape, [encode(one) for one in expression.flat()]]
    if kind in _UNEVALUATED or kind in _PLAIN or kind in _ORDERED:
        parts = getattr(expression, "_unsorted_args", expression.args)
        return [kind, *map(encode, parts)]
    if getattr(expression.func, "is_Function", False) and hasattr(expression.func, "name"):
        return ["Apply", _matching(_NAME, expression.func.name), *map(encode, expression.args)]
    raise ValueError(f"no tree has a {kind}")


def decode(node: Any) -> Any:
    """Builds the expression of a tree, which may come from an attacker.

    Raises:
        Exception: the value is no such tree. The exception may be of any type, since sympy raises
            many types on invalid input.
    """
    sympy = importlib.import_module("sympy")
    kind, *parts = node
    if kind in _CONSTANTS:
        return getattr(sympy.S, _CONSTANTS[kind])
    if kind == "Integer":
        return sympy.Integer(_whole(*parts))
    if kind == "Rational":
        above, below = map(_whole, parts)
        return sympy.Rational(above, max(below, 1))
    if kind == "Float":
        return sympy.Float(_matching(_DECIMAL, *parts))
    if kind == "Symbol":
        name, real = parts
        return sympy.Symbol(_matching(_NAME, name), real=True if real is True else None)
    if kind == "Matrix":
        rows, columns, flat = parts
        return sympy.Matrix(_size(rows), _size(columns), [decode(one) for one in flat])
    if kind == "Apply":
        name, *parts = parts
        return sympy.Function(_matching(_NAME, name))(*map(decode, parts))
    return _build(sympy, kind, [decode(one) for one in parts])


def _build(sympy: Any, kind: str, parts: list[Any]) -> Any:
    if kind in _UNEVALUATED:
        return getattr(sympy, kind)(*parts, evaluate=False)
    if kind in _ORDERED:
        return getattr(importlib.import_module(_ORDERED[kind]), kind)(*parts)
    if kind in _PLAIN:
        return getattr(sympy, kind)(*parts)
    raise ValueError("no such class")


def _matching(pattern: re.Pattern[str], text: Any) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise ValueError("not of this form")
    return text


def _whole(text: Any) -> int:
    return int(_matching(_WHOLE, text))


def _size(number: Any) -> int:
    if type(number) is not int or not 1 <= number <= 32:
        raise ValueError("not a size of a matrix")
    return number


def understood(text: str) -> list[Any]:
    """Returns the expression at the end of a text, if there is one, and its text."""
    math_verify = importlib.import_module("math_verify")
    return list(math_verify.parse(text, parsing_timeout=None))


def claim_of(text: str) -> dict[str, Any]:
    """Returns the JSON form of an answer: `text`, and `tree` if it has one."""
    claim: dict[str, Any] = {}
    for one in understood(text):
        try:
            claim |= {"text": one} if isinstance(one, str) else {"tree": encode(one)}
        except (ValueError, AttributeError, RecursionError):
            continue
    return claim


def expressions(claim: Any) -> list[Any]:
    """Builds the content of a claim: an expression, a text, or both.

    Raises:
        Exception: see `decode`.
    """
    found = [decode(claim["tree"])] if "tree" in claim else []
    if "text" in claim and isinstance(claim["text"], str):
        found.append(claim["text"][:TEXT_CHARACTERS])
    return found


def equal(left: list[Any], right: list[Any]) -> bool:
    """Returns True if an expression or text of one list equals one of the other."""
    math_verify = importlib.import_module("math_verify")
    return bool(math_verify.verify(left, right, timeout_seconds=None))


def decoys_of(reference: list[Any]) -> list[Any]:
    """Returns expressions that differ from a reference by one, if it has such neighbours."""
    found: list[Any] = []
    for one in reference:
        # An expression without a neighbour, such as the set of all reals, raises an exception of
        # one of many types.
        with contextlib.suppress(Exception):
            found.append(_neighbour(one))
    return [decoy for decoy in found if not equal([decoy], reference)]


def _neighbour(one: Any) -> Any:
    sympy = importlib.import_module("sympy")
    if isinstance(one, sympy.Eq):
        return sympy.Eq(one.lhs, one.rhs + 1)
    if isinstance(one, sympy.Interval):
        return sympy.Interval(one.start + 1, one.end + 1, one.left_open, one.right_open)
    if isinstance(one, sympy.FiniteSet | sympy.Tuple):
        return type(one)(*(part + 1 for part in one.args))
    return one + (sympy.ones(*one.shape) if isinstance(one, sympy.MatrixBase) else 1)


def is_right(answer: list[Any], reference: list[Any], decoys: list[Any]) -> bool:
    """Returns True if an answer equals a reference, and equals none of the decoys."""
    return equal(reference, answer) and not any(equal([decoy], answer) for decoy in decoys)


def check(output: str, expected: str) -> int:
    """Compares a claim with references; returns the exit status."""
    try:
        texts = json.loads(Path(expected).read_text("utf-8"))
        references = [expressions(claim_of(text)) for text in texts]
        known = [(reference, decoys_of(reference)) for reference in references]
    except ImportError as error:
        return _said(f"the sandbox lacks math-verify: {error}", BROKEN)
    if not all(references):
        return _said("a reference is not understood as mathematics", BROKEN)
    _limit_time()
    try:
        claim = Path(output).read_bytes()
        answer = expressions(json.loads(claim)) if len(claim) <= CLAIM_BYTES else []
        if any(is_right(answer, *one) for one in known):
            return ACCEPTED
        said = [one for one in answer if isinstance(one, str)]
        return _said(f"{' '.join(said)[:80]!r} is not {texts[0][:80]!r}", REJECTED)
    except Exception as error:  # noqa: BLE001  # an answer can make sympy raise any exception
        return _said(f"the answer raises {type(error).__name__}", REJECTED)


def _limit_time() -> None:
    # The default action of SIGPROF ends the process, even during a long multiplication.
    signal.setitimer(signal.ITIMER_PROF, SECONDS)


def _said(reason: str, status: int) -> int:
    sys.stderr.write(f"{reason}\n")
    return status


def read() -> str:
    """Reads an answer; returns its JSON form."""
    text = sys.stdin.buffer.read(TEXT_CHARACTERS * 4).decode("utf-8", "replace")
    try:
        importlib.import_module("math_verify")
        _limit_time()
        return json.dumps(claim_of(text[:TEXT_CHARACTERS]))
    except Exception:  # noqa: BLE001
        # An answer that cannot be read claims nothing. The checker reports a missing math-verify.
        return "{}"


def main(paths: list[str]) -> int:
    """Runs one of the two sides; returns the exit status."""
    # math-verify warns that it sets no timer, which the timer of this program makes unnecessary.
    logging.disable(logging.CRITICAL)
    if not paths:
        sys.stdout.write(read())
        return 0
    try:
        return check(*paths[1:])
    except BaseException:  # noqa: BLE001  # Python's own status for it would reject the answer
        traceback.print_exc()
        return BROKEN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

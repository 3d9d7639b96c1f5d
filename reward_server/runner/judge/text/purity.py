"""Decides which tests are pure: they leave nothing behind in the interpreter that ran them.

What this stops: tests of one execution that affect the tests of the next execution in the same
judge. Pure tests call the functions under test, compute with plain data and pure functions, and
store their objects in their own globals. They cannot set an attribute, so every module and class is
the same afterwards.

What it does not do: it refuses no tests. Tests that are not pure run as well, but their judge then
exits.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType

from ...channel.cache import remembered
from ...channel.files import MODULE_NAME


def _public(module: object) -> frozenset[str]:
    return frozenset(name for name in dir(module) if not name.startswith("_"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


# The functions of these modules that leave nothing behind; unseeded random numbers are not a state
# that tests use.
MODULES: Mapping[str, frozenset[str]] = {
    "bisect": _words("bisect bisect_left bisect_right insort insort_left insort_right"),
    "collections": _words("Counter OrderedDict defaultdict deque"),
    "copy": _words("copy deepcopy"),
    "fractions": _words("Fraction"),
    "functools": _words("cmp_to_key partial reduce"),
    "heapq": _words("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": _public(itertools),
    "json": _words("dumps loads"),
    "math": _public(math),
    "operator": _public(operator) - _words("attrgetter methodcaller"),
    "random": _words("Random choice choices randint random randrange sample shuffle uniform"),
    "re": _words("compile findall finditer fullmatch match search split sub subn")
    | _words("I IGNORECASE M MULTILINE S DOTALL X VERBOSE"),
    "string": _words("ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits")
    | _words("printable punctuation whitespace"),
    "typing": _words("Any Callable Dict Iterable Iterator List Optional Sequence Set Tuple Union"),
}
_DATA = (bool, bytes, bytearray, complex, dict, float, frozenset, int, list, range, set, str, tuple)
_METHODS = frozenset[str]().union(
    *map(_public, _DATA),
    _words("appendleft elements extendleft most_common move_to_end popleft rotate subtract total"),
    _words("limit_denominator end group groupdict groups pattern span"),
)
_ATTRIBUTES = _METHODS.union(*MODULES.values())
_BUILTINS = _words(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter"
    " float format frozenset hasattr hash hex int isinstance issubclass iter len list map max min"
    " next object oct ord pow print range repr reversed round set slice sorted str sum tuple zip"
    " Ellipsis NotImplemented"
) | {name for name, value in vars(builtins).items() if _is_exception(value)}
_KINDS = (
    *(ast.Module, ast.Lambda, ast.arguments, ast.Return, ast.Expr),
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Delete),
    *(ast.For, ast.While, ast.If, ast.Break, ast.Continue, ast.Pass, ast.Assert),
    *(ast.Try, ast.Raise, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Starred),
    *(ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Call, ast.keyword, ast.IfExp),
    *(ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare),
    *(ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context),
)
_BINDING = (ast.FunctionDef, ast.arg, ast.ExceptHandler, ast.alias, ast.Global, ast.Nonlocal)
_HARMLESS = frozenset(_KINDS).union(*(kind.__subclasses__() for kind in _KINDS))
# The instructions of texts without attributes, imports and classes, in all versions of Python.
_INSTRUCTIONS = _words(
    "CACHE EXTENDED_ARG NOP RESUME PUSH_NULL POP_TOP COPY SWAP END_FOR"
    " LOAD_CONST LOAD_NAME LOAD_GLOBAL LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_DEREF"
    " LOAD_CLOSURE LOAD_ASSERTION_ERROR STORE_NAME STORE_GLOBAL STORE_FAST STORE_DEREF"
    " DELETE_NAME DELETE_GLOBAL DELETE_FAST DELETE_DEREF MAKE_CELL COPY_FREE_VARS MAKE_FUNCTION"
    " PRECALL KW_NAMES CALL CALL_FUNCTION_EX RETURN_VALUE RETURN_CONST RETURN_GENERATOR YIELD_VALUE"
    " COMPARE_OP IS_OP CONTAINS_OP BINARY_OP UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT"
    " BINARY_SUBSCR BINARY_SLICE STORE_SUBSCR STORE_SLICE DELETE_SUBSCR BUILD_SLICE"
    " BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING FORMAT_VALUE"
    " LIST_APPEND LIST_EXTEND LIST_TO_TUPLE SET_ADD SET_UPDATE MAP_ADD DICT_UPDATE DICT_MERGE"
    " UNPACK_SEQUENCE UNPACK_EX GET_ITER FOR_ITER"
    " RAISE_VARARGS RERAISE PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH"
)
_CODES = frozenset(
    code
    for name, code in dis.opmap.items()
    if name in _INSTRUCTIONS or name.startswith(("JUMP_", "POP_JUMP_"))
)
_GENERATOR = "<genexpr>"
_WAITING = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_plain(text: str, code: CodeType) -> bool:
    """Returns True if a text leaves nothing behind.

    Args:
        text: the text.
        code: the text's code object, which is examined first because that is faster.
    """
    return _computes_alone(code) or _is_plain(text)


def _computes_alone(code: CodeType) -> bool:
    """Returns True if a code object uses no attribute, import, class or forbidden name."""
    names = (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
    is_generator = bool(code.co_flags & inspect.CO_GENERATOR)
    return (
        _CODES.issuperset(code.co_code[::2])
        and vars(builtins).keys() & names <= _BUILTINS
        and not any(map(_is_special, names))
        and not code.co_flags & _WAITING
        and (not is_generator or code.co_name == _GENERATOR)
        and all(_computes_alone(one) for one in code.co_consts if isinstance(one, CodeType))
    )


@remembered
def _is_plain(text: str) -> bool:
    try:
        return leaves_nothing(ast.parse(text))
    except (RecursionError, MemoryError):  # too deeply nested for a tree, though not for code
        return False


def leaves_nothing(tree: ast.Module) -> bool:
    """Returns True if a parsed text leaves nothing behind."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if type(node) not in _HARMLESS and not _is_harmless(node):
            return False
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                waiting.append(part)
            elif type(part) is list:
                waiting += [one for one in part if isinstance(one, ast.AST)]
    return True


def _is_harmless(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            is_own = name not in vars(builtins) and not _is_special(name)
            return is_own or name in _BUILTINS
        case ast.Attribute(attr=name, ctx=context):
            return isinstance(context, ast.Load) and name in _ATTRIBUTES
        case ast.Import(names=imported):
            return all(one.name in MODULES for one in imported)
        case ast.ImportFrom(module=str(module), names=imported, level=0):
            return module == MODULE_NAME or _offers(module, imported)
        case _:
            return isinstance(node, _BINDING) and not any(map(_is_special, _named(node)))


def _offers(module: str, imported: Iterable[ast.alias]) -> bool:
    return all(one.name in MODULES.get(module, ()) for one in imported)


def _named(node: ast.AST) -> Iterator[str]:
    """Yields the names in a node itself, without those in nodes inside it."""
    for _, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield part


def _is_special(name: str) -> bool:
    """Returns True if the interpreter or a module gives a name a meaning, such as
    `__builtins__`."""
    return name.startswith("__")

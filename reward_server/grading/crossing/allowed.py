"""What tests may say if they are to run apart from the solution: a table, and nothing beside it.

What this stops: tests that could do anything but compute with plain data, call the solution and
compare. A name, an attribute or a form of syntax that stands in no row makes the tests SHARED. So
a row that is missing costs a label, and a label is wrong only if a row is.

A row is safe if what it names is a pure function of data, or changes nothing but its own
arguments; if it makes no code, name, path, pattern, format or type from a value that could be an
answer; and if it gives no way to a frame, a module's namespace or another process.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
import fractions
import unittest
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping

# ------------------------------------------------------------------------------------ syntax

STATEMENTS = (
    *(ast.FunctionDef, ast.ClassDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign),
    *(ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.Raise, ast.Try, ast.Assert),
    *(ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break),
    ast.Continue,
)
EXPRESSIONS = (
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom),
    *(ast.Compare, ast.Call, ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.Attribute),
    *(ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice),
)
PARTS = (
    *(ast.comprehension, ast.arguments, ast.arg, ast.keyword, ast.alias, ast.withitem),
    *(ast.ExceptHandler, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)

# ---------------------------------------------------------------------------------- built-ins

TYPES = frozenset(
    (
        *("bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "set", "frozenset"),
        *("dict", "range", "object", "slice"),
    )
)
FUNCTIONS = frozenset(
    (
        *("abs", "all", "any", "ascii", "bin", "chr", "divmod", "enumerate", "filter", "format"),
        *("getattr", "hasattr", "hash", "hex", "isinstance", "iter", "len", "map", "max", "min"),
        *("next", "oct", "ord", "pow", "print", "repr", "reversed", "round", "setattr", "sorted"),
        *("sum", "super", "type", "zip"),
    )
)
# They would end a program, an iteration or a framework's run, so they cross from nowhere.
NEVER_RAISED = frozenset(
    (
        *("BaseException", "BaseExceptionGroup", "ExceptionGroup", "GeneratorExit"),
        *("KeyboardInterrupt", "StopAsyncIteration", "StopIteration", "SystemExit"),
    )
)
EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception) and name not in NEVER_RAISED
)
TEXTS = frozenset(("__file__", "__name__"))
BUILTINS = TYPES | FUNCTIONS | EXCEPTIONS | TEXTS | {"Ellipsis", "NotImplemented"}

# ------------------------------------------------------------------------------------ modules


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The functions, types and constants of each module; those of `NARROW` are types to read only.
MODULES: Mapping[str, frozenset[str]] = {
    "bisect": _words("bisect bisect_left bisect_right insort insort_left insort_right"),
    "cmath": _words("exp inf isclose isfinite isinf isnan log nan phase pi polar rect sqrt"),
    "collections": _words("Counter OrderedDict defaultdict deque"),
    "copy": _words("copy deepcopy"),
    "datetime": _words("date datetime time timedelta timezone"),
    "decimal": _words(
        "Decimal InvalidOperation DivisionByZero ROUND_CEILING ROUND_DOWN ROUND_FLOOR"
        " ROUND_HALF_DOWN"
        " ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP"
    ),
    "fractions": _words("Fraction"),
    "functools": _words("cmp_to_key partial reduce"),
    "heapq": _words("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": _words(
        "accumulate batched chain combinations combinations_with_replacement compress count cycle"
        " dropwhile filterfalse groupby islice pairwise permutations product repeat starmap"
        " takewhile tee zip_longest"
    ),
    "json": _words("JSONDecodeError dumps loads"),
    "math": _words(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf"
        " erfc exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose"
        " isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm"
        " pi pow prod radians remainder sin sinh sqrt sumprod tan tanh tau trunc ulp"
    ),
    "numbers": _words("Complex Integral Number Rational Real"),
    "operator": _words(
        "abs add and_ concat contains countOf eq floordiv ge getitem gt indexOf inv invert le lt"
        " mod mul ne neg not_ or_ pos pow sub truediv truth xor"
    ),
    "random": _words(
        "Random choice choices getrandbits randint random randrange sample shuffle uniform"
    ),
    "re": _words(
        "DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile escape findall finditer fullmatch"
        " match"
        " search split sub subn"
    ),
    "statistics": _words("fmean harmonic_mean mean median mode multimode pstdev pvariance stdev"),
    "string": _words(
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable"
        " punctuation whitespace"
    ),
    "sys": _words("float_info maxsize"),
    "time": _words("monotonic perf_counter sleep time"),  # CPU time is another process's
    "typing": _words(
        "Any Callable Deque Dict FrozenSet Generator Iterable Iterator List Mapping NamedTuple"
        " NoReturn Optional Sequence Set Tuple Type Union"
    ),
    "uuid": _words("UUID"),
    "numpy": _words(
        "abs absolute all allclose alltrue any append arange argmax argmin argsort array"
        " array_equal"
        " array_equiv asarray average bool bool_ ceil clip complex128 concatenate cos cross cumprod"
        " cumsum datetime64 diag diff dot e equal exp expand_dims eye float64 floor full"
        " generic hstack identity inf inner int64 isclose isfinite isin isinf isnan issubdtype"
        " isscalar lexsort linspace log log10 log2 logical_and logical_not logical_or matmul max"
        " maximum"
        " mean median min minimum mod nan ndarray ndim newaxis nonzero number integer floating"
        " ones outer percentile pi"
        " power prod ptp quantile ravel repeat reshape round searchsorted setdiff1d shape sign"
        " sin size sort sqrt"
        " square squeeze stack std subtract sum tan tile trace transpose tril triu uint64 union1d"
        " unique var vstack where zeros"
    ),
    "numpy.linalg": _words("det eigvals inv matrix_rank norm solve"),
    "numpy.testing": _words(
        "assert_allclose assert_almost_equal assert_array_almost_equal assert_array_equal"
        " assert_equal"
    ),
    "pytest": _words("approx fail fixture main mark param raises"),
    "pytest.mark": _words("parametrize timeout"),
    "unittest": _words("TestCase main"),
}
# Names under which a module is known where no import binds them.
ALIASES: Mapping[str, str] = {"np": "numpy"}
# Types of numbers that compare in another way than their values do: they may be named beside `==`,
# `is` and in `isinstance`, and nothing may be made with them.
NARROW: Mapping[str, frozenset[str]] = {
    "numpy": _words(
        "float16 float32 int8 int16 int32 uint8 uint16 uint32 complex64 longdouble intc str_"
        " bytes_ object_ floating integer"
    )
}
# The names of data among them; all others are functions and types.
VALUES = frozenset(
    f"{module}.{name}"
    for module, names in MODULES.items()
    for name in names
    & _words("e pi tau inf nan newaxis maxsize float_info whitespace digits printable punctuation")
    | {name for name in names if module == "string" or name.isupper()}
)
# Arguments that must be literals, by function or method: the places of those that name, shape or
# format.
LITERAL: Mapping[str, tuple[int | str, ...]] = {
    "getattr": (1,),
    "hasattr": (1,),
    "setattr": (1,),
    "format": (1,),
    "encode": (0, "encoding"),
    "decode": (0, "encoding"),
    "strftime": (0, "format"),
    "strptime": (1, "format"),
    "assertRegex": (1, "expected_regex"),
    "assertNotRegex": (1, "unexpected_regex"),
    "assertRaisesRegex": (1, "expected_regex"),
    **{f"re.{name}": (0, "pattern", "flags") for name in MODULES["re"] if name.islower()},
    "numpy.array": ("dtype", 1),
    "numpy.asarray": ("dtype", 1),
    "numpy.zeros": ("dtype", 1),
    "numpy.ones": ("dtype", 1),
    "numpy.full": ("dtype", 2),
    "numpy.eye": ("dtype",),
    "numpy.identity": ("dtype", 1),
    "numpy.arange": ("dtype",),
    "numpy.linspace": ("dtype",),
    "pytest.raises": ("match",),
}
# The dtypes of numbers that are as wide as Python's own, as texts.
DTYPES = _words("int float bool complex str int64 uint64 float64 complex128 i8 f8")
# What runs code that it is given, besides what a name's own call runs: it may be given functions.
TAKES_FUNCTIONS = _words(
    "map filter max min sorted itertools.accumulate itertools.dropwhile itertools.filterfalse"
    " itertools.groupby itertools.starmap itertools.takewhile functools.cmp_to_key"
    " functools.partial functools.reduce heapq.nlargest heapq.nsmallest re.sub pytest.raises"
    " collections.defaultdict pytest.fixture"
)
# What may be given an object of the solution, besides the solution: its answers to these are data.
ASKS_HANDLES = _words(
    "str repr len iter list tuple set sorted sum any all enumerate zip map filter max min next"
    " hasattr getattr setattr reversed frozenset functools.partial pytest.param super"
    " itertools.islice pytest.fixture pytest.mark.parametrize"
)
MAKES_ITERATORS = _words("iter map filter zip reversed enumerate re.finditer re.compile")
# The calls that make data. Whatever else is listed makes none: exceptions, `object()`, matches.
MAKES_DATA = (
    (TYPES - {"object", "slice"})
    | (FUNCTIONS - MAKES_ITERATORS - {"super", "type"})
    | {f"re.{name}" for name in _words("escape findall split sub subn")}
    | {f"heapq.{name}" for name in MODULES["heapq"] - {"merge"}}
    | {f"random.{name}" for name in MODULES["random"] - {"Random"}}
    | {
        f"{module}.{name}"
        for module in _words(
            "bisect cmath collections copy datetime fractions math operator statistics time uuid"
            " numpy numpy.linalg"
        )
        for name in MODULES[module]
    }
    | _words("decimal.Decimal functools.reduce json.dumps json.loads")
)
CHANGES_ARGUMENT = frozenset(
    (
        *(f"heapq.{name}" for name in MODULES["heapq"]),
        *("bisect.insort", "bisect.insort_left", "bisect.insort_right", "random.shuffle"),
    )
)

# -------------------------------------------------------------------------------- attributes

FIXTURES = frozenset(("self", "cls"))
ASSERTIONS = frozenset(
    name
    for name in dir(unittest.TestCase)
    if name.startswith("assert") and "Logs" not in name and "Warns" not in name
)
CASES = ASSERTIONS | {
    "fail",
    "subTest",
    "setUp",
    "tearDown",
    "setUpClass",
    "tearDownClass",
    "maxDiff",
}
# Methods of data that read formats, or a name, from their receiver or an argument.
_READ_TEXT = _words("format format_map")
DATA_TYPES: tuple[type, ...] = (
    *(bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, range),
    *(Counter, OrderedDict, defaultdict, deque, decimal.Decimal, fractions.Fraction, uuid.UUID),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(type(iter([])), type(iter({})), type({}.keys()), type({}.values()), type({}.items())),
)
OF_ARRAYS = _words(
    "T all any argmax argmin argsort astype clip copy cumprod data cumsum diagonal dot dtype fill"
    " flatten imag item itemsize kind max mean min name nbytes ndim nonzero prod ptp ravel real"
    " repeat reshape round shape size sort squeeze std sum tolist trace transpose var"
)
_MATCHES = _words("group groups groupdict span start end pattern string findall match search")
# What an exception, or what pytest and unittest keep of it, says as data.
_RAISED = _words("code colno doc exception lineno message msg pos type value") | {
    name
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception)
    for name in dir(kind)
    if not name.startswith("_") and not callable(getattr(kind, name))
}
# Answers have no others: a named tuple, whose fields have other names, crosses as a tuple.
OF_DATA = (
    frozenset(name for kind in DATA_TYPES for name in dir(kind) if not name.startswith("_"))
    - _READ_TEXT
    - {"fromhex"}
)
# What an exception, or what the frameworks keep of it, has besides the solution's own attributes.
OF_EXCEPTIONS = frozenset(dir(BaseException)) | _words(
    "errisinstance exconly expected expected_regex fill_unfilled for_later from_exc_info"
    " from_exception getrepr group_contains handle match obj_name tb test_case traceback typename"
)
ATTRIBUTES = OF_DATA | OF_ARRAYS | _MATCHES | _RAISED | (MODULES["random"] - {"Random"})

# Methods of data, which are no data if they are handed over.
METHODS = frozenset(
    name
    for kind in DATA_TYPES
    for name in dir(kind)
    if not name.startswith("_") and callable(getattr(kind, name))
) | _words("tolist astype copy flatten reshape item")
# Methods that change their receiver.
CHANGING = _words(
    "add append appendleft clear difference_update discard extend extendleft fill insert"
    " intersection_update move_to_end pop popitem popleft remove reverse rotate setdefault sort"
    " subtract symmetric_difference_update update"
)

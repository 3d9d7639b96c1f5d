"""Lists the modules and names that neither read, measure nor set the process of the tests.

If tests in a judge measure the judge's process, such as its CPU time, the result does not concern
the solution, which runs in another process. If tests set something in the judge, such as a
precision, the solution does not see it. So tests in a separate judge may only use names from these
lists, and wall time, which is the same for both. A library that is not listed may measure or set
something, or share files.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping

from reward_server.grading.syntax import dotted, last_name

Origins = Mapping[str, frozenset[str]]
# Settings of a process that cross: if function tests set them, the solution's process does, too.
SETTINGS = frozenset(("sys.setrecursionlimit", "sys.set_int_max_str_digits"))
_LEAST_SETTING = 1000  # a smaller one would affect the runner around the solution
_SEEDS = frozenset(("random.seed", "numpy.random.seed"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STATELESS = _words(
    "__future__ abc argparse array ast asyncio base64 binascii bisect builtins cmath"
    " collections colorsys copy dataclasses datetime difflib email enum errno fnmatch fractions"
    " functools getopt graphlib hashlib heapq hmac html ipaddress itertools json keyword math"
    " numbers operator platform plistlib pprint queue quopri re reprlib secrets shlex stat"
    " statistics string stringprep struct textwrap timeit token tomllib types typing unicodedata"
    " unittest uuid zlib"
)
_DRAWS = _words(
    "betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits"
    " lognormvariate normalvariate paretovariate randbytes randint random randrange sample shuffle"
    " triangular uniform vonmisesvariate weibullvariate"
)
_PACKED = _words("compress decompress BadGzipFile LZMAError")
# The harmless names of modules that hold state or open files, with the names behind them.
_NAMES: Mapping[str, frozenset[str]] = {
    "bz2": _PACKED,
    "calendar": _words(
        "isleap leapdays monthrange weekday timegm day_name day_abbr month_name month_abbr Calendar"
        " MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY January February"
    ),
    "codecs": _words("BOM_UTF8 decode encode open"),
    "contextlib": _words(
        "AbstractContextManager AsyncExitStack ContextDecorator ExitStack aclosing"
        " asynccontextmanager closing contextmanager nullcontext redirect_stderr redirect_stdout"
        " suppress"
    ),
    "csv": _words(
        "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC"
        " Sniffer excel reader writer"
    ),
    "decimal": _words(
        "Context Decimal DecimalTuple DivisionByZero Inexact InvalidOperation"
        " Overflow Rounded Underflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR"
        " ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP"
    ),
    "gzip": _PACKED,
    "http": _words("HTTPMethod HTTPStatus cookies"),
    "imaplib": _words("IMAP4.abort IMAP4.error IMAP4.readonly"),
    "io": _words(
        "BufferedIOBase BufferedReader BufferedWriter BytesIO IOBase RawIOBase SEEK_CUR SEEK_END"
        " SEEK_SET StringIO TextIOBase TextIOWrapper UnsupportedOperation open"
    ),
    "lzma": _PACKED,
    "mimetypes": _words("guess_type"),
    "os": _words(
        "PathLike altsep cpu_count curdir extsep fsdecode fsencode fspath linesep name pardir"
        " path.abspath path.basename path.commonpath path.commonprefix path.dirname path.isabs"
        " path.join path.normcase path.normpath path.realpath path.sep path.split path.splitext"
        " pathsep sep strerror urandom"
    ),
    "pathlib": _words("Path PurePath PurePosixPath PureWindowsPath"),
    "random": _DRAWS | _words("Random SystemRandom seed"),
    "sys": _words(
        "byteorder exc_info executable exit float_info getsizeof hash_info implementation int_info"
        " maxsize maxunicode path platform stderr stdin stdout version version_info"
    ),
    "time": _words(
        "asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns"
        " sleep strftime strptime struct_time time time_ns"
    ),
    "traceback": _words(
        "format_exc format_exception format_exception_only print_exc print_exception"
    ),
    "urllib": _words("error parse"),
    "xml": _words(
        "dom.minidom.parseString etree.ElementTree.Comment etree.ElementTree.Element"
        " etree.ElementTree.ParseError etree.ElementTree.SubElement etree.ElementTree.XML"
        " etree.ElementTree.canonicalize etree.ElementTree.fromstring etree.ElementTree.indent"
        " etree.ElementTree.iselement etree.ElementTree.tostring sax.saxutils"
    ),
    "zoneinfo": _words("ZoneInfo ZoneInfoNotFoundError"),
}
# The names of numpy that read or set its state, or a file; its other functions are too many.
_NUMPY = _words(
    "errstate fromfile genfromtxt get_printoptions getbufsize geterr geterrcall geterrobj load"
    " loadtxt memmap printoptions recfromcsv recfromtxt save savetxt savez savez_compressed"
    " set_numeric_ops set_printoptions set_string_function setbufsize seterr seterrcall seterrobj"
    " DataSource ctypeslib lib.DataSource lib.format lib.npyio"
    " testing.assert_no_warnings testing.assert_warns testing.suppress_warnings"
    " random.get_bit_generator random.get_state random.mtrand random.set_bit_generator"
    " random.set_state"
)
WATCHED = sys.stdlib_module_names - _STATELESS
_NUMPY_GENERATORS = _words(
    "BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence"
    " default_rng seed"
)


def reasons(parts: Iterable[tuple[ast.AST, Origins]]) -> Iterator[str]:
    """Yields the reasons in code that uses its own process.

    Args:
        parts: the nodes of the code, outer ones first, with the objects to which the imported names
            of their file may refer.
    """
    looked_at = set[int]()
    streams = set[tuple[str, bool]]()
    for node, origins in parts:
        match node:
            case ast.Call(func=function) if _patches(function):
                looked_at.update(map(id, node.args[:1]))
            case ast.Call(func=function) if _is_setting(node, origins):
                looked_at.add(id(function))
                yield f"calls {last_name(function)}()"
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                if module.partition(".")[0] not in _NAMES:
                    yield from _of_name(module)
            case ast.Attribute() | ast.Name():
                if isinstance(node, ast.Attribute):
                    looked_at.add(id(node.value))
                if id(node) not in looked_at:
                    for origin in sorted(_origins_of(node, origins)):
                        yield from _of_name(origin)
                        streams |= _stream(origin)
    for module in ("random", "numpy.random"):
        if {(module, True), (module, False)} <= streams:
            yield f"seeds and draws from {module}"


def public_names(module: str) -> frozenset[str]:
    """Returns the names that a star import takes from a module whose names are listed here."""
    if module.partition(".")[0] not in _NAMES:
        return frozenset()
    try:
        taken = vars(importlib.import_module(module))
    except ImportError:
        return frozenset()
    return frozenset(taken.get("__all__", (name for name in taken if name[0] != "_")))


def _of_name(origin: str) -> Iterator[str]:
    root, _, rest = origin.partition(".")
    if rest.endswith(("Error", ".error", "Exception")):
        return
    if root == "numpy":
        if _leads(rest, _NUMPY):
            yield f"uses {origin}"
    elif root in _NAMES:
        if not _leads(rest, _NAMES[root]):
            yield f"uses {origin}"
    elif root in WATCHED:
        yield f"uses {root}"


def _leads(rest: str, names: frozenset[str]) -> bool:
    """Returns True if a dotted name is one of these names, or an attribute of one."""
    parts = rest.split(".")
    return any(".".join(parts[:end]) in names for end in range(1, len(parts) + 1))


def _stream(origin: str) -> set[tuple[str, bool]]:
    """Returns the module whose random numbers a name uses, and whether it seeds them."""
    if origin in _SEEDS:
        return {(origin.rpartition(".")[0], True)}
    module, _, name = origin.rpartition(".")
    if module == "random":
        return {(module, False)} if name in _DRAWS else set()
    return (
        {(module, False)} if module == "numpy.random" and name not in _NUMPY_GENERATORS else set()
    )


def _origins_of(node: ast.expr, origins: Origins) -> Iterator[str]:
    root, dot, rest = dotted(node).partition(".")
    for origin in origins.get(root, ()):
        yield f"{origin}{dot}{rest}"


def _patches(function: ast.expr) -> bool:
    """Returns True for a patch, for which there are other rules."""
    name = dotted(function)
    return "patch" in name.split(".") or name.startswith("monkeypatch.")


def _is_setting(call: ast.Call, origins: Origins) -> bool:
    """Returns True if a call sets a setting that crosses to a number."""
    named = set(_origins_of(call.func, origins))
    if not named or not named <= SETTINGS or len(call.args) != 1:
        return False
    value = _number(call.args[0])
    return value == 0 or value >= _LEAST_SETTING


def _number(node: ast.expr) -> int:
    """Returns a number that is written as `20_000` or `10 ** 6`; -1 for other expressions."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(ast.Constant(value=10), ast.Pow(), ast.Constant(value=int(power))):
            return int(10**power) if 0 <= power < 10 else -1
    return -1

"""Finds tests that could run an answer, use it as a path, or write to an address that it gives.

The tests' program can be trusted only while an answer is no more than a value. In C++ and Java,
this module lists the functions that do more with texts or numbers than compare them. If tests
compute an address in memory, the names that hold an answer are followed. In Go and Rust, where the
compiler checks memory, the allowed names of the standard library are listed for each module.
Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from reward_server.grading.compiled_tests.split.text.words import QUOTED, without_quotes, word_set
from reward_server.languages.go_source import uses

_CPP_RUNS = re.compile(
    r"\b(?:system|popen|w?exec\w{1,3}|posix_spawnp?|v?fork|dlopen|dlsym|syscall|kill|asm|__asm__"
    r"|setenv|putenv|mmap|mprotect|longjmp|freopen|dup2|rdbuf)\s*\(|\bstd(?:out|in)\s*="
    r"|\b(?:[io]?fstream|filesystem|fopen|open|creat|remove|rename|unlink)\b\s*[ ({<:]"
)
_CPP_WRITES = re.compile(
    r"\b(?:v?w?scanf|v?[fs]w?scanf|gets|v?sprintf|str(?:n?cpy|n?cat)|mem(?:cpy|move|set|ccpy)|bcopy"
    r"|alloca|malloc|calloc|realloc|free|copy_n|fill_n|generate_n|advance|vformat)\s*\("
    r"|\breinterpret_cast\b|\bconst_cast\b|\b(?:next|prev)\s*\([^;]*,"
    r"|\b(?:begin|end|data|c_str)\s*\(\s*\)\s*[-+]\s*(?![\d\s]*\d\s*[,);])"
    r"|\b(?:copy|copy_if|copy_backward|move_backward|transform|merge|partial_sum|set_union"
    r"|set_difference|set_intersection|adjacent_difference)\s*\((?![^;]*inserter)"
)
_FORMATS = re.compile(
    r'\b(?:w?printf\s*\(|(?:f|d|fw)printf\s*\([^",;]*,|v?snprintf\s*\([^",;]*,[^",;]*,)\s*(?!L?")'
)
_RAW = re.compile(
    r"[\w>*&]\s+[*&(]*\w+\)?\s*\[[^\]\n]*\]\s*(?:\[[^\]\n]*\]\s*)?(?:=[^=]|;|\{|,)"
    r"|\bnew\s+[\w:<> ]+\[|\w\s*\*\s*\w+\s*=|\.\s*(?:data|c_str)\s*\("
)
_JAVA_RUNS = re.compile(
    r"\b(?:Class|ClassLoader|URLClassLoader|ServiceLoader|ResourceBundle|Constructor|Method|Field"
    r"|MethodHandles?|VarHandle|Proxy|Unsafe|Instrumentation|Runtime|ProcessBuilder|ProcessHandle"
    r"|ScriptEngine\w*|JavaCompiler|ToolProvider|ObjectInputStream|XMLDecoder|XMLEncoder"
    r"|InitialContext|Beans|Introspector|Expression|MBeanServer|Files|FileSystems?|File|\w*Channel"
    r"|File(?:In|Out)putStream|File(?:Writer|Reader)|RandomAccessFile|PrintWriter|PrintStream"
    r"|FileHandler|Formatter|Serializable|Externalizable)\b"
    r"|\b(?:java\s*\.\s*lang\s*\.\s*(?:reflect|invoke)|javax|sun|jdk)\s*\."
    r"|\bSystem\s*\.\s*(?:set\w+|load\w*|getSecurityManager|console)\b"
    r"|\b(?:getDeclared\w+|getMethods?|getFields?|getConstructors?|getClassLoader|forName"
    r"|newInstance|loadClass)\b"
)
# Go's packages that only compute with values; for other packages, the names that only do so.
_GO_PACKAGES = word_set(
    """bufio bytes cmp container/heap container/list container/ring context crypto/md5 crypto/sha1
    crypto/sha256 crypto/sha512 encoding/base32 encoding/base64 encoding/binary encoding/csv
    encoding/hex encoding/json errors fmt hash hash/adler32 hash/crc32 hash/crc64 hash/fnv html io
    iter maps math math/big math/bits math/cmplx math/rand math/rand/v2 net/url path regexp slices
    sort strconv strings sync sync/atomic testing/quick text/tabwriter unicode unicode/utf16
    unicode/utf8"""
)
# Assertions of testify that compare and measure; others also take names and paths.
_GO_ASSERTIONS = word_set(
    """Contains ElementsMatch Empty Equal EqualError Error False Greater GreaterOrEqual InDelta
    InEpsilon Len Less LessOrEqual Negative Nil NoError NotContains NotEmpty NotEqual NotNil
    NotZero Positive True Zero"""
)
# `assert := assert.New(t)` gives the same functions the same name.
_GO_RENAMES = re.compile(r"\b(assert|require)\s*:=\s*\1\s*\.\s*New\s*\(")
_GO_NAMES: Mapping[str, AbstractSet[str]] = {
    "github.com/stretchr/testify/assert": _GO_ASSERTIONS,
    "github.com/stretchr/testify/require": _GO_ASSERTIONS,
    "os": word_set("Args Exit Stderr Stdout"),
    "reflect": word_set(
        """Array Bool Chan Complex128 Complex64 DeepEqual Float32 Float64 Func Int Int16 Int32
        Int64 Int8 Interface Invalid Kind Map Pointer Ptr Slice String Struct Type TypeOf Uint
        Uint16 Uint32 Uint64 Uint8 Value ValueOf"""
    ),
    "testing": word_set("B F Init M PB Short T TB Testing Verbose"),
    "runtime": word_set("GC GOMAXPROCS GOOS GOARCH Gosched KeepAlive NumCPU"),
    "time": word_set(
        """After AfterFunc ANSIC Date DateOnly DateTime Duration FixedZone Hour Kitchen Layout
        Local Microsecond Millisecond Minute Month Nanosecond NewTicker NewTimer Now Parse
        ParseDuration RFC1123 RFC3339 RFC3339Nano RFC822 Second Since Sleep Stamp Tick Time
        TimeOnly Timer UTC Unix UnixMilli Until Weekday January February March April May June July
        August September October November December Monday Tuesday Wednesday Thursday Friday
        Saturday Sunday"""
    ),
}
# Uses of values of Go's packages that do something by a name, or to something else; tests that
# skip themselves.
_GO_REACHES = re.compile(
    r"\.\s*(?:MethodByName|FieldBy\w+|Call(?:Slice)?|Set\w+|UnsafeAddr|UnsafePointer|Chdir"
    r"|Skip(?:f|Now)?)\s*\(|(?m:^[ \t]*//go:(?!build|noinline)\w)"
)
_RUST_MODULES = word_set(
    """any array ascii assert_eq assert_ne borrow boxed cell char clone cmp collections convert
    default error f32 f64 fmt hash hint i128 i16 i32 i64 i8 isize iter marker matches mem num ops
    option panic prelude primitive process rc result slice str string sync thread time u128 u16 u32
    u64 u8 usize vec"""
)
RUST_TEXT = re.compile(
    r"//[^\n]*|/\*[\s\S]*?\*/|b?r(?P<hashes>#*)\"[\s\S]*?\"(?P=hashes)"
    r"|b?\"(?:\\[\s\S]|[^\"\\])*\"|b?'(?:\\[^\n']{1,9}|[^'\\\n])'"
)
_RUST_ROOT = re.compile(r"\b(?:std|core|alloc)\b(?P<rest>\s*::\s*(?:(?P<name>\w+)|\{)|)")
_RUST_REACHES = re.compile(
    r"\b(?:unsafe|asm|extern|libc|libloading|transmute|from_raw\w*|MaybeUninit|ManuallyDrop"
    r"|Command|Stdio|Child|File|OpenOptions|TcpStream|TcpListener|UdpSocket|UnixStream"
    r"|set_hook|take_hook)\b|\b(?:include|include_str|include_bytes|global_asm)\s*!"
)


def is_trusting_cpp(tests: str, function: str) -> bool:
    """Returns True if tests in C++ do more with a function's result than compare it."""
    code = without_quotes(tests)
    if _CPP_RUNS.search(code) or _CPP_WRITES.search(code) or _FORMATS.search(code):
        return True
    return _RAW.search(code) is not None and _indexes(code, function)


def is_trusting_java(tests: str) -> bool:
    """Returns True if tests in Java do more with texts or numbers than compare them."""
    return _JAVA_RUNS.search(QUOTED.sub(" ", tests)) is not None


def is_trusting_go(prompt: str, tests: str) -> bool:
    """Returns True if tests in Go use packages for more than computing with values.

    Args:
        prompt: what stands in front of the function that it leaves open.
        tests: the tests.
    """
    if _GO_REACHES.search(prompt) or _GO_REACHES.search(tests):
        return True
    return not all(
        path in _GO_PACKAGES or name in _GO_NAMES.get(path, ())
        for path, name in uses(prompt, _GO_RENAMES.sub("(", tests))
    )


def is_trusting_rust(prompt: str, tests: str) -> bool:
    """Returns True if tests in Rust use the library for more than computing with values.

    Args:
        prompt: what stands in front of the function that it leaves open.
        tests: the tests.
    """
    code = RUST_TEXT.sub(" ", f"{prompt}\n{tests}")
    return _RUST_REACHES.search(code) is not None or not _RUST_MODULES.issuperset(_modules(code))


def _modules(code: str) -> Iterator[str]:
    """Yields the modules of Rust's library that a text names; "" for the library as a whole."""
    for found in _RUST_ROOT.finditer(code):
        if found["rest"].endswith("{"):
            yield from _branches(code[found.end() :])
        else:
            yield found["name"] or ""


def _branches(code: str) -> Iterator[str]:
    """Yields the first word of each branch of a tree of imports whose bracket is open."""
    depth, begins = 1, True
    for word in re.findall(r"\w+|[{},]", code):
        depth += (word == "{") - (word == "}")
        if depth == 0:
            return
        if depth == 1 and begins and word not in "{},":
            yield word
        begins = depth == 1 and word == ","


def _indexes(code: str, function: str) -> bool:
    """Returns True if an answer is, or is added to, a place in memory."""
    answers = rf"\b(?:{'|'.join(map(re.escape, sorted(_answers(code, function))))})\b"
    return re.search(rf"\[[^\]]*{answers}|\*\s*\([^;)]*{answers}", code) is not None


def _answers(code: str, function: str) -> set[str]:
    """Returns the names of a function, its results, and variables to which a result is assigned."""
    found = {function}
    while True:
        known = rf"\b(?:{'|'.join(map(re.escape, sorted(found)))})\b"
        given = set(
            re.findall(rf"(\w+)(?:\[[^\]]*\])?\s*[-+*/]?(?=[=:{{(](?!=)[^;]*?{known})", code)
        )
        for parameters in re.findall(rf"{known}\s*\(([^()]*)\)\s*(?:const\s*)?\{{", code):
            given.update(re.findall(r"(\w+)\s*(?:,|$)", parameters))
        if given <= found:
            return found
        found |= given

"""Finds tests that use what does not cross: settings of a process, and details of exceptions.

An exception crosses as the name of its type and its message, if this module lists its type. Tests
are judged in one program if they use more: another exception, the fields or the cause of an
exception, or the value of a panic. The same holds if they use a setting that the solution reads or
changes. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reward_server.grading.compiled_tests.split.text.words import without_quotes, word_set

_CPP_SETTINGS = re.compile(
    r"\b(?:srand\w*|[sl]rand48|setstate|setlocale|locale|imbue|[sg]etenv|putenv|unsetenv|chdir|fchdir"
    r"|tzset|tzname|fe[sg]et\w+|fe(?:raise|clear|test|hold|update)except|signal|sigaction"
    r"|set_terminate|get_terminate|set_new_handler|get_new_handler|set_unexpected|errno|atexit"
    r"|at_quick_exit|umask|[sg]etrlimit|alarm|setitimer|sync_with_stdio|strtok|uncaught_exceptions?)\b"
)
# These measure the CPU time or memory of the tests' process, which does not run the solution.
_CPP_MEASURES = re.compile(
    r"\bclock\b(?!\s*(?:=|::))|\b(?:clock_t|CLOCKS_PER_SEC|clock_get\w+|CLOCK_\w+_CPUTIME_ID"
    r"|\w*getcpuclockid|getrusage|rusage|RUSAGE_\w+|tms|timer_create|getitimer|mallinfo2?"
    r"|malloc_\w+|mallopt|sbrk|mincore|sysinfo|getloadavg|vtimes|__rdtscp?|_rdtsc)\b"
    r"|\boperator\s+(?:new|delete)\b"
)
_JAVA_MEASURES = re.compile(
    r"\bjava\s*\.\s*lang\s*\.\s*management\b|\bManagementFactory\b|\b\w*MXBean\b"
    r"|\bcom\s*\.\s*sun\b|\b(?:Soft|Phantom)Reference\b|\bReferenceQueue\b|\bWeakHashMap\b"
    r"|\b(?:ThreadGroup|StackWalker|getAllStackTraces|activeCount)\b"
)
_CPP_LOOKS = re.compile(
    r"\b(?:current_exception|exception_ptr|rethrow_\w+|nested_exception|throw_with_nested|typeid"
    r"|dynamic_cast)\b|\b\w+_(?:NO|ANY)?_?THROW\w*|\bTHROWS_\w+|\b\w+_THROWS\w*"
)
_CPP_CATCHES = re.compile(r"\bcatch\s*\(([^()]*)\)")
_CPP_CAUGHT = word_set(
    """exception invalid_argument domain_error length_error out_of_range logic_error range_error
    overflow_error underflow_error runtime_error bad_alloc bad_cast bad_typeid bad_any_cast
    bad_optional_access bad_variant_access"""
)
_JAVA_SETTINGS = re.compile(
    r"\b(?:Locale|TimeZone|Authenticator|ResponseCache|CookieHandler|Charset|ZoneId)\s*\.\s*"
    r"(?:[sg]et(?:System)?Default|systemDefault|defaultCharset)\b"
    r"|\bThread\s*\.\s*(?:currentThread|interrupted|\w*UncaughtExceptionHandler)\b"
    r"|\.\s*(?:interrupt|isInterrupted|join)\s*\(\s*\)|\bThreadLocal\w*"
    r"|\bSystem\s*\.\s*(?:getProperty|getProperties|clearProperty|getenv|in\b|out\s*=|err\s*=)"
    r"|\b(?:Integer\s*\.\s*getInteger|Long\s*\.\s*getLong|Boolean\s*\.\s*getBoolean)\b"
    r"|\b(?:Logger|LogManager|Preferences|Security|DriverManager|ForkJoinPool)\s*\."
)
_JAVA_CATCHES = re.compile(r"\bcatch\s*\(\s*(?:final\s+)?([\w.|\s]+?)\s+(\w+)\s*\)")
_JAVA_CAUGHT = word_set(
    """Throwable Error Exception RuntimeException ArithmeticException ArrayIndexOutOfBoundsException
    ArrayStoreException ClassCastException CloneNotSupportedException IllegalArgumentException
    IllegalStateException IndexOutOfBoundsException NegativeArraySizeException NullPointerException
    NumberFormatException StringIndexOutOfBoundsException UnsupportedOperationException EOFException
    FileNotFoundException IOException NoSuchAlgorithmException DateTimeException
    ConcurrentModificationException EmptyStackException InputMismatchException
    NoSuchElementException TimeoutException"""
)
_JAVA_EXCEPTION = re.compile(r"\b[A-Z]\w*(?:Exception|Error|Throwable)\b")
_JAVA_RAISED = re.compile(r"\bnew\s+[\w.]+|\bthrows\s+[\w.]+(?:\s*,\s*[\w.]+)*|\bextends\s+[\w.]+")
_GO_SETTINGS = re.compile(
    r"\brand\s*\.\s*Seed\b|\.\s*(?:Setenv|Chdir)\s*\(|\bos\s*\.\s*(?:Setenv|Getenv|LookupEnv|Args\s*=)"
    r"|\btime\s*\.\s*Local\s*=|\bruntime\s*\.\s*GOMAXPROCS\b|\bdebug\s*\.\s*Set"
)
_GO_LOOKS = re.compile(
    r"\berrors\s*\.\s*(?:As|Unwrap|Join)\b|\.\s*Unwrap\s*\(|\.\s*\(\s*\*?\s*\w+\s*\.\s*\w+\s*\)"
    r"|\.\s*\(\s*interface\b|\bcase\s+\*?\w+\s*\.\s*[A-Z]\w*\s*:|\bSprintf\s*\([^)]*%#?[Tv#]"
)
# These use methods of a type of the prompt, which may be methods that only the solution defines.
_GO_TYPES = re.compile(r"(?m)^\s*type\b")
_GO_ASKS = re.compile(
    r"\bfmt\s*\.\s*[AFS]\w+\s*\(|\bfmt\s*\.\s*Errorf\b|\bjson\s*\.|\berrors\s*\.\s*Is\b"
    r"|\binterface\s*\{\s*\w"
)
_GO_RECOVERS = re.compile(
    r"(?:(?P<name>\w+)\s*:?=\s*)?\brecover\s*\(\s*\)(?P<rest>\s*[!=]=\s*nil\b)?"
)
_JAVASCRIPT_ASKS = re.compile(
    r"\bfor\s*\(\s*(?:(?:const|let|var)\s+)?\w+\s+in\b|\bfor\s+await\b"
    r"|\bPromise\s*\.\s*(?:all|allSettled)\s*\((?!\s*\[)|\bPromise\s*\.\s*(?:any|race)\b"
    r"|\binstanceof\s+Promise\b|\b(?:isPromise|isProxy|showProxy|PerformanceObserver"
    r"|monitorEventLoopDelay|eventLoopUtilization)\b"
)
_JAVASCRIPT_WAITS = re.compile(r"\bawait\b|\bPromise\b|\.\s*(?:then|finally)\s*\(")
_JAVASCRIPT_CLOCK = re.compile(
    r"\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|\b(?:performance|hrtime|uptime)\b"
)
_JAVASCRIPT_LATER = re.compile(
    r"\bset(?:Timeout|Interval|Immediate)\b|\btimers\b|\b(?:nextTick|queueMicrotask)\b"
)
# These use only the text of a panic's value, which crosses.
_GO_TEXT = re.compile(r"\bfmt\s*\.\s*Sprint\s*\(\s*(?:\w+|recover\s*\(\s*\))\s*\)")
_JAVASCRIPT_SETTINGS = re.compile(
    r"\bprocess\s*\.\s*(?:env|chdir|cwd|umask|on|once|emit\w*|title|exitCode)\b|\bRegExp\s*\."
    r"|\bError\s*\.\s*\w|\bprepareStackTrace\b|\bstackTraceLimit\b|\bdefaultOptions\b"
    r"|\bdefaultMaxListeners\b|\bpoolSize\b|\bperformance\s*\.\s*(?!now\b)\w"
    r"|(?<![\w.$])(?:set(?:Timeout|Interval|Immediate)|queueMicrotask|structuredClone|fetch)\s*=(?!=)"
)


def is_unseen_cpp(prompt: str, tests: str) -> bool:
    """Returns True if tests in C++ use something that does not cross."""
    both = without_quotes(f"{prompt}\n{tests}")
    if any(one.search(both) for one in (_CPP_SETTINGS, _CPP_MEASURES, _CPP_LOOKS)):
        return True
    return not all(map(_is_caught_cpp, _CPP_CATCHES.findall(both)))


def _is_caught_cpp(caught: str) -> bool:
    """Returns True if the type in a `catch` is one that crosses unchanged."""
    words = re.findall(r"\.\.\.|&&|\w+|[*&]", caught)
    kind = [word for word in words if word not in ("const", "std", "&")]
    return kind == ["..."] or (
        len(kind) in (1, 2) and kind[0] in _CPP_CAUGHT and not {"*", "&&"} & {*kind}
    )


def is_unseen_java(prompt: str, tests: str) -> bool:
    """Returns True if tests in Java use something that does not cross."""
    both = without_quotes(f"{prompt}\n{tests}")
    if _JAVA_SETTINGS.search(both) or _JAVA_MEASURES.search(both):
        return True
    code = _JAVA_RAISED.sub(" ", both)
    named = {found[0] for found in _JAVA_EXCEPTION.finditer(code)}
    caught = {name for kinds, _ in _JAVA_CATCHES.findall(both) for name in _last_names(kinds)}
    raised = set(re.findall(r"\bclass\s+(\w+)", both)) & named
    if not (named - raised) | caught <= _JAVA_CAUGHT or raised & caught:
        return True
    return any(_looks_into_java(both, found) for found in _JAVA_CATCHES.finditer(both))


def is_asked_java(tests: str, owner: str) -> bool:
    """Returns True if tests in Java do more with a solution's object than call its own methods.

    Any other use may run `toString`, `equals` or `hashCode` of the completion.

    Args:
        tests: the tests.
        owner: the name of the solution's class.
    """
    code = without_quotes(tests)
    made = rf"\bnew\s+{owner}\b(?:\s*\(\s*\))?"
    found = re.findall(rf"\b{owner}\s+(\w+)\b|\b(\w+)\s*=\s*{made}(?!\s*[.(])", code)
    name = rf"\b(?:{'|'.join({one or other for one, other in found}) or '(?!)'})\b"
    assigned = rf"\s*=\s*{made}(?=\s*[;,])"
    declared = rf"\b{owner}\s+{name}(?:{assigned})?|{name}{assigned}"
    called = rf"(?:{made}|{name})[\s)]*(?:\.|::)\s*(?!(?:toString|equals|hashCode)\b)\w"
    left = re.sub(f"{declared}|{called}", " ", code)
    return re.search(f"{made}|{name}", left) is not None


def _last_names(kinds: str) -> Iterator[str]:
    """Yields the types of a `catch`, without packages."""
    yield from (one.strip().rpartition(".")[2] for one in kinds.split("|"))


def _looks_into_java(code: str, found: re.Match[str]) -> bool:
    """Returns True if a `catch` block reads more of its exception than the message."""
    block = code[found.end() : _end(code, found.end())]
    uses = rf"(?<![\w.]){re.escape(found[2])}\b(?!\s*\.\s*(?:getMessage|printStackTrace)\s*\(\s*\))"
    return re.search(uses, block) is not None


def _end(code: str, start: int) -> int:
    """Returns the end of the block that begins at a position."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0 and code[at] == "}":
            return at
    return len(code)


def is_unseen_go(prompt: str, tests: str) -> bool:
    """Returns True if tests in Go use something that does not cross."""
    if _GO_SETTINGS.search(prompt) or _GO_SETTINGS.search(tests) or _GO_LOOKS.search(tests):
        return True
    if _GO_TYPES.search(prompt) and _GO_ASKS.search(tests):
        return True
    sentinels = re.findall(r"(?m)^\s*(?:var\s+)?(\w+)\s*=\s*errors\s*\.\s*New\b", prompt)
    written = (rf"&\s*{name}\b|\b{name}\s*(?:,[^;\n]*)?=(?!=)" for name in sentinels)
    if any(re.search(one, tests) for one in written):
        return True
    code = _GO_TEXT.sub('""', tests)
    return any(_is_recovered(code, found) for found in _GO_RECOVERS.finditer(code))


def _is_recovered(tests: str, found: re.Match[str]) -> bool:
    """Returns True if tests use the value of a panic, and do not only check that there was one."""
    if found["name"] in (None, "_"):
        before = tests[: found.start()].rstrip()
        return (
            not found["rest"]
            and not before.endswith(("{", "}", ";", "defer"))
            and (before != "" and "\n" not in tests[len(before) : found.start()])
        )
    return (
        re.search(rf"\b{found['name']}\b(?!\s*(?::?=\s*recover|[!=]=\s*nil\b))", tests) is not None
    )


def is_unseen_javascript(code: str) -> bool:
    """Returns True if a text in JavaScript uses a setting of its process.

    Args:
        code: the text without comments and string literals.
    """
    return _JAVASCRIPT_SETTINGS.search(code) is not None


def is_asked_javascript(code: str) -> bool:
    """Returns True if tests in JavaScript use something that does not cross.

    These are inherited properties, the question whether an object is a promise or a proxy, the
    first of several promises that settles, and timers. Timers cannot be used because the solution
    runs only while the tests wait for one of its promises.

    Args:
        code: the tests without comments and string literals.
    """
    return any(one.search(code) for one in (_JAVASCRIPT_ASKS, _JAVASCRIPT_LATER))


def is_waiting_javascript(code: str) -> bool:
    """Returns True if tests in JavaScript wait for promises.

    Args:
        code: the tests without comments and string literals.
    """
    return _JAVASCRIPT_WAITS.search(code) is not None


def is_timed_javascript(code: str) -> bool:
    """Returns True if tests in JavaScript read a clock.

    Args:
        code: the tests without comments and string literals.
    """
    return _JAVASCRIPT_CLOCK.search(code) is not None

"""A table of names: tests in Python that use one need the solution itself. Each row has a reason.

`files` applies the rows of USING, and `surroundings` those of AROUND. Tests that use such a
name in code that runs with the solution do not run in the separate judge. There the judge's process
would answer, and its answer may be wrong for the solution's process. Refusing too much costs a
label, and never a verdict.

This table does not contain rules that need more than a name, such as where an object came from,
what an expression is compared with, or what a statement changes. They are code; see `files`,
`surroundings`, `kinds`, `process_state` and `solution_classes`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Part(enum.Enum):
    """The part of code in which a row's names count."""

    CALLED = "what is called, by its last name"
    METHOD = "an attribute that is called"
    ATTRIBUTE = "an attribute"
    MENTION = "a name or an attribute"
    PARAMETER = "a parameter of a function, as of a fixture"
    MANAGER = "what a with statement calls"
    IMPORTED = "a name or an attribute, by the full name that an import gives it"
    IMPORTED_LAST = "the same, by the last part of that name"
    MEANT = "a name or an attribute, by every full name that it may stand for"
    MEANT_IN_LOOP = "the same, in a while loop"


class When(enum.Enum):
    """What else has to hold."""

    ALWAYS = "nothing"
    HEARS = "the call uses the solution"
    TAKES = "an argument of the call uses the solution"
    SILENT = "the code around does not print by itself"


class Row(NamedTuple):
    """Names that need the solution itself.

    Args:
        part: the part of code in which they count.
        names: the names.
        reason: the text for people, with braces for the name.
        why: what would go wrong in a separate judge.
        when: what else has to hold.
        proxies_can: whether the judge of function tests answers rightly nevertheless, so that the
            row only holds for test files.
    """

    part: Part
    names: frozenset[str]
    reason: str
    why: str
    when: When = When.ALWAYS
    proxies_can: bool = False


def _row(
    part: Part,
    names: str,
    reason: str,
    why: str,
    when: When = When.ALWAYS,
    *,
    proxies_can: bool = False,
) -> Row:
    return Row(part, frozenset(names.split()), reason, why, when, proxies_can)


_CALLS, _LOOKS, _EXPECTS = "calls {}()", "looks at {}", "expects {}"
_CAPTURES, _LOOP = "captures output by {}", "uses {}, which needs one event loop"
_WAITS = "waits by {}, while the solution may work"

_FIELDS = "a proxy does not have the fields of the solution's object"
_TEXT = "the judge has no text and no annotations of the solution's code"
_KIND = "a proxy is of another kind than the thing that it stands for"
_CODE = "a proxy has another code, other defaults and other variables than the solution's function"
_BASES = "the class of a proxy has other base classes"
_WRITTEN = "what the solution prints is written in its own process"
_NOTED = "warnings and log records of the solution stay in its own process"
_ONE_LOOP = "the solution's coroutines and the tests' run in two event loops"
_TIME = "threads, timers and tasks of the solution do not run while the judge waits"
_ENDS = "such an exception never crosses, since it could end a test early"

# Of code that uses the solution.
USING = (
    _row(Part.CALLED, "vars asdict astuple is_dataclass", _CALLS, _FIELDS, proxies_can=True),
    _row(Part.CALLED, "signature getdoc", _CALLS, _TEXT, proxies_can=True),
    _row(Part.CALLED, "get_type_hints getsource", _CALLS, _TEXT),
    _row(Part.CALLED, "help", _CALLS, _TEXT, When.HEARS),
    _row(
        Part.CALLED,
        "compile",
        _CALLS,
        "code made of the solution's would run in the judge",
        When.HEARS,
    ),
    _row(Part.CALLED, "eval", _CALLS, "nobody knows which names of the solution a text uses"),
    _row(Part.CALLED, "reload", _CALLS, "the judge has no module of the solution to load again"),
    _row(Part.CALLED, "getsizeof getrefcount", _CALLS, "a proxy would be measured"),
    _row(
        Part.CALLED,
        "assertLogs assertNoLogs assertWarns assertWarnsRegex warns deprecated_call catch_warnings",
        _CALLS,
        _NOTED,
    ),
    _row(Part.CALLED, "tofile", _CALLS, "the solution does not see the judge's files"),
    _row(
        Part.CALLED,
        "iscoroutinefunction iscoroutine isasyncgenfunction isasyncgen isfuture"
        " isgeneratorfunction isgenerator isfunction ismethod isclass isbuiltin isroutine"
        " isabstract",
        _CALLS,
        _KIND,
        When.TAKES,
    ),
    _row(
        Part.METHOD,
        "throw athrow",
        "throws an exception into a generator",
        "a proxy of a generator has no such method",
    ),
    _row(
        Part.METHOD,
        "register",
        "registers something with the solution's",
        "a class of the judge's cannot become one of the solution's",
        When.HEARS,
    ),
    _row(Part.ATTRIBUTE, "__doc__ __module__", _LOOKS, _TEXT, proxies_can=True),
    _row(Part.ATTRIBUTE, "__class__ __dict__", _LOOKS, _FIELDS, proxies_can=True),
    _row(Part.ATTRIBUTE, "__annotations__ __file__", _LOOKS, _TEXT),
    _row(
        Part.ATTRIBUTE,
        "__code__ __closure__ __defaults__ __globals__ __wrapped__ __slots__",
        _LOOKS,
        _CODE,
    ),
    _row(Part.ATTRIBUTE, "__mro__ __bases__ __subclasses__", _LOOKS, _BASES),
    _row(
        Part.MENTION,
        "SystemExit KeyboardInterrupt GeneratorExit BaseException SkipTest",
        _EXPECTS,
        _ENDS,
    ),
    _row(
        Part.MENTION,
        "ExceptionGroup BaseExceptionGroup",
        _EXPECTS,
        "a group of exceptions does not cross",
    ),
    _row(Part.PARAMETER, "caplog recwarn", _CAPTURES, _NOTED),
    _row(
        Part.PARAMETER,
        "capsys capfd capsysbinary capfdbinary",
        _CAPTURES,
        _WRITTEN,
        When.SILENT,
    ),
    _row(
        Part.MANAGER,
        "redirect_stdout redirect_stderr",
        f"{_CAPTURES}()",
        _WRITTEN,
        When.SILENT,
        proxies_can=True,
    ),
)

# These names count in all code that runs while the solution is used, whether it uses the solution
# or not.
AROUND = (
    _row(
        Part.IMPORTED,
        "asyncio.gather asyncio.wait asyncio.wait_for asyncio.as_completed asyncio.create_task"
        " asyncio.ensure_future asyncio.shield asyncio.timeout asyncio.timeout_at"
        " asyncio.TaskGroup asyncio.Queue asyncio.PriorityQueue asyncio.LifoQueue asyncio.Event"
        " asyncio.Lock asyncio.Condition asyncio.Semaphore asyncio.BoundedSemaphore"
        " asyncio.Barrier asyncio.Future asyncio.to_thread asyncio.all_tasks"
        " asyncio.current_task asyncio.run_coroutine_threadsafe asyncio.create_subprocess_exec"
        " asyncio.create_subprocess_shell asyncio.start_server asyncio.start_unix_server"
        " asyncio.open_connection",
        _LOOP,
        _ONE_LOOP,
    ),
    _row(
        Part.ATTRIBUTE,
        "run_in_executor create_task create_future call_soon_threadsafe set_default_executor"
        " subprocess_exec subprocess_shell add_signal_handler call_soon call_later call_at"
        " run_forever",
        _LOOP,
        _ONE_LOOP,
    ),
    _row(
        Part.IMPORTED_LAST,
        "AsyncMock",
        "uses {}, which is no data",
        "the solution would await something that is in the judge's event loop",
    ),
    _row(Part.MEANT, "time.sleep asyncio.sleep asyncio.tasks.sleep", _WAITS, _TIME),
    _row(
        Part.MEANT_IN_LOOP,
        "time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter"
        " time.perf_counter_ns datetime.datetime.now datetime.datetime.utcnow"
        " datetime.datetime.today",
        _WAITS,
        _TIME,
    ),
)

# What function tests may do all the same.
PROXIES_CAN = frozenset(
    row.reason.format(name) for row in (*USING, *AROUND) if row.proxies_can for name in row.names
)
# Names that a text can use without importing them.
NAMES = frozenset(name for row in (*USING, *AROUND) for name in row.names if "." not in name)


def by_name(rows: Iterable[Row]) -> Mapping[tuple[Part, str], Row]:
    """Returns rows by the part and the name that they are for."""
    return {(row.part, name): row for row in rows for name in row.names}

"""Exceptions that cross, by name: how each side describes one, and what the judge raises for it.

What this stops: an exception of the candidate's ending something of the test's early and
quietly. `StopIteration` ends a `for` or an `all`, `SkipTest` a test, `SystemExit` a process;
they are not among the classes that a name can mean, so none of them, nor a subclass, is ever
raised in the judge on the candidate's word.

What it does not: tell a solution that honestly raises `ValueError` from one that only claims to.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from typing import cast

_MAX_NAMES = 64
_MAX_TEXT = 1000
_BUILTIN: Mapping[str, type[Exception]] = {
    f"builtins.{name}": kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and kind is not Exception
    and not issubclass(kind, (StopIteration, StopAsyncIteration, ExceptionGroup))
}
# Exceptions of the standard library that map where the tests loaded their module.
_STANDARD = frozenset(
    (
        "binascii.Error",
        "configparser.Error",
        "csv.Error",
        "decimal.InvalidOperation",
        "decimal.DivisionByZero",
        "decimal.Overflow",
        "json.decoder.JSONDecodeError",
        "queue.Empty",
        "queue.Full",
        "re.error",
        "sqlite3.Error",
        "sqlite3.IntegrityError",
        "sqlite3.OperationalError",
        "statistics.StatisticsError",
        "struct.error",
        "subprocess.CalledProcessError",
        "subprocess.TimeoutExpired",
        "xml.etree.ElementTree.ParseError",
        "zlib.error",
    )
)


class CandidateError(Exception):
    """The solution raised an exception that has no counterpart in the judge."""

    text = ""
    solution_object: object = None

    def __str__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or self.solution_object is None:
            raise AttributeError(name)
        return getattr(self.solution_object, name)


class CandidateExit(BaseException):  # it is no Exception where it comes from either
    """The solution raised what `except Exception` lets through, such as SystemExit."""


def names_of(error: BaseException) -> list[str]:
    """Returns the names of an exception's classes, most special first."""
    return [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__[:_MAX_NAMES]]


def text_of(error: BaseException) -> str:
    """Returns an exception's message; its own code may run, and fail."""
    try:
        return str(error)[:_MAX_TEXT]
    except BaseException:  # noqa: BLE001  # whatever a solution's __str__ does
        return ""


def known_class(names: list[str]) -> type[Exception] | None:
    """Returns the most special class of the judge's with one of these names."""
    for name in names:
        if name in _BUILTIN:
            return _BUILTIN[name]
        if name in _STANDARD:
            module, _, attribute = name.rpartition(".")
            if module in sys.modules:
                return cast("type[Exception]", getattr(sys.modules[module], attribute))
    return None


def leaves(names: list[str]) -> bool:
    """Tells whether an exception with these names is no `Exception`."""
    return "builtins.Exception" not in names


def construct(kind: type[Exception], arguments: list[object]) -> Exception:
    """Makes an exception, with the arguments if its class takes them."""
    try:
        return kind(*arguments)
    except Exception:  # noqa: BLE001  # whatever a constructor makes of other arguments
        error = kind.__new__(kind)
        error.args = tuple(arguments)
        return error


def rebuild(
    names: list[str],
    arguments: list[object],
    text: str,
    solution_object: object,
    expected: Mapping[str, type[CandidateError]],
) -> BaseException:
    """Returns what the judge raises for an exception of the candidate's.

    Args:
        names: as `names_of` gives them.
        arguments: the exception's arguments.
        text: its message.
        solution_object: stands for the exception itself, or None.
        expected: classes that tests catch and that the solution defines, by name.
    """
    title = names[0].rpartition(".")[2] if names else ""
    if leaves(names):
        return CandidateExit(f"{title}: {text}")
    known = known_class(names)
    if known is not None and names[0] in (f"{known.__module__}.{known.__qualname__}",):
        return construct(known, arguments)
    wanted = [expected[name] for name in names if name in expected]
    bases = (*(wanted or [CandidateError]), *([known] if known else []))
    error = construct(_subclass(title, bases), arguments)
    error.__dict__["text"] = text
    error.__dict__["solution_object"] = solution_object
    return error


def _subclass(title: str, bases: tuple[type[Exception], ...]) -> type[Exception]:
    name = title if title.isidentifier() else CandidateError.__name__
    try:
        return type(name, bases, {})
    except TypeError:  # bases whose memory layouts exclude each other
        return type(name, bases[:1], {})

"""Exceptions that cross, by name: how each side describes one, and what the judge raises for it.

What this stops: an exception of the candidate's ending something of the test's early and
quietly. `StopIteration` ends a `for` or an `all`, `SkipTest` a test, `SystemExit` a process;
they are not among the classes that a name can mean, so none of them, nor a subclass, is ever
raised in the judge on the candidate's word.

What it does not: tell a solution that honestly raises `ValueError` from one that only claims to.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import cast

_MAX_NAMES = 64
_MAX_TEXT = 1000
_MAX_CHAIN = 4
Encode = Callable[[list[object]], list[object]]
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
        "dataclasses.FrozenInstanceError",
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


_SET_BASES = vars(type)["__bases__"].__set__


class SolutionClass(type):
    """The class of exception classes that stand for the solution's.

    Tests that look at their bases do not see that they stand for others.
    """

    @property
    def __mro__(cls) -> tuple[type, ...]:
        return tuple(one for one in vars(type)["__mro__"].__get__(cls) if one is not CandidateError)

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]  # it is not set by name
        bases = vars(type)["__bases__"].__get__(cls)
        return tuple(one for one in bases if one is not CandidateError) or (Exception,)

    @property
    def __base__(cls) -> type:
        return cls.__bases__[0]


class CandidateError(Exception, metaclass=SolutionClass):
    """The solution raised an exception that has no counterpart in the judge."""

    runner_text = ""
    runner_object: object = None
    runner_names: Sequence[str] = ()  # of its classes over there

    def __str__(self) -> str:
        return self.runner_text

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or self.runner_object is None:
            raise AttributeError(name)
        return getattr(self.runner_object, name)


_Classes = tuple[type[Exception], ...]
Expected = dict[str, type[CandidateError]]  # what tests catch and the solution defines, by name


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
        return cast("Exception", type.__call__(kind, *arguments))  # here, not over there
    except Exception:  # noqa: BLE001  # whatever a constructor makes of other arguments
        error = kind.__new__(kind)
        error.args = tuple(arguments)
        return error


def rebuild(
    names: list[str],
    arguments: list[object],
    text: str,
    solution_object: object,
    expected: Expected,
) -> BaseException:
    """Returns what the judge raises for an exception of the candidate's.

    Args:
        names: as `names_of` gives them.
        arguments: the exception's arguments.
        text: its message.
        solution_object: stands for the exception itself, or None.
        expected: see `Expected`.
    """
    title = names[0].rpartition(".")[2] if names else ""
    if leaves(names):
        return CandidateExit(f"{title}: {text}")
    known = known_class(names)
    if known is not None and names[0] in (f"{known.__module__}.{known.__qualname__}",):
        return construct(known, arguments)
    error = construct(_class_of(title, names, expected), arguments)
    error.__dict__["runner_text"] = text
    error.__dict__["runner_object"] = solution_object
    error.__dict__["runner_names"] = names
    return error


def _class_of(title: str, names: list[str], expected: Expected) -> type[Exception]:
    if names and names[0] in expected:
        return derived(names, expected)
    wanted, known = _bases(names, expected)
    return _subclass(title, (*wanted, *known))


def derived(names: list[str], expected: Expected) -> type[CandidateError]:
    """Derives what stands for a class from what stands for those that it is derived from.

    Args:
        names: of the class, which tests catch, and of those that it is derived from.
        expected: see `Expected`; it holds another class then if the first one cannot be derived.
    """
    kind = expected[names[0]]
    if "_runner_is_derived" in vars(kind):
        return kind
    wanted, known = _bases(names[1:], expected)
    with contextlib.suppress(TypeError):  # no order of bases, which no class has
        _SET_BASES(kind, wanted)
        kind = expected[names[0]] = _joined(kind, wanted, known)
    type.__setattr__(kind, "_runner_is_derived", True)
    return kind


def _joined(
    kind: type[CandidateError],
    bases: tuple[type[Exception], ...],
    known: tuple[type[Exception], ...],
) -> type[CandidateError]:
    """Returns a class that is derived from one of Python's too, another one if need be."""
    try:
        _SET_BASES(kind, (*bases, *known))
    except TypeError:  # it has another memory layout
        own = {name: one for name, one in vars(kind).items() if name.startswith("_runner")}
        return cast("type[CandidateError]", type(kind.__name__, (kind, *known), own))
    return kind


def _bases(names: list[str], expected: Expected) -> tuple[_Classes, _Classes]:
    """Returns what stands for the classes with these names, and what is known of them here."""
    known = known_class(names)
    wanted = tuple(expected[name] for name in names if name in expected)
    return wanted or (CandidateError,), (known,) if known else ()


def more_of(error: BaseException, encode: Encode, depth: int = _MAX_CHAIN) -> list[object] | None:
    """Returns what there is to tell of an exception beside itself, None if there is nothing.

    Args:
        error: the exception.
        encode: returns the JSON values of data, of which nothing else is told.
        depth: how many more exceptions of a chain are told.
    """
    cause, context = error.__cause__, error.__context__
    notes = [str(note)[:_MAX_TEXT] for note in getattr(error, "__notes__", [])[:_MAX_NAMES]]
    public = {name: one for name, one in vars(error).items() if not name.startswith("_")}
    attributes = encode([dict(list(public.items())[:_MAX_NAMES])])
    if depth == 0 or not (cause or context or notes or public or error.__suppress_context__):
        return None
    chain = [_told(one, encode, depth - 1) for one in (cause, context)]
    return [*chain, bool(error.__suppress_context__), notes, attributes]


def _told(error: BaseException | None, encode: Encode, depth: int) -> list[object] | None:
    if error is None:
        return None
    arguments = encode(list(error.args))
    return [names_of(error), arguments, text_of(error), more_of(error, encode, depth)]


def completed(error: BaseException, more: list[object], expected: Expected) -> BaseException:
    """Returns an exception with what `more_of` tells of it; what is malformed tells nothing."""
    match more:
        case [cause, context, bool(suppresses), list(notes), list(attributes)]:
            error.__cause__ = _retold(cause, expected)
            error.__context__ = _retold(context, expected)
            error.__suppress_context__ = suppresses
            for note in notes:
                error.add_note(str(note))
            _give(error, attributes)
    return error


def _retold(told: object, expected: Expected) -> BaseException | None:
    match told:
        case [list(names), list(arguments), str(text), more]:
            known = [name for name in names if type(name) is str]
            error = rebuild(known, arguments, text, None, expected)
            return completed(error, more, expected) if type(more) is list else error
    return None


def _give(error: BaseException, attributes: list[object]) -> None:
    """Gives an exception the public attributes that its class here has none of."""
    for named in attributes:
        for name, value in named.items() if type(named) is dict else ():
            is_public = type(name) is str and name.isidentifier() and not name.startswith("_")
            if is_public and not any(name in vars(kind) for kind in type(error).__mro__):
                error.__dict__[name] = value


def _subclass(title: str, bases: tuple[type[Exception], ...]) -> type[Exception]:
    name = title if title.isidentifier() else CandidateError.__name__
    try:
        return type(name, bases, {})
    except TypeError:  # bases whose memory layouts exclude each other
        return type(name, bases[:1], {})

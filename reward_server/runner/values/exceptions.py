"""Exceptions that cross, by name: how each side describes one, and what the judge raises for it.

What this stops: a class of the candidate's being in the judge. An exception is of a class that both
sides have (`library_exceptions`), or of one that is made here and derived from such a class.

What it does not: make self-reports true. What an exception carries is the solution's word.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from .library_exceptions import (
    MAX_NAMES,
    attributes_of,
    construct,
    give,
    known_class,
    known_classes,
    name_of,
)

_MAX_TEXT = 1000
_MAX_CHAIN = 4
Encode = Callable[[list[object]], list[object] | None]


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
    return [name_of(kind) for kind in type(error).__mro__[:MAX_NAMES]]


def text_of(error: BaseException) -> str:
    """Returns an exception's message; its own code may run, and fail."""
    try:
        return str(error)[:_MAX_TEXT]
    except BaseException:  # noqa: BLE001  # whatever a solution's __str__ does
        return ""


def leaves(names: list[str]) -> bool:
    """Returns True if an exception with these names is no `Exception`."""
    return "builtins.Exception" not in names


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
    known = None if names[0] in expected else known_class(names[:1])
    if known is not None:
        return construct(known, arguments)
    error = construct(_class_of(title, names, expected), arguments)
    error.__dict__["runner_text"] = text
    error.__dict__["runner_object"] = solution_object
    error.__dict__["runner_names"] = names
    return error


def of_tests(
    names: Sequence[str], arguments: Sequence[object], text: str, find: Callable[[str], object]
) -> Exception:
    """Returns what stands in the solution's process for an exception of the tests'.

    Args:
        names: as `names_of` gives them.
        arguments: the exception's arguments.
        text: its message.
        find: returns what the solution has by a name.
    """
    title = names[0].rpartition(".")[2] if names else ""
    known, own = known_class(names[:1]), find(title)
    if known is not None:
        return construct(known, list(arguments))
    if isinstance(own, type) and issubclass(own, Exception):
        return construct(own, list(arguments))
    shown: dict[str, object] = {"__str__": lambda _: text}
    kind = _made(title if title.isidentifier() else "Exception", _known_bases(names), shown)
    return construct(kind, list(arguments))


def _known_bases(names: Sequence[str]) -> _Classes:
    return known_classes(names) or (Exception,)


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
    """Returns a class that is derived from those of Python's too, another one if need be."""
    try:
        _SET_BASES(kind, (*bases, *known))
    except TypeError:  # it has another memory layout
        own = {name: one for name, one in vars(kind).items() if name.startswith("_runner")}
        made: Any = _made(kind.__name__, (kind, *known), own)
        derived: type[CandidateError] = made
        return derived
    return kind


def _bases(names: list[str], expected: Expected) -> tuple[_Classes, _Classes]:
    """Returns what stands for the classes with these names, and what is known of them here."""
    wanted = tuple(expected[name] for name in names if name in expected)
    return wanted or (CandidateError,), known_classes(names)


def more_of(
    error: BaseException, encode: Encode, depth: int = _MAX_CHAIN, *, has_object: bool = False
) -> list[object] | None:
    """Returns what there is to tell of an exception beside itself, None if there is nothing.

    Args:
        error: the exception.
        encode: returns the JSON values of data in the order of the calls, None if some is no data,
            of which nothing is told.
        depth: how many more exceptions of a chain are told.
        has_object: whether the other side can ask the exception itself.
    """
    cause, context = error.__cause__, error.__context__
    notes = [str(note)[:_MAX_TEXT] for note in getattr(error, "__notes__", [])[:MAX_NAMES]]
    own = attributes_of(error, has_object=has_object)
    if depth == 0 or not (cause or context or notes or own or error.__suppress_context__):
        return None
    chain = [_told(one, encode, depth - 1) for one in (cause, context)]
    fields = [(name, encode([one])) for name, one in list(own.items())[:MAX_NAMES]]
    attributes = [[name, *told] for name, told in fields if told is not None]
    return [*chain, bool(error.__suppress_context__), notes, attributes]


def _told(error: BaseException | None, encode: Encode, depth: int) -> list[object] | None:
    if error is None:
        return None
    told = [encode([one]) for one in error.args]
    arguments = [one for each in told if each is not None for one in each]
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
            for row in attributes:
                if type(row) is list and len(row) == 2:
                    give(error, *row)
    return error


def _retold(told: object, expected: Expected) -> BaseException | None:
    match told:
        case [list(names), list(arguments), str(text), more]:
            known = [name for name in names if type(name) is str]
            error = rebuild(known, arguments, text, None, expected)
            return completed(error, more, expected) if type(more) is list else error
    return None


def _subclass(title: str, bases: tuple[type[Exception], ...]) -> type[Exception]:
    return _made(title if title.isidentifier() else CandidateError.__name__, bases, {})


def _made(name: str, bases: _Classes, own: dict[str, object]) -> type[Exception]:
    """Makes a class that is derived from as many of these classes as one can be, the first ones."""
    for count in range(len(bases), 1, -1):
        with contextlib.suppress(TypeError):  # no order, or memory layouts that exclude each other
            return type(name, bases[:count], own)
    return type(name, bases[:1], own)

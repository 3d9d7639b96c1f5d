"""Exceptions that cross, by name: each side's description of them, and what the judge raises.

What this stops: a class of the candidate in the judge. An exception is of a class that both sides
have (`library_exceptions`), or of one that is made here and derives from such a class.

What it does not stop: false claims. The solution decides the content of an exception.
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
    """The metaclass of the judge's exception classes for the solution's classes.

    Tests that look at the bases of such a class do not notice that it replaces another one.
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
    runner_names: Sequence[str] = ()  # the names of its classes in the candidate

    def __str__(self) -> str:
        return self.runner_text

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or self.runner_object is None:
            raise AttributeError(name)
        return getattr(self.runner_object, name)


_Classes = tuple[type[Exception], ...]
Expected = dict[str, type[CandidateError]]  # the solution's classes that tests catch


class CandidateExit(BaseException):  # it is not an Exception in the candidate either
    """The solution raised an exception that is not an `Exception`, such as SystemExit."""


def names_of(error: BaseException) -> list[str]:
    """Returns the names of an exception's classes, the most derived first."""
    return [name_of(kind) for kind in type(error).__mro__[:MAX_NAMES]]


def text_of(error: BaseException) -> str:
    """Returns an exception's message; this may run code of its class, which may fail."""
    try:
        return str(error)[:_MAX_TEXT]
    except BaseException:  # noqa: BLE001  # a solution's __str__ may raise anything
        return ""


def leaves(names: list[str]) -> bool:
    """Returns True if an exception with these names is not an `Exception`."""
    return "builtins.Exception" not in names


def rebuild(
    names: list[str],
    arguments: list[object],
    text: str,
    solution_object: object,
    expected: Expected,
) -> BaseException:
    """Returns the exception that the judge raises for an exception of the candidate.

    Args:
        names: the names of its classes, as of `names_of`.
        arguments: the exception's arguments.
        text: its message.
        solution_object: the proxy of the exception itself, or None.
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
    """Returns the exception in the solution's process for an exception of the tests.

    Args:
        names: the names of its classes, as of `names_of`.
        arguments: the exception's arguments.
        text: its message.
        find: returns the solution's object with a name.
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
    """Returns the judge's class for a class of the solution, with that class's bases.

    Args:
        names: the name of the class, which tests catch, and the names of its bases.
        expected: see `Expected`; if the present class cannot get these bases, another one replaces
            it.
    """
    kind = expected[names[0]]
    if "_runner_is_derived" in vars(kind):
        return kind
    wanted, known = _bases(names[1:], expected)
    with contextlib.suppress(TypeError):  # these bases have no consistent order
        _SET_BASES(kind, wanted)
        kind = expected[names[0]] = _joined(kind, wanted, known)
    type.__setattr__(kind, "_runner_is_derived", True)
    return kind


def _joined(
    kind: type[CandidateError],
    bases: tuple[type[Exception], ...],
    known: tuple[type[Exception], ...],
) -> type[CandidateError]:
    """Returns a class that also derives from known classes; a new one if necessary."""
    try:
        _SET_BASES(kind, (*bases, *known))
    except TypeError:  # it has another memory layout
        own = {name: one for name, one in vars(kind).items() if name.startswith("_runner")}
        made: Any = _made(kind.__name__, (kind, *known), own)
        derived: type[CandidateError] = made
        return derived
    return kind


def _bases(names: list[str], expected: Expected) -> tuple[_Classes, _Classes]:
    """Returns the judge's classes for these names, and the known classes among them."""
    wanted = tuple(expected[name] for name in names if name in expected)
    return wanted or (CandidateError,), known_classes(names)


def more_of(
    error: BaseException, encode: Encode, depth: int = _MAX_CHAIN, *, has_object: bool = False
) -> list[object] | None:
    """Returns further details of an exception, or None if there are none.

    Args:
        error: the exception.
        encode: returns the JSON values of data in the order of the calls, or None if some of it is
            not data, which is then omitted.
        depth: how many more exceptions of a chain are described.
        has_object: whether the other side can request attributes from the exception itself.
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
    """Adds the details of `more_of` to an exception, and returns it; ignores malformed details."""
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
    """Makes a class that derives from as many of the first of these classes as possible."""
    for count in range(len(bases), 1, -1):
        with contextlib.suppress(TypeError):  # no consistent order, or incompatible memory layouts
            return type(name, bases[:count], own)
    return type(name, bases[:1], own)

"""What stands in the judge for an object of the candidate's.

What this stops: code of the candidate's running in the judge, and an object passing for the data
that a test expects. A proxy never equals data. Whether two objects over there are equal is asked
for twice, as equality and as inequality.

What it does not: make self-reports true. What an object's methods answer, whether it is true,
equal to another object or an instance of the solution's own class, is the solution's word.
Order and difference between an object and data are never asked for: an object that subtracts to
zero, or is less than anything, would pass for a number that is near enough. Other arithmetic and
membership are offered only where the tests' own text names a class of the solution's
(`Session.may_mix`), and arithmetic with data makes an object or nothing. A context manager of the
solution's cannot swallow an exception: a failed assertion in its block stays one.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import AsyncIterator, Collection, Generator, Iterator
from types import FrameType, TracebackType
from typing import Any, NoReturn, cast

from . import changes, faults
from .codec import Foreign, is_asked_for
from .extended import Extended
from .operations import ARITHMETIC, COROUTINE, GENERATOR, IN_PLACE, ORDER
from .records import fields_of
from .session import Session

_KINDS = tuple(inspect._ParameterKind)


class Proxy(Foreign):
    """An object of the candidate's. All it does is done over there."""

    __slots__ = ("_runner_reference", "_runner_session")

    _runner_reference: list[object]
    _runner_session: Session

    def __init__(self, session: Session, reference: list[object]) -> None:
        object.__setattr__(self, "_runner_session", session)
        object.__setattr__(self, "_runner_reference", reference)

    def runner_reference(self) -> list[object]:
        """Returns what the candidate knows the object by."""
        return self._runner_reference

    # --------------------------------------------------------------------- what it is like

    @property
    def __doc__(self) -> object:  # type: ignore[override]  # a class has a text here
        return self._runner_session.request("get", self, "__doc__")

    @property
    def __signature__(self) -> inspect.Signature:
        told = _as_list(self._runner_session.request("signature", self))
        return inspect.Signature([_parameter(*cast("list[Any]", one)) for one in told])

    @property
    def __bases__(self) -> tuple[type, ...]:
        """The exception class of Python's that the solution's class is derived from."""
        told = _as_list(self._runner_session.request("class_names", self))
        names = [name for name in told if type(name) is str]
        if faults.leaves(names):
            raise AttributeError("__bases__")
        return (faults.known_class(names) or Exception,)

    # ------------------------------------------------------------------- use as a function

    def __call__(self, *args: object, **kwargs: object) -> object:  # noqa: D102
        session, held = self._runner_session, cast("tuple[bool, ...]", ())
        if kwargs or not changes.UNCHANGING.issuperset(map(type, args)):
            named = [sys.getrefcount(one) for one in args if _may_hold(one)]
            is_named = max(named, default=0) > _OF_A_LITERAL
            held = (True,) if is_named or kwargs or any(map(_holds_named, args)) else ()
        if session.knows_classes:
            session.protect([*args, *kwargs.values()], sys._getframe(1))
        result = session.request("call", self, list(args), kwargs or None, *held)
        if not session.changed:
            return result
        return _bring_back(session, sys._getframe(1), (*args, *kwargs.values()), result)

    # -------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> object:
        if not is_asked_for(name):
            raise AttributeError(name)
        return self._runner_session.request("get", self, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._runner_session.request("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._runner_session.request("delete", self, name)

    def __dir__(self) -> list[str]:
        return [str(name) for name in _as_list(self._runner_session.request("dir", self))]

    # -------------------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Proxy):
            self._runner_session.check_that_it_is_loaded()
            return False
        request = self._runner_session.request
        return request("eq", self, other) is True and request("ne", self, other) is False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return _as_int(self._runner_session.request("hash", self))

    def __instancecheck__(self, instance: object) -> bool:
        is_known = isinstance(instance, (Proxy, Extended)) or fields_of(type(instance)) is not None
        if not (is_known or self._runner_session.is_rebuilt(instance)):
            return False
        return self._runner_session.request("isinstance", instance, self) is True

    def __subclasscheck__(self, subclass: object) -> bool:
        if not isinstance(subclass, Proxy):
            return False
        return self._runner_session.request("issubclass", subclass, self) is True

    # ------------------------------------------------------------------------- conversions

    def __bool__(self) -> bool:
        return self._runner_session.request("bool", self) is True

    def __str__(self) -> str:
        return str(self._runner_session.request("str", self))

    def __repr__(self) -> str:
        return str(self._runner_session.request("repr", self))

    def __format__(self, specification: str) -> str:
        return str(self._runner_session.request("format", self, specification))

    def __round__(self, digits: int | None = None) -> object:
        return self._runner_session.request("round", self, digits)

    def __copy__(self) -> object:
        return self._runner_session.request("copy", self)

    def __deepcopy__(self, memo: object) -> object:
        return self._runner_session.request("deepcopy", self)

    # -------------------------------------------------------------------------- containers

    def __len__(self) -> int:
        return _as_int(self._runner_session.request("len", self))

    def __getitem__(self, key: object) -> object:
        return self._runner_session.request("item", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        self._runner_session.request("set_item", self, key, value)

    def __delitem__(self, key: object) -> None:
        self._runner_session.request("delete_item", self, key)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, Proxy) or self._runner_session.may_mix():
            return self._runner_session.request("contains", self, item) is True
        return any(element is item or element == item for element in self)

    def __iter__(self) -> Iterator[object]:
        iterator = self._runner_session.request("iter", self)
        return iterator if isinstance(iterator, Proxy) else iter(_as_list(iterator))

    def __next__(self) -> object:
        return self._runner_session.request("next", self)

    # ------------------------------------------------------------------- blocks and waiting

    def __enter__(self) -> object:
        return self._runner_session.request("enter", self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        swallows = self._runner_session.request("exit", self, *_told(error)) is True
        frame = sys._getframe(1)
        return swallows and _is_test_raising(self._runner_session, error, traceback, frame)

    def __await__(self) -> Generator[None, None, object]:
        return self._runner_session.request("await", self)
        yield

    def __aiter__(self) -> AsyncIterator[object]:
        iterator = self._runner_session.request("aiter", self)
        if not isinstance(iterator, Proxy):
            raise TypeError("the solution gave no asynchronous iterator")
        return iterator

    async def __anext__(self) -> object:
        try:
            return self._runner_session.request("anext", self)
        except StopIteration:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> object:
        return self._runner_session.request("aenter", self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._runner_session.request("aexit", self, *_told(error))


class CoroutineProxy(Proxy):
    """A coroutine of the candidate's, which `asyncio.run` takes for one.

    It runs over there to its end at the first step, so several of them run one after another.
    """

    __slots__ = ()

    def __next__(self) -> NoReturn:
        raise StopIteration(self._runner_session.request("await", self))

    def send(self, value: object) -> NoReturn:
        """Runs it and ends with its result."""
        next(self)

    def throw(self, error: BaseException, *_: object) -> NoReturn:
        """Ends it."""
        raise error

    def close(self) -> None:
        """Gives it up."""


class GeneratorProxy(Proxy):
    """A generator of the candidate's, which is asked for its class as one."""

    __slots__ = ()
    __class__ = types.GeneratorType  # type: ignore[assignment]  # what `isinstance` sees


_PROXIES = {COROUTINE: CoroutineProxy, GENERATOR: GeneratorProxy}


def make(session: Session, reference: list[object], kind: str) -> Proxy:
    """Makes the proxy of an object that is used as `kind` says."""
    return _PROXIES.get(kind, Proxy)(session, reference)


def _parameter(name: str, kind: int, *default: object) -> inspect.Parameter:
    given = default[0] if default else inspect.Parameter.empty
    return inspect.Parameter(name, _KINDS[kind], default=given)


def _is_test_raising(
    session: Session,
    error: BaseException | None,
    traceback: TracebackType | None,
    frame: FrameType,
) -> bool:
    """Returns True if the text of a block itself raises what its manager swallows.

    What an assertion, or anything that the solution has a part in, raises is not swallowed.
    """
    if traceback is None or traceback.tb_next is not None or traceback.tb_frame is not frame:
        return False
    if not isinstance(error, Exception) or isinstance(error, AssertionError):
        return False
    return session.raises(frame, traceback.tb_lineno)


def _bring_back(
    session: Session, frame: FrameType, arguments: tuple[object, ...], result: object
) -> object:
    """Brings arguments to what a call made of them, as far as that decides nothing of answers.

    Returns:
        The result, in which copies stand for what was not brought back.
    """
    changed, session.changed = session.changed, []
    wanted = session.brings_changes or (changes.are_wanted(frame) and session.keeps_apart(frame))
    if not wanted:
        looked_at = _looked_at(session, frame, arguments)
        seen = changes.reachable(one for one in arguments if id(one) in looked_at)
    withheld: dict[int, object] = {}
    for old, content in changed:
        if (wanted or id(old) in seen) and changes.can_replace(old, content):
            changes.replace(old, content)
        else:
            withheld[id(old)] = content
            session.withhold()
    return changes.detached(result, withheld) if withheld else result


def _may_hold(value: object) -> bool:
    """Returns True if a value, or an element of a tuple, may be changed."""
    if type(value) is tuple:
        return any(map(_may_hold, value))
    return type(value) not in changes.UNCHANGING


class _Call:
    """Tells how often an argument is referred to that nothing but its call holds."""

    def __call__(self, *args: object) -> int:
        return max([sys.getrefcount(one) for one in args if _may_hold(one)])


_OF_A_LITERAL = _Call()([])


def _references_in(parts: list[object]) -> list[int]:
    return [sys.getrefcount(one) for one in parts if type(one) is not tuple]


_OF_A_PART = _references_in([[]])[0] + 1  # `_holds_named` has a list of the parts as well


def _holds_named(value: object) -> bool:
    """Returns True if something that can change, inside a value, is held by something else too."""
    if type(value) not in _CONTAINERS:
        return False
    held = value.values() if isinstance(value, dict) else cast("Collection[object]", value)
    if changes.UNCHANGING.issuperset(map(type, held)):
        return False
    parts = [one for one in held if type(one) not in changes.UNCHANGING]
    return max(_references_in(parts), default=0) > _OF_A_PART or any(map(_holds_named, parts))


_CONTAINERS = frozenset((*changes.KINDS, tuple)) - {set, bytearray}


def _looked_at(
    session: Session, frame: FrameType, arguments: tuple[object, ...]
) -> Collection[int]:
    """Returns the identities of arguments at which the test looks when it has the result."""
    changing = [one for one in arguments if changes.can_change(one)]
    if not changing:
        return ()
    named = [
        (name, value)
        for name, value in frame.f_locals.items()
        if any(value is one for one in changing)
    ]
    names = tuple(name for name, _ in named)
    found = frozenset(id(value) for _, value in named)
    is_plain = bool(named) and len(found) == len(named)
    nested = any(map(changes.is_nested, changing))
    return found if is_plain and session.observes(frame, names, nested) else frozenset()


def _as_int(answer: object) -> int:
    if type(answer) is not int:
        raise TypeError("the solution answered with no integer")
    return answer


def _as_list(answer: object) -> list[object]:
    if type(answer) is not list:
        raise TypeError("the solution answered with no list")
    return answer


def _told(error: BaseException | None) -> tuple[object, object]:
    """Returns what a block's manager over there is told of an exception here."""
    return (None, None) if error is None else (type(error).__name__, str(error))


# --------------------------------------------------------------------------------- operators


def _unary(name: str) -> object:
    def method(self: Proxy) -> object:
        return self._runner_session.request(name, self)

    return method


def _may_meet(name: str, self: Proxy, other: object) -> bool:
    if isinstance(other, Proxy):
        return True
    return name not in _AMONG_OBJECTS and self._runner_session.may_mix()


def _result(result: object, other: object) -> object:
    """Returns the result of an operator, unless it is data that the solution made of data.

    The data is often what a test expects: `abs(balance / 150 - 1) < 1e-9`.
    """
    parts = result if type(result) is tuple else (result,)  # of `divmod`
    if isinstance(other, Proxy) or (parts and all(isinstance(part, Proxy) for part in parts)):
        return result
    raise TypeError("an object of the solution's and data make an object, no data")


def _binary(name: str) -> object:
    def method(self: Proxy, other: object) -> object:
        if not _may_meet(name, self, other):
            return NotImplemented
        return _result(self._runner_session.request(name, self, other), other)

    return method


def _reflected(name: str) -> object:
    def method(self: Proxy, other: object) -> object:
        if not _may_meet(name, self, other):
            return NotImplemented
        return _result(self._runner_session.request(name, other, self), other)

    return method


UNARY = ("neg", "pos", "abs", "invert", "int", "float", "complex", "index")
ROUNDING = ("trunc", "floor", "ceil")
_AMONG_OBJECTS = frozenset(("sub", "isub", *ORDER))

for _name in (*UNARY, *ROUNDING):
    setattr(Proxy, f"__{_name}__", _unary(_name))
for _name in (*ARITHMETIC, *ORDER):
    setattr(Proxy, f"__{_name}__", _binary(_name))
for _name in ARITHMETIC:
    setattr(Proxy, f"__r{_name}__", _reflected(_name))
for _name in IN_PLACE:
    setattr(Proxy, f"__i{_name}__", _binary(f"i{_name}"))

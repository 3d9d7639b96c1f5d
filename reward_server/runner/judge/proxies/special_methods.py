"""The special methods of the judge's proxies for the candidate's objects.

What this stops: an object that seems to support an operation which its class lacks. The
interpreter, `hasattr`, `callable` and the abstract classes look up special methods on a class. So a
proxy's class has those special methods, from a closed list, that the candidate reported when the
object crossed.

The judge never asks for the order or the difference between an object and data. An object whose
difference from any number is zero, or which is less than anything, would otherwise pass as a number
that is near enough. Other arithmetic and membership are only allowed if the text of the tests names
a class of the solution (`Session.may_mix`), and the result of arithmetic with data must be an
object. Order, subtraction, and arithmetic that is not allowed are requested with other data of that
kind, so that the object does not learn the data. If this raises an exception, the test sees it; if
not, the test fails. If a test found by `!=` that an object is unequal to data, the judge asks about
the actual data only after all tests.

What it does not find: a special method that the object's class has, but that does not work.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from types import FrameType, TracebackType
from typing import Any

from ...channel.codec import Foreign, ProtocolViolation
from ...channel.decoys import is_data, other_data
from ...channel.operations import ARITHMETIC, IN_PLACE, ORDER, SPECIAL
from ...values import changes
from ...values.exceptions import CandidateError, names_of, text_of
from ..exports import literals
from ..exports.membrane import without_addresses
from ..session import Session

_MAX_CLASSES = 1000


class MixedError(Exception):
    """An object of the solution supports an operation with data that a proxy cannot support."""

    def __init__(self) -> None:
        super().__init__(
            "the tests compute or compare with data and an object of the solution's that allows it;"
            " such tests have to run beside the solution"
        )


def _mixed(session: Session) -> MixedError:
    session.note_refusal()
    return MixedError()


class Referred(Foreign):
    """A value that refers to a candidate's object."""

    __slots__ = ("_runner_reference", "_runner_session")

    _runner_reference: list[object]
    _runner_session: Session

    def __init__(self, session: Session, reference: list[object]) -> None:
        object.__setattr__(self, "_runner_session", session)
        object.__setattr__(self, "_runner_reference", reference)

    def runner_reference(self) -> list[object]:
        """Returns the candidate's reference to the object."""
        return self._runner_reference

    @property
    def __doc__(self) -> object:  # type: ignore[override]  # a class has a text here
        return self._runner_session.request("get", self, "__doc__")


def are_equal(one: Referred, other: Referred) -> bool:
    """Returns True if `==` is true of two objects, and `!=` is false."""
    request = one._runner_session.request
    return request("eq", one, other) is True and request("ne", one, other) is False


class Special(Referred):
    """All special methods that an object may have."""

    __slots__ = ()

    # ------------------------------------------------------------------- use as a function

    def __call__(self, *args: object, **kwargs: object) -> object:  # noqa: D102
        session = self._runner_session
        if not kwargs and changes.UNCHANGING.issuperset(map(type, args)):
            return session.request("call", self, list(args), None)
        frame = sys._getframe(1)
        if session.knows_classes:
            session.protect([*args, *kwargs.values()], frame)
        if kwargs or session.calls_indirectly or literals.are_held(args, frame, self):
            return session.request("call", self, list(args), kwargs or None, True)
        return session.request("call", self, list(args), None)

    # -------------------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Referred):
            return are_equal(self, other)
        session = self._runner_session
        session.check_that_it_is_loaded()
        if not is_data(other):
            session.note_refusal()
        elif session.request("eq", self, other_data(other)) is not False:
            raise _mixed(session)
        return False

    def __ne__(self, other: object) -> bool:
        if isinstance(other, Referred):
            return not are_equal(self, other)
        session = self._runner_session
        session.check_that_it_is_loaded()
        if not is_data(other):
            session.note_refusal()
        else:
            decoy = other_data(other)
            if session.request("ne", self, decoy) is not True:
                raise _mixed(session)
            if decoy != other:
                session.note_difference(self, other)
        return True

    def __hash__(self) -> int:
        return _as_int(self._runner_session.request("hash", self))

    # ------------------------------------------------------------------------- conversions

    def __bool__(self) -> bool:
        return self._runner_session.request("bool", self) is True

    def __round__(self, digits: int | None = None) -> object:
        return self._runner_session.request("round", self, digits)

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
        session = self._runner_session
        if not hasattr(type(self), "__iter__") and not hasattr(type(self), "__getitem__"):
            session.note_refusal()  # the judge then searches for it, without telling the candidate
        elif not isinstance(item, Referred) and not session.may_mix():
            return any(element is item or element == item for element in self)
        return session.request("contains", self, item) is True

    def __iter__(self) -> Iterator[object]:
        iterator: Any = self._runner_session.request("iter", self)
        is_object: bool = isinstance(iterator, Referred)
        return iterator if is_object else iter(as_list(iterator))

    def __next__(self) -> object:
        return self._runner_session.request("next", self)

    def __reversed__(self) -> object:
        return self._runner_session.request("reversed", self)

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
        iterator: Any = self._runner_session.request("aiter", self)
        is_object: bool = isinstance(iterator, Referred)
        if not is_object:
            raise TypeError("the solution gave no asynchronous iterator")
        return iterator  # type: ignore[no-any-return]  # a proxy of one

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


def _is_test_raising(
    session: Session,
    error: BaseException | None,
    traceback: TracebackType | None,
    frame: FrameType,
) -> bool:
    """Returns True if the text of a block itself raises the exception that its manager suppresses.

    An exception of an assertion, or of anything in which the solution takes part, is not
    suppressed.
    """
    if traceback is None or traceback.tb_next is not None or traceback.tb_frame is not frame:
        return False
    if not isinstance(error, Exception) or isinstance(error, AssertionError):
        return False
    return session.raises(frame, traceback.tb_lineno)


def _as_int(answer: object) -> int:
    if type(answer) is not int:
        raise TypeError("the solution answered with no integer")
    return answer


def as_list(answer: object) -> list[object]:
    """Returns an answer, which must be a list."""
    if type(answer) is not list:
        raise TypeError("the solution answered with no list")
    return answer


def _told(error: BaseException | None) -> tuple[object, ...]:
    """Returns the description of an exception for the context manager in the candidate."""
    if error is None:
        return ()
    if isinstance(error, CandidateError) and isinstance(error.runner_object, Foreign):
        return (error.runner_object,)
    text = without_addresses(text_of(error))
    arguments = error.args if is_data(list(error.args)) else (text,)
    return tuple(names_of(error)), arguments, text


# --------------------------------------------------------------------------------- operators


def _unary(name: str) -> object:
    def method(self: Referred) -> object:
        return self._runner_session.request(name, self)

    return method


def _may_meet(name: str, self: Referred, other: object) -> bool:
    if isinstance(other, Referred):
        return True
    return name not in _AMONG_OBJECTS and self._runner_session.may_mix()


def _refused(name: str, self: Referred, other: object, *, is_first: bool) -> object:
    """Returns NotImplemented for an operand that is not data, see `is_data`; for data it raises.

    Raises:
        MixedError: the object accepts other data of that kind.
        BaseException: the exception with which the object refuses other data of that kind.
    """
    session = self._runner_session
    if is_data(other):
        operands = [self, other_data(other)]
        session.request(name, *(operands if is_first else reversed(operands)))
        raise _mixed(session)
    session.note_refusal()
    return NotImplemented


def _result(session: Session, result: object, other: object) -> object:
    """Returns the result of an operator, unless the solution computed data from data.

    The data in the operation is often what a test expects, like 150 in
    `abs(balance / 150 - 1) < 1e-9`.
    """
    parts = result if type(result) is tuple else (result,)  # a tuple comes from `divmod`
    if isinstance(other, Referred) or (parts and all(isinstance(part, Referred) for part in parts)):
        return result
    session.note_refusal()
    raise TypeError("an object of the solution's and data make an object, no data")


def _binary(name: str) -> object:
    def method(self: Referred, other: object) -> object:
        if not _may_meet(name, self, other):
            return _refused(name, self, other, is_first=True)
        session = self._runner_session
        return _result(session, session.request(name, self, other), other)

    return method


def _reflected(name: str) -> object:
    def method(self: Referred, other: object) -> object:
        begins_sum = name == "add" and type(other) is int and other == 0
        if not (begins_sum or _may_meet(name, self, other)):
            return _refused(name, self, other, is_first=False)
        session = self._runner_session
        return _result(session, session.request(name, other, self), other)

    return method


UNARY = ("neg", "pos", "abs", "invert", "int", "float", "complex", "index")
ROUNDING = ("trunc", "floor", "ceil")
_AMONG_OBJECTS = frozenset(("sub", "isub", *ORDER))

OF_ANY_OBJECT = {f"__{_name}__": _binary(_name) for _name in ORDER}
_METHODS: dict[str, object] = {
    **{name: vars(Special)[name] for name in SPECIAL if name in vars(Special)},
    **{f"__{_name}__": _unary(_name) for _name in (*UNARY, *ROUNDING)},
    **{f"__{_name}__": _binary(_name) for _name in ARITHMETIC},
    **{f"__r{_name}__": _reflected(_name) for _name in ARITHMETIC},
    **{f"__i{_name}__": _binary(f"i{_name}") for _name in IN_PLACE},
}


# ------------------------------------------------------------------------------------- classes

_OF_EACH_CLASS = {"__slots__": (), "__doc__": vars(Referred)["__doc__"]}


class _Asked:
    """A method that an object appears to have only if the candidate's object has it.

    It is on the class, where the interpreter finds it for every object; so `__get__` first asks the
    candidate for it.
    """

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        self._name = name
        self._function = function

    def __get__(self, owner: Referred | None, kind: type) -> object:
        if owner is None:
            return self._function
        owner._runner_session.request("get", owner, self._name)
        return functools.partial(self._function, owner)


def asked(methods: dict[str, Callable[..., object]]) -> dict[str, object]:
    """Returns methods that an object appears to have only if the candidate's object has them."""
    return {name: _Asked(name, function) for name, function in methods.items()}


def every_method() -> dict[str, object]:
    """Returns all special methods, for the proxy of a name whose value is not known yet.

    The value is usually a function or class.
    """
    own: Any = _METHODS
    at_once = ("__call__", "__eq__", "__ne__", "__hash__", "__bool__")
    return {**_OF_EACH_CLASS, **asked(own), **{name: own[name] for name in at_once}}


@functools.cache
def class_with(base: type, ways: int) -> type:
    """Returns a class of proxies that has the special methods in a bit mask.

    Raises:
        ProtocolViolation: there are no such methods, or too many classes.
    """
    if not 0 <= ways < 1 << len(SPECIAL) or class_with.cache_info().currsize >= _MAX_CLASSES:
        raise ProtocolViolation("unknown special methods")
    names = [name for place, name in enumerate(SPECIAL) if ways >> place & 1]
    methods = {name: _METHODS[name] for name in names}
    if "__eq__" in methods or "__ne__" in methods:
        methods |= {name: _METHODS[name] for name in ("__eq__", "__ne__")}
    return type(base.__name__, (base,), {**_OF_EACH_CLASS, "__hash__": None, **methods})

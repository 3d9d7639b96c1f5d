"""The judge's proxy of an object of the candidate.

What this stops: code of the candidate in the judge, and an object that the judge takes for the data
that a test expects. A proxy never equals data. If two objects in the candidate are compared, the
judge asks twice: whether they are equal, and whether they are unequal.

What it does not stop: false claims. The solution decides the answers of an object's methods, its
truth value, its equality with another object and its class. `special_methods` has the special
methods. A context manager of the solution cannot suppress an exception, so an assertion that fails
in its block has failed.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, NoReturn, TypeGuard

from ...channel.codec import Foreign, is_asked_for
from ...channel.extended import Extended
from ...channel.operations import COROUTINE, GENERATOR, SPECIAL
from ...values import exceptions, library_exceptions
from ...values.records import fields_of
from ..session import Session
from .special_methods import (
    OF_ANY_OBJECT,
    Referred,
    are_equal,
    as_list,
    asked,
    class_with,
    every_method,
)

_KINDS = tuple(inspect._ParameterKind)


class Proxy(Referred):
    """A proxy of a candidate's object. The candidate performs all its operations."""

    __slots__ = ()

    # --------------------------------------------------------------------- what it is like

    __doc__ = vars(Referred)["__doc__"]

    @property
    def __signature__(self) -> inspect.Signature:
        told: list[Any] = as_list(self._runner_session.request("signature", self))
        return inspect.Signature([_parameter(*one) for one in told])

    @property
    def __bases__(self) -> tuple[type, ...]:
        """The built-in exception classes from which the solution's class derives."""
        told = as_list(self._runner_session.request("class_names", self))
        names = [name for name in told if type(name) is str]
        if exceptions.leaves(names):
            raise AttributeError("__bases__")
        return library_exceptions.known_classes(names) or (Exception,)

    # -------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> object:
        if not is_asked_for(name) and name not in SPECIAL:
            raise AttributeError(name)
        return self._runner_session.request("get", self, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._runner_session.request("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._runner_session.request("delete", self, name)

    def __dir__(self) -> list[str]:
        return [str(name) for name in as_list(self._runner_session.request("dir", self))]

    # -------------------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Referred):
            self._runner_session.check_that_it_is_loaded()
            return False
        return are_equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # unless its class has one

    def __instancecheck__(self, instance: object) -> bool:
        if isinstance(instance, exceptions.CandidateError):
            told = as_list(self._runner_session.request("class_names", self))
            return told[0] in instance.runner_names
        is_known = isinstance(instance, (Proxy, Extended)) or fields_of(type(instance)) is not None
        if not (is_known or self._runner_session.is_rebuilt(instance)):
            return False
        return self._runner_session.request("isinstance", instance, self) is True

    def __subclasscheck__(self, subclass: object) -> bool:
        if not isinstance(subclass, Foreign):
            return False
        return self._runner_session.request("issubclass", subclass, self) is True

    # ------------------------------------------------------------------------- conversions

    def __str__(self) -> str:
        return str(self._runner_session.request("str", self))

    def __repr__(self) -> str:
        return str(self._runner_session.request("repr", self))

    def __format__(self, specification: str) -> str:
        return str(self._runner_session.request("format", self, specification))


def _copy(owner: Proxy) -> object:
    return owner._runner_session.request("copy", owner)


def _deep_copy(owner: Proxy, memo: object) -> object:
    return owner._runner_session.request("deepcopy", owner)


for _methods in (OF_ANY_OBJECT, asked({"__copy__": _copy}), {"__deepcopy__": _deep_copy}):
    for _name, _method in _methods.items():
        setattr(Proxy, _name, _method)


class CoroutineProxy(Proxy):
    """A proxy of a coroutine, which `asyncio.run` accepts as one.

    It runs in the candidate to its end at the first step, so several run one after another.
    """

    __slots__ = ()

    def __next__(self) -> NoReturn:
        raise StopIteration(self._runner_session.request("await", self))

    def send(self, value: object) -> NoReturn:
        """Runs the coroutine and ends with its result."""
        next(self)

    def throw(self, error: BaseException, *_: object) -> NoReturn:
        """Ends the coroutine."""
        raise error

    def close(self) -> None:
        """Does nothing."""


class GeneratorProxy(Proxy):
    """A proxy of a generator, whose class appears as the generators' class."""

    __slots__ = ()
    __class__ = types.GeneratorType  # type: ignore[assignment]  # what `isinstance` sees


_PROXIES = {COROUTINE: CoroutineProxy, GENERATOR: GeneratorProxy}


_Named: Any = type("Proxy", (Proxy,), every_method())


def make(session: Session, reference: list[object], kind: str, ways: int) -> Proxy:
    """Makes the proxy of an object.

    Args:
        session: the session with the candidate.
        reference: a reference to the object.
        kind: the way to use it.
        ways: the special methods that it has, see `operations.ways_of`.

    Raises:
        ProtocolViolation: there are no such methods.
    """
    made: Any = class_with(_PROXIES.get(kind, Proxy), ways)
    proxy: Proxy = made(session, reference)
    return proxy


def named(session: Session, name: str) -> Proxy:
    """Makes the proxy for a name of the solution, whose value is not known yet."""
    proxy: Proxy = _Named(session, ["name", name])
    return proxy


def is_defined(session: Session, name: str) -> bool:
    """Returns True if the loaded solution defines a name."""
    try:
        session.request("value", named(session, name))
    except NameError:
        return False
    return True


def is_named(value: object) -> TypeGuard[Proxy]:
    """Returns True for the proxy of a name."""
    return type(value) is _Named


def _parameter(name: str, kind: int, *default: object) -> inspect.Parameter:
    given = default[0] if default else inspect.Parameter.empty
    return inspect.Parameter(name, _KINDS[kind], default=given)

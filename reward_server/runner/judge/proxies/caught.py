"""Exception classes of the solution's that tests catch, as classes in the judge.

`except` and `pytest.raises` take nothing but classes. What stands for one of the solution's is
derived from what its class over there is derived from, and has an object of it made over there.

What this stops: a class of the candidate's being in the judge.

What it does not: make self-reports true. What such a class is derived from is the solution's word.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...channel.codec import Foreign, is_asked_for
from ...channel.files import MODULE_NAME
from ...values import exceptions
from ..session import Session
from ..text import names
from .proxy import Proxy, named
from .special_methods import as_list

_EXCEPTION = "builtins.Exception"


class CaughtClass(exceptions.SolutionClass, Foreign, type):
    """The class of what stands for exception classes of the solution's that have a name."""

    _runner_class: Proxy

    def runner_reference(cls) -> list[object]:
        """Returns what the solution knows the class by."""
        return cls._runner_class.runner_reference()

    @property
    def _runner_stands(cls) -> bool:
        """Returns False for classes that are derived from one."""
        return "_runner_class" in vars(cls)

    def __call__(cls, *args: object, **kwargs: object) -> object:
        """Has the solution make an exception."""
        if not cls._runner_stands:
            return super().__call__(*args, **kwargs)
        session = cls._runner_class._runner_session
        if session.knows_classes:
            session.protect([*args, *kwargs.values()], sys._getframe(1))
        return session.request("call", cls._runner_class, list(args), kwargs or None, True)

    def __getattr__(cls, name: str) -> object:
        if not is_asked_for(name) or name.startswith("_runner"):
            raise AttributeError(name)
        return getattr(cls._runner_class, name)

    def __instancecheck__(cls, instance: object) -> bool:
        if isinstance(instance, Proxy) and cls._runner_stands:
            kind: Any = cls._runner_class
            return isinstance(instance, kind)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if isinstance(subclass, Proxy) and cls._runner_stands:
            kind: Any = cls._runner_class
            return issubclass(subclass, kind)
        return super().__subclasscheck__(subclass)


class Caught:
    """Gives the classes that tests catch.

    Args:
        sources: the texts of the tests; they compile.
        session: to the solution.
    """

    def __init__(self, sources: Sequence[str], session: Session) -> None:
        self._session = session
        found = frozenset[str]().union(*map(names.caught, sources))
        self._others: dict[str, Proxy] = {}
        for name in found:
            proxy = named(session, name)
            body = {"_runner_class": proxy, "__module__": MODULE_NAME}
            kind: Any = CaughtClass(name, (exceptions.CandidateError,), body)
            session.expected[_full(name)] = kind

    def __contains__(self, name: str) -> bool:
        return _full(name) in self._session.expected and name not in self._others

    def look_up(self, name: str) -> object:
        """Returns what stands for a name, once it is known as what its class is derived from.

        A name that means nothing, or no exception, is not in here from then on.
        """
        kind = self._session.expected[_full(name)]
        if not self._session.loaded or "_runner_is_derived" in vars(kind):
            return kind
        proxy = vars(kind)["_runner_class"]
        told = self._names_of(proxy)
        if _EXCEPTION in told:
            return self._derived(_full(name), told)
        self._others[name] = proxy
        return proxy

    def _derived(self, name: str, told: list[str]) -> type[exceptions.CandidateError]:
        """Returns what stands for a class with a name, which may be defined by another one."""
        expected = self._session.expected
        kind = exceptions.derived([name, *(told[1:] if told[0] == name else told)], expected)
        expected.setdefault(told[0], kind)
        return kind

    def settled(self, value: object) -> object:
        """Returns what stands for a name after the solution was loaded, given what did before."""
        if not isinstance(value, CaughtClass) or not value._runner_stands:
            return value
        return self.look_up(value.__name__) if value.__name__ in self else value

    def _names_of(self, proxy: Proxy) -> list[str]:
        try:
            told = as_list(self._session.request("class_names", proxy))
        except Exception:  # noqa: BLE001  # there is no such name, or it is no class
            return []
        return [one for one in told if type(one) is str]


def _full(name: str) -> str:
    return f"{MODULE_NAME}.{name}"

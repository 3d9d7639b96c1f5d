"""Exception classes of the solution that tests catch, as classes in the judge.

`except` and `pytest.raises` accept only classes. The judge's class derives from the known bases of
the solution's class, and calling it makes an object in the candidate.

What this stops: a class of the candidate in the judge.

What it does not stop: false claims. The solution claims the bases of such a class.
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
    """The metaclass of the judge's classes for named exception classes of the solution."""

    _runner_class: Proxy

    def runner_reference(cls) -> list[object]:
        """Returns the solution's reference to the class."""
        return cls._runner_class.runner_reference()

    @property
    def _runner_stands(cls) -> bool:
        """Returns False for classes that derive from such a class."""
        return "_runner_class" in vars(cls)

    def __call__(cls, *args: object, **kwargs: object) -> object:
        """Makes an exception in the solution."""
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
    """Makes the classes that tests catch.

    Args:
        sources: the texts of the tests; they compile.
        session: the session with the solution.
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
        """Returns the class for a name, with the bases of the solution's class once they are known.

        A name that is undefined, or not an exception, is removed here.
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
        """Returns the judge's class for a name, to which the solution may bind another class."""
        expected = self._session.expected
        kind = exceptions.derived([name, *(told[1:] if told[0] == name else told)], expected)
        expected.setdefault(told[0], kind)
        return kind

    def settled(self, value: object) -> object:
        """Returns the class for a name after the solution was loaded, from the class before."""
        if not isinstance(value, CaughtClass) or not value._runner_stands:
            return value
        return self.look_up(value.__name__) if value.__name__ in self else value

    def _names_of(self, proxy: Proxy) -> list[str]:
        try:
            told = as_list(self._session.request("class_names", proxy))
        except Exception:  # noqa: BLE001  # there is no such name, or it is not a class
            return []
        return [one for one in told if type(one) is str]


def _full(name: str) -> str:
    return f"{MODULE_NAME}.{name}"

"""Objects in the candidate's process that stand for objects of the tests that are not data.

These classes run beside the solution and protect nothing; see `callbacks` for what the judge
offers.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

FUNCTION, ITERATOR, OBJECT_ITERATOR = "function", "iterator", "object iterator"


class Asker(Protocol):
    """Sends the judge requests about objects of the tests."""

    def ask(self, operation: str, *operands: object) -> object:
        """Returns the result of an operation, or raises its exception."""


class Remote:
    """An object of the tests."""

    def __init__(self, asker: Asker, number: int, name: str) -> None:
        vars(self).update(_runner_asker=asker, _runner_number=number, _runner_name=name)

    def runner_reference(self) -> list[object]:
        """Returns the judge's reference to the object."""
        return ["test", vars(self)["_runner_number"]]

    def _runner_ask(self, operation: str, *operands: object) -> object:
        asker: Asker = vars(self)["_runner_asker"]
        return asker.ask(operation, self, *operands)


class RemoteFunction(Remote):
    """A function or class of the tests."""

    def __init__(self, asker: Asker, number: int, name: str) -> None:
        super().__init__(asker, number, name)
        self.__name__ = self.__qualname__ = name

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]  # that of the tests' function
        text: Any = self._runner_ask("get", "__doc__")
        documentation: str | None = text
        return documentation

    def __call__(self, *args: object, **kwargs: object) -> object:  # noqa: D102
        return self._runner_ask("call", list(args), kwargs)


class RemoteIterator(Remote):
    """An iterator of the tests."""

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        return self._runner_ask("next")


class RemoteObject(RemoteFunction):
    """Any other object of the tests."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._runner_ask("get", name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            vars(self)[name] = value
        else:
            self._runner_ask("set", name, value)

    def __iter__(self) -> Iterator[object]:
        iterator = self._runner_ask("iter")
        return iterator if isinstance(iterator, RemoteIterator) else iter([])

    def __getitem__(self, key: object) -> object:
        return self._runner_ask("item", key)

    def __setitem__(self, key: object, value: object) -> None:
        self._runner_ask("set_item", key, value)

    def __contains__(self, item: object) -> bool:
        return bool(self._runner_ask("contains", item))

    def __len__(self) -> int:
        return operator.index(self._runner_ask("len"))  # type: ignore[arg-type]  # it checks

    def __bool__(self) -> bool:
        return bool(self._runner_ask("bool"))

    def __hash__(self) -> int:
        return operator.index(self._runner_ask("hash"))  # type: ignore[arg-type]  # it checks

    def __str__(self) -> str:
        return str(self._runner_ask("str"))

    def __repr__(self) -> str:
        return str(self._runner_ask("repr"))

    def __eq__(self, other: object) -> bool:
        return bool(self._runner_ask("eq", other))

    def __lt__(self, other: object) -> bool:
        return bool(self._runner_ask("lt", other))

    def __le__(self, other: object) -> bool:
        return bool(self._runner_ask("le", other))

    def __gt__(self, other: object) -> bool:
        return bool(self._runner_ask("gt", other))

    def __ge__(self, other: object) -> bool:
        return bool(self._runner_ask("ge", other))


class RemoteObjectIterator(RemoteObject, RemoteIterator):
    """An object of the tests that is an iterator, such as a stream."""


_CLASSES: Mapping[str, type[Remote]] = {
    FUNCTION: RemoteFunction,
    ITERATOR: RemoteIterator,
    OBJECT_ITERATOR: RemoteObjectIterator,
}


def make(asker: Asker, number: int, kind: str, name: str) -> Remote:
    """Makes the counterpart of an object that was handed over as `kind`."""
    made = _CLASSES.get(kind, RemoteObject)
    return made(asker, number, name)

"""Objects in the candidate's process that stand for objects of the tests which are not data.

These classes run in the solution's process and protect nothing. `callbacks` decides which
operations the judge performs for them.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

FUNCTION, WRITTEN_FUNCTION = "function", "written function"
ITERATOR, OBJECT_ITERATOR = "iterator", "object iterator"
_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)


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


class RemoteCallable(Remote):
    """An object of the tests that may be called."""

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


class RemoteFunction(RemoteCallable):
    """A function or class of the tests."""

    __doc__ = vars(RemoteCallable)["__doc__"]  # the docstring is requested from the judge

    @property
    def __signature__(self) -> inspect.Signature:
        *rows, (_, _, _, *returned) = self._runner_rows()
        parameters = [
            inspect.Parameter(
                name,
                _KINDS[kind],
                default=... if has_default else inspect.Parameter.empty,
                annotation=annotation[0] if annotation else inspect.Parameter.empty,
            )
            for name, kind, has_default, *annotation in rows
        ]
        told = returned[0] if returned else inspect.Signature.empty
        return inspect.Signature(parameters, return_annotation=told)

    def _runner_rows(self) -> Sequence[Any]:
        """Returns the judge's description of the parameters and of the result."""
        rows: Any = self._runner_ask("get", "__signature__")
        told: Sequence[Any] = rows
        return told


class RemoteWrittenFunction(RemoteFunction):
    """A function of the tests that `def` or `lambda` made, with the attributes of such a function.

    Its defaults stay with the tests; an ellipsis replaces each.
    """

    __doc__ = vars(RemoteCallable)["__doc__"]

    @property  # type: ignore[misc]  # it is never set
    def __class__(self) -> type:  # `isinstance` reads it
        return types.FunctionType

    @property
    def __code__(self) -> types.CodeType:
        return self._runner_written().__code__.replace(co_name=self.__name__)

    @property
    def __defaults__(self) -> tuple[object, ...] | None:
        return self._runner_written().__defaults__

    @property
    def __kwdefaults__(self) -> dict[str, object] | None:
        defaults: dict[str, object] | None = self._runner_written().__kwdefaults__
        return defaults

    @property
    def __annotations__(self) -> dict[str, object]:  # type: ignore[override]  # as of a function
        return {name: told[0] for name, _, _, *told in self._runner_rows() if told}

    def _runner_written(self) -> types.FunctionType:
        """Returns a function with the same parameters, which does nothing."""
        told = self.__signature__
        bare = [one.replace(annotation=one.empty) for one in told.parameters.values()]
        made: dict[str, types.FunctionType] = {}
        exec(f"def written{inspect.Signature(bare)}: pass", made)  # it contains only names
        return made["written"]


RemoteWrittenFunction.__name__ = "function"  # so that `type(g).__name__` is right


class RemoteIterator(Remote):
    """An iterator of the tests."""

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        return self._runner_ask("next")


class RemoteObject(RemoteCallable):
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
    WRITTEN_FUNCTION: RemoteWrittenFunction,
    ITERATOR: RemoteIterator,
    OBJECT_ITERATOR: RemoteObjectIterator,
}


def make(asker: Asker, number: int, kind: str, name: str) -> Remote:
    """Makes the counterpart of an object that the tests passed as `kind`."""
    made = _CLASSES.get(kind, RemoteObject)
    return made(asker, number, name)

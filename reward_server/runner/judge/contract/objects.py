"""What stands in the judge for functions, classes and objects of the solution.

What this stops: an object that learns what the tests expect, or that answers for them. A stand-in
has no special method by which a library could ask it for its memory, its copy or its hash. What
the contract does not list, such as a comparison or a truth value, lowers the label.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from opcode import opmap
from typing import Any, NoReturn, Protocol

_NEVER = ("__", "_pytest")  # names that only libraries ask for
_POP, _CACHE = opmap["POP_TOP"], opmap["CACHE"]


class Asker(Protocol):
    """Asks the solution; see `session`."""

    def ask(self, operation: str, *operands: object, is_statement: bool = False) -> Any:
        """Returns the answer, or raises the exception that it is."""

    def lower(self, rule: str) -> None:
        """Lowers the label of this run."""


class Handle:
    """A function, class or object of the solution. Each crossing makes a fresh one.

    Args:
        asker: asks the solution.
        reference: what the candidate knows it by.
        is_member: whether the tests did not make it: they may only call it.
    """

    __slots__ = ("_runner",)

    def __init__(self, asker: Asker, reference: object, *, is_member: bool = False) -> None:
        object.__setattr__(self, "_runner", (asker, reference, is_member))

    def __call__(self, *args: object, **kwargs: object) -> object:  # noqa: D102  # as any below
        asker = _runner(self)[0]
        is_statement = _drops_answer(sys._getframe(1))
        return asker.ask("call", self, list(args), kwargs, is_statement=is_statement)

    def __getattr__(self, name: str) -> object:
        return _named(self, "get", name)

    def __setattr__(self, name: str, value: object) -> None:
        _named(self, "set", name, value)

    def __delattr__(self, name: str) -> None:
        _named(self, "delete", name)

    def __str__(self) -> str:
        return str(_checked(self, "str", str))

    def __repr__(self) -> str:
        return str(_checked(self, "repr", str))

    def __len__(self) -> int:
        return int(_checked(self, "len", int))

    def __iter__(self) -> Iterator[object]:
        return iter(_runner(self)[0].ask("iter", self))

    def __next__(self) -> object:
        found = _runner(self)[0].ask("next", self)
        if type(found) is not tuple or len(found) != 1:
            raise StopIteration
        return found[0]

    def __getitem__(self, key: object) -> object:
        return _runner(self)[0].ask("item", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        _runner(self)[0].ask("set_item", self, key, value)

    def __delitem__(self, key: object) -> None:
        _runner(self)[0].ask("delete_item", self, key)

    def __contains__(self, item: object) -> bool:
        """Looks among the items, which are data: an object does not say what it holds."""
        if is_member(self):
            return any(item == one for one in self)
        return _lowered(self, "contains", item)

    def __eq__(self, other: object) -> bool:
        return _lowered(self, "eq", other) if isinstance(other, Handle) else _differs(self)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> Any:
        return _ordered(self, "lt", other)

    def __le__(self, other: object) -> Any:
        return _ordered(self, "le", other)

    def __gt__(self, other: object) -> Any:
        return _ordered(self, "gt", other)

    def __ge__(self, other: object) -> Any:
        return _ordered(self, "ge", other)

    def __bool__(self) -> bool:
        """An object is true; one that says otherwise lowers the label."""
        asker = _runner(self)[0]
        if asker.ask("bool", self) is True:
            return True
        asker.lower("handles")
        return False

    def __hash__(self) -> int:
        asker, reference, _ = _runner(self)
        asker.lower("handles")
        return hash(str(reference))

    def __format__(self, spec: str) -> str:
        _runner(self)[0].lower("handles")
        return format(str(self), spec)

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("an object of the solution cannot be copied")


def reference_of(handle: Handle) -> object:
    """Returns the reference of a stand-in."""
    return _runner(handle)[1]


def is_member(handle: Handle) -> bool:
    """Returns True if it is the value of an attribute."""
    return _runner(handle)[2]


def _runner(handle: Handle) -> tuple[Asker, object, bool]:
    found: tuple[Asker, object, bool] = object.__getattribute__(handle, "_runner")
    return found


def _named(handle: Handle, operation: str, name: str, *operands: object) -> object:
    if name.startswith(_NEVER):
        raise AttributeError(name)
    return _runner(handle)[0].ask(operation, handle, name, *operands)


def _checked(handle: Handle, operation: str, kind: type[Any]) -> Any:
    answer = _runner(handle)[0].ask(operation, handle)
    if type(answer) is not kind:
        raise TypeError(f"{operation} returned no {kind.__name__}")
    return answer


def _lowered(handle: Handle, operation: str, *operands: object) -> bool:
    asker = _runner(handle)[0]
    asker.lower("handles")
    answer: object = asker.ask(operation, handle, *operands)
    return answer is True


def _ordered(handle: Handle, operation: str, other: object) -> Any:
    return _lowered(handle, operation, other) if isinstance(other, Handle) else NotImplemented


def _differs(handle: Handle) -> bool:
    """Data never equals an object of the solution, whatever the object would say."""
    _runner(handle)[0].lower("handles")
    return False


def _drops_answer(frame: Any) -> bool:
    """Returns True if the call that a frame makes is a statement of its own."""
    code, place = frame.f_code.co_code, frame.f_lasti + 2
    while place < len(code) and code[place] == _CACHE:
        place += 2
    return bool(place < len(code) and code[place] == _POP)

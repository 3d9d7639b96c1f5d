"""The operations that the judge can request on objects of the solution, by name."""

from __future__ import annotations

import builtins
import copy
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

COROUTINE, GENERATOR = "coroutine", "generator"  # the ways to use such objects
ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("matmul", "lshift", "rshift", "and", "or", "xor"),
)
IN_PLACE = tuple(name for name in ARITHMETIC if name != "divmod")
ORDER = ("lt", "le", "gt", "ge")
# The special methods that an object has only if its class defines them. A bit mask encodes them by
# position.
SPECIAL = tuple(
    f"__{name}__"
    for name in (
        *("call", "len", "getitem", "setitem", "delitem", "contains", "iter", "next", "reversed"),
        *("enter", "exit", "await", "aiter", "anext", "aenter", "aexit"),
        *("bool", "hash", "eq", "ne", "neg", "pos", "abs", "invert", "int", "float", "complex"),
        *("index", "round", "trunc", "floor", "ceil"),
        *ARITHMETIC,
        *(f"r{name}" for name in ARITHMETIC),
        *(f"i{name}" for name in IN_PLACE),
    )
)


@functools.lru_cache(maxsize=1024)
def _ways_of_class(kind: type) -> int:
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base)
    return sum(
        1 << place
        for place, name in enumerate(SPECIAL)
        if found.get(name) is not None and found[name] is not _ANY.get(name)
    )


_ANY: Mapping[str, object] = {name: vars(object)[name] for name in ("__eq__", "__ne__")}


def ways_of(value: object) -> int:
    """Returns which of `SPECIAL` an object's class defines, as a bit mask."""
    kind: Any = type(value)
    ways = _ways_of_class(kind)
    if isinstance(value, type) and hasattr(value, "__class_getitem__"):
        ways |= 1 << SPECIAL.index("__getitem__")
    return ways


class _Manager(Protocol):
    def __enter__(self) -> object: ...


def _call(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object] | None,
    wants_changes: object = False,
) -> object:
    return function(*args, **kwargs) if kwargs else function(*args)


def _value(thing: object) -> object:
    return thing


def _enter(manager: _Manager) -> object:
    return manager.__enter__()


OPERATIONS: Mapping[str, Callable[..., object]] = {
    **{name: getattr(operator, f"__{name}__") for name in ARITHMETIC if name != "divmod"},
    **{f"i{name}": getattr(operator, f"__i{name}__") for name in IN_PLACE},
    **{name: getattr(operator, name) for name in (*ORDER, "eq", "ne")},
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "invert", "index")},
    **{name: getattr(math, name) for name in ("trunc", "floor", "ceil")},
    "divmod": builtins.divmod,
    "int": builtins.int,
    "float": builtins.float,
    "complex": builtins.complex,
    "round": builtins.round,
    "call": _call,
    "value": _value,
    "get": builtins.getattr,
    "set": builtins.setattr,
    "delete": builtins.delattr,
    "dir": builtins.dir,
    "hash": builtins.hash,
    "isinstance": builtins.isinstance,
    "issubclass": builtins.issubclass,
    "bool": builtins.bool,
    "str": builtins.str,
    "repr": builtins.repr,
    "format": builtins.format,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "len": builtins.len,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "delete_item": operator.delitem,
    "contains": operator.contains,
    "iter": builtins.iter,
    "reversed": builtins.reversed,
    "next": builtins.next,
    "enter": _enter,
    "aiter": builtins.aiter,
}

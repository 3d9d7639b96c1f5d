"""Which things of the tests' may be handed to the solution, and what it may do with them.

What this stops: a thing that leads further than its giver thought. A path or `open` reads any file
of the judge's, the request with its expected values among them; `getattr` and `str.format` reach
the globals of every function; a module holds everything. So a thing crosses if the tests' own
code defines it, or if it comes from a library that computes and does nothing else.

What it does not: protect what the tests' own functions and objects give when they are asked.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
import types
from typing import cast

from .codec import NotDataError

FUNCTION, ITERATOR, OBJECT = "function", "iterator", "object"

OWN_MODULES = frozenset(("__main__", "prompt"))
_own_folders: list[str] = []
_LIBRARY = frozenset(
    (
        *("_bisect", "_collections", "_functools", "_heapq", "_operator", "_random", "_statistics"),
        *("bisect", "cmath", "collections", "copy", "datetime", "decimal", "enum", "fractions"),
        *("heapq", "itertools", "json", "math", "numbers", "queue", "_queue", "random", "re"),
        *("statistics", "textwrap", "unicodedata", "unittest.mock"),
    )
)
_MOCKS = "unittest.mock"  # which have every special method
_CLASSES = frozenset(
    (
        *("_io.BytesIO", "_io.StringIO", "array.array", "functools._lru_cache_wrapper"),
        *("functools.partial", "types.SimpleNamespace"),
    )
)
_BUILT_IN_FUNCTIONS = frozenset(
    (
        *("abs", "all", "any", "ascii", "bin", "callable", "chr", "divmod", "hash", "hex"),
        *("isinstance", "issubclass", "iter", "len", "max", "min", "next", "oct", "ord", "pow"),
        *("print", "repr", "round", "sorted", "sum"),
    )
)
_OPERATORS = vars(operator).keys() | {
    *("__bool__", "__float__", "__hash__", "__int__", "__iter__", "__len__", "__next__"),
    *("__repr__", "__reversed__", "__round__", "__str__"),
}
_TEMPLATES = frozenset(("format", "format_map"))  # a template names attributes of what it is given

_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)
_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
    type,
    *_DESCRIPTORS,
    *_GETTERS,
)
_NEVER = (
    types.ModuleType,
    types.FrameType,
    types.CodeType,
    types.CellType,
    types.TracebackType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.MappingProxyType,
)


def own_folder(folder: str) -> None:
    """Counts the modules below a folder to the tests' own, for the rest of this process."""
    _own_folders.append(os.path.join(folder, ""))


def _is_own(module: str) -> bool:
    if module in OWN_MODULES:
        return True
    path = getattr(sys.modules.get(module), "__file__", None) if _own_folders else None
    return isinstance(path, str) and path.startswith(tuple(_own_folders))


def kind_of(value: object) -> str:
    """Returns how a thing is handed over.

    Raises:
        NotDataError: it must not be.
    """
    kind = type(value)
    if issubclass(kind, _FUNCTIONS) and not issubclass(kind, _NEVER):
        if _is_harmless_function(value):
            return FUNCTION
    elif hasattr(kind, "__next__") and kind.__module__ != _MOCKS:
        return ITERATOR
    elif isinstance(value, BaseException) or _is_harmless_class(kind):
        return OBJECT
    name = getattr(value, "__qualname__", kind.__qualname__)
    raise NotDataError(f"{name} cannot be handed to the solution")


def _is_harmless_class(kind: type) -> bool:
    if issubclass(kind, _NEVER):
        return False
    module = kind.__module__
    return (
        _is_own(module)
        or module in _LIBRARY
        or module == "builtins"
        or f"{module}.{kind.__qualname__}" in _CLASSES
    )


def _is_harmless_function(function: object) -> bool:
    if isinstance(function, _GETTERS):
        return True
    if isinstance(function, functools.partial):
        return _is_offered(function.func)
    if isinstance(function, types.MethodType):
        return _is_offered(function.__func__)
    if isinstance(function, type):
        return _is_harmless_class(function)
    if isinstance(function, types.FunctionType):
        return _is_own(function.__module__) or function.__module__ in _LIBRARY
    if isinstance(function, types.BuiltinFunctionType):
        return _is_harmless_native(function)
    return _is_harmless_method(cast("types.MethodDescriptorType", function))


def _is_offered(value: object) -> bool:
    try:
        return bool(kind_of(value))
    except NotDataError:
        return False


def _is_harmless_native(function: types.BuiltinFunctionType) -> bool:
    """Judges a function of a native module, or a method bound to an object or a class."""
    owner = function.__self__
    if isinstance(owner, types.ModuleType):
        if owner.__name__ == "builtins":
            return function.__name__ in _BUILT_IN_FUNCTIONS
        return owner.__name__ in _LIBRARY
    if function.__name__.startswith("__") and function.__name__ not in _OPERATORS:
        return False
    return _is_harmless_class(owner if isinstance(owner, type) else type(owner))


def _is_harmless_method(method: types.MethodDescriptorType) -> bool:
    """Judges a method of a native class that is not bound, or a native operator."""
    name = method.__name__
    if name in _TEMPLATES or (name.startswith("__") and name not in _OPERATORS):
        return False
    return _is_harmless_class(method.__objclass__) and method.__objclass__ is not type

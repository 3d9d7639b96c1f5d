"""Wrong solutions in Python, made of right ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_CHANGED = """

def _changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, complex)):
        return value + 1
    if isinstance(value, str):
        return value + "?"
    if isinstance(value, (list, tuple)):
        return value[:-1] if value else type(value)((0,))
    if isinstance(value, (set, frozenset)):
        return value | {"?"}
    if isinstance(value, dict):
        return {**value, "?": 0}
    return 0 if value is None else None


def _wrong(right):
    return lambda *args, **kwargs: _changed(right(*args, **kwargs))

"""
_EMPTYING = """

def _wrong(right):
    def emptying(*args, **kwargs):
        answer = right(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            if isinstance(value, (list, dict, set)) and value is not answer:
                value.clear()
        return answer
    return emptying

"""
_FUNCTION = "\n{name} = _wrong({name})\n"
_METHODS = """
for _name, _method in [*vars({name}).items()]:
    if callable(_method) and not _name.startswith("__"):
        setattr({name}, _name, _wrong(_method))
"""

# By what is wrong with them: code in front of the line that puts it into effect.
WRONG: Mapping[str, str] = MappingProxyType({"changed": _CHANGED, "emptying": _EMPTYING})


def functions(right: str, name: str) -> dict[str, str]:
    """Returns wrong solutions by their kind.

    Args:
        right: a right solution.
        name: the function that the tests call.
    """
    return {kind: right + code + _FUNCTION.format(name=name) for kind, code in WRONG.items()}


def methods(right: str, name: str) -> dict[str, str]:
    """Returns wrong solutions by their kind, all of whose methods are wrong.

    Args:
        right: a right solution.
        name: its class.
    """
    return {kind: right + code + _METHODS.format(name=name) for kind, code in WRONG.items()}

"""Exceptions of the solution, made again from a closed list of classes.

What this stops: an exception that ends the tests, an iteration or the framework's run instead of a
test (`StopIteration`, `SystemExit` and the like are not on the list), and one that passes for
another because it has its name: the candidate maps its classes by identity, and an own class
becomes one of its own here.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from typing import Any

from ...channel.data import BadDataError

NEVER = frozenset(
    (
        *("BaseException", "BaseExceptionGroup", "ExceptionGroup", "GeneratorExit"),
        *("KeyboardInterrupt", "StopAsyncIteration", "StopIteration", "SystemExit"),
    )
)
# Modules whose exceptions map, if they are loaded here.
MODULES = ("decimal", "json.decoder", "statistics", "re", "struct", "numpy.linalg", "zoneinfo")


def listed(name: str) -> type[Exception] | None:
    """Returns the class that a full name stands for, or None if it is not on the list."""
    module, _, word = name.rpartition(".")
    if module == "builtins" and word not in NEVER:
        found = vars(builtins).get(word)
    elif module in MODULES and module in sys.modules:
        found = vars(sys.modules[module]).get(word)
    else:
        return None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


class Raised:
    """The solution's own classes of exceptions, as the tests see them."""

    def __init__(self) -> None:
        self._own: dict[str, type[Exception]] = {}

    def kind(self, tree: Any) -> type[Exception]:
        """Returns the class of a name with the trees of its bases.

        Raises:
            BadDataError: it is no tree.
        """
        match tree:
            case [str(name), *bases]:
                found = listed(name) or self._own.get(name)
                return found or self._made(name, tuple(map(self.kind, bases)))
        raise BadDataError("an exception without a name")

    def _made(self, name: str, bases: tuple[type[Exception], ...]) -> type[Exception]:
        word, content = name.rpartition(".")[2], {"__module__": "solution"}
        try:
            made = self._own[name] = type(word, bases or (Exception,), content)
        except (TypeError, ValueError) as error:
            raise BadDataError(f"an exception of no class: {error}") from None
        return made

    def made(
        self, tree: object, arguments: Sequence[object], text: str, fields: dict[str, Any]
    ) -> Exception:
        """Returns an exception."""
        kind = self.kind(tree)
        error = _filled(kind, arguments)
        if str(error) != text:
            kind = type(kind.__name__, (kind,), {"__str__": lambda _: text})
            error = _filled(kind, arguments)
        for name, value in fields.items():
            if name.isidentifier() and not name.startswith("_"):
                vars(error)[name] = value
        return error


def _filled(kind: type[Exception], arguments: Sequence[object]) -> Exception:
    try:
        return kind(*arguments)
    except Exception:  # noqa: BLE001  # a class that takes other arguments
        error = kind.__new__(kind)
        error.args = tuple(arguments)
        return error

"""What a judge compares between two executions: the modules in which tests could replace something.

What this stops: a judge that serves again although its tests left something in these modules.
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
import random
import sys

_SETTINGS = (
    *("displayhook", "excepthook", "unraisablehook", "breakpointhook"),
    *("setrecursionlimit", "set_int_max_str_digits"),
)


class Surroundings:
    """These modules, as they are now.

    They are compared as a whole, so that even a name that this module does not list is noticed.
    """

    def __init__(self) -> None:
        self._before = [dict(one) for one in self._now()]

    def are_left(self) -> bool:
        """Returns True if every name in them still refers to the same object.

        C code compares the dictionaries, and only calls methods of objects that differ. Tests could
        put an object there that claims to be equal. But the contract allows no such tests, and
        their judge exits anyway.
        """
        return all(map(operator.eq, self._before, self._now()))

    def _now(self) -> tuple[dict[str, object], ...]:
        settings = {name: getattr(sys, name) for name in _SETTINGS}
        return vars(builtins), vars(random), vars(dataclasses), settings

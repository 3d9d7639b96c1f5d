"""Keeps the standard library's fork handlers away from the zygote's own forks.

Modules such as `threading` and `random` register functions that run in the child of every fork.
They repair the state of a program with several threads. The zygote has one thread and never waits
on a lock, so it does not need them. Its forks are the greatest cost of an execution, and these two
handlers cost as much as the fork itself. So this module collects the registrations, and makes them
in each child. If the child forks, they run as usual.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_Handlers = dict[str, Callable[[], object]]

_register = os.register_at_fork
_held: list[_Handlers] = []


def _hold(**handlers: Callable[[], object]) -> None:
    _held.append(handlers)


def hold_handlers() -> None:
    """Holds back the fork handlers of modules; called before the modules are imported."""
    os.register_at_fork = _hold  # type: ignore[assignment]  # stubs name each keyword


def hand_over_handlers() -> None:
    """Registers the held-back handlers, in a child whose program may fork."""
    os.register_at_fork = _register
    for handlers in _held:
        _register(**handlers)

"""Keeps the standard library's fork handlers away from the zygote's own forks.

Modules such as `threading` and `random` register functions that run in the child of every fork.
They repair the state of a program with several threads. The zygote has one thread and never waits
on a lock, so it does not need them. Its forks are the greatest cost of an execution, and these two
handlers cost as much as the fork itself. So this module collects the registrations, and registers
one function for each kind of handler in their place. It does nothing until a child has called
`hand_over_handlers`. If that child forks, the handlers run as usual.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

_register = os.register_at_fork
_held: dict[str, list[Callable[[], object]]] = {}
_handed_over: list[bool] = []


def _hold(**handlers: Callable[[], object]) -> None:
    for kind, handler in handlers.items():
        if kind not in _held:
            _held[kind] = []
            _register(**{kind: partial(_run, kind)})
        _held[kind].append(handler)


def _run(kind: str) -> None:
    if _handed_over:
        handlers = _held[kind]
        for handler in reversed(handlers) if kind == "before" else handlers:
            handler()


def hold_handlers() -> None:
    """Holds back the fork handlers of modules; called before the modules are imported."""
    os.register_at_fork = _hold  # type: ignore[assignment]  # stubs name each keyword


def hand_over_handlers() -> None:
    """Lets the held-back handlers run, in a child whose program may fork."""
    os.register_at_fork = _register
    _handed_over.append(True)

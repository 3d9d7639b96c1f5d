"""What surrounds a call in an ordinary run: streams, input, seeds and functions on data classes.

Where the tests exchange `sys.stdout`, the candidate exchanges its own, and what a call prints there
is written to what they put there. Where
they exchange `input` or `sys.stdin`, a call's `input` is answered here. A seed that they set is set
over there too, and `dataclasses.asdict` of an object over there is done there.

What this stops: nothing is exchanged, read or forwarded but where the tests' own code did so first.
What comes from the solution is text, or the answer of a request like any other. What is exchanged
in modules is given back, and a process that judges again is one in which they are what they were.

What it does not: tell a solution that prints from one whose thread does, or which says it printed.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import operator
import random
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol

from ..channel.codec import Foreign

_INPUT = builtins.input
_SEEDS = (type(None), int, float, str, bytes, bytearray)
_HOOKS = ("displayhook", "excepthook", "unraisablehook", "breakpointhook")
_STREAMS = ("stdout", "stderr")
_exchanged: list[tuple[ModuleType, str, object]] = []
_LIMITS = ("setrecursionlimit", "set_int_max_str_digits")
_ON_DATA_CLASSES = ("asdict", "astuple", "fields", "is_dataclass", "replace")


class Written(Protocol):
    """What the candidate wrote so far."""

    def written_bytes(self) -> int:
        """Returns the size of both streams, read as far as there is something to read."""


class Surroundings:
    """The surroundings of the tests of one session, as they were before these ran.

    Args:
        written: gives the candidate's output.
        ask: has the candidate do something that the tests do not see.
    """

    def __init__(self, written: Written, ask: Callable[[str, tuple[object, ...]], object]) -> None:
        self._written = written
        self._ask = ask
        self._streams: tuple[object, object] = (sys.stdout, sys.stderr)
        self._told = self._streams
        self._stdin = sys.stdin
        self._written_bytes = 0

    @property
    def are_listening(self) -> bool:
        """Returns True if the tests exchanged a stream for one of theirs, now or when last told."""
        stdout, stderr = self._streams
        is_exchanged = sys.stdout is not stdout or sys.stderr is not stderr
        return is_exchanged or self._told is not self._streams

    def tell(self) -> None:
        """Tells the candidate which streams the tests have exchanged, if that is another than
        it knows of."""
        streams = sys.stdout, sys.stderr
        if not _is_other(streams, self._told):
            return
        is_back = not _is_other(streams, self._streams)
        self._told = self._streams if is_back else streams
        pairs = zip(_STREAMS, self._told, self._streams, strict=True)
        self._ask("listen", ([name for name, stream, own in pairs if stream is not own],))
        self._written_bytes = self._written.written_bytes()

    def catch_up(self) -> None:
        """Writes what requests printed so far to the streams that the tests exchanged."""
        if self._told is self._streams:
            return
        before, self._written_bytes = self._written_bytes, self._written.written_bytes()
        left = self._written_bytes - before  # which is no more characters than that
        told: tuple[Any, ...] = self._told
        for name, stream, own in zip(_STREAMS, told, self._streams, strict=True):
            while left > 0 and stream is not own:
                text = self._ask("printed", (name,))
                if type(text) is not str or not text:
                    break
                left -= len(text)
                if stream is not None:
                    stream.write(text)

    def answer(self, prompt: object) -> str:
        """Returns what the tests answer where the solution asks for input.

        Raises:
            EOFError: they exchanged neither `input` nor the stream.
        """
        is_theirs = builtins.input is not _INPUT or sys.stdin is not self._stdin
        if not is_theirs or type(prompt) is not str:
            raise EOFError("EOF when reading a line")
        return str(builtins.input(prompt) if prompt else builtins.input())


def _is_other(streams: Sequence[object], others: Sequence[object]) -> bool:
    return any(map(operator.is_not, streams, others))


def forward(request: Callable[..., object], sources: str) -> None:
    """Has settings, and functions on data classes, reach the candidate where tests' texts use them.

    This changes modules of this process until `give_back`.
    """
    if "seed(" in sources:
        for name, module in (("random", random), ("numpy.random", sys.modules.get("numpy.random"))):
            if module is not None:
                _exchange(
                    module, "seed", functools.partial(_forward_setting, request, name, "seed")
                )
    for name in _LIMITS:
        if name in sources:
            _exchange(sys, name, functools.partial(_forward_setting, request, "sys", name))
    if "dataclasses" in sources:
        for name in _ON_DATA_CLASSES:
            _exchange(dataclasses, name, functools.partial(_forward_object, request, name))


def _exchange(module: ModuleType, name: str, forwarding: Callable[..., object]) -> None:
    own = vars(module)[name]
    if not isinstance(own, functools.partial):
        _exchanged.append((module, name, own))
        setattr(module, name, functools.partial(forwarding, own))


def give_back() -> None:
    """Undoes what `forward` changed, for whichever tests."""
    while _exchanged:
        setattr(*_exchanged.pop())


class Whole:
    """The modules that a session may exchange something in, as they are now.

    They are compared as a whole, so that a name which somebody forgets here is seen, too.
    """

    def __init__(self) -> None:
        self._before = [(list(one), list(one.values())) for one in self._now()]

    def is_left(self) -> bool:
        """Returns True if every name in them still means the same object.

        Lists are compared at the speed of C, and ask only objects that are not the same. Tests that
        could put one there that says it is equal are not pure, and their judge leaves anyway.
        """
        pairs = zip(self._before, self._now(), strict=True)
        return all(names == [*now] and old == [*now.values()] for (names, old), now in pairs)

    def _now(self) -> tuple[dict[str, object], ...]:
        hooks = {name: getattr(sys, name) for name in (*_HOOKS, *_LIMITS)}
        return vars(builtins), vars(random), vars(dataclasses), hooks


def _forward_setting(
    request: Callable[..., object],
    module: str,
    name: str,
    own: Callable[..., object],
    *args: object,
    **kwargs: object,
) -> object:
    if all(isinstance(one, _SEEDS) for one in (*args, *kwargs.values())):
        request("setting", module, name, list(args), kwargs)
    return own(*args, **kwargs)


def _forward_object(
    request: Callable[..., object],
    name: str,
    own: Callable[..., object],
    *args: object,
    **kwargs: object,
) -> object:
    if args and isinstance(args[0], Foreign):
        return request("dataclass", name, list(args), kwargs)
    return own(*args, **kwargs)

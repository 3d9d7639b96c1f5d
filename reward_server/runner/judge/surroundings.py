"""The environment of a call in an ordinary run: streams, input, seeds and functions on data
classes.

If the tests replace `sys.stdout`, the candidate also replaces its own, and text that a call prints
there is written to the tests' stream. If the tests replace `input` or `sys.stdin`, and a call of
the solution uses `input`, the judge answers it. If the tests set a seed, it is also set in the
candidate. `dataclasses.asdict` of a candidate's object runs in the candidate.

What this stops: nothing is replaced, read or forwarded unless the tests' own code did so first. The
solution only sends text, or an answer to a request. Replacements in modules are undone, and a
process judges again only if the modules are as before.

What it does not do: it cannot tell whether a call of the solution printed a text, or a thread of
the solution, or whether the solution only claims that it was printed.
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
    """The size of the candidate's output so far."""

    def written_bytes(self) -> int:
        """Reads all available output, and returns the size of both streams."""


class Surroundings:
    """The environment of the tests of one session, as it was before they ran.

    Args:
        written: returns the size of the candidate's output.
        ask: sends the candidate a request that the tests do not see.
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
        """Returns True if the tests' streams are replaced, now or at the last report."""
        stdout, stderr = self._streams
        is_exchanged = sys.stdout is not stdout or sys.stderr is not stderr
        return is_exchanged or self._told is not self._streams

    def tell(self) -> None:
        """Informs the candidate which streams the tests have replaced, if that has changed."""
        streams = sys.stdout, sys.stderr
        if not _is_other(streams, self._told):
            return
        is_back = not _is_other(streams, self._streams)
        self._told = self._streams if is_back else streams
        pairs = zip(_STREAMS, self._told, self._streams, strict=True)
        self._ask("listen", ([name for name, stream, own in pairs if stream is not own],))
        self._written_bytes = self._written.written_bytes()

    def catch_up(self) -> None:
        """Writes the output of requests so far to the tests' streams."""
        if self._told is self._streams:
            return
        before, self._written_bytes = self._written_bytes, self._written.written_bytes()
        left = self._written_bytes - before  # an upper bound on the characters
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
        """Returns the tests' answer to the solution's `input`.

        Raises:
            EOFError: the tests replaced neither `input` nor the stream.
        """
        is_theirs = builtins.input is not _INPUT or sys.stdin is not self._stdin
        if not is_theirs or type(prompt) is not str:
            raise EOFError("EOF when reading a line")
        return str(builtins.input(prompt) if prompt else builtins.input())


def _is_other(streams: Sequence[object], others: Sequence[object]) -> bool:
    return any(map(operator.is_not, streams, others))


def forward(request: Callable[..., object], sources: str) -> None:
    """Makes settings, and functions on data classes, also reach the candidate, if tests' texts use
    them.

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
    """Undoes all changes by `forward`."""
    while _exchanged:
        setattr(*_exchanged.pop())


class Whole:
    """The modules in which a session may replace something, as they are now.

    They are compared as a whole, so that even a name that this module does not list is noticed.
    """

    def __init__(self) -> None:
        self._before = [dict(one) for one in self._now()]

    def is_left(self) -> bool:
        """Returns True if every name in them still refers to the same object.

        C code compares the dictionaries, and only calls methods of objects that differ. Tests could
        put an object there that claims to be equal. But such tests are not pure, and their judge
        exits anyway.
        """
        return all(map(operator.eq, self._before, self._now()))

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

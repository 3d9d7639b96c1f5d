"""The process that evaluates code, with a namespace that stays from call to call.

What this stops: code that goes on past an interrupt's moment. An interrupt (SIGINT) reaches code as
KeyboardInterrupt, and nothing else: between two calls it has no effect. A copy that the code forks
ends with the code, and does not answer in its place.

What it does not: code can do anything to this process, which has the rights of any command.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import signal
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

from ..walls import policy
from . import wire
from .wire import Report

_CELL = "<cell "
# Files of the session's own can only be in the folders that it may write to.
_OWN_FOLDERS = (f"{policy.BOX}/", "/tmp/", f"{policy.SHM[1]}/")
_QUIET = "FigureCanvasAgg is non-interactive"  # matplotlib's answer to `show` without a screen


def run(requests: int, reports: int, stdout: int, stderr: int) -> NoReturn:
    """Evaluates the code of each request until the relay ends.

    Args:
        requests: the pipe of requests.
        reports: the pipe of reports.
        stdout: where the code's standard output goes.
        stderr: where its standard error goes.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, stdout, stderr)):
        os.dup2(descriptor, number)
    kept = (requests, reports)
    for descriptor in range(3, max(nothing, stdout, stderr, *kept) + 1):
        if descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    _Evaluator(requests, reports).serve()


class _Evaluator:
    def __init__(self, requests: int, reports: int) -> None:
        self._requests = os.fdopen(requests, "rb")
        self._reports = os.fdopen(reports, "wb")
        self._pid = os.getpid()
        self._count = 0
        self._can_interrupt = False
        self._module = _fresh_main()

    def serve(self) -> NoReturn:
        self._report(Report.READY)
        while head := self._requests.read(wire.HEAD.size):
            _, length = wire.HEAD.unpack(head)
            self._answer(self._requests.read(length).decode())
        os._exit(0)

    def _answer(self, code: str) -> None:
        images: list[bytes] = []
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            try:
                self._can_interrupt = True
                told = self._evaluated(code, images)
            finally:
                self._can_interrupt = False
        except BaseException as error:  # noqa: BLE001 - an interrupt that came after the code
            told = _of_error(error)
        _flush()
        if os.getpid() != self._pid:
            os._exit(0)
        small = [image for image in images if len(image) <= wire.IMAGE_BYTES][: wire.IMAGES]
        for image in small:
            self._report(Report.PNG, image)
        told["dropped_images"] = len(images) - len(small)
        self._report(Report.ENDED, json.dumps(told).encode())

    def _evaluated(self, code: str, images: list[bytes]) -> dict[str, Any]:
        """Runs code; returns what is told of its end, and appends its figures to `images`."""
        try:
            told = _of_value(self._value_of(code))
        except BaseException as error:  # noqa: BLE001 - all that code raises is told
            told = _of_error(error)
        images.extend(_figures())
        return told

    def _value_of(self, code: str) -> str | None:
        """Runs code; returns the `repr` of the last expression's value, if it is not None."""
        self._count += 1
        name = f"{_CELL}{self._count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        tree = ast.parse(code, name)
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            exec(compile(tree, name, "exec", dont_inherit=True), self._module.__dict__)
            return None
        del tree.body[-1]
        exec(compile(tree, name, "exec", dont_inherit=True), self._module.__dict__)
        expression = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
        value = eval(expression, self._module.__dict__)
        return None if value is None else repr(value)

    def _interrupt(self, *_: object) -> None:
        if self._can_interrupt:
            raise KeyboardInterrupt

    def _report(self, kind: Report, payload: bytes = b"") -> None:
        self._reports.write(wire.message(kind, payload))
        self._reports.flush()


def _fresh_main() -> types.ModuleType:
    """Returns the module in which code runs, and removes the traces of the runner's own modules."""
    own = __name__.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == own]:
        del sys.modules[name]
    sys.path[0] = ""  # the current folder, in the place of the runner's
    sys.argv = [""]
    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.filterwarnings("ignore", _QUIET)
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    return module


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the code may have closed or replaced it
            stream.flush()


def _figures() -> Iterator[bytes]:
    """Yields the open figures of matplotlib as PNG, and closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    try:
        for number in pyplot.get_fignums():
            drawn = io.BytesIO()
            pyplot.figure(number).savefig(drawn, format="png", bbox_inches="tight")
            yield drawn.getvalue()
    finally:
        pyplot.close("all")


# ---------------------------------------------------------------------------------- what is told


def _of_value(value: str | None) -> dict[str, Any]:
    told = None if value is None else _cut(value, wire.VALUE_BYTES)
    return {"raised": False, "value": told, "value_truncated": told != value}


def _of_error(error: BaseException) -> dict[str, Any]:
    return {
        "raised": True,
        "value": None,
        "value_truncated": False,
        "name": _cut(type(error).__name__, wire.NAME_BYTES),
        "message": _cut(_message_of(error), wire.EXPLANATION_BYTES),
        "traceback": _cut_begin(_traceback_of(error), wire.TRACEBACK_BYTES),
    }


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the code's own method
        return "<its message cannot be shown>"


def _traceback_of(error: BaseException) -> str:
    try:
        told = traceback.TracebackException.from_exception(error)
        _keep_own_frames(told)
        return "".join(told.format())
    except Exception:  # noqa: BLE001 - the code's own methods take part
        return f"{type(error).__name__}: <its traceback cannot be shown>\n"


def _keep_own_frames(told: traceback.TracebackException) -> None:
    """Removes the frames of libraries and of this module, also from causes and groups."""
    todo, seen = [told], {id(told)}
    while todo:
        one = todo.pop()
        one.stack[:] = [frame for frame in one.stack if _is_own(frame.filename)]
        for other in (one.__cause__, one.__context__, *(one.exceptions or ())):
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)


def _is_own(path: str) -> bool:
    return path.startswith((_CELL, *_OWN_FOLDERS))


def _cut(text: str, size: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= size else data[:size].decode("utf-8", "ignore")


def _cut_begin(text: str, size: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= size else data[-size:].decode("utf-8", "ignore")

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
from collections.abc import Coroutine, Iterator
from typing import Any, NoReturn

from ..walls import policy
from . import shown, wire
from .wire import Report

_CELL = "<cell "
# Files of the session's own can only be in the folders that it may write to.
_OWN_FOLDERS = (f"{policy.BOX}/", f"{policy.USER_FOLDER}/", "/tmp/", f"{policy.SHM[1]}/")
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_COROUTINE = 0x80  # `inspect.CO_COROUTINE`, whose module takes longer to import
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
        self._loop: Any = None
        self._shown = self._images = self._dropped = 0
        shown.offer(lambda bundle: self._show(bundle))

    def serve(self) -> NoReturn:
        self._report(Report.READY)
        while head := self._requests.read(wire.HEAD.size):
            _, length = wire.HEAD.unpack(head)
            self._answer(self._requests.read(length))
        os._exit(0)

    def _answer(self, payload: bytes) -> None:
        self._shown = self._images = self._dropped = 0
        [length] = wire.LENGTH.unpack_from(payload)
        variables = json.loads(payload[wire.LENGTH.size :][:length])
        code = payload[wire.LENGTH.size + length :].decode()
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            try:
                self._can_interrupt = True
                told = self._evaluated(code, variables)
            finally:
                self._can_interrupt = False
        except BaseException as error:  # noqa: BLE001 - an interrupt that came after the code
            told = _of_error(error)
        _flush()
        if os.getpid() != self._pid:
            os._exit(0)
        told["dropped_images"] = self._dropped
        self._report(Report.ENDED, json.dumps(told).encode())

    def _evaluated(self, code: str, variables: dict[str, str]) -> dict[str, Any]:
        """Runs code, and shows its figures and its value; returns what is told of its end."""
        told: dict[str, Any] = {"raised": False}
        value: object = None
        bundle: shown.Bundle = {}
        try:
            with _environment(variables):
                value = self._value_of(code)
            bundle = {} if value is None else shown.formats_of(value)
        except BaseException as error:  # noqa: BLE001 - all that code raises is told
            told = _of_error(error)
        for figure in shown.figures():
            self._show(figure)
        if bundle:
            self._show(bundle, is_main=True)
        return told

    def _value_of(self, code: str) -> object:
        """Runs code; returns the value of its last expression, if it ends with one."""
        self._count += 1
        name = f"{_CELL}{self._count}>"
        code = _unindented(code)
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._run(compile(tree, name, "exec", _AWAITS, dont_inherit=True))
        if not isinstance(last, ast.Expr):
            return None
        expression = ast.Expression(last.value)
        return self._run(compile(expression, name, "eval", _AWAITS, dont_inherit=True))

    def _run(self, code: types.CodeType) -> object:
        value = eval(code, self._module.__dict__)
        return self._awaited(value) if code.co_flags & _COROUTINE else value

    def _awaited(self, coroutine: Coroutine[Any, Any, object]) -> object:
        """Runs a coroutine in the loop of all calls; an interrupt cancels it."""
        import asyncio

        loop = self._loop = self._loop or asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except BaseException:
            task.cancel()
            with contextlib.suppress(BaseException):
                loop.run_until_complete(task)
            raise

    def _show(self, bundle: shown.Bundle, *, is_main: bool = False) -> None:
        """Sends what running code shows; counts images that are too large or too many."""
        if os.getpid() != self._pid or not self._can_interrupt:
            return  # a copy that the code forked, or a thread that goes on after it
        told = shown.sendable(bundle)
        self._images += shown.PNG in told
        if shown.PNG in told and self._images > wire.IMAGES:
            del told[shown.PNG]
        self._dropped += shown.PNG in bundle and shown.PNG not in told
        text = str(told.get(shown.TEXT, ""))
        told |= {shown.TEXT: _cut(text, wire.VALUE_BYTES)} if text else {}
        message = {"data": told, "is_main": is_main, "is_cut": told.get(shown.TEXT, "") != text}
        payload = json.dumps(message).encode()
        if not wire.is_sendable(payload):
            self._dropped += shown.PNG in told
            message["data"] = {shown.TEXT: told.get(shown.TEXT, "")}
            payload = json.dumps(message).encode()
        self._shown += 1
        if self._shown < wire.SHOWN or is_main:
            self._can_interrupt = False  # half of a message would end the interpreter
            self._report(Report.SHOWN, payload)
            self._can_interrupt = True

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


def _unindented(code: str) -> str:
    """Returns code without the indentation of its first line, which notebooks ignore."""
    lines = code.splitlines(keepends=True)
    first = next((line for line in lines if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip())]
    return "".join(line.removeprefix(margin) for line in lines)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Sets environment variables for the length of the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# ---------------------------------------------------------------------------------- what is told


def _of_error(error: BaseException) -> dict[str, Any]:
    return {
        "raised": True,
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

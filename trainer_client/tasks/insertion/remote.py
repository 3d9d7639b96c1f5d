"""Runs a test program whose `exec` runs code in another process.

The server gets this module as a part of two programs. The harness calls `serve` and runs in the
solution's sandbox. The interactor calls `judge` and runs in a sandbox of its own: it has the test
program, the expected results and the text of the solution. It runs `test_execution` of the test
program, in which `exec(code, variables)` is a request to the harness, and then `test_string`.

A message is its size (8 bytes, big-endian) and JSON of `values`.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from trainer_client.tasks.insertion.values import UncrossableError, decode, encode

_SIZE_BYTES = 8
_MESSAGE_BYTES = 1 << 28
_TOLD_CHARACTERS = 200
_BROKEN, _REJECTED = 2, 1
_NAME = "code_context"
_ENDS = ("</code>", "# SOLUTION END", "\nEND SOLUTION")


def _send(stream: BinaryIO, message: Any) -> None:
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
    stream.flush()


def _receive(stream: BinaryIO) -> Any:
    """Returns the next message, or None at the end.

    Raises:
        ValueError: it is too large, incomplete or no JSON.
    """
    head = stream.read(_SIZE_BYTES)
    if not head:
        return None
    size = int.from_bytes(head, "big")
    if size > _MESSAGE_BYTES or len(data := stream.read(size)) < size:
        raise ValueError("a message is too large or incomplete")
    return json.loads(data)


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Returns standard input and output, and keeps other code from both."""
    received, sent = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return received, sent


def serve() -> None:
    """Runs the code that the interactor sends, until it sends no more."""
    received, sent = _streams()
    while (message := _receive(received)) is not None:
        code, variables, names = message
        _send(sent, _ran(code, {name: decode(value) for name, value in variables}, names))


def _ran(code: str, variables: dict[str, Any], names: list[str]) -> Any:
    try:
        exec(code, variables)
        return ["done", [[name, encode(variables[name])] for name in names if name in variables]]
    except UncrossableError as error:
        return ["failed", f"the result holds {error}, which cannot cross to the tests"]
    except BaseException as error:  # noqa: BLE001  # code may raise anything
        return ["failed", _told(error)]


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_TOLD_CHARACTERS]
    except Exception:  # noqa: BLE001  # a class of the code may raise anything
        return type(error).__name__


def judge(context: str) -> NoReturn:
    """Runs a test program against the solution, and exits with an interactor's status.

    Args:
        context: the test program.
    """
    with open(sys.argv[3], encoding="utf-8") as file:
        solution = _trimmed(file.read())
    tests = _Tests(context, *_streams())
    try:
        tests.try_out()
    except BaseException as error:  # noqa: BLE001  # the test program may raise anything
        _end(_BROKEN, f"the test program fails before it runs the solution: {_told(error)}")
    try:
        tests.run(solution)
    except BaseException as error:  # noqa: BLE001  # a check may raise anything
        _end(_REJECTED, _told(error))
    _end(0, "")


def _trimmed(text: str) -> str:
    """Returns a solution without the marks that the prompt has around its place."""
    for end in _ENDS:
        text = text.partition(end)[0]
    return text.replace("<code>", "")


def _end(status: int, told: str) -> NoReturn:
    os.write(2, " ".join(told.split()).encode())
    os._exit(status)


class _Tests:
    """A test program whose `exec` asks the harness.

    Args:
        context: the test program.
        received: what the harness writes.
        sent: what it reads.
    """

    def __init__(self, context: str, received: BinaryIO, sent: BinaryIO) -> None:
        self._context, self._received, self._sent = context, received, sent
        self._globals: dict[str, Any] = {"__name__": _NAME}
        self._names: list[str] = []
        self._runs = self._tried = 0
        self._broken: BaseException | None = None

    def try_out(self) -> None:
        """Makes every test case, before the solution says anything.

        Raises:
            BaseException: the test program makes no cases, or values that cannot cross.
        """
        tree: Any = compile(self._context, _NAME, "exec", ast.PyCF_ONLY_AST)
        subscripts = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
        constants = (one.slice.value for one in subscripts if isinstance(one.slice, ast.Constant))
        self._names = sorted({"result", *(name for name in constants if isinstance(name, str))})
        exec(compile(tree, _NAME, "exec"), self._globals)
        made = {name: self._globals[name] for name in ("generate_test_case", "exec_test")}
        make = made["generate_test_case"]
        self._globals |= {
            "generate_test_case": lambda *numbers: self._noted(make, *numbers),
            "exec_test": self._accepted,
            "exec": self._counted,
        }
        with contextlib.suppress(Exception):  # it may read more of a result than this one has
            self._globals["test_execution"]("")
        if self._broken is not None:
            raise self._broken
        if not self._tried:
            raise ValueError("test_execution() runs no code")
        self._globals |= {**made, "exec": self._remotely}

    def run(self, solution: str) -> None:
        """Runs the tests.

        Raises:
            BaseException: the solution fails.
        """
        self._globals["test_execution"](solution)
        # A result of None may end the trial of a row that has several test cases at the first.
        if self._runs < self._tried:
            raise AssertionError("not every test case ran")
        if "test_string" in self._globals:
            self._globals["test_string"](solution)

    def _noted(self, make: Callable[..., Any], *numbers: Any) -> Any:
        try:
            given, wanted = make(*numbers)
            encode(given), encode(wanted)
        except BaseException as error:
            self._broken = self._broken or error
            raise
        return given, wanted

    def _accepted(self, result: object, wanted: object) -> int:
        return 1

    def _counted(self, code: str, variables: dict[str, Any]) -> None:
        self._tried += 1
        try:
            encode(variables)
        except UncrossableError as error:
            self._broken = self._broken or error
        variables["result"] = None

    def _remotely(self, code: str, variables: dict[str, Any]) -> None:
        self._runs += 1
        given = [[name, encode(value)] for name, value in variables.items()]
        _send(self._sent, [code, given, self._names])
        answer = _receive(self._received)
        if answer is None:
            raise EOFError("the solution has ended")
        kind, told = answer
        if kind != "done":
            raise AssertionError(str(told))
        variables |= {name: decode(value) for name, value in told if name in self._names}

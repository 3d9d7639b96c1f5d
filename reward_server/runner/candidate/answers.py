"""Answers the judge's questions in the candidate's process, where the solution is loaded.

Nothing here is trusted: the solution can change any of it. But such a change only affects the
answers that the judge receives. `judge.contract.session` describes the messages.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import operator
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..channel.data import FRAMES_OF_A_VALUE, TYPES, NotDataError
from ..channel.frames import AHEAD, BEHIND, MOST_SHOWN, NUMBER, ChannelClosedError, Frames
from ..channel.reading import Reader
from ..channel.signatures import Signature
from ..channel.writing import BASES, Writer, base_of
from . import leetcode_types, streams
from .raised import arguments_of, expected, field_names, text_of, tree_of

UNTOLD = Signature()
_ENTRY = re.compile(r"(\w+)\(\)\.(\w+)")
_MOST_OBJECTS = 200_000
_OPERATIONS: Mapping[str, Callable[..., object]] = {
    "value": lambda value: _present(value),
    "call": lambda callee, *args: callee(*args),
    "call_named": lambda callee, *given: _call_named(callee, *given),
    "get": getattr,
    "set": setattr,
    "delete": delattr,
    "str": str,
    "repr": repr,
    "len": len,
    "iter": lambda value: map(_same, value),
    "next": lambda value: tuple(itertools.islice(value, 1)),
    "bool": bool,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "delete_item": operator.delitem,
    "contains": operator.contains,
    "hash": hash,
    "int": int,
    "float": float,
    "round": round,
    "isinstance": isinstance,
    "data": lambda value: _plain(value),
    **{
        name: getattr(operator, name)
        for name in (
            *("eq", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "index"),
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
            *("and_", "or_", "xor", "lshift", "rshift"),
        )
    },
}


def _same(value: object) -> object:
    return value


def _call_named(callee: Callable[..., object], names: Sequence[str], *given: object) -> object:
    first = len(given) - len(names)
    return callee(*given[:first], **dict(zip(names, given[first:], strict=True)))


def _plain(value: object) -> object:
    """Returns the content of an object whose class is one of data's, or the object."""
    base = base_of(type(value))
    return value if base is None else BASES[base](value)


_TYPE_NAMES = {one: name for name, one in TYPES.items()}


class Answers:
    """Answers questions.

    Args:
        frames: to and from the judge.
        module: the solution.
        result_bytes: greatest size of an answer.
        records: names of the prompt's classes whose objects cross as data.
        signature: the task's signature of the function that calls with JSON values use.
    """

    def __init__(
        self,
        frames: Frames,
        module: types.ModuleType,
        result_bytes: int,
        records: Sequence[str] = (),
        signature: Signature = UNTOLD,
    ) -> None:
        self._signature = signature
        self._frames = frames
        self._module = module
        self._result_bytes = result_bytes
        found = {name: vars(module).get(name) for name in records}
        self._records = {name: one for name, one in found.items() if isinstance(one, type)}
        self._objects: list[object] = []
        self._places: dict[int, int] = {}
        self._ends: dict[int, Exception] = {}  # of iterators that yielded items before

    def run(self) -> None:
        """Answers questions until the judge closes the channel."""
        with contextlib.suppress(ChannelClosedError):
            while True:
                frame = self._frames.receive()
                number, question = frame[: NUMBER.size], frame[NUMBER.size :]
                is_ahead = question.startswith(AHEAD)
                is_behind = is_ahead and self._objects
                answer = BEHIND if is_behind else self._answer(question[is_ahead:])
                streams.flush_streams()
                self._frames.send(number + answer)

    def _answer(self, question: bytes) -> bytes:
        operation, operands, rows, told = _deeply(self._read, question)
        try:
            result = self._performed(operation, operands)
        except Exception as error:  # noqa: BLE001  # a solution may raise anything
            raised = error
            raised.__traceback__ = None  # it holds the operands
            return self._written(told, rows, lambda writer: self._raised(writer, raised))
        except BaseException as error:  # noqa: BLE001  # which `except Exception` lets through
            text = f"{type(error).__name__}: {text_of(error)}"
            return json.dumps(["exit", text[:MOST_SHOWN]]).encode()
        is_made = operation in ("call", "call_named") and isinstance(operands[0], type)
        casts = not is_made  # an object that the tests construct stays one
        return self._written(told, rows, lambda writer: ["return", writer.value(result)], casts)

    def _read(self, question: bytes) -> tuple[str, list[Any], list[Any], Reader]:
        operation, asked, rows = json.loads(question)
        told = Reader(self._resolve, rows, records=self._records)
        return operation, [told.value(one) for one in asked], rows, told

    def _performed(self, operation: str, operands: list[Any]) -> object:
        if operation == "kind":
            return expected(_present(operands[0]))
        if operation == "draw":
            return self._drawn(*operands)
        if operation == "case":
            return self._case(*operands)
        if operation == "missing":
            return " ".join(name for name in operands if name not in vars(self._module))
        return _OPERATIONS[operation](*operands)

    def _drawn(self, iterator: Iterator[object], count: int) -> list[object]:
        """Returns the next items of an iterator; what it raises after them comes next."""
        found: list[object] = []
        if (end := self._ends.pop(id(iterator), None)) is not None:
            raise end
        try:
            found.extend(itertools.islice(iterator, count))
        except Exception as error:
            if not found:
                raise
            self._ends[id(iterator)] = error
        return found

    def _case(self, name: str, args: list[object]) -> list[object]:
        """Calls the entry point; returns the fields of `leetcode_types.Outcome`."""
        entry = _ENTRY.fullmatch(name)
        owner = self._named(entry[1])() if entry else None
        function = getattr(owner, entry[2]) if entry else self._named(name)
        known, is_method = vars(self._module), entry is not None
        found = leetcode_types.call(function, args, self._signature, known, is_method=is_method)
        return [found.result, found.is_own, *found.first]

    def _written(
        self,
        told: Reader,
        before: list[Any],
        write: Callable[[Writer], list[Any]],
        casts: bool = True,
    ) -> bytes:
        """Returns an answer, with the changes of the question's containers."""
        writer = Writer(self._refer, known=told.containers, records=self._records, casts=casts)
        try:
            text: bytes = _deeply(_text_of_answer, writer, told, before, write)
        except Exception as error:  # noqa: BLE001  # a solution's own classes may raise anything
            problem = f"cannot cross: {text_of(error)}"
            return json.dumps(["large", problem[:MOST_SHOWN]]).encode()
        if len(text) > self._result_bytes:
            problem = f"needs {len(text)} bytes, of {self._result_bytes}"
            return json.dumps(["large", problem]).encode()
        return text

    def _raised(self, writer: Writer, error: BaseException) -> list[Any]:
        text = text_of(error)
        arguments = [writer.value(one) for one in arguments_of(error)]
        fields = {}
        for name in field_names(error):
            with contextlib.suppress(Exception):  # a property may raise anything
                fields[name] = writer.value(getattr(error, name))
        return ["raise", tree_of(type(error)), arguments, text, fields]

    # --------------------------------------------------------------------------- references

    def _refer(self, value: object) -> object:
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"h": ["type", _TYPE_NAMES[value]]}
        if isinstance(value, BaseException):
            plain = Writer(_no_reference)
            text = text_of(value)
            return {"h": ["error", tree_of(type(value)), [plain.value(text)], text]}
        place = self._places.get(id(value))
        if place is None:
            if len(self._objects) == _MOST_OBJECTS:
                raise NotDataError("it is the last of too many objects")
            place = self._places[id(value)] = len(self._objects)
            self._objects.append(value)
        return {"h": ["object", place]}

    def _resolve(self, reference: Any) -> object:
        match reference:
            case ["name", str(name)] if entry := _ENTRY.fullmatch(name):
                return functools.partial(_call_method, self._named(entry[1]), entry[2])
            case ["name", str(name)]:
                return self._named(name)
            case ["object", int(place)]:
                return self._objects[place]
        raise NotDataError("an unknown reference")

    def _named(self, name: str) -> Any:
        try:
            return vars(self._module)[name]
        except KeyError:
            return functools.partial(_undefined, name)


def _text_of_answer(
    writer: Writer, told: Reader, before: list[Any], write: Callable[[Writer], list[Any]]
) -> bytes:
    answer, changed = write(writer), []
    for place, row in enumerate(before):
        found = writer.row(told.containers[place])
        if repr(found) != repr(row):  # where 1, 1.0 and True differ
            if row[0] in ("a", "v") and found[1:3] != row[1:3]:
                raise NotDataError("an array has another shape than before")
            changed.append([place, found])
    return json.dumps([*answer, writer.rows(), changed, writer.has_cast]).encode()


def _undefined(name: str, /, *_: object, **__: object) -> object:
    raise NameError(f"name {name!r} is not defined")


def _present(value: Any) -> Any:
    """Returns what a name stands for.

    Raises:
        NameError: the solution does not define it.
    """
    return value() if isinstance(value, functools.partial) and value.func is _undefined else value


def _call_method(
    owner: Callable[[], object], method: str, /, *args: object, **kwargs: object
) -> Any:
    return getattr(owner(), method)(*args, **kwargs)


def _no_reference(value: object) -> object:
    raise NotDataError(type(value).__name__)


def _deeply(function: Callable[..., Any], *operands: Any, **named: Any) -> Any:
    """Calls a function that may need more frames than the solution has left."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + FRAMES_OF_A_VALUE)
    try:
        return function(*operands, **named)
    finally:
        sys.setrecursionlimit(limit)

"""Serves the judge's requests beside a loaded solution, in the candidate's process.

Nothing here is trusted: the solution can change any of it, and so change only what the judge
takes for its answers. The messages are described in `session`.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import importlib
import inspect
import json
import re
import threading
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from . import changes, faults, remote, sharing, streams, structures
from .codec import (
    ANSWERED_TYPES,
    MAX_OBJECTS,
    DataOnly,
    NotDataError,
    ProtocolViolation,
    TooLargeError,
)
from .containers import Given, can_be_held
from .decoding import Decoder
from .encoding import Encoder, arguments_of, cast_down
from .frames import NUMBER, ChannelClosedError, Frames
from .operations import COROUTINE, GENERATOR, OPERATIONS, details_of, ways_of
from .records import Records
from .shared_objects import CANDIDATE, SharedObjects

if TYPE_CHECKING:
    import asyncio

ENTRY = re.compile(r"(\w+)\(\)\.(\w+)")
_KINDS = {types.CoroutineType: COROUTINE, types.GeneratorType: GENERATOR}
_GIVING = frozenset(("get", "item", "value"))
_METHODS = (types.MethodType, types.BuiltinMethodType)
_STOPS = {"next": StopIteration, "anext": StopAsyncIteration}


class RaisedByTestsError(Exception):
    """Something of the tests' raised what has no counterpart here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What the judge asks for.

    Attributes:
        text: the request.
        operation, operands: what is to be done.
        received: objects of the prompt's classes that came with it.
        numbered: containers that came with a number.
        before: what these held.
    """

    text: bytes
    operation: str
    operands: list[object]
    received: list[object]
    numbered: list[object]
    before: list[list[object]]

    @property
    def numbers(self) -> dict[int, int]:
        """The numbers of the containers, by identity."""
        return {id(value): number for number, value in enumerate(self.numbered)}

    def changed(self) -> Iterator[tuple[int, object]]:
        """Gives the containers that hold something else by now."""
        for number, (value, held) in enumerate(zip(self.numbered, self.before, strict=True)):
            if not changes.are_same(held, changes.elements(value)):
                yield number, value


class Service:
    """Answers requests.

    Args:
        frames: to and from the judge.
        module: the solution.
        result_bytes: greatest size of an answer.
        shared: names of the classes whose objects cross as records.
    """

    def __init__(
        self,
        frames: Frames,
        module: types.ModuleType,
        result_bytes: int,
        shared: Sequence[str] = (),
    ) -> None:
        self._frames = frames
        self._module = module
        self._result_bytes = result_bytes
        self.records = Records(vars(module).get, keeps_methods=True)
        self._decoder = Decoder(self)
        self._shared = frozenset(shared)
        self._shared_objects = SharedObjects(CANDIDATE, self._shared_classes, lambda *_: True)
        self._objects: list[object] = []
        self._given = Given(self._content_of)
        self._numbers: dict[int, int] = {}
        self._remotes: dict[int, remote.Remote] = {}
        self._number: bytes | None = None
        self._asking = threading.RLock()
        self._own_input = builtins.input
        builtins.input = self._input
        self._runner: asyncio.Runner | None = None
        self._special: Mapping[str, Callable[..., object]] = {
            "case": self._run_case,
            "seed": _seed,
            "dataclass": _on_data_class,
            "signature": _signature,
            "kind": type,
            "class_names": _class_names,
            "await": self._wait,
            "anext": self._next_awaited,
            "aenter": self._enter_awaited,
            "aexit": self._exit_awaited,
        }

    def run(self) -> None:
        """Answers until the judge is gone."""
        with contextlib.suppress(ChannelClosedError):
            while True:
                self.serve(self._frames.receive())

    def ask(self, operation: str, *operands: object) -> object:
        """Has the judge do something with a thing of the tests' and returns what came of it."""
        with self._asking:
            number = self._number
            if number is None:
                raise RuntimeError("the tests wait for nothing")
            encoder = Encoder(self, self._result_bytes, types={})
            question = encoder.dumps(["ask", operation, encoder.items(list(operands))])
            self._frames.send(number + question)
            frame = self._frames.receive()
            while frame[: NUMBER.size] != number:
                self.serve(frame)
                frame = self._frames.receive()
            return self._outcome(self._decoder.loads(frame[NUMBER.size :]))

    def _input(self, prompt: object = "", /) -> str:
        """Answers `input` as the tests do, if they do."""
        if self._number is None:
            return self._own_input(prompt)
        return str(self.ask("input", str(prompt)))

    # --------------------------------------------------------------------- codec.References

    def refer(self, value: object, encoder: Encoder) -> object:
        """Returns the reference of an object of the solution's, or of a thing of the tests'."""
        if isinstance(value, remote.Remote):
            return remote.Remote.runner_reference(value)
        if self._shared and self._shared_objects.knows(value):
            return self._shared_objects.refer(value, encoder)
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._objects) == MAX_OBJECTS:
                raise TooLargeError(f"is the last of more than {MAX_OBJECTS} objects")
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return ["object", number, _KINDS.get(type(value), ""), ways_of(value)]

    def resolve(self, reference: object) -> object:
        """Returns what the judge means.

        Raises:
            NameError: the solution defines no such name.
        """
        match reference:
            case ["object", int(number)]:
                return self._objects[number]
            case ["name", str(name)]:
                return self._named(name)
            case ["test", int(number), str(kind), str(name)]:
                if number not in self._remotes:
                    self._remotes[number] = remote.make(self, number, kind, name)
                return self._remotes[number]
            case [("record" | "member" | "flag"), *_]:
                return self._shared_objects.resolve(cast("list[object]", reference))
            case _:
                raise ProtocolViolation("an unknown reference")

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Refuses: the judge sends no such thing."""
        raise ProtocolViolation("extended data of the tests'")

    def note_cast(self, kind: str) -> None:
        """Ignores what the judge's values were."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Refuses: the judge sends no such thing."""
        raise ProtocolViolation("an exception of the tests' among results")

    def _named(self, name: str) -> Callable[..., object]:
        entry = ENTRY.fullmatch(name) if "(" in name else None
        if entry:
            return functools.partial(_call_method, self._exported(entry[1]), entry[2])
        return self._exported(name)

    def _exported(self, name: str) -> Callable[..., object]:
        try:
            return cast("Callable[..., object]", vars(self._module)[name])
        except KeyError:
            raise NameError(f"the solution defines no {name!r}") from None

    def _shared_classes(self) -> Mapping[str, object]:
        return {name: vars(self._module).get(name) for name in self._shared}

    # ------------------------------------------------------------------------------ answers

    def serve(self, frame: bytes) -> None:
        """Answers one request."""
        previous, self._number = self._number, frame[: NUMBER.size]
        answer = self._number + self._answer(frame[NUMBER.size :])
        streams.flush_streams()
        with self._asking:
            self._number = previous
            self._frames.send(answer)

    def _answer(self, request: bytes) -> bytes:
        operation = ""
        try:
            self._shared_objects.received = []
            decoded = self._decoder.loads(request)
            numbered = list(self._decoder.numbered.values())
            operation, operands, *updates = cast("list[Any]", decoded)
            asked = _Request(
                text=request,
                operation=operation,
                operands=operands,
                received=self._shared_objects.received,
                numbered=numbered,
                before=list(map(changes.elements, numbered)),
            )
            for update in updates:
                self._given.take(update)
            action = self._special.get(operation) or OPERATIONS[operation]
            return self._returned(asked, action(*operands))
        except ChannelClosedError:
            raise
        except BaseException as error:  # noqa: BLE001  # a solution may raise anything
            return self._raised(operation, error)

    def _returned(self, asked: _Request, result: object) -> bytes:
        extends = asked.operation != "case"
        encoder = Encoder(
            self, self._result_bytes, ANSWERED_TYPES, extends=extends, known=asked.numbers
        )

        def encode() -> tuple[object, list[list[object]], list[object]]:
            value = self._encoded(encoder, result)
            changed = [[number, encoder.content(one)] for number, one in asked.changed()]
            return value, changed, encoder.items(asked.received)

        value, changed, received = encoder.sharing(encode)
        answer = ["return", value, changed or None, encoder.overloads_cast_down]
        refreshed = self._given.changed() if self._given else []
        given = self._given_number(asked, result, value)
        if given is not None or refreshed or received:
            answer += [given, refreshed]
        if received:
            answer.append(received)
        if encoder.mentions:
            sharing.check(answer, sharing.numbered(json.loads(asked.text)))
        return encoder.dumps(answer)

    def _given_number(self, asked: _Request, result: object, value: object) -> int | None:
        """Returns the number of a container that an object of the solution's gave."""
        operation, operands = asked.operation, asked.operands
        gives = operation in _GIVING or (operation == "call" and isinstance(operands[0], _METHODS))
        is_extended = type(value) is dict and "extended" in value
        if not (gives or is_extended) or not can_be_held(result):
            return None
        return self._given.number_of(result)

    def _content_of(self, container: object) -> object:
        encoder = Encoder(self, self._result_bytes, ANSWERED_TYPES, extends=True)
        return encoder.value(cast_down(container))

    def _encoded(self, encoder: Encoder, result: object) -> object:
        """Returns the JSON value of a result, a reference if it is data that cannot cross."""
        try:
            return encoder.value(result)
        except TooLargeError:
            raise
        except NotDataError:
            return encoder.refer(result)

    def _raised(self, operation: str, error: BaseException) -> bytes:
        if isinstance(error, _STOPS.get(operation, ())):
            return b'["stop"]'
        if isinstance(error, TooLargeError):
            return Encoder(DataOnly(), self._result_bytes).dumps(["large", str(error)])
        names, text = faults.names_of(error), faults.text_of(error)
        encoder = Encoder(self, self._result_bytes, ANSWERED_TYPES)
        arguments = arguments_of(error, text)
        thing = vars(error).get("_runner_thing")
        if thing is None and type(error).__module__ == self._module.__name__:
            thing = error.with_traceback(None)
        reference = None if thing is None else encoder.refer(thing)
        answer = ["raise", names, arguments, text, reference]
        more = faults.more_of(error, _data_of)
        return encoder.dumps(answer if more is None else [*answer, more])

    def _outcome(self, answer: object) -> object:
        match answer:
            case ["return", value]:
                return value
            case ["stop"]:
                raise StopIteration
            case ["raise", list(names), list(arguments), str(text), error]:
                kind = faults.known_class(cast("list[str]", names)) or RaisedByTestsError
                raised = faults.construct(kind, arguments or [text])
                vars(raised)["_runner_thing"] = error
                raise raised
            case _:
                raise ProtocolViolation("an unknown answer")

    # ---------------------------------------------------------------------- JSON test cases

    def _run_case(self, name: str, args: list[object]) -> list[object]:
        """Calls the entry point; returns its result and, if that is None, its first argument."""
        entry = ENTRY.fullmatch(name)
        owner = self._exported(entry[1])() if entry else None
        function = getattr(owner, entry[2]) if entry else self._exported(name)
        hints = structures.hints(function)
        if structures.mention_nodes(hints):
            parameters = inspect.signature(function).parameters
            args = [
                structures.to_argument(value, hints.get(parameter), vars(self._module))
                for value, parameter in zip(args, parameters, strict=False)
            ]
        result = structures.to_result(function(*args), hints.get("return"))
        if result is None and entry and args:
            return [None, structures.to_result(args[0], hints.get("return"))]
        return [result]

    # ------------------------------------------------------------------------------ waiting

    def _wait(self, awaitable: Awaitable[object]) -> object:
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        return self._runner.run(_awaited(awaitable))

    def _next_awaited(self, iterator: AsyncIterator[object]) -> object:
        return self._wait(iterator.__anext__())

    def _enter_awaited(self, manager: AbstractAsyncContextManager[object]) -> object:
        return self._wait(manager.__aenter__())

    def _exit_awaited(
        self, manager: AbstractAsyncContextManager[object], name: str | None, text: str
    ) -> None:
        kind, error = details_of(name, text)
        self._wait(manager.__aexit__(kind, error, None))


async def _awaited(awaitable: Awaitable[object]) -> object:
    return await awaitable


def _call_method(
    owner: Callable[..., object], method: str, *args: object, **kwargs: object
) -> object:
    return cast("Callable[..., object]", getattr(owner(), method))(*args, **kwargs)


def _data_of(values: list[object]) -> list[object]:
    """Returns the JSON values of data, without what is no data."""
    encoded = []
    for value in values:
        parts = value if type(value) is dict else {"": value}
        kept = {name: one for name, one in parts.items() if _is_data(one)}
        if value is parts or kept:
            encoded.append(kept if value is parts else kept[""])
    return Encoder(DataOnly(), 1 << 16, ANSWERED_TYPES).items(encoded)


def _is_data(value: object) -> bool:
    try:
        Encoder(DataOnly(), 1 << 16, ANSWERED_TYPES).value(value)
    except NotDataError:
        return False
    return True


def _seed(module: str, args: list[object], kwargs: Mapping[str, object]) -> None:
    generator: Any = importlib.import_module(module)
    generator.seed(*args, **kwargs)


def _on_data_class(name: str, args: list[object], kwargs: Mapping[str, object]) -> object:
    return getattr(dataclasses, name)(*args, **kwargs)


def _class_names(kind: type) -> list[str]:
    return [f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__]


def _signature(function: Callable[..., object]) -> list[list[object]]:
    """Returns name, kind and default, if it has one, of each parameter."""
    parameters = inspect.signature(function).parameters.values()
    return [
        [one.name, int(one.kind), *([] if one.default is one.empty else [one.default])]
        for one in parameters
    ]

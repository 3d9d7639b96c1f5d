"""Answers the judge's requests in the candidate's process, where the solution is loaded.

Nothing here is trusted: the solution can change any of it. But such a change only affects the
answers that the judge receives. `session` describes the messages.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import importlib
import inspect
import re
import sys
import threading
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..channel.codec import (
    ANSWERED_TYPES,
    FRAMES_OF_A_VALUE,
    MAX_OBJECTS,
    DataOnly,
    Message,
    NotDataError,
    ProtocolViolation,
    TooLargeError,
)
from ..channel.decoding import Decoder
from ..channel.encoding import Encoder, arguments_of, encoder_of_data
from ..channel.frames import NUMBER, ChannelClosedError, Frames
from ..channel.operations import COROUTINE, GENERATOR, OPERATIONS, ways_of
from ..channel.signatures import Signature
from ..sharing import same_containers
from ..sharing.containers import Containers
from ..sharing.objects import CANDIDATE, SharedObjects
from ..values import exceptions, library_types
from ..values.records import Records
from . import depth, leetcode_types, remote, streams

if TYPE_CHECKING:
    import asyncio

ENTRY = re.compile(r"(\w+)\(\)\.(\w+)")
_FLAT_BYTES = 1024  # a message of this size cannot be nested deeply
_BYTES_OF_A_CHARACTER = 16  # the most in a message
_T = TypeVar("_T")
_KINDS = {types.CoroutineType: COROUTINE, types.GeneratorType: GENERATOR}
UNTOLD = Signature()
_STOPS = {"next": StopIteration, "anext": StopAsyncIteration}


class Service:
    """Answers requests.

    Args:
        frames: to and from the judge.
        module: the solution.
        result_bytes: greatest size of an answer.
        shared: names of the classes whose objects cross as records.
        signature: the task's signature of the function that calls with JSON values use.
    """

    def __init__(
        self,
        frames: Frames,
        module: types.ModuleType,
        result_bytes: int,
        shared: Sequence[str] = (),
        signature: Signature = UNTOLD,
    ) -> None:
        self._frames = frames
        self._signature = signature
        self._module = module
        self._result_bytes = result_bytes
        self.records = Records(vars(module).get, keeps_methods=True)
        self._containers = Containers()
        self._decoder = Decoder(self, containers=self._containers)
        self._encoder: Callable[..., Encoder] = Encoder
        self._shared = frozenset(shared)
        self._shared_objects = SharedObjects(CANDIDATE, self._shared_classes, lambda *_: True)
        self._objects: list[object] = []
        self._numbers: dict[int, int] = {}
        self._remotes: dict[int, remote.Remote] = {}
        self._number: bytes | None = None
        self._asking = threading.RLock()
        self._own_input = builtins.input
        builtins.input = self._input
        self._runner: asyncio.Runner | None = None
        self._exchanged = streams.Exchanged()
        self._special: Mapping[str, Callable[..., object]] = {
            "case": self._run_case,
            "setting": _setting,
            "listen": self._listen,
            "printed": self._printed,
            "dataclass": _on_data_class,
            "signature": _signature,
            "kind": type,
            "class_names": _class_names,
            "await": self._wait,
            "anext": self._next_awaited,
            "aenter": self._enter_awaited,
            "exit": self._exit,
            "aexit": self._exit_awaited,
        }

    def compare_identities(self) -> None:
        """Makes immutable data cross with an identity number."""
        from ..sharing import identities  # few tests look at identity

        known = self._decoder.identities = identities.Identities(identities.CANDIDATE)
        self._encoder = functools.partial(identities.IdentifyingEncoder, known)

    def run(self) -> None:
        """Answers requests until the judge closes the channel."""
        with contextlib.suppress(ChannelClosedError):
            while True:
                self.serve(self._frames.receive())

    def ask(self, operation: str, *operands: object) -> object:
        """Sends the judge a request about an object of the tests, and returns the result."""
        with self._asking, depth.Room():
            number = self._number
            if number is None:
                raise RuntimeError("the tests wait for nothing")
            question = number + _deeply(self._question, operation, list(operands))
            self._flush()
            self._frames.send(question)
            frame = self._frames.receive()
            while frame[: NUMBER.size] != number:
                self.serve(frame)
                frame = self._frames.receive()
            return self._outcome(_deeply(self._decoder.loads, frame[NUMBER.size :]))

    def _question(self, operation: str, operands: list[object]) -> bytes:
        encoder = self._encoder(
            self, self._result_bytes, types={}, containers=self._containers, tells_casts=True
        )
        try:
            asked = encoder.items(operands)
            updates = self._containers.updates(encoder)
            objects = encoder.items(self._shared_objects.changed())
            more = [updates, objects] if objects else [updates] if updates else []
            question = encoder.dumps(["ask", operation, asked, *more])
        except NotDataError:
            self._containers.withdraw()
            raise
        self._containers.sent(updates)
        return question

    def _input(self, prompt: object = "", /) -> str:
        """Answers `input` through the tests during a request, else from the standard input."""
        if self._number is None:
            return self._own_input(prompt)
        return str(self.ask("input", str(prompt)))

    def _listen(self, names: list[str]) -> None:
        self._flush()
        self._exchanged.listen(names)

    def _printed(self, name: str) -> str:
        return self._exchanged.told(name, max(self._result_bytes // _BYTES_OF_A_CHARACTER, 1))

    def _flush(self) -> None:
        streams.flush_streams()
        self._exchanged.flush()

    # --------------------------------------------------------------------- codec.References

    def refer(self, value: object, encoder: Message) -> object:
        """Returns the reference of an object of the solution or of the tests."""
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

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns True for an object of one of the prompt's classes, which the judge can hash."""
        return bool(self._shared) and self._shared_objects.may_be_key(value, encoder)

    def resolve(self, reference: object) -> object:
        """Returns the object to which the judge refers.

        Raises:
            NameError: the solution defines no such name.
        """
        match reference:
            case ["name", str(name)]:
                return self._named(name)
            case ["object", int(number)]:
                return self._objects[number]
            case ["test", int(number), str(kind), str(name)]:
                if number not in self._remotes:
                    self._remotes[number] = remote.make(self, number, kind, name)
                return self._remotes[number]
            case ["library", [str(name), str(text)]]:
                return library_types.loaded(name, text)
            case ["data", value]:
                return value
            case [("record" | "member" | "flag") as kind, *parts]:
                return self._shared_objects.resolve([kind, *parts])
            case _:
                raise ProtocolViolation("an unknown reference")

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Raises ProtocolViolation, because the judge sends no extended data."""
        raise ProtocolViolation("extended data of the tests'")

    def note_cast(self) -> None:
        """Does nothing."""

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Raises ProtocolViolation, because the judge sends no exceptions as results."""
        raise ProtocolViolation("an exception of the tests' among results")

    def _named(self, name: str) -> Callable[..., object]:
        entry = ENTRY.fullmatch(name) if "(" in name else None
        if entry:
            return functools.partial(_call_method, self._exported(entry[1]), entry[2])
        return self._exported(name)

    def _exported(self, name: str) -> Callable[..., object]:
        try:
            exported: Callable[..., object] = vars(self._module)[name]
        except KeyError:
            raise NameError(f"the solution defines no {name!r}") from None
        return exported

    def _shared_classes(self) -> Mapping[str, object]:
        return {name: vars(self._module).get(name) for name in self._shared}

    # ------------------------------------------------------------------------------ answers

    def serve(self, frame: bytes) -> None:
        """Answers one request."""
        previous, number = self._number, frame[: NUMBER.size]
        self._number = number
        operation, outcome, received = self._performed(frame[NUMBER.size :])
        with self._asking:
            data = number + _deeply(self._answer, operation, outcome, received)
            self._flush()
            self._number = previous
            self._frames.send(data)

    def _performed(self, request: bytes) -> tuple[str, list[object] | BaseException, list[object]]:
        """Performs a request.

        No variable of the runner holds the operands then, so any holder is the solution's.

        Returns:
            The operation, its result in a list or its exception, and the prompt's objects among the
            operands.
        """
        operation = ""
        received: list[object] = []
        try:
            self._shared_objects.received = received
            load = self._decoder.loads
            is_flat = len(request) < _FLAT_BYTES
            message: Any = load(request) if is_flat else _deeply(load, request)
            operation, operands, *shared = message
            if shared:
                self._take(*shared)
            self._containers.settle()
            action = self._special.get(operation) or OPERATIONS[operation]
            results = [action(*operands)]
        except ChannelClosedError:
            raise
        except BaseException as error:  # noqa: BLE001  # a solution may raise anything
            return operation, error, received
        return operation, results, received

    def _take(
        self,
        updates: Sequence[list[Any]] = (),
        released: Sequence[int] = (),
        objects: Sequence[object] = (),  # updated when they were decoded
    ) -> None:
        """Applies the tests' changes to containers."""
        self._containers.check(dict(updates))
        for number, content in updates:
            self._containers.replace(number, content)
        if released:
            self._containers.keep(set(self._containers.numbers) - set(released))

    def _answer(
        self, operation: str, outcome: list[object] | BaseException, received: list[object]
    ) -> bytes:
        tag = "return"
        if isinstance(outcome, StopIteration) and operation == "next" and outcome.value is not None:
            tag, outcome = "stop", [outcome.value]
        if not isinstance(outcome, list):
            return self._raised(operation, outcome, received)
        try:
            return self._returned(tag, operation, outcome, received)
        except ChannelClosedError:
            raise
        except BaseException as error:  # noqa: BLE001  # the solution's code may run here too
            self._containers.withdraw()
            return self._raised(operation, error, received)

    def _returned(
        self, tag: str, operation: str, results: list[object], received: list[object]
    ) -> bytes:
        extends = operation != "case"
        has_numbers = extends and (
            self._containers.entries or same_containers.must_be_shared(results)
        )
        encoder = self._encoder(
            self,
            self._result_bytes,
            ANSWERED_TYPES,
            extends=extends,
            containers=self._containers if has_numbers else None,
        )
        value = self._encoded(encoder, results[0])
        is_told = has_numbers or self._shared_objects.lost
        told = self._told(encoder, results) if is_told else None
        answer = [tag, value, told, encoder.overloads_cast_down]
        if objects := [*received, *self._shared_objects.changed()]:
            answer.append(encoder.items(objects))
        return encoder.dumps(answer)

    def _told(self, encoder: Encoder, results: list[object]) -> list[object] | None:
        """Returns the changes of containers, and the numbers of those that the solution holds."""
        updates = self._containers.updates(encoder)
        if encoder.mentions:
            changed = [self._containers.value_of(number) for number, _ in updates]
            same_containers.check([*results, *changed], {})
        self._containers.sent(cast("list[list[Any]]", updates))
        kept = self._containers.held(results)
        self._containers.keep(kept)
        lost = self._containers.lost + self._shared_objects.lost
        self._containers.lost = self._shared_objects.lost = 0
        return [updates, kept, lost] if updates or kept or lost else None

    def _encoded(self, encoder: Encoder, result: object) -> object:
        """Returns the JSON value of a result, or a reference if it is data that cannot cross."""
        try:
            return encoder.value(result)
        except TooLargeError:
            raise
        except NotDataError:
            self._containers.withdraw()
            return encoder.refer(result)

    def _raised(self, operation: str, error: BaseException, received: list[object]) -> bytes:
        error.__traceback__ = None  # it holds the operands
        if isinstance(error, _STOPS.get(operation, ())):
            return self._with_changes(["stop"], received)
        if isinstance(error, TooLargeError):
            return Encoder(DataOnly(), self._result_bytes).dumps(["large", str(error)])
        names, text = exceptions.names_of(error), exceptions.text_of(error)
        encoder = Encoder(self, self._result_bytes, ANSWERED_TYPES)
        data = encoder_of_data(self._containers)
        arguments = arguments_of(error, text, data)
        thing = vars(error).get("_runner_thing")
        if thing is None and type(error).__module__ == self._module.__name__:
            thing = error
        reference = None if thing is None else encoder.refer(thing)
        more = exceptions.more_of(error, data.attempt, has_object=thing is error)
        answer = ["raise", names, arguments, text, reference, more]
        return self._with_changes(answer, received, mentions=data.mentions)

    def _with_changes(
        self, answer: list[object], received: list[object], *, mentions: bool = False
    ) -> bytes:
        """Returns an answer without a result, with the changes of containers and objects."""
        containers = self._containers
        encoder = self._encoder(
            self, self._result_bytes, ANSWERED_TYPES, extends=True, containers=containers
        )
        encoder.mentions = mentions
        changed = [*received, *self._shared_objects.changed()]
        objects = encoder.attempt(changed) if changed else []
        self._shared_objects.lost += objects is None
        is_told = containers.entries or containers.offered or self._shared_objects.lost
        told = self._told(encoder, []) if is_told else None
        if objects:
            return encoder.dumps([*answer, told, objects])
        return encoder.dumps(answer if told is None else [*answer, told])

    def _outcome(self, answer: Any) -> object:
        match answer:
            case ["return", value, *updates]:
                self._take(*updates)
                self._containers.settle()
                return value
            case ["stop"]:
                raise StopIteration
            case ["raise", list(names), list(arguments), str(text), error, *updates]:
                self._take(*updates)
                self._containers.settle()
                if isinstance(error, Exception):  # the solution's own
                    raise error
                find = vars(self._module).get
                raised = exceptions.of_tests(names, arguments, text, find)
                vars(raised)["_runner_thing"] = error
                raise raised
            case _:
                raise ProtocolViolation("an unknown answer")

    # ---------------------------------------------------------------------- JSON test cases

    def _run_case(self, name: str, args: list[object]) -> list[object]:
        """Calls the entry point; returns the fields of `leetcode_types.Outcome`."""
        entry = ENTRY.fullmatch(name)
        owner = self._exported(entry[1])() if entry else None
        function = getattr(owner, entry[2]) if entry else self._exported(name)
        outcome = leetcode_types.call(
            function, args, self._signature, vars(self._module), is_method=bool(entry)
        )
        return [outcome.result, outcome.is_own, *outcome.first]

    # ------------------------------------------------------------------- blocks and waiting

    def _exit(self, manager: AbstractContextManager[object], *told: Any) -> bool:
        return bool(manager.__exit__(*self._details_of(*told)))

    def _details_of(
        self, *told: Any
    ) -> tuple[type[Exception] | None, Exception | None, types.TracebackType | None]:
        """Returns class, exception and traceback for the exception that ended a block of the tests.

        Args:
            told: empty; an exception of the solution; or names, arguments and text of another one.
        """
        match told:
            case []:
                return None, None, None
            case [Exception() as error]:
                pass
            case _:
                names, arguments, text = told
                error = exceptions.of_tests(names, arguments, text, vars(self._module).get)
        try:
            raise error
        except Exception:  # noqa: BLE001  # the exception gets a traceback here
            return type(error), error, error.__traceback__

    def _wait(self, awaitable: Awaitable[object]) -> object:
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        return self._runner.run(_awaited(awaitable))

    def _next_awaited(self, iterator: AsyncIterator[object]) -> object:
        return self._wait(iterator.__anext__())

    def _enter_awaited(self, manager: AbstractAsyncContextManager[object]) -> object:
        return self._wait(manager.__aenter__())

    def _exit_awaited(self, manager: AbstractAsyncContextManager[object], *told: Any) -> None:
        self._wait(manager.__aexit__(*self._details_of(*told)))


def _deeply(function: Callable[..., _T], *operands: object) -> _T:
    """Calls a function that may need more frames than the solution has left."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + FRAMES_OF_A_VALUE)
    try:
        return function(*operands)
    finally:
        sys.setrecursionlimit(limit)


async def _awaited(awaitable: Awaitable[object]) -> object:
    return await awaitable


def _call_method(
    owner: Callable[..., object], method: str, *args: object, **kwargs: object
) -> object:
    called: Callable[..., object] = getattr(owner(), method)
    return called(*args, **kwargs)


def _setting(module: str, name: str, args: list[object], kwargs: Mapping[str, object]) -> None:
    getattr(importlib.import_module(module), name)(*args, **kwargs)


def _on_data_class(name: str, args: list[object], kwargs: Mapping[str, object]) -> object:
    return getattr(dataclasses, name)(*args, **kwargs)


def _class_names(kind: type) -> list[str]:
    return [f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__]


def _signature(function: Callable[..., object]) -> list[list[object]]:
    """Returns the name, kind and default (if any) of each parameter."""
    parameters = inspect.signature(function).parameters.values()
    return [
        [one.name, int(one.kind), *([] if one.default is one.empty else [one.default])]
        for one in parameters
    ]

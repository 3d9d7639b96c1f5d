"""The judge's conversation with the candidate: one request at a time, until the session ends.

What this stops: an answer without a request, to another request, or in another form. It also stops
a test that hides the end of the candidate: an ended session stays ended whatever the `except`
clauses of the test do, and the test in which it ended has failed.

What it does not do: it does not judge answers.

Each frame begins with the number of a request. Judge to candidate: [operation, [operand, ...]]. If
both sides hold containers (`containers`), two more elements follow: [[number, container], ...] of
those that the tests changed, and the numbers of those that the tests no longer hold; then one with
the prompt's objects that the tests changed, see `sharing.objects`.

Candidate to judge, with the same number:

    "return", value, told, overloads      told is null if the solution holds no container with a
                                          number; else [[number, container], ...] of those that it
                                          changed, the numbers of those that it holds, and how many
                                          cannot be synchronized; overloads counts comparisons that
                                          were cast down; rows of the prompt's objects may follow,
                                          see `sharing.objects`
    "raise", names, args, text, error     see `exceptions`; error is null or the exception itself;
                                          further details, `told` and the prompt's objects may
                                          follow
    "stop"                                an iterator is exhausted; only in answer to `next`; `told`
                                          and the prompt's objects may follow, or the value that a
                                          generator returned, as in an answer
    "large", problem                      the value is too large to cross
    "ask", operation, [operand, ...]      a request to the judge, see `callbacks`; answered with the
                                          same number by return, raise or stop; in each, [[number,
                                          container], ...] of those that changed, and the prompt's
                                          objects, may follow
"""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import Callable, Collection, Iterable
from types import FrameType
from typing import Any, TypeGuard, cast

from .. import wire
from ..channel import extended
from ..channel.codec import (
    ANSWERED_TYPES,
    FRAMES_OF_A_VALUE,
    MAX_DEPTH,
    MAX_OBJECTS,
    DataOnly,
    Foreign,
    Message,
    NotDataError,
    ProtocolViolation,
)
from ..channel.decoding import Decoder
from ..channel.encoding import Encoder
from ..channel.frames import NUMBER
from ..sharing import identities, same_containers
from ..sharing.containers import Containers
from ..sharing.objects import JUDGE, SharedObjects
from ..values import changes, exceptions, library_types, live
from ..values.records import Records
from .consistency import END, NOTHING, Consistency
from .endings import Cause, NotLoaded, SessionEnded
from .exports import literals
from .exports.callbacks import Callbacks
from .exports.membrane import Membrane, RefusedAttributeError, without_addresses
from .exports.own import Asking, Own
from .link import ClosedError, Link, OversizeFrameError
from .outputs import OutputLimitError
from .surroundings import Surroundings
from .visibility import Visibility

_INPUT = "input"
_ASK = b'["ask",'
_FRAME_OVERHEAD = 1 << 16
_OWN_LIMIT = 1 << 30
_MAX_DIFFERENCES = 1000
_RUNNER = str(__package__).removesuffix("judge")  # the prefix of the names of the runner's packages
_set_limit = sys.setrecursionlimit  # tests may replace the name in `sys`, see `surroundings`
_RECURSION_HEADROOM = 400 + FRAMES_OF_A_VALUE
_USUAL_FRAMES = 20_000  # a recursion limit within which no message overflows the stack
_WITH_COPIES = 3  # operands of a call without keywords whose arguments have no other holder
_WITH_NUMBERS = 4  # operands of a call whose arguments the tests still hold
_SIZED = frozenset((list, tuple, dict, set, frozenset, str, bytes))
_PLAIN_OPERATIONS = frozenset(("call", "case"))


def _never() -> bool:
    return False


def _sees_nothing(
    frame: FrameType, names: tuple[str, ...], things: frozenset[int], nested: bool
) -> bool:
    return False


def _nothing_meets(frame: FrameType, things: frozenset[int]) -> bool:
    return True


def _raises_nothing(frame: FrameType, line: int) -> bool:
    return False


def _nothing() -> None:
    pass


def _is_of_the_runner(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__")
    return isinstance(package, str) and package.startswith(_RUNNER)


def _asking_frame() -> FrameType:
    """Returns the innermost frame outside the runner, which waits for the solution."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_of_the_runner(frame):
        frame = frame.f_back
    return frame


def _depth_of(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _is_update(value: object) -> TypeGuard[list[Any]]:
    return type(value) is list and len(value) == 2 and type(value[0]) is int


def _are_lists(values: list[object], most: int) -> bool:
    return len(values) <= most and all(value is None or type(value) is list for value in values)


def _parsed(told: object) -> tuple[dict[int, object], list[object], int]:
    """Parses `told`: the new contents of containers by number, the numbers of the containers that
    the solution holds, and how many cannot be synchronized.

    Raises:
        ProtocolViolation: no shim sends this.
    """
    match told:
        case None:
            return {}, [], 0
        case [changed, kept, int(lost)] if type(changed) is type(kept) is list and all(
            type(one) is int for one in kept
        ):
            updates = {one[0]: one[1] for one in changed if _is_update(one)}
            if len(updates) == len(changed):
                return updates, kept, lost
    raise ProtocolViolation("changes that were not made")


def _may_hold(operation: str, operands: tuple[object, ...]) -> bool:
    """Returns True if an operation other than a call passes something that the solution may
    keep."""
    if operation in _PLAIN_OPERATIONS:
        return False
    values = operands[1:]
    return any(
        isinstance(value, (*changes.KINDS, tuple)) or live.is_live(value) for value in values
    )


def _handed_over(operands: tuple[object, ...]) -> list[object]:
    """Returns the objects that a request passes, including each argument of a call."""
    handed = list(operands[1:])
    for value in operands[1:3]:
        parts = value.values() if type(value) is dict else value
        handed += parts if isinstance(parts, Iterable) and type(value) in (list, dict) else ()
    return handed


class _Named(Foreign):
    """The value of a name in the candidate."""

    def __init__(self, name: str) -> None:
        self._name = name

    def runner_reference(self) -> list[object]:
        """Returns the reference of the name."""
        return ["name", self._name]


class Session:
    """Sends requests to the candidate.

    Args:
        link: frames to and from the candidate.
        make_proxy: makes the proxy of a candidate's object, from the session, a reference to the
            object, the way to use it and its special methods.
        result_bytes: greatest size of an answer.
        calls: how many requests an execution may make, in both directions together.
        announce_crossing: called once, before anything but plain data crosses.

    Attributes:
        own: what the tests themselves define.
        doubts_empty: whether an empty answer may pass the tests because they then compare nothing.
        keeps_apart: see `arguments.are_apart`; takes the frame in which the call is made, and the
            identities of the values that it passes.
        classes: the prompt's classes whose objects cross as records, by name.
        calls_indirectly: see `literals.may_call_indirectly`.
        brings_changes: whether the tests see all changes, to confirm a pass in which some were
            withheld.
        crossed: whether anything but plain data crossed: an object or function of either side, a
            class, or an operation other than a call of one of the solution's names.
    """

    # Slots, because the attributes of a new object are slow to read if a dictionary holds more than
    # thirty.
    __slots__ = (
        "_announce_crossing",
        "_callbacks",
        "_calls_left",
        "_consistency",
        "_containers",
        "_decoder",
        "_decoding",
        "_differences",
        "_encoder",
        "_frame_bytes",
        "_has_asked",
        "_identities",
        "_is_apart",
        "_is_asked",
        "_link",
        "_lost",
        "_make_proxy",
        "_membrane",
        "_number",
        "_objects",
        "_raised_by_tests",
        "_raised_latest",
        "_rebuilt",
        "_shared_objects",
        "_surroundings",
        "_visibility",
        "asked_early",
        "brings_changes",
        "calls_indirectly",
        "classes",
        "crossed",
        "doubts_empty",
        "ended",
        "expected",
        "keeps_apart",
        "loaded",
        "may_mix",
        "observes",
        "own",
        "raises",
        "records",
        "signals",
    )

    def __init__(
        self,
        link: Link,
        make_proxy: Callable[[Session, list[object], str, int], object],
        *,
        result_bytes: int,
        calls: int,
        announce_crossing: Callable[[], object] = _nothing,
    ) -> None:
        self._link = link
        self._make_proxy = make_proxy
        self._frame_bytes = result_bytes + _FRAME_OVERHEAD
        self._calls_left = calls
        self._announce_crossing = announce_crossing
        self.crossed = False
        self.records = Records()
        self._containers = Containers()
        self._visibility = Visibility(self._containers, self)
        self._decoder = Decoder(self, self._answered_type, self._containers)
        self._encoder: Callable[..., Encoder] = Encoder
        self._identities: identities.Identities | None = None
        self._lost = False
        self._decoding = False
        self._is_asked = False  # whether the latest message is a request of the candidate
        self._is_apart: bool | None = None  # for the current request; None if not yet determined
        self._surroundings = Surroundings(self, self._exchange)
        self._rebuilt: dict[int, tuple[BaseException, Foreign]] = {}
        self.own = Own()
        Asking.asks = self._is_of
        self._membrane = Membrane(self.own, self._withholds)
        self._callbacks = Callbacks(self._membrane)
        self.classes: dict[str, object] = {}
        self._shared_objects = SharedObjects(JUDGE, lambda: self.classes, self._may_fill)
        self._raised_by_tests: list[Exception] = []
        self._raised_latest: BaseException | None = None  # by the solution
        self._objects: dict[int, object] = {}
        self._differences: list[tuple[Foreign, object]] = []
        self._consistency = Consistency()
        self._number = int.from_bytes(os.urandom(6))
        self.loaded = False
        self._has_asked = False
        self.asked_early = False
        self.doubts_empty = False
        self.may_mix: Callable[[], bool] = _never
        self.ended: SessionEnded | None = None
        self.expected: exceptions.Expected = {}
        self.signals: dict[str, int] = {}
        self.calls_indirectly = False
        self.brings_changes = False
        self.raises: Callable[[FrameType, int], bool] = _raises_nothing
        self.observes: Callable[[FrameType, tuple[str, ...], frozenset[int], bool], bool] = (
            _sees_nothing
        )
        self.keeps_apart: Callable[[FrameType, frozenset[int]], bool] = _nothing_meets

    # --------------------------------------------------------------------- codec.References

    def refer(self, value: object, encoder: Message) -> object:
        """Returns the reference of a proxy, or of an object of the tests.

        Raises:
            NotDataError: it must not be handed over.
        """
        if isinstance(value, Foreign) and not self._is_own_class(value):
            return value.runner_reference()
        if isinstance(value, exceptions.CandidateError) and isinstance(
            value.runner_object, Foreign
        ):
            return value.runner_object.runner_reference()
        if id(value) in self._rebuilt:
            return self._rebuilt[id(value)][1].runner_reference()
        handed = library_types.handed_over(value)
        if handed is not None:
            kind, content = handed
            return [kind, Encoder(DataOnly(), _OWN_LIMIT).value(content)]
        self.cross()
        if not isinstance(value, Exception):  # `input` raises it in its caller
            self._consistency.stop()
            self._guard(value)
        if self.classes and self._shared_objects.knows(value):
            return self._shared_objects.refer(value, encoder)
        return self._callbacks.refer(value)

    def may_be_key(self, value: object, encoder: Message) -> bool:
        """Returns True for the solution's own object, and for one that both sides can hash.

        A key that arrives is data, or of a class of the judge, so no hash is requested.
        """
        if isinstance(value, Foreign):
            return not self._is_own_class(value)
        return bool(self.classes) and self._shared_objects.may_be_key(value, encoder)

    def _is_of(self, operation: str, value: object, kind: type) -> bool:
        """Returns True if an object or class of the solution is of a class that both sides have."""
        if not isinstance(value, Foreign) or self.classes.get(kind.__name__) is not kind:
            return False
        return self.request(operation, value, _Named(kind.__name__)) is True

    def _is_own_class(self, value: object) -> bool:
        return issubclass(type(value), type) and value in self.own.classes

    def resolve(self, reference: object) -> object:
        """Returns the proxy, or the object of the tests, to which the candidate refers.

        Raises:
            ProtocolViolation: there is no such object.
        """
        self.cross()
        match reference:
            case ["object", int(number), str(kind), int(ways)] if 0 <= number < MAX_OBJECTS:
                proxy = self._objects.get(number)
                if proxy is None:
                    made = self._make_proxy(self, ["object", number], kind, ways)
                    self._objects[number] = made
                self._consistency.meets(number, is_new=proxy is None)
                return self._objects[number]
            case ["test", int(number)]:
                return self._callbacks.resolve(number)
            case [("record" | "member" | "flag") as kind, *parts]:
                return self._shared_objects.resolve([kind, *parts])
            case _:
                raise ProtocolViolation("an unknown reference")

    def _answered_type(self, name: str) -> type:
        if self._is_asked:
            raise ProtocolViolation("a type among operands")
        self.cross()
        return ANSWERED_TYPES[name]

    def extend(self, value: object, reference: object, shown: object) -> object:
        """Returns the candidate's object that holds this data.

        Raises:
            ProtocolViolation: there is no such object.
        """
        self.cross()
        methods: list[Any] = shown if type(shown) is list else []
        if self._is_asked:
            raise ProtocolViolation("extended data among operands")
        kind = type(value)
        known = (kind in extended.CLASSES and extended.is_method(kind, name) for name in methods)
        if kind not in extended.CLASSES or not all(known):
            raise ProtocolViolation("no extended data")
        if not extended.EXACT.issuperset(methods):
            self.note_cast()
        match reference:
            case ["object", int(number), str(), int()] if 0 <= number < MAX_OBJECTS:
                return self._extended(value, number, frozenset(methods))
            case _:
                raise ProtocolViolation("an unknown reference")

    def rebuild(
        self, names: list[object], arguments: list[object], text: str, reference: object
    ) -> object:
        """Returns the judge's exception for an exception that is a result of the solution.

        Raises:
            ProtocolViolation: there is no such exception.
        """
        owner = self.resolve(reference)
        if not isinstance(owner, Foreign) or not all(type(name) is str for name in names):
            raise ProtocolViolation("no exception of the solution's")
        for error, known in self._rebuilt.values():
            if known is owner:
                return error
        known_names = cast("list[str]", names)
        error = exceptions.rebuild(known_names, arguments, text, owner, self.expected)
        self._rebuilt[id(error)] = (error, owner)
        return error

    def look_over(self, sources: Collection[str]) -> None:
        """Determines from the texts of the tests how values must cross."""
        self.calls_indirectly = any(map(literals.may_call_indirectly, sources))
        if any(map(identities.are_looked_at, sources)):
            known = identities.Identities(identities.JUDGE)
            self._identities = self._decoder.identities = known
            self._encoder = functools.partial(identities.IdentifyingEncoder, known)

    @property
    def compares_identities(self) -> bool:
        """Returns True if immutable data crosses with an identity number."""
        return self._identities is not None

    def repeat_answers(self) -> None:
        """Repeats an object's first answer to each question, to find out whether a contradiction
        decided the result."""
        self._consistency.repeats = True

    def note_cast(self) -> None:
        """Records that the class of an answer differs from that of the value that arrived."""
        self._count(wire.CAST)

    def note_refusal(self) -> None:
        """Records that tests see an exception or an answer that only the judge made."""
        self._count(wire.REFUSAL)

    def note_untold(self) -> None:
        """Records that the solution decided something that the task's signature leaves open."""
        self._count(wire.UNTOLD)

    def note_met_in_prompt(self) -> None:
        """Records that the prompt's code may combine an argument with an answer."""
        self._count(wire.MET_IN_PROMPT)

    def note_end(self) -> None:
        """Records whether tests ended without a request to the solution, and whether an object
        equals data that tests found different from it.

        The second question is asked last, because then an object has no use for what it learns.
        """
        if self.loaded and not self._has_asked:
            self._count(wire.UNASKED)
        if self.ended is None and not all(self._differs(*pair) for pair in self._differences):
            self.note_refusal()

    def _differs(self, one: Foreign, data: object) -> bool:
        try:
            return self.request("ne", one, data) is True
        except (Exception, SessionEnded):  # noqa: BLE001  # the solution may raise anything
            return False

    def note_difference(self, one: Foreign, data: object) -> None:
        """Records that tests found an object different from data that it has not seen."""
        if len(self._differences) < _MAX_DIFFERENCES:
            self._differences.append((one, copy.deepcopy(data)))
        else:
            self.note_refusal()

    def is_rebuilt(self, value: object) -> bool:
        """Returns True if a value is an exception that is a result of the solution."""
        return id(value) in self._rebuilt

    def _extended(self, value: object, number: int, methods: frozenset[str]) -> object:
        known = self._objects.get(number)
        self._consistency.meets(number, is_new=known is None)
        if isinstance(known, extended.CLASSES[type(value)]) and extended.updated(known, value):
            return known
        made = extended.make(self, value, ["object", number], methods)
        self._objects[number] = made
        return made

    @property
    def knows_classes(self) -> bool:
        """Returns True if the prompt or the tests define classes."""
        return bool(self.classes or self.own.classes)

    def protect(self, values: list[object], frame: FrameType) -> None:
        """Protects objects of the tests from changes, if a test derives expected values from them.

        Args:
            values: the values that a call of the solution passes.
            frame: the frame that makes the call.
        """
        objects = self._membrane.objects_in(values)
        if objects and not self.are_apart(frame, frozenset(map(id, objects))):
            self._membrane.protect(objects)

    def _guard(self, value: object) -> None:
        """Protects one object that a request passes; see `protect`."""
        if not self._membrane.may_change(value):
            return
        if self._is_apart is None:
            self._is_apart = self.are_apart(_asking_frame(), frozenset((id(value),)))
        if not self._is_apart:
            self._membrane.protect([value])

    def are_apart(self, frame: FrameType, things: frozenset[int]) -> bool:
        """Returns True if neither the frame nor its callers combine arguments with answers.

        Args:
            frame: the frame that hands the things over.
            things: their identities.
        """
        caller: FrameType | None = frame
        while caller is not None and self.keeps_apart(caller, things):
            caller = caller.f_back
        return caller is None

    # ----------------------------------------------------------------------------- requests

    def request(self, operation: str, *operands: object) -> object:
        """Sends the candidate a request and returns its result.

        Raises:
            SessionEnded: there will be no further answer.
            NotLoaded: the solution is not loaded yet.
            StopIteration: in answer to "next" and "anext" only.
            BaseException: what the solution raised, see `exceptions.rebuild`.
        """
        if self.ended is not None:
            raise self.ended
        if not self.loaded:
            self.check_that_it_is_loaded()
        if self._decoding:
            raise ProtocolViolation("an answer that asks questions")
        if operation not in _PLAIN_OPERATIONS:
            self.cross()
        self._is_apart = None
        limit = sys.getrecursionlimit()
        _set_limit(limit + _RECURSION_HEADROOM)
        try:
            if self._surroundings.are_listening:
                return self._heard(operation, operands)
            return self._compared(operation, operands)
        finally:
            _set_limit(limit)

    def _heard(self, operation: str, operands: tuple[object, ...]) -> object:
        """Makes a request, and transfers its output to the streams of the tests."""
        self._surroundings.tell()
        try:
            return self._compared(operation, operands)
        finally:
            if self.ended is None:
                self._surroundings.catch_up()

    def written_bytes(self) -> int:
        """Returns how much the candidate wrote, see `surroundings.Written`.

        Raises:
            SessionEnded: it wrote more than allowed.
        """
        try:
            return self._link.written_bytes()
        except OutputLimitError:
            raise self._end(Cause.OUTPUT, "the program wrote too much output") from None

    def _compared(self, operation: str, operands: tuple[object, ...]) -> object:
        """Makes a request, and compares an object's answer with its earlier ones."""
        self._consistency.asks(operation, operands)
        if self._consistency.repeats:
            answer = self._consistency.heard(operation, operands)
            if answer is not NOTHING:
                return answer
        try:
            answer = self._exchange(operation, operands)
        except StopIteration:
            self._consistency.hears(operation, operands, END)
            raise
        except Exception as error:
            if error is not self._raised_latest:
                self.note_refusal()
            self._consistency.raises(operation, operands, error)
            raise
        if self.crossed:
            self._consistency.hears(operation, operands, answer)
        return answer

    def check_that_it_is_loaded(self) -> None:
        """Checks that the solution is loaded.

        Raises:
            NotLoaded: it is not.
        """
        if not self.loaded:
            self.asked_early = True
            raise NotLoaded

    def receive(self, number: bytes = b"") -> list[object]:
        """Waits for a message.

        Args:
            number: the number of the request that it must answer.

        Raises:
            SessionEnded: there is none, or no shim of a candidate sends it.
        """
        try:
            frame = self._link.receive(self._frame_bytes)
            if not frame.startswith(number):
                raise ProtocolViolation("an answer to another question")
            self._decoding = True
            self._is_asked = frame.startswith(_ASK, len(number))
            data = frame[len(number) :]
            is_usual = sys.getrecursionlimit() <= _USUAL_FRAMES
            message = self._decoder.loads(data) if is_usual else self._loaded_deeply(data)
            self._shared_objects.finish()
        except ClosedError:
            raise self._end(Cause.CLOSED, "the program ended while it was asked") from None
        except OversizeFrameError:
            raise self.forged("a frame larger than any result") from None
        except OutputLimitError:
            raise self._end(Cause.OUTPUT, "the program wrote too much output") from None
        except ProtocolViolation as violation:
            raise self.forged(str(violation)) from None
        except Exception as error:  # noqa: BLE001  # a hostile message may cause any error
            raise self.forged(f"{type(error).__name__}: {error}") from None
        finally:
            self._decoding = False
        if type(message) is not list:
            raise self.forged("not a message")
        return message

    def _loaded_deeply(self, data: bytes) -> object:
        """Decodes a message. If tests set a recursion limit that exceeds the stack, the message may
        be nested no deeper than a value."""
        limit = sys.getrecursionlimit()
        _set_limit(min(limit, 2 * _depth_of(sys._getframe()) + _RECURSION_HEADROOM))
        try:
            return self._decoder.loads(data)
        finally:
            _set_limit(limit)

    def finish(self) -> None:
        """Records the final signals; ends the session if the candidate sent an unrequested
        frame."""
        if self._consistency.contradictions:
            self.signals[wire.CONTRADICTION] = self._consistency.contradictions
        self._containers.look_back()
        unknown = 0 if self._identities is None else self._identities.lost
        if lost := self._containers.lost + self._shared_objects.lost + self._lost + unknown:
            self.signals[wire.OUT_OF_STEP] = lost
        if self.ended is None and self._link.has_more():
            self.forged("a frame that nobody asked for")

    def forged(self, problem: str) -> SessionEnded:
        """Ends the session because of a message that no unmodified shim sends."""
        self._count("tampering")
        return self._end(Cause.FORGED, f"the program broke the protocol: {problem}")

    def _end(self, cause: Cause, message: str) -> SessionEnded:
        if self.ended is None:
            self.ended = SessionEnded(cause, message)
        return self.ended

    def cross(self) -> None:
        """Records that something other than plain data is about to cross, or that data meets tests
        in which it can have side effects."""
        if not self.crossed:
            self.crossed = True
            self._announce_crossing()

    def _count(self, signal: str) -> None:
        self.signals[signal] = self.signals.get(signal, 0) + 1

    def _spend_call(self) -> None:
        self._calls_left -= 1
        if self._calls_left < 0:
            raise self._end(Cause.CALLS, "the tests needed too many calls")

    def _send(self, frame: bytes) -> None:
        try:
            self._link.send(frame)
        except ClosedError:
            raise self._end(Cause.CLOSED, "the program ended before it was asked") from None
        except OutputLimitError:
            raise self._end(Cause.OUTPUT, "the program wrote too much output") from None

    def _exchange(self, operation: str, operands: tuple[object, ...]) -> object:
        request = self._request_of(operation, operands)
        self._number += 1
        number = NUMBER.pack(self._number)
        self._spend_call()
        if self._link.buffered:
            raise self.forged("a frame that nobody asked for")
        self._send(number + request)
        self._has_asked = True
        pending: dict[int, object] = {}
        while True:
            match self.receive(number):
                case ["return", value, None, 0] if not self._containers.entries:
                    if self.doubts_empty:
                        self._doubt(value)
                    return value
                case ["return", value, told, int(overloads), *rows] if _are_lists(rows, 1):
                    return self._answered(value, told, overloads, pending, operands)
                case ["stop", value, told, int(overloads), *rows] if (
                    operation == "next" and _are_lists(rows, 1)
                ):
                    raise StopIteration(self._answered(value, told, overloads, pending, operands))
                case ["raise", list(names), list(arguments), str(text), error, *rest] if _are_lists(
                    rest, 3
                ):
                    more, told = (*rest, None, None)[:2]
                    data: list[Any] = [arguments, more]
                    data = self._told(data, told, pending, operands)
                    self._raised_latest = self._raised(names, data[0], text, error, data[1])
                    raise self._raised_latest
                case ["stop", *told] if operation in ("next", "anext") and _are_lists(told, 2):
                    self._told([], told[0] if told else None, pending, operands)
                    raise StopIteration
                case ["large", str(problem)]:
                    raise self._end(Cause.RESULT, f"the program's result {problem[:200]}")
                case ["ask", str(asked), list(asked_operands), *updates] if (
                    self._is_asked and _are_lists(updates, 2)
                ):
                    asked_operands = self._lent(asked_operands, updates[:1], pending)
                    self._answer(number, asked, asked_operands)
                case _:
                    raise self.forged("not an answer")

    def _answered(
        self,
        value: object,
        told: object,
        overloads: int,
        pending: dict[int, object],
        operands: tuple[object, ...],
    ) -> object:
        """Returns an answer, after applying the changes that came with it."""
        if overloads:
            self._count("cast_down_overload")
        if self.doubts_empty:
            self._doubt(value)
        return self._told([value], told, pending, operands)[0]

    def _doubt(self, answer: object) -> None:
        if type(answer) in _SIZED and not answer:
            self.cross()

    # ---------------------------------------------------------------------------- containers

    def _request_of(self, operation: str, operands: tuple[object, ...]) -> bytes:
        """Returns a request, with the tests' changes to containers that both sides hold."""
        is_call = operation == "call"
        if is_call and len(operands) == _WITH_COPIES and self._is_plain:
            return self._plain_call(operands[0], operands[1])
        is_shared = len(operands) == _WITH_NUMBERS if is_call else _may_hold(operation, operands)
        asked = list(operands[: _WITH_NUMBERS - 1] if is_call else operands)
        if is_shared or self._containers.entries:
            encoder = self._encoder(self, _OWN_LIMIT, containers=self._containers)
            request = self._with_updates(encoder, operation, asked)
            self._containers.hand_over(_handed_over(operands))
        else:
            encoder = self._encoder(self, _OWN_LIMIT)
            request = encoder.dumps([operation, encoder.items(asked), *self._with_objects([])])
        if encoder.met_class:
            self.cross()
        return request

    @property
    def _is_plain(self) -> bool:
        """Returns True if there is no state that a message would have to update."""
        return self._identities is None and not (self._containers.entries or self.classes)

    def _plain_call(self, callee: object, arguments: Any) -> bytes:
        """Returns the request of a call without keywords whose arguments cross as copies.

        It is a faster equivalent of `Encoder.items` on the operands.
        """
        encoder = Encoder(self, _OWN_LIMIT)
        operands = [encoder.refer(callee), encoder.items(arguments, MAX_DEPTH - 1), None]
        request = encoder.dumps(["call", operands])
        if encoder.met_class:
            self.cross()
        return request

    def _with_updates(self, encoder: Encoder, operation: str, asked: list[object]) -> bytes:
        containers = self._containers
        try:
            values = encoder.items(asked)
            updates = containers.updates(encoder)
            held = containers.in_step(containers.held(()))
            released = [one for one in containers.numbers if one not in held]
            shared = [updates, released] if updates or released else []
            request = encoder.dumps([operation, values, *self._with_objects(shared)])
        except NotDataError:
            containers.withdraw()
            raise
        if updates:
            self.cross()
            self._consistency.changed()
        containers.keep(held)
        containers.sent(updates)
        return request

    def _with_objects(self, shared: list[Any]) -> list[Any]:
        """Returns the containers, followed by the objects that the tests changed, for a message."""
        changed = self._shared_objects.changed() if self.classes else []
        if not changed:
            return shared
        self._consistency.changed()
        encoder = self._encoder(self, _OWN_LIMIT)
        objects = encoder.attempt(changed)
        self._lost |= objects is None
        return [*[*shared, [], []][:2], objects or []]

    def _told(
        self,
        results: list[object],
        told: object,
        pending: dict[int, object],
        operands: tuple[object, ...],
    ) -> list[Any]:
        """Applies the solution's changes to containers, and returns its results."""
        try:
            updates, kept, lost = _parsed(told)
            self._lost |= lost != 0
            updates = {n: one for n, one in pending.items() if n in self._containers} | updates
            self._check(results, updates)
            if updates and not all(map(self._containers.is_own, updates)):
                self.cross()
            if updates:
                given = _handed_over(operands)
                results = self._visibility.take(updates, results, _asking_frame(), given)
            self._containers.keep(kept)
            self._containers.settle()
        except (ProtocolViolation, NotDataError) as violation:
            raise self.forged(str(violation)) from None
        return results

    def _lent(
        self, operands: list[object], updates: list[object], pending: dict[int, object]
    ) -> list[object]:
        """Applies the solution's changes before it asks, and returns the operands of its question.

        Whether the tests see changes of their own containers is decided when the call is over,
        except in a run with all changes. So a function of the tests may see something else than in
        one process.
        """
        try:
            changed, _, _ = _parsed([*updates, [], 0] if updates else None)
            self._check(operands, pending | changed)
            own = [self._containers.value_of(n) for n in changed if self._containers.is_own(n)]
            if own and self.brings_changes:
                self.bring(_asking_frame(), frozenset(changes.reachable(own)))
            for number, content in changed.items():
                if self.brings_changes or not self._containers.is_own(number):
                    self._containers.replace(number, content)
                else:
                    pending[number] = content
                    self.withhold()
            self._containers.settle()
        except (ProtocolViolation, NotDataError) as violation:
            raise self.forged(str(violation)) from None
        return self._visibility.copied(pending, operands) if pending else operands

    def _check(self, values: list[object], updates: dict[int, object]) -> None:
        """Refuses changes that cannot be made, and numbers that stand for more than may cross.

        Raises:
            NotDataError, ProtocolViolation: they are refused.
        """
        self._containers.check(updates)
        if self._decoder.mentions:
            containers = {id(self._containers.value_of(n)): one for n, one in updates.items()}
            same_containers.check(values, containers)

    def withhold(self) -> None:
        """Records that the tests did not see a change."""
        self._count(wire.WITHHELD_CHANGE)

    def _withholds(self) -> bool:
        """Records a change of a protected object; returns True if the tests must not see it."""
        self._count(wire.MET_CHANGE if self.brings_changes else wire.WITHHELD_CHANGE)
        return not self.brings_changes

    def _may_fill(self, owner: object, name: str, value: object) -> bool:
        """Returns True if the tests see another value of a field; records it if they do not."""
        may_be_set = self._membrane.may_be_set(owner, name, value)
        self._lost |= not may_be_set
        return may_be_set and not self._membrane.keeps(owner)

    def bring(self, frame: FrameType, things: frozenset[int]) -> None:
        """Records that the tests saw a change, if they may compare it with an answer."""
        if not self.are_apart(frame, things):
            self._count(wire.MET_CHANGE)

    def _raised(
        self, names: list[object], arguments: list[object], text: str, error: object, more: object
    ) -> BaseException:
        if type(names) is not list or not all(type(name) is str for name in names):
            raise self.forged("an exception without a name")
        for raised in self._raised_by_tests:
            if raised is error:
                return raised
        known = cast("list[str]", names)
        if "builtins.SystemExit" in known:
            self._count("early_exit")
        rebuilt = exceptions.rebuild(known, arguments, text, error, self.expected)
        if type(more) is not list:
            return rebuilt
        return exceptions.completed(rebuilt, more, self.expected)

    def _answer(self, number: bytes, operation: str, operands: list[object]) -> None:
        """Performs a request of the candidate here, and sends the result."""
        self._spend_call()
        self._surroundings.catch_up()
        try:
            if operation == _INPUT:
                results: list[object] = [self._surroundings.answer(*operands[:1])]
            else:
                results = [self._performed(operation, operands)]
            frame = self._returned(results)  # `cross` has been called already
        except ProtocolViolation as violation:
            raise self.forged(str(violation)) from None
        except StopIteration:
            frame = b'["stop"]'
        except Exception as error:  # noqa: BLE001  # raised by the tests; the solution sees it
            if isinstance(error, (NotDataError, RefusedAttributeError)):
                self.note_refusal()
            self._containers.withdraw()
            frame = self._describe(error)
        self._send(number + frame)

    def _performed(self, operation: str, operands: list[object]) -> object:
        """Performs a request of the candidate; the tests' code may replace streams."""
        try:
            return self._callbacks.perform(operation, operands)
        finally:
            if self.ended is None:
                self._surroundings.tell()

    def _returned(self, results: list[object]) -> bytes:
        """Returns the answer to a request of the solution."""
        encoder = self._encoder(self, _OWN_LIMIT, containers=self._containers)
        return self._with_changes(encoder, ["return", encoder.value(results[0])], results)

    def _describe(self, error: Exception) -> bytes:
        """Returns the answer to a request that raised; the tests may hold its containers."""
        encoder = self._encoder(self, _OWN_LIMIT, containers=self._containers)
        self._raised_by_tests.append(error)
        text = without_addresses(exceptions.text_of(error))
        try:
            arguments = encoder.items(list(error.args))
        except NotDataError:
            self._containers.withdraw()
            arguments = [text]
        described = ["raise", exceptions.names_of(error), arguments, text, encoder.refer(error)]
        return self._with_changes(encoder, described, error.args)

    def _with_changes(
        self, encoder: Encoder, answer: list[object], handed: Iterable[object]
    ) -> bytes:
        """Returns an answer, with the tests' changes to containers."""
        updates = self._containers.updates(encoder)
        frame = encoder.dumps([*answer, *self._with_objects([updates] if updates else [])])
        self._containers.sent(updates)
        self._containers.hand_over(handed)
        return frame

"""The conversation with the solution: one question at a time, whose answers are data.

What this stops: an answer without a question, or to another; a test that hides the end of the
candidate, since an ended session stays ended whatever the `except` clauses of the tests do; and a
pass that a change of an argument decided, without a word in the label.

Each frame begins with the number of its question. Judge to candidate:

    [operation, operands, rows]       see `channel.data` for values and rows

Candidate to judge, with the same number:

    ["return", value, rows, changed, cast]       changed: [[place, row], ...] of the question's
                                      containers; cast: whether a value was cast down
    ["raise", chain, arguments, text, fields, rows, changed, cast]    see `raised`
    ["large", problem]                the answer is too large to cross
    ["exit", text]                    the solution ended the program

**Arguments come back.** A change is applied to the tests' own containers. The session records each
test's questions and answers, so that the tests can be run again without the solution and without
any change: if a change decided what the tests did, the label is lowered (`replay`).
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import CodeType
from typing import Any, NamedTuple

from ...channel.data import FRAMES_OF_A_VALUE, BadDataError, NotDataError, Reader, Writer
from ...channel.frames import NUMBER
from ..endings import Cause, SessionEnded
from ..link import ClosedError, Link, OversizeFrameError
from ..outputs import OutputLimitError
from .guard import GUARD
from .objects import Handle, is_member, reference_of
from .raised import Raised

_FRAME_OVERHEAD = 1 << 16
_WATCHED = 64  # containers of earlier messages that are compared at each question


class _Step(NamedTuple):
    """One question with its answer."""

    question: str
    answer: list[Any]


class DiffersError(BaseException):  # tests must not catch it by `except Exception`
    """A replay asks something else than the run did."""


class Session:
    """Asks the solution.

    Args:
        link: frames to and from the candidate.
        load: sends the solution and waits until it is loaded; returns True if it is.
        result_bytes: greatest size of an answer.
        calls: how many questions an execution may have.
        classes: names that the tests construct.

    Attributes:
        records: the prompt's classes whose objects cross as data.
        codes: the tests' own code.
        ended: why the session is over.
        has_asked: whether the solution was asked anything.
        signals: what happened, by name.
    """

    def __init__(
        self,
        link: Link,
        load: Callable[[Session], bool],
        *,
        result_bytes: int,
        calls: int,
        classes: Sequence[str] = (),
    ) -> None:
        self._link, self._load = link, load
        self._frame_bytes = result_bytes + _FRAME_OVERHEAD
        self._calls_left = calls
        self._classes = frozenset(classes)
        self._number = int.from_bytes(os.urandom(6))
        self._raised = Raised()
        self._made: set[int] = set()  # numbers of the objects that the tests constructed
        self._linked: set[str] = set()  # attributes in which the tests put such objects
        self._meets_object = False
        self._nan = math.nan
        self._segments: dict[int, list[_Step]] = {}
        self._test, self._place = -1, 0
        self._seen: dict[int, tuple[Any, list[object]]] = {}
        self._has_changed = False
        self._doubted: set[int] = set()
        self._strips: frozenset[int] | None = None  # the tests that are replayed without changes
        self.records: Mapping[str, Any] = {}
        self.codes: Sequence[CodeType] = ()
        self.loaded = False
        self.has_asked = False
        self.ended: SessionEnded | None = None
        self.signals: dict[str, int] = {}

    # -------------------------------------------------------------------------------- tests

    def begin(self, test: int) -> None:
        """Begins a test, or what stands before all of them, by -1."""
        self._test, self._place = test, 0
        self._seen, self._has_changed = {}, False
        if self.loaded:
            GUARD.watch()

    def finish(self) -> None:
        """Ends a test: nothing of the candidate may be left to hear."""
        GUARD.rest()
        if self._strips is not None:
            steps = self._segments.get(self._test, ())
            if self._is_stripping and self._place != len(steps):
                raise DiffersError("fewer questions")
            return
        if self.ended is None and self.loaded and self._link.has_more():
            self._forged("a frame that nobody asked for")
        self._look_back(len(self._seen))

    def ensure_loaded(self) -> bool:
        """Sends the solution, if it was not yet sent; returns True if it is loaded."""
        GUARD.rest()
        if not self.loaded and self.ended is None:
            self.loaded = self._load(self)
            if not self.loaded and self.ended is None:
                self._end(Cause.CLOSED, "the solution did not load")
            GUARD.arm(self.codes)
        return self.loaded

    @property
    def doubted(self) -> frozenset[int]:
        """The tests in which a change may have decided something."""
        return frozenset(self._doubted)

    def replay(self) -> None:
        """Answers what follows from what was recorded; changes are left out of doubted tests."""
        self._strips = self.doubted
        self._raised = Raised()

    def lower(self, rule: str) -> None:
        """Lowers the label of this run."""
        if self._strips is None:
            self.count(f"lowered_{rule}")

    def count(self, signal: str) -> None:
        """Counts a signal."""
        self.signals[signal] = self.signals.get(signal, 0) + 1

    def tell_events(self) -> None:
        """Lowers the label for what the guard saw."""
        GUARD.rest()
        if GUARD.is_betrayed:
            self.count("judge_tampered")
            self._forged("an answer was run as code, or named a file")
        elif GUARD.events:
            self.lower("events")

    # ---------------------------------------------------------------------------- questions

    def named(self, name: str) -> Handle:
        """Returns the stand-in for a name of the solution."""
        return Handle(self, ["name", name])

    def kind(self, name: str) -> type[Exception]:
        """Returns the class that stands for an exception of the solution."""
        return self._raised.kind(self.ask("kind", self.named(name)))

    def ask(self, operation: str, *operands: object, is_statement: bool = False) -> Any:
        """Asks the solution, and returns what it answers.

        Raises:
            SessionEnded: the session is over.
            Exception: the solution raised it.
            TypeError: an operand cannot cross.
        """
        GUARD.rest()
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + FRAMES_OF_A_VALUE)
        try:
            return self._asked(operation, operands, is_statement=is_statement)
        finally:
            sys.setrecursionlimit(limit)
            GUARD.watch()

    def _asked(self, operation: str, operands: tuple[Any, ...], *, is_statement: bool) -> Any:
        if self.ended is not None:
            raise self.ended
        if self._strips is None and not self.ensure_loaded():
            raise self._end(Cause.CLOSED, "the solution did not load")
        writer = Writer(_refer, records=self.records)
        try:
            asked = [writer.value(one) for one in operands]
            rows = writer.rows()
        except (NotDataError, RecursionError) as error:
            self._refuse(str(error))
        question = json.dumps([operation, asked, rows])
        if "NaN" in question:
            self._nan = _first_nan(operands) or self._nan
        self._note(operation, operands)
        self._meets_object = False
        answer = self._answer_to(question)
        known = self._stripped(rows) if self._is_stripping else writer.containers
        result = self._heard(answer, known, is_statement=is_statement)
        return None if is_statement else self._greeted(result, operation, operands)

    def _note(self, operation: str, operands: Sequence[object]) -> None:
        """Lowers the label for a question that the contract does not list."""
        owner = operands[0] if operands else None
        if operation != "call" and type(owner) is Handle and is_member(owner):
            self.lower("objects")
        if operation == "set" and type(operands[2]) is Handle:
            self._linked.add(str(operands[1]))

    def _greeted(self, result: object, operation: str, operands: Sequence[Any]) -> object:
        """Returns an answer; it lowers the label if it is an object that the tests did not make."""
        if not self._meets_object:
            return result
        if type(result) is Handle:
            match operation, reference_of(operands[0]), reference_of(result):
                case "call", ["name", str(name)], ["object", int(number)] if name in self._classes:
                    self._made.add(number)
                    return result
                case "get", _, ["object", int(number)]:
                    if number in self._made and operands[1] in self._linked:
                        return result
                    return Handle(self, reference_of(result), is_member=True)
        self.lower("objects")
        if type(result) is Handle:
            return Handle(self, reference_of(result), is_member=True)
        return result

    def _refuse(self, problem: str) -> None:
        """Says that an operand is no data: before the first answer that is the task's fault."""
        self.count("no_data" if self.has_asked else "unsendable")
        raise self._end(Cause.CLOSED, f"the tests hand over what is no data: {problem}")

    def _answer_to(self, question: str) -> list[Any]:
        steps = self._segments.setdefault(self._test, [])
        if self._strips is not None:
            if self._place >= len(steps) or steps[self._place].question != question:
                raise DiffersError("another question")
            self._place += 1
            return steps[self._place - 1].answer
        self._look_back(_WATCHED)
        self._calls_left -= 1
        if self._calls_left < 0:
            raise self._end(Cause.CALLS, "the tests needed too many calls")
        answer = self._exchange(question)
        steps.append(_Step(question, answer))
        self.has_asked = True
        return answer

    def _exchange(self, question: str) -> list[Any]:
        self._number += 1
        number = NUMBER.pack(self._number)
        if self._link.buffered:
            raise self._forged("a frame that nobody asked for")
        try:
            self._link.send(number + question.encode())
        except ClosedError:
            raise self._end(Cause.CLOSED, "the program ended before it was asked") from None
        except OutputLimitError:
            raise self._end(Cause.OUTPUT, "the program wrote too much output") from None
        frame = self.receive()
        if frame[: NUMBER.size] != number:
            raise self._forged("an answer to no question")
        answer = _parsed(frame[NUMBER.size :])
        if answer is None:
            raise self._forged("no answer")
        return answer

    def receive(self) -> bytes:
        """Waits for a frame.

        Raises:
            SessionEnded: none will come.
        """
        try:
            return self._link.receive(self._frame_bytes)
        except ClosedError:
            raise self._end(Cause.CLOSED, "the program ended before it answered") from None
        except OversizeFrameError:
            raise self._end(Cause.RESULT, "the program's result is too large") from None
        except OutputLimitError:
            raise self._end(Cause.OUTPUT, "the program wrote too much output") from None

    # ------------------------------------------------------------------------------ answers

    def _heard(self, answer: list[Any], known: list[Any], *, is_statement: bool) -> Any:
        match answer:
            case ["return", value, list(new), list(changed), bool(has_cast)]:
                if has_cast:
                    self.count("cast_down")
                told = self._applied(known, new, changed)
                result = self._value(told, value)
                is_answered = result is not None or not is_statement
                self._doubt(changed, is_answered=is_answered)
                return result
            case [
                "raise",
                list(chain),
                list(arguments),
                str(text),
                dict(fields),
                new,
                list(changed),
                _,
            ]:
                told = self._applied(known, new, changed)
                error = self._error(told, chain, arguments, text, fields)
                self._doubt(changed, is_answered=True)
                raise error
            case ["large", str(problem)]:
                raise self._end(Cause.RESULT, f"the program's result {problem[:200]}")
            case ["exit", str(text)]:
                self.count("early_exit")
                raise self._end(Cause.CLOSED, f"the program ended itself: {text[:200]}")
        raise self._forged("not an answer")

    @property
    def _is_stripping(self) -> bool:
        return self._strips is not None and self._test in self._strips

    def _stripped(self, rows: list[Any]) -> list[Any]:
        """Returns copies of a question's containers, so that the tests' own stay as they are."""
        copies = Reader(self._resolve, rows, records=self.records).containers
        self._meets_object = False
        return copies

    def _doubt(self, changed: Sequence[object], *, is_answered: bool) -> None:
        """Records a test in which something was answered with or after a change."""
        if self._strips is None:
            self._has_changed |= bool(changed)
            if self._has_changed and is_answered:
                self._doubted.add(self._test)

    def _applied(self, known: list[Any], rows: Any, changed: list[Any]) -> Reader:
        """Returns the reader of an answer, after giving the question's containers their content."""
        try:
            places = {int(place): row for place, row in changed}
            if not all(0 <= place < len(known) for place in places):
                raise BadDataError("a change of no container")
            told = Reader(self._resolve, rows, known=known, records=self.records, nan=self._nan)
            for place, row in places.items():
                told.replace(known[place], row)
        except (BadDataError, TypeError, ValueError) as error:
            raise self._forged(str(error)) from None
        if self._strips is None:
            self._see(told.containers)
            self._hear(told)
        return told

    def _hear(self, told: Reader) -> None:
        GUARD.hear(told.texts)
        if told.narrow:
            self.lower("narrow")

    def _value(self, told: Reader, written: Any) -> Any:
        try:
            value = told.value(written)
        except BadDataError as error:
            raise self._forged(str(error)) from None
        if self._strips is None:
            self._hear(told)
        return value

    def _error(
        self,
        told: Reader,
        chain: list[Any],
        arguments: list[Any],
        text: str,
        fields: dict[str, Any],
    ) -> Exception:
        if not chain or not all(type(name) is str for name in chain):
            raise self._forged("an exception without a name")
        try:
            values = list(map(told.value, arguments))
            known = {name: told.value(one) for name, one in fields.items()}
        except BadDataError as error:
            raise self._forged(str(error)) from None
        if self._strips is None:
            self._hear(told)
        GUARD.hear([text])
        return self._raised.made(chain, values, text, known)

    def _resolve(self, reference: Any) -> object:
        match reference:
            case ["object", int()] | ["name", str()]:
                self._meets_object = True
                return Handle(self, reference)
            case ["error", list(chain), list(arguments), str(text)]:
                self._meets_object = True
                told = Reader(self._resolve, [])
                return self._error(told, chain, arguments, text, {})
        raise BadDataError("an unknown reference")

    # --------------------------------------------------------------- what the tests change

    def _see(self, containers: Sequence[Any]) -> None:
        """Remembers the content of what crossed."""
        for one in containers:
            self._seen.pop(id(one), None)
            self._seen[id(one)] = one, _content(one)

    def _look_back(self, count: int) -> None:
        """Lowers the label if the tests changed what crossed before.

        In one process the solution could see that, since it may hold what it was given.
        """
        for one, content in islice(reversed(self._seen.values()), count):
            found = _content(one)
            if len(found) != len(content) or any(map(_is_other, found, content)):
                self._seen = {}
                self.lower("later_change")
                return

    # --------------------------------------------------------------------------------- ends

    def _forged(self, problem: str) -> SessionEnded:
        """Ends the session because of a message that no unmodified shim sends."""
        self.count("tampering")
        return self._end(Cause.FORGED, f"the program broke the protocol: {problem}")

    def forged(self, problem: str) -> SessionEnded:
        """See `_forged`."""
        return self._forged(problem)

    def _end(self, cause: Cause, message: str) -> SessionEnded:
        if self.ended is None:
            self.ended = SessionEnded(cause, message)
        return self.ended


def _refer(value: object) -> object:
    """Returns what stands for a handle; nothing stands for anything else."""
    if type(value) is Handle:
        return {"h": reference_of(value)}
    raise NotDataError(f"{type(value).__name__}")


def _parsed(frame: bytes) -> list[Any] | None:
    try:
        answer = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    return answer if type(answer) is list else None


def _content(container: Any) -> list[object]:
    """Returns what a container holds, to be compared by identity."""
    if isinstance(container, dict):
        return [*container, *container.values()]
    if hasattr(container, "tobytes"):
        return [container.tobytes()]
    if isinstance(container, set):
        return [frozenset(container)]
    return [*(vars(container).values() if hasattr(container, "__dict__") else container)]


def _is_other(one: object, other: object) -> bool:
    if one is other:
        return False
    return not (isinstance(one, (bytes, frozenset)) and one == other)


def _first_nan(values: Any) -> float | None:
    """Returns the tests' own object that is not a number, which answers then are, too."""
    if type(values) is float:
        return values if values != values else None
    if isinstance(values, (list, tuple, set)):
        return next((one for one in map(_first_nan, values) if one is not None), None)
    if type(values) is dict:
        return _first_nan([*values, *values.values()])
    return None
